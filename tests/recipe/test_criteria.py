"""Criteria: case, aliases, what is known, and what is said of what is not."""

from __future__ import annotations

import pytest

from aicr.catalog.layers import Catalog
from aicr.errors import INVALID_REQUEST, AicrError
from aicr.recipe.criteria import KNOWN, Criteria, make_criteria
from small_catalog import simple


@pytest.fixture
def catalog() -> Catalog:
    files = simple({"name": "a"})
    files.overlay("own", criteria={"service": "MyCloud", "accelerator": "mi300", "nodes": 3})
    return files.in_memory()


def refusal(catalog: Catalog, stated: dict[str, str], **more: object) -> AicrError:
    with pytest.raises(AicrError) as caught:
        make_criteria(stated, catalog, **more)  # type: ignore[arg-type]
    assert caught.value.code == INVALID_REQUEST
    return caught.value


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"service": "EKS", "accelerator": "H100"}, {"service": "eks", "accelerator": "h100"}),
        ({"os": "al2", "service": "eks"}, {"service": "eks", "os": "amazonlinux"}),
        ({"os": "AL2023"}, {"os": "amazonlinux"}),
        ({"service": "self-managed", "os": "rhel"}, {"os": "rhel"}),
        ({"service": "Vanilla", "os": "rhel"}, {"os": "rhel"}),
        ({"service": "self", "os": "rhel", "intent": "any"}, {"os": "rhel"}),
        ({"accelerator": "rtx-pro-6000"}, {"accelerator": "rtx-pro-6000"}),
        ({"service": "mycloud", "accelerator": "mi300"},
         {"service": "mycloud", "accelerator": "mi300"}),
    ],
)  # fmt: skip
def test_normal_form(catalog: Catalog, stated: dict[str, str], expected: dict[str, str]) -> None:
    assert make_criteria(stated, catalog).stated() == expected


def test_every_known_value_is_admitted(catalog: Catalog) -> None:
    for dimension, words in KNOWN.items():
        for word in words:
            for strict in (False, True):
                criteria = make_criteria({dimension: word}, catalog, strict=strict)
                assert criteria.stated() == {dimension: word}


def test_an_unknown_value_lists_the_valid_ones_and_the_closest(catalog: Catalog) -> None:
    error = refusal(catalog, {"service": "ekss"})
    valid = sorted([*KNOWN["service"], "mycloud"])
    assert error.message == (f'service "ekss" is not known; valid are {", ".join(valid)}, or any')
    assert error.hint == 'did you mean "eks"?'
    assert error.details == {"dimension": "service", "value": "ekss", "valid": valid}
    assert refusal(catalog, {"os": "zzz"}).hint == ""


def test_strict_admits_only_what_is_shipped(catalog: Catalog) -> None:
    error = refusal(catalog, {"service": "mycloud"}, strict=True)
    assert "mycloud" not in error.message.split(";")[1]


@pytest.mark.parametrize("stated", [{}, {"service": "any"}, {"service": "self"}])
def test_at_least_one_must_be_stated(catalog: Catalog, stated: dict[str, str]) -> None:
    for nodes in (0, 5):
        error = refusal(catalog, stated, nodes=nodes)
        assert error.message == "no criteria were given"
        assert "--service" in error.hint


def test_nodes(catalog: Catalog) -> None:
    assert make_criteria({"service": "eks"}, catalog, nodes=4).values() == {
        "service": "eks", "nodes": 4,
    }  # fmt: skip
    assert make_criteria({"service": "eks"}, catalog).values() == {"service": "eks"}
    assert refusal(catalog, {"service": "eks"}, nodes=-1).message == (
        "nodes: expected 0 or more, found -1"
    )


def test_as_values() -> None:
    one = Criteria(os="rhel", service="eks", nodes=2)
    assert str(one) == "service=eks, os=rhel, nodes=2"
    assert str(Criteria()) == "any"
    assert one == Criteria.of({"service": "eks", "os": "rhel"}, 2)
    assert one != Criteria(os="rhel", service="eks")
    assert len({one, Criteria.of({"service": "eks", "os": "rhel"}, 2), Criteria()}) == 2
