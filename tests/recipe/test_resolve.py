"""Resolving, against the rules said a second time, and without a trace in the catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings

import resolution_oracle as oracle
from aicr import __version__
from aicr.catalog.layers import Catalog
from aicr.errors import INVALID_REQUEST, AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.document import read_recipe, recipe_values, write_recipe
from aicr.recipe.resolve import resolve
from aicr.recipe.values import component_values
from catalog_strategies import asked, asked_often, seeds, written
from resolution_oracle import Described, RefusedError, Values
from small_catalog import SmallCatalog, helm, simple

Case = tuple[Described, Values]


def outcome(catalog: Catalog, query: Values) -> Values | None:
    """The recipe as native values; None where it is refused as the caller's fault."""
    try:
        return recipe_values(resolve(catalog, Criteria(**query)))
    except AicrError as error:
        if error.code != INVALID_REQUEST:
            raise
        return None


def expected(described: Described, query: Values) -> Values | None:
    try:
        return oracle.resolve(described, query)
    except RefusedError:
        return None


@settings(max_examples=500)
@given(asked())
def test_as_the_rules_say(case: Case) -> None:
    described, query = case
    found = outcome(written(described).in_memory(), query)
    wanted = expected(described, query)
    if wanted is None or found is None:
        assert (found, wanted) == (None, None)
        return
    metadata: Any = found["metadata"]
    assert metadata["appliedOverlays"] == wanted["appliedOverlays"]
    assert found.get("constraints", []) == wanted["constraints"]
    assert found["componentRefs"] == wanted["componentRefs"]
    assert found["deploymentOrder"] == wanted["deploymentOrder"]
    assert found.get("validation", {}) == wanted["validation"]
    assert found["criteria"] == query


@settings(max_examples=300)
@given(asked())
def test_values_as_the_rules_say(case: Case) -> None:
    described, query = case
    catalog = written(described).in_memory()
    try:
        recipe = resolve(catalog, Criteria(**query))
    except AicrError:
        return
    for ref, wanted in zip(
        recipe.components, oracle.resolve(described, query)["componentRefs"], strict=True
    ):
        try:
            values = oracle.component_values(described, wanted)
        except RefusedError:
            with pytest.raises(AicrError, match="not in the catalog"):
                component_values(catalog, ref)
            continue
        assert component_values(catalog, ref) == values


@settings(max_examples=100)
@given(asked(), seeds)
def test_the_order_of_files_decides_nothing(case: Case, seed: int) -> None:
    described, query = case
    files = written(described)
    paths = sorted(files.files)
    Random(seed).shuffle(paths)
    assert outcome(files.in_memory(paths), query) == outcome(files.in_memory(), query)


@settings(max_examples=100)
@given(asked_often())
def test_what_was_resolved_before_decides_nothing(case: tuple[Described, list[Values]]) -> None:
    described, queries = case
    files = written(described)
    used = files.in_memory()
    for query in [*queries, *reversed(queries)]:
        assert outcome(used, query) == outcome(files.in_memory(), query)


def snapshot(value: object) -> object:
    """Everything below a value, by content."""
    if isinstance(value, Mapping):
        return {key: snapshot(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [snapshot(item) for item in value]
    slots = getattr(type(value), "__slots__", ())
    if slots and not callable(value):
        return {slot: snapshot(getattr(value, slot)) for slot in slots}
    return value


def spoil(value: object) -> None:
    """Change every map and list that can be reached."""
    if isinstance(value, dict):
        for item in list(value.values()):
            spoil(item)
        value["spoiled"] = "spoiled"
    elif isinstance(value, list):
        for item in value:
            spoil(item)
        value.append("spoiled")
    else:
        for slot in getattr(type(value), "__slots__", ()):
            spoil(getattr(value, slot))


@settings(max_examples=100)
@given(asked())
def test_the_catalog_is_never_changed(case: Case) -> None:
    described, query = case
    catalog = written(described).in_memory()
    first = outcome(catalog, query)
    before = everything(catalog, described)
    if first is None:
        return
    recipe = resolve(catalog, Criteria(**query))
    for ref in recipe.components:
        try:
            spoil(component_values(catalog, ref))
        except AicrError:
            continue
    assert recipe_values(recipe) == first
    for ref in recipe.components:
        spoil(ref)
    spoil(recipe.validation)
    spoil(recipe.deployment_order)
    spoil(recipe.applied_overlays)
    assert everything(catalog, described) == before
    assert outcome(catalog, query) == first


def everything(catalog: Catalog, described: Described) -> object:
    return [
        snapshot(catalog.registry),
        snapshot(catalog.heads),
        [snapshot(catalog.overlay(name)) for name in described.overlays],
        [snapshot(catalog.mixin(name, "")) for name in described.mixins],
        [snapshot(catalog.node(path)) for path in described.files],
    ]


@settings(max_examples=100)
@given(asked())
def test_every_recipe_is_read_back_as_it_was_written(case: Case) -> None:
    described, query = case
    found = outcome(written(described).in_memory(), query)
    if found is None or not found["componentRefs"]:
        return
    recipe = resolve(written(described).in_memory(), Criteria(**query))
    text = write_recipe(recipe)
    again = read_recipe(text.encode(), "r.yaml")
    assert recipe_values(again) == found
    assert write_recipe(again) == text


def test_metadata() -> None:
    catalog = simple({"name": "a"}).in_memory()
    recipe = resolve(catalog, Criteria(service="eks", nodes=4))
    assert recipe_values(recipe)["metadata"] == {
        "version": __version__,
        "catalogDigest": catalog.digest,
        "appliedOverlays": ["base", "eks"],
    }
    assert recipe_values(recipe)["criteria"] == {"service": "eks", "nodes": 4}


def test_a_catalog_without_a_root_overlay() -> None:
    catalog = SmallCatalog().registry(helm("a"))
    catalog.overlay("eks", criteria={"service": "eks"}, componentRefs=[{"name": "a"}])
    recipe = resolve(catalog.in_memory(), Criteria(service="eks"))
    assert recipe.applied_overlays == ["eks"]
    assert recipe.deployment_order == ["a"]
