"""Matching and coverage: which overlays apply, and what is said of what is not honoured."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

import resolution_oracle as oracle
from aicr.catalog.layers import Catalog
from aicr.errors import INVALID_REQUEST, AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.match import matching_leaves
from aicr.recipe.resolve import resolve
from catalog_strategies import WORDS, asked, written
from resolution_oracle import Described, Values
from small_catalog import SmallCatalog, helm

Case = tuple[Described, Values]


def catalog_of(**overlays: dict[str, Any]) -> Catalog:
    files = SmallCatalog().registry(helm("a")).overlay("base", componentRefs=[{"name": "a"}])
    for name, spec in overlays.items():
        files.overlay(name, **spec)
    return files.in_memory()


def applied(catalog: Catalog, **query: str) -> list[str]:
    return list(resolve(catalog, Criteria(**query)).applied_overlays)  # type: ignore[arg-type]


def refusal(catalog: Catalog, **query: str) -> AicrError:
    with pytest.raises(AicrError) as caught:
        resolve(catalog, Criteria(**query))  # type: ignore[arg-type]
    assert caught.value.code == INVALID_REQUEST
    return caught.value


EKS = {"criteria": {"service": "eks"}}


def test_an_overlay_matches_when_all_that_it_states_is_asked_for() -> None:
    catalog = catalog_of(x=EKS, y={"criteria": {"service": "eks", "os": "rhel"}})
    assert applied(catalog, service="eks") == ["base", "x"]
    assert applied(catalog, service="eks", os="rhel") == ["base", "x", "y"]


def test_a_query_that_leaves_it_open_never_matches_a_specific_overlay() -> None:
    catalog = catalog_of(x={"criteria": {"os": "rhel"}}, y=EKS)
    assert applied(catalog, service="eks") == ["base", "y"]


def test_no_criteria_never_match_and_empty_ones_always_do() -> None:
    catalog = catalog_of(
        x=EKS, never={}, null={"criteria": None}, empty={"criteria": {}},
        open={"criteria": {"service": "any", "os": "ANY"}},
    )  # fmt: skip
    assert applied(catalog, service="eks") == ["base", "empty", "open", "x"]


def test_nodes_are_advisory_and_count_as_specific() -> None:
    catalog = catalog_of(x={"criteria": {"service": "eks", "nodes": 8}}, y=EKS)
    assert applied(catalog, service="eks") == ["base", "y", "x"]
    recipe = resolve(catalog, Criteria(service="eks", nodes=2))
    assert recipe.applied_overlays == ["base", "y", "x"]


def test_ancestors_of_a_match_come_with_it_in_its_chain() -> None:
    catalog = catalog_of(
        x=EKS, mid={"base": "x"},
        z={"base": "mid", "criteria": {"service": "eks", "os": "rhel"}},
        a={"criteria": {"service": "eks", "os": "rhel", "intent": "training"}},
    )  # fmt: skip
    assert applied(catalog, service="eks", os="rhel") == ["base", "x", "mid", "z"]
    assert matching_leaves(
        catalog, Criteria(service="eks", os="rhel", intent="training")
    ) == ["z", "a"]  # fmt: skip


def test_the_most_specific_merges_last_and_names_break_ties() -> None:
    two = {"criteria": {"service": "eks", "os": "rhel"}}
    catalog = catalog_of(b=two, a=two, c=EKS, d={"criteria": {"os": "rhel"}})
    assert applied(catalog, service="eks", os="rhel") == ["base", "c", "d", "a", "b"]


@given(asked())
def test_leaves_as_the_rules_say(case: Case) -> None:
    described, query = case
    catalog = written(described).in_memory()
    leaves = matching_leaves(catalog, Criteria(**query))
    order = oracle.applied(described, query)
    assert [name for name in order if name in leaves] == leaves or not leaves
    assert set(order) == {"base"}.union(*(oracle.chain(described, leaf) for leaf in leaves))


def test_an_excluded_overlay_takes_what_stands_on_it_along() -> None:
    catalog = catalog_of(x=EKS, y={"base": "x", "criteria": {"service": "eks", "os": "rhel"}})
    query = Criteria(service="eks", os="rhel")
    assert matching_leaves(catalog, query) == ["y"]
    assert matching_leaves(catalog, query, excluded={"x"}) == []
    assert matching_leaves(catalog, query, excluded={"y"}) == ["x"]


def test_nothing_carries_the_dimension() -> None:
    error = refusal(catalog_of(x=EKS), service="eks", os="rhel")
    assert error.message == "no recipe for service=eks, os=rhel honours os=rhel"
    assert error.details == {
        "criteria": {"service": "eks", "os": "rhel"},
        "uncovered": [{"dimension": "os", "requestedValue": "rhel", "validCompletions": []}],
    }


def test_further_criteria_would_make_it_resolvable() -> None:
    catalog = catalog_of(
        x=EKS,
        u={"criteria": {"service": "eks", "os": "ubuntu", "platform": "kubeflow"}},
        r={"criteria": {"service": "eks", "os": "rhel", "platform": "kubeflow"}},
        far={"criteria": {"service": "gke", "os": "cos", "platform": "kubeflow"}},
        more={"criteria": {"os": "ubuntu", "intent": "training", "platform": "kubeflow"}},
        other={"criteria": {"intent": "training", "platform": "kubeflow", "accelerator": "h100"}},
    )
    error = refusal(catalog, service="eks", platform="kubeflow")
    assert error.message == (
        "no recipe for service=eks, platform=kubeflow honours platform=kubeflow: it requires os "
        "(valid: rhel, ubuntu), or accelerator and intent (valid: h100+training)"
    )
    assert error.details["uncovered"] == [{
        "dimension": "platform",
        "requestedValue": "kubeflow",
        "validCompletions": [
            {"os": "rhel"}, {"os": "ubuntu"}, {"accelerator": "h100", "intent": "training"},
        ],
    }]  # fmt: skip


def test_coverage_needs_the_exact_value_and_an_ancestor_is_enough() -> None:
    catalog = catalog_of(
        x=EKS, y={"base": "x", "criteria": {"os": "rhel"}}, z={"criteria": {"intent": "training"}}
    )
    assert applied(catalog, service="eks", os="rhel") == ["base", "x", "y"]
    error = refusal(catalog, service="gke", os="rhel", intent="training")
    assert [one["dimension"] for one in error.details["uncovered"]] == ["service"]  # type: ignore[attr-defined]


def test_mixins_carry_no_coverage() -> None:
    catalog = SmallCatalog().registry(helm("a")).overlay("base", componentRefs=[{"name": "a"}])
    catalog.overlay("eks", criteria={"service": "eks"}, mixins=["os-rhel"]).mixin("os-rhel")
    error = refusal(catalog.in_memory(), service="eks", os="rhel")
    assert "honours os=rhel" in error.message


@settings(max_examples=150)
@given(asked())
def test_completions_are_those_that_cover_everything_and_the_smallest_ones(case: Case) -> None:
    described, query = case
    if oracle.is_covered(described, query):
        return
    error = refusal(written(described).in_memory(), **query)
    uncovered: Any = error.details["uncovered"]
    order = [described.overlays[name] for name in oracle.applied(described, query)]
    carried = [oracle.stated(spec.get("criteria") or {}) for spec in order]
    assert [one["dimension"] for one in uncovered] == [
        key for key in oracle.stated(query)
        if not any(one.get(key) == query[key] for one in carried)
    ]  # fmt: skip
    for one in uncovered:
        assert one["requestedValue"] == query[one["dimension"]]
        for completion in one["validCompletions"]:
            assert completion
            assert not set(completion) & set(query)
            assert set(completion) <= set(WORDS)
            assert oracle.is_covered(described, {**query, **completion})
            assert not any(other.items() < completion.items() for other in one["validCompletions"])
