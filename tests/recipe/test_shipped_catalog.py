"""The shipped catalog: every combination that the public one carries in full resolves on it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.documents.nodes import Map
from aicr.recipe.criteria import KNOWN, Criteria, make_criteria
from aicr.recipe.document import read_recipe, recipe_values, write_recipe
from aicr.recipe.listing import resolvable
from aicr.recipe.resolve import resolve
from aicr.recipe.values import component_values

with (Path(__file__).parents[1] / "data" / "public-criteria.csv").open(encoding="utf-8") as file:
    PUBLIC = [{key: value for key, value in row.items() if value} for row in csv.DictReader(file)]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return open_catalog()


def test_the_list_is_whole() -> None:
    assert len(PUBLIC) == 66
    assert len({tuple(one.items()) for one in PUBLIC}) == 66


@pytest.mark.parametrize("stated", PUBLIC, ids=lambda one: "-".join(one.values()))
def test_a_public_combination_resolves(catalog: Catalog, stated: dict[str, str]) -> None:
    recipe = resolve(catalog, make_criteria(stated, catalog, strict=True))
    assert recipe.criteria.stated() == stated
    assert recipe.deployment_order
    for ref in recipe.components:
        component_values(catalog, ref)
        for path in (*ref.manifest_files, *ref.pre_manifest_files):
            assert catalog.file(path)
    again = read_recipe(write_recipe(recipe), "r.yaml")
    assert recipe_values(again) == recipe_values(recipe)


def test_the_list_of_what_resolves_has_them_all(catalog: Catalog) -> None:
    listed = dict(resolvable(catalog))
    for stated in PUBLIC:
        assert listed[Criteria.of(stated)] > 0


def test_on_the_public_catalog_the_list_is_exactly_these(cases: Path) -> None:
    public = open_catalog(catalog=str(cases / "public-catalog"))
    listed = [criteria for criteria, _ in resolvable(public)]
    assert len(listed) == 66
    assert set(listed) == {Criteria.of(stated) for stated in PUBLIC}


def test_every_file_can_be_read(catalog: Catalog) -> None:
    for path in catalog.paths():
        if path.startswith("components/") and path.endswith(".yaml"):
            if "/manifests/" in path:
                assert catalog.file(path).decode("utf-8").strip()
            else:
                assert isinstance(catalog.node(path), Map), path


def test_every_component_folder_belongs_to_a_registered_component(catalog: Catalog) -> None:
    folders = {path.split("/")[1] for path in catalog.paths() if path.startswith("components/")}
    assert folders <= set(catalog.registry)


def test_overlays_use_only_known_values(catalog: Catalog) -> None:
    for head in catalog.heads.values():
        for dimension, value in (head.criteria or {}).items():
            assert dimension == "nodes" or value in KNOWN[dimension], head.name
