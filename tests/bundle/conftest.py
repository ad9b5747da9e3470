"""A catalog with every kind of release, and its recipe."""

from __future__ import annotations

import pytest

from aicr.catalog.layers import Catalog
from aicr.recipe.model import Recipe
from bundles import stack, stack_recipe


@pytest.fixture(scope="session")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return stack().open(tmp_path_factory.mktemp("stack") / "catalog")


@pytest.fixture(scope="session")
def recipe(catalog: Catalog) -> Recipe:
    return stack_recipe(catalog)
