"""Values of a component: which files are read, and what a null does where."""

from __future__ import annotations

from typing import Any

import pytest

from aicr.catalog.layers import Catalog
from aicr.catalog.model import ComponentRef
from aicr.errors import INVALID_REQUEST, AicrError
from aicr.recipe.values import component_values, merge_values
from small_catalog import simple

DEFAULT = "components/a/values.yaml"
OTHER = "components/a/values-x.yaml"


def catalog_of(files: dict[str, object]) -> Catalog:
    catalog = simple({"name": "a"})
    for path, content in files.items():
        catalog.add(path, content)
    return catalog.in_memory()


def values(
    files: dict[str, object], values_file: str = "", overrides: dict[str, Any] | None = None
) -> dict[str, object]:
    ref = ComponentRef("a", values_file=values_file, overrides=overrides)
    return component_values(catalog_of(files), ref)


def test_which_files_are_read() -> None:
    files: dict[str, object] = {DEFAULT: {"d": 1, "m": {"d": 1}}, OTHER: {"o": 1, "m": {"o": 1}}}
    assert values(files) == {}
    assert values(files, DEFAULT) == files[DEFAULT]
    assert values(files, OTHER) == {"d": 1, "o": 1, "m": {"d": 1, "o": 1}}
    assert values({OTHER: {"o": 1}}, OTHER) == {"o": 1}
    assert values(files, overrides={"x": 1}) == {"x": 1}
    assert values(files, OTHER, {"m": {"o": 2}, "o": [1]}) == {
        "d": 1, "o": [1], "m": {"d": 1, "o": 2},
    }  # fmt: skip


def test_enabled_is_not_passed_on() -> None:
    assert values({}, overrides={"enabled": True, "x": {"enabled": False}}) == {
        "x": {"enabled": False}
    }


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": None}, {"b": 2}),
        ({"m": {"a": 1, "b": 2}}, {"m": {"a": None}}, {"m": {"b": 2}}),
        ({"m": {"a": 1}}, {"m": {"x": None}}, {"m": {"a": 1}}),
        ({}, {"a": None}, {}),
        ({}, {"m": {"a": None}}, {"m": {"a": None}}),
        ({"m": 1}, {"m": {"a": None}}, {"m": {"a": None}}),
        ({"m": {"a": {"b": 1}}}, {"m": {"a": {"b": None}}}, {"m": {"a": {}}}),
        ({"m": {"a": None}}, {"m": {"b": 1}}, {"m": {"a": None, "b": 1}}),
        ({"l": [1, 2]}, {"l": []}, {"l": []}),
        ({"l": [{"a": 1}]}, {"l": [{"b": None}]}, {"l": [{"b": None}]}),
        ({"a": 1}, {"a": 0}, {"a": 0}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": 1}}),
    ],
)
def test_a_null_deletes_where_both_sides_have_the_map(
    lower: dict[str, object], upper: dict[str, object], expected: object
) -> None:
    assert merge_values(lower, upper) == expected
    assert values({DEFAULT: lower}, DEFAULT, upper) == expected
    assert values({DEFAULT: lower, OTHER: upper}, OTHER) == expected


def test_a_null_in_a_values_file_by_itself_stays() -> None:
    content = {"a": None, "m": {"b": None}}
    for path in (DEFAULT, OTHER):
        assert values({path: content}, path) == content
        assert values({path: content}, path, {"x": None, "y": 1}) == {**content, "y": 1}


def test_free_form_values_are_yaml_1_2() -> None:
    text = "a: on\nb: 010\nc: 0o10\nd: 1:30\ne: 1.20\nf: {<<: &x {k: 1}, l: yes}\n"
    assert values({DEFAULT: text}, DEFAULT) == {
        "a": "on", "b": 8, "c": 8, "d": "1:30", "e": 1.2, "f": {"k": 1, "l": "yes"},
    }  # fmt: skip


def test_nothing_is_shared_with_what_it_was_made_of() -> None:
    lower: dict[str, Any] = {"m": {"a": [1]}}
    upper: dict[str, Any] = {"n": {"b": [2]}, "l": [{"c": 3}]}
    made: Any = merge_values(lower, upper)
    made["n"]["b"].append(9)
    made["l"][0]["c"] = 9
    assert upper == {"n": {"b": [2]}, "l": [{"c": 3}]}


def test_a_missing_values_file_is_named() -> None:
    with pytest.raises(AicrError) as caught:
        values({DEFAULT: {}}, OTHER)
    assert caught.value.code == INVALID_REQUEST
    assert caught.value.message == (
        f'the component "a" names the values file "{OTHER}", which is not in the catalog'
    )


@pytest.mark.parametrize(("text", "found"), [("- 1", "a list"), ("x", "text"), ("~", "null")])
def test_a_values_file_that_is_no_map_is_named(text: str, found: str) -> None:
    with pytest.raises(AicrError) as caught:
        values({DEFAULT: text}, DEFAULT)
    assert caught.value.message == f"{DEFAULT}: expected a map of values, found {found}"
