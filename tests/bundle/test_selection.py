"""Only what is enabled is in a bundle, in an order that holds."""

from __future__ import annotations

import pytest

from aicr.bundle.selection import select
from aicr.catalog.model import ComponentRef
from aicr.errors import AicrError
from bundles import recipe_of


def refs() -> list[ComponentRef]:
    return [
        ComponentRef("a", dependency_refs=["b"]),
        ComponentRef("b", dependency_refs=["c"]),
        ComponentRef("c"),
        ComponentRef("off", overrides={"enabled": False}),
        ComponentRef("out", install=False, dependency_refs=["a"]),
    ]


def test_what_is_disabled_or_removed_is_gone_with_every_reference() -> None:
    recipe = select(recipe_of(*refs(), order=["c", "b", "a"]), {"b"}, "r.yaml")
    assert [ref.name for ref in recipe.components] == ["a", "c"]
    assert recipe.deployment_order == ["c", "a"]
    # What waited for it waits for what it waited for.
    assert {ref.name: list(ref.dependency_refs) for ref in recipe.components} == {
        "a": ["c"],
        "c": [],
    }


def test_what_was_left_out_leaves_its_place_in_the_order() -> None:
    chain = [ComponentRef(a, dependency_refs=[b]) for a, b in ("ab", "bc", "cd", "de")]
    recipe = select(recipe_of(*chain, ComponentRef("e")), {"b", "c", "d"}, "r.yaml")
    assert {ref.name: list(ref.dependency_refs) for ref in recipe.components} == {
        "a": ["e"],
        "e": [],
    }


def test_the_order_of_the_recipe_is_kept() -> None:
    loose = [ComponentRef("a"), ComponentRef("b")]
    assert select(recipe_of(*loose, order=["b", "a"]), (), "r").deployment_order == ["b", "a"]


def test_a_missing_order_is_computed() -> None:
    assert select(recipe_of(*refs()), (), "r").deployment_order == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("order", "says"),
    [
        (["a", "b", "c"], '"a" comes before "b", which it depends on'),
        (["c", "b"], '"a" is missing'),
        (["c", "b", "a", "x"], '"x" is not among the componentRefs'),
        (["c", "b", "a", "off"], '"off" is disabled, yet in the order'),
        (["c", "c", "b", "a"], '"c" is there twice'),
    ],
)
def test_an_order_that_does_not_hold(order: list[str], says: str) -> None:
    with pytest.raises(AicrError) as caught:
        select(recipe_of(*refs(), order=order), (), "r.yaml")
    assert says in caught.value.message
    assert "r.yaml: deploymentOrder" in caught.value.message


def test_nothing_left() -> None:
    with pytest.raises(AicrError, match="nothing to bundle"):
        select(recipe_of(ComponentRef("a")), {"a"}, "r.yaml")


def test_a_dependency_that_is_not_there() -> None:
    with pytest.raises(AicrError, match='depends on "z"'):
        select(recipe_of(ComponentRef("a", dependency_refs=["z"])), (), "r.yaml")
