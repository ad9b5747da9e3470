from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.recipe.criteria import Criteria
from aicr.recipe.difference import ABSENT, differences, side_tree
from aicr.recipe.resolve import resolve
from small_catalog import simple

EKS = Criteria(service="eks")


def changed(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, str, object, object]]:
    return [(one.field, one.change, one.before, one.after) for one in differences(before, after)]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, [("a", "changed", 1, True)]),
        ({"a": 1}, {"a": 1.0}, [("a", "changed", 1, 1.0)]),
        ({"a": [1]}, {"a": [True]}, [("a", "changed", [1], [True])]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, [("a.c", "changed", 2, 3)]),
        ({"a": {"b": {"c": 1}}}, {"a": {}}, [("a.b.c", "removed", 1, ABSENT)]),
        ({}, {"a": {"b.c": None}}, [('a."b.c"', "added", ABSENT, None)]),
        ({"a": {}}, {"a": 1}, [("a", "changed", {}, 1)]),
        ({}, {"a": {}}, [("a", "added", ABSENT, {})]),
        ({"components": {"x": {"version": "1"}}}, {"components": {}},
         [("components.x", "removed", {"version": "1"}, ABSENT)]),
    ],
)  # fmt: skip
def test_field_by_field(before: dict[str, Any], after: dict[str, Any], expected: object) -> None:
    assert changed(before, after) == expected


def test_two_recipes() -> None:
    old = simple({"name": "a", "overrides": {"x": 1}}, {"name": "b", "dependencyRefs": ["a"]})
    new = simple({"name": "a", "version": "2", "overrides": {"x": 2}}, {"name": "b"})
    new.overlay("eks", criteria={"service": "eks"}, constraints=[{"name": "n", "value": "1"}])
    before, after = (
        side_tree(resolve(one.in_memory(), EKS), values)
        for one, values in ((old, {"a": {"x": 1}, "b": {}}), (new, {"a": {"x": 2}, "b": {}}))
    )
    assert changed(before, after) == [
        ("constraints.n.value", "added", ABSENT, "1"),
        ("components.a.version", "changed", "1.0.0", "2"),
        ("components.a.values.x", "changed", 1, 2),
        ("components.b.dependencyRefs", "removed", ["a"], ABSENT),
    ]


def test_without_values_the_overrides_are_compared() -> None:
    old, new = (
        side_tree(resolve(simple({"name": "a", "overrides": {"x": x}}).in_memory(), EKS), None)
        for x in (1, 2)
    )
    assert changed(old, new) == [("components.a.overrides.x", "changed", 1, 2)]


def test_a_disabled_component_is_seen_beside_values() -> None:
    recipe = resolve(simple({"name": "a", "overrides": {"enabled": False}}).in_memory(), EKS)
    assert side_tree(recipe, {"a": {}})["components"]["a"]["enabled"] is False  # type: ignore[index]


trees = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(0, 2), st.lists(st.integers(0, 2))),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
maps = st.dictionaries(st.sampled_from("abc"), trees, max_size=3)


@given(maps, maps)
def test_applied_to_one_side_the_differences_give_the_other(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    from copy import deepcopy

    patched = deepcopy(before)
    for one in differences(before, after):
        place = patched
        for step in one.path[:-1]:
            below = place.setdefault(step, {})
            if not isinstance(below, dict):
                below = place[step] = {}
            place = below
        if one.after is ABSENT:
            place.pop(one.path[-1], None)
        else:
            place[one.path[-1]] = one.after
    assert _pruned(patched) == _pruned(after)
    assert (differences(before, after) == []) is (_exact(before) == _exact(after))


def _pruned(value: object) -> object:
    """Without maps that became empty since all in them went away."""
    if isinstance(value, dict):
        found = {key: _pruned(item) for key, item in value.items()}
        return {key: item for key, item in found.items() if item != {}}
    return value


def _exact(value: object) -> object:
    if isinstance(value, dict):
        return {key: _exact(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    return (type(value), value)
