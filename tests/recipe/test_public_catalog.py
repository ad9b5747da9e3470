"""The same recipes as the public implementation makes of its own catalog (needs AICR_CASES)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.recipe.criteria import make_criteria
from aicr.recipe.document import read_recipe, recipe_values, write_recipe
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from aicr.recipe.values import component_values

COMPARED = ("name", "type", "source", "version", "chart", "namespace", "valuesFile",
            "manifestFiles", "dependencyRefs")  # fmt: skip


@pytest.fixture(scope="module")
def catalog(cases: Path) -> Catalog:
    return open_catalog(catalog=str(cases / "public-catalog"))


@pytest.fixture(scope="module")
def expected(cases: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        (cases / "public-catalog-expected.json").read_text("utf-8")
    )
    assert len(found) == 33
    return found


def recipe_of(catalog: Catalog, case: dict[str, Any]) -> Recipe:
    query = dict(case["criteria"])
    nodes = query.pop("nodes", 0)
    return resolve(catalog, make_criteria(query, catalog, nodes=nodes))


@pytest.mark.parametrize("index", range(33))
def test_overlays_constraints_components_and_order(
    catalog: Catalog, expected: list[dict[str, Any]], index: int
) -> None:
    case = expected[index]
    values: Any = recipe_values(recipe_of(catalog, case))
    assert values["metadata"]["appliedOverlays"] == case["appliedOverlays"]
    assert values.get("constraints", []) == case["constraints"]
    assert values["deploymentOrder"] == case["deploymentOrder"]
    compared = [
        {"source": "", **{key: ref[key] for key in COMPARED if key in ref}}
        for ref in values["componentRefs"]
    ]
    assert compared == case["components"]


@pytest.mark.parametrize("index", range(33))
def test_values(catalog: Catalog, expected: list[dict[str, Any]], index: int) -> None:
    case = expected[index]
    found = {
        ref.name: component_values(catalog, ref) for ref in recipe_of(catalog, case).components
    }
    assert found == case["values"]


@pytest.mark.parametrize("index", range(33))
def test_round_trip(catalog: Catalog, expected: list[dict[str, Any]], index: int) -> None:
    recipe = recipe_of(catalog, expected[index])
    again = read_recipe(write_recipe(recipe), "r.yaml")
    assert recipe_values(again) == recipe_values(recipe)
