"""Everything that the shipped catalog resolves can be bundled, and its charts render."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from aicr.bundle.build import Request, build_bundle
from aicr.bundle.writers import GITOPS, WRITERS
from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.recipe.listing import resolvable
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from bundles import build
from tools import tool


@pytest.fixture(scope="module")
def shipped() -> Catalog:
    return open_catalog()


@pytest.fixture(scope="module")
def recipes(shipped: Catalog) -> list[Recipe]:
    """One recipe for each set of components that the shipped catalog gives."""
    found: dict[tuple[str, ...], Recipe] = {}
    for criteria, _ in resolvable(shipped):
        recipe = resolve(shipped, criteria)
        found[tuple(recipe.deployment_order)] = recipe
    return list(found.values())


def test_every_stack_for_every_deployer(shipped: Catalog, recipes: list[Recipe]) -> None:
    for recipe in recipes:
        for deployer in WRITERS:
            repo = "https://git.example/x.git" if deployer in GITOPS else ""
            bundle = build_bundle(recipe, shipped, Request(deployer, repo=repo), where="r.yaml")
            assert bundle.plan.components == list(recipe.deployment_order)
            assert not [one for one in bundle.notices if "cannot be read" in one.message]


def test_every_generated_chart_renders(
    shipped: Catalog, recipes: list[Recipe], tmp_path: Path
) -> None:
    helm = tool("helm", "HELM_BIN")
    charts: dict[frozenset[tuple[str, bytes]], str] = {}
    for recipe in recipes:
        bundle = build(recipe, shipped)
        for release in bundle.plan.releases:
            if release.chart is None:
                at = f"{release.folder}/"
                own = {
                    (path.removeprefix(at), data)
                    for path, (data, _) in bundle.files.items()
                    if path.startswith(at)
                }
                charts.setdefault(frozenset(own), release.name)
    assert charts
    for number, (files, name) in enumerate(charts.items()):
        root = tmp_path / f"{number}-{name}"
        for path, data in files:
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        done = subprocess.run(
            [helm, "template", name, str(root), "--namespace", "ns"],
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, f"{name}: {done.stderr}"
        assert [one for one in yaml.safe_load_all(done.stdout) if one], name
