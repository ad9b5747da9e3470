"""The helmfile bundle: levels and needs give the plan's order."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from aicr.bundle.build import Bundle
from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.recipe.criteria import Criteria
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from bundles import build, write_out
from tools import tool

State = Mapping[str, object]


def states(bundle: Bundle) -> list[dict[str, list[dict[str, object]]]]:
    """The state files in the order in which Helmfile takes them."""
    root = yaml.safe_load(bundle.files["helmfile.yaml"][0])
    if "helmfiles" not in root:
        return [root]
    assert set(root) == {"helmfiles"}
    return [yaml.safe_load(bundle.files[item["path"]][0]) for item in root["helmfiles"]]


def assert_order(bundle: Bundle) -> None:
    """Each release comes after what it waits for, by its file or by its needs."""
    file_of: dict[str, int] = {}
    needs: dict[str, list[str]] = {}
    for number, state in enumerate(states(bundle)):
        for entry in state["releases"]:
            name = str(entry["name"])
            assert name not in file_of
            file_of[name] = number
            found = entry.get("needs", [])
            assert isinstance(found, list)
            needs[name] = [need.rpartition("/")[2] for need in found]
            assert all(file_of.get(need) in (None, number) for need in needs[name])
    assert set(file_of) == {release.name for release in bundle.plan.releases}
    for release in bundle.plan.releases:
        for need in release.needs:
            assert file_of[need] < file_of[release.name] or need in needs[release.name]


@pytest.fixture(scope="module")
def shipped() -> Bundle:
    catalog = open_catalog()
    recipe = resolve(catalog, Criteria(service="eks", accelerator="h100", intent="training"))
    return build(recipe, catalog, "helmfile")


def test_levels(recipe: Recipe, catalog: Catalog) -> None:
    bundle = build(recipe, catalog, "helmfile")
    names = [[entry["name"] for entry in state["releases"]] for state in states(bundle)]
    assert names == [["oci"], ["chart-pre", "chart", "chart-post"], ["plain"]]
    assert_order(bundle)


def test_one_file_where_nothing_depends_on_anything(recipe: Recipe, catalog: Catalog) -> None:
    sets = ["chart:enabled=false", "plain:enabled=false"]
    bundle = build(recipe, catalog, "helmfile", sets=sets)
    assert not [path for path in bundle.files if path.startswith("level-")]
    assert_order(bundle)


def test_the_releases(recipe: Recipe, catalog: Catalog) -> None:
    bundle = build(recipe, catalog, "helmfile")
    first, second, _ = states(bundle)
    (oci,) = first["releases"]
    assert oci["chart"] == "oci://registry.example/charts/oci-chart"
    assert oci["version"] == "26.10"
    pre, chart, post = second["releases"]
    assert second["repositories"] == [{"name": "aicr-chart", "url": "https://charts.example/chart"}]
    assert chart["chart"] == "aicr-chart/chart"
    assert chart["needs"] == ["chart-system/chart-pre"]
    assert post["needs"] == ["chart-system/chart"]
    assert pre["chart"] == "./002-chart-pre"
    for state in states(bundle):
        for entry in state["releases"]:
            values = entry["values"]
            assert isinstance(values, list)
            assert all(path in bundle.files for path in values)
            assert str(entry["chart"]).startswith(("./", "oci://", "aicr-"))


def test_folders_are_those_of_helm(recipe: Recipe, catalog: Catalog) -> None:
    def folders(deployer: str) -> dict[str, tuple[bytes, bool]]:
        files = build(recipe, catalog, deployer).files
        return {path: file for path, file in files.items() if path[0].isdigit()}

    assert folders("helmfile") == folders("helm")


def test_the_shipped_stack(shipped: Bundle) -> None:
    assert len(states(shipped)) > 1
    assert_order(shipped)


def test_real_helmfile_loads_it(shipped: Bundle, tmp_path: Path) -> None:
    helmfile = tool("helmfile", "HELMFILE_BIN")
    helm = tool("helm", "HELM_BIN")
    root = write_out(shipped, tmp_path / "b")
    env = {**os.environ, "HELMFILE_HELM_BINARY": helm, "HOME": str(tmp_path)}
    done = subprocess.run(
        [helmfile, "--helm-binary", helm, "list", "--output", "json"],
        cwd=root, env=env, capture_output=True, encoding="utf-8", timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = yaml.safe_load(done.stdout)
    assert {one["name"] for one in found} == {one.name for one in shipped.plan.releases}
