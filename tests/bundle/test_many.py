"""One process that makes bundle after bundle holds on to none of them."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from aicr.artifact.atomic import replace_directory
from aicr.bundle.layout import SIGN
from aicr.bundle.writers import WRITERS
from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.recipe.criteria import Criteria
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from bundles import build

# A bundle of these has more than ten times this, so one that stays for each would show.
ALLOWED_EACH = 2048


def held(make: Callable[[int], None], first: int, last: int) -> int:
    """Bytes that Python's objects take after ``last`` turns and did not after ``first``."""
    found: list[int] = []
    tracemalloc.start()
    try:
        for turn in range(1, last + 1):
            make(turn)
            if turn in (first, last):
                gc.collect()
                found.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    return found[1] - found[0]


@pytest.mark.parametrize("deployer", WRITERS)
def test_sixty_bundles(recipe: Recipe, catalog: Catalog, tmp_path: Path, deployer: str) -> None:
    def make(turn: int) -> None:
        bundle = build(recipe, catalog, deployer, sets=[f"oci:turn=t{turn}"])
        replace_directory(str(tmp_path / "b"), bundle.files, sign=SIGN)

    size = sum(len(data) for data, _ in build(recipe, catalog, deployer).files.values())
    assert size > 5 * ALLOWED_EACH
    assert held(make, 10, 60) < 50 * ALLOWED_EACH


def test_the_shipped_stack() -> None:
    """With records to read, guidance to write, and a recipe resolved each time."""
    catalog = open_catalog()
    deployers = list(WRITERS)

    def make(turn: int) -> None:
        criteria = Criteria(service="eks", accelerator="h100", intent="training")
        build(resolve(catalog, criteria), catalog, deployers[turn % len(deployers)])

    assert held(make, 10, 30) < 20 * ALLOWED_EACH
