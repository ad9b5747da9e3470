"""The deployment order: dependencies first, the smallest ready name first, cycles shown."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.catalog.model import ComponentRef
from aicr.errors import INVALID_REQUEST, AicrError
from aicr.recipe.order import deployment_order

NAMES = ["a", "b", "c", "d", "e"]
graphs = st.dictionaries(
    st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=3), max_size=5
)


def order(graph: dict[str, list[str]], disabled: str = "") -> list[str]:
    return deployment_order([
        ComponentRef(name, dependency_refs=needs,
                     overrides={"enabled": False} if name in disabled else None)
        for name, needs in graph.items()
    ])  # fmt: skip


def outcome(graph: dict[str, list[str]]) -> list[str] | str:
    """The order, or what is said of the cycle."""
    try:
        return order(graph)
    except AicrError as error:
        return error.message


def valid_orders(graph: dict[str, list[str]]) -> list[list[str]]:
    """Every order in which all dependencies come earlier, smallest first."""
    return [
        list(names)
        for names in itertools.permutations(sorted(graph))
        if all(names.index(need) < names.index(name) for name in names for need in graph[name])
    ]


@given(graphs)
def test_the_smallest_of_all_valid_orders(graph: dict[str, list[str]]) -> None:
    closed = {name: [need for need in needs if need in graph] for name, needs in graph.items()}
    valid = valid_orders(closed)
    if not valid:
        with pytest.raises(AicrError, match="wait for each other"):
            order(closed)
        return
    assert order(closed) == min(valid)


@given(graphs, st.sampled_from(["", "a", "ab", "abcde"]))
def test_disabled_components_are_left_out_and_count_as_there(
    graph: dict[str, list[str]], disabled: str
) -> None:
    closed = {name: [need for need in needs if need in graph] for name, needs in graph.items()}
    rest = {
        name: [need for need in needs if need not in disabled]
        for name, needs in closed.items() if name not in disabled
    }  # fmt: skip
    valid = valid_orders(rest)
    if valid:
        assert order(closed, disabled) == min(valid)


@given(graphs, st.permutations(NAMES))
def test_the_order_of_the_input_decides_nothing(
    graph: dict[str, list[str]], names: list[str]
) -> None:
    closed = {name: [need for need in needs if need in graph] for name, needs in graph.items()}
    shuffled = {name: closed[name][::-1] for name in names if name in closed}
    assert outcome(shuffled) == outcome(closed)


@pytest.mark.parametrize(
    ("graph", "cycle"),
    [
        ({"a": ["a"]}, "a -> a"),
        ({"a": ["b"], "b": ["a"], "c": []}, "a -> b -> a"),
        ({"a": ["c"], "b": ["c"], "c": ["d"], "d": ["b"]}, "c -> d -> b -> c"),
    ],
)
def test_a_cycle_is_shown(graph: dict[str, list[str]], cycle: str) -> None:
    with pytest.raises(AicrError) as caught:
        order(graph)
    assert caught.value.code == INVALID_REQUEST
    assert caught.value.message == f"components that wait for each other: {cycle}"


def test_every_missing_dependency_is_named() -> None:
    with pytest.raises(AicrError) as caught:
        order({"a": ["x"], "b": ["a", "y"]})
    assert caught.value.message == (
        '"a" depends on "x", which is not there; "b" depends on "y", which is not there'
    )
    with pytest.raises(AicrError, match='"a" depends on "x"'):
        order({"a": ["x"]}, disabled="a")


def test_a_component_that_is_not_installed_is_left_out() -> None:
    refs = [ComponentRef("a", install=False), ComponentRef("b", dependency_refs=["a"])]
    assert deployment_order(refs) == ["b"]


def test_a_long_chain() -> None:
    names = [f"n{number:05}" for number in range(5000)]
    graph = {name: [after] for name, after in itertools.pairwise(names)}
    graph[names[-1]] = []
    assert order(graph) == names[::-1]
    graph[names[-1]] = [names[0]]
    with pytest.raises(AicrError, match="n00000 -> n00001 -> "):
        order(graph)
