"""The argocd-helm bundle: a chart that a real Helm renders to valid Applications."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from aicr.bundle.build import Bundle
from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.recipe.criteria import Criteria
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from bundles import STACK_RELEASES, build, parsed, write_out
from crds import check
from tools import tool

REPO = ("--set", "repoURL=https://git.example/b.git")


def helm(*arguments: str) -> subprocess.CompletedProcess[str]:
    program = tool("helm", "HELM_BIN")
    return subprocess.run([program, *arguments], capture_output=True, encoding="utf-8", timeout=60)


def rendered(bundle: Bundle, root: Path, *flags: str) -> dict[str, dict[str, dict[str, object]]]:
    done = helm("template", "aicr-bundle", str(write_out(bundle, root)), *flags)
    assert done.returncode == 0, done.stderr
    documents = list(yaml.safe_load_all(done.stdout))
    return {one["metadata"]["name"]: one for one in documents}


def source_of(document: dict[str, dict[str, object]]) -> dict[str, object]:
    source = document["spec"]["source"]
    assert isinstance(source, dict)
    return source


def test_the_layout(recipe: Recipe, catalog: Catalog) -> None:
    files = set(build(recipe, catalog, "argocd-helm").files)
    assert {"Chart.yaml", "values.yaml", "values.schema.json"} <= files
    assert {f"templates/{name}.yaml" for name in STACK_RELEASES} == {
        path for path in files if path.startswith("templates/")
    }
    assert "005-plain/templates/only.yaml" in files


def test_values_have_each_release_under_its_name(recipe: Recipe, catalog: Catalog) -> None:
    bundle = build(recipe, catalog, "argocd-helm")
    values = parsed(bundle.files["values.yaml"][0])
    assert isinstance(values, dict)
    for release in bundle.plan.releases:
        assert values[release.name] == release.values
    assert "repoURL" not in values


def test_it_lints_and_renders_valid_applications(
    recipe: Recipe, catalog: Catalog, tmp_path: Path
) -> None:
    bundle = build(recipe, catalog, "argocd-helm")
    found = rendered(bundle, tmp_path / "b", *REPO)
    assert set(found) == set(STACK_RELEASES)
    for document in found.values():
        check(document)
    linted = helm("lint", str(tmp_path / "b"), *REPO)
    assert linted.returncode == 0, linted.stdout


def test_each_application_has_the_plans_values(
    recipe: Recipe, catalog: Catalog, tmp_path: Path
) -> None:
    sets = [r"oci:big=123456789", r"oci:a\.b/c=x: y", "oci:empty=", "oci:t=007", "oci:new.off=null"]
    bundle = build(recipe, catalog, "argocd-helm", sets=sets)
    found = rendered(bundle, tmp_path / "b", *REPO)
    for release in bundle.plan.releases:
        settings = source_of(found[release.name])["helm"]
        assert isinstance(settings, dict)
        assert settings["releaseName"] == release.name
        assert yaml.safe_load(settings["values"]) == release.values


def test_where_the_bundle_is_kept_is_said_at_install_time(
    recipe: Recipe, catalog: Catalog, tmp_path: Path
) -> None:
    bundle = build(recipe, catalog, "argocd-helm")
    root = write_out(bundle, tmp_path / "b")
    done = helm("template", "x", str(root))
    assert done.returncode != 0
    assert "repoURL" in done.stderr
    found = rendered(bundle, root, *REPO, "--set", "targetRevision=v9")
    source = source_of(found["plain"])
    assert source["repoURL"] == "https://git.example/b.git"
    assert source["targetRevision"] == "v9"
    assert source["path"] == "005-plain"
    assert source_of(found["oci"])["repoURL"] == "registry.example/charts"


def test_charts_alone_need_no_repository(recipe: Recipe, catalog: Catalog, tmp_path: Path) -> None:
    sets = ["chart:enabled=false", "plain:enabled=false"]
    assert set(rendered(build(recipe, catalog, "argocd-helm", sets=sets), tmp_path)) == {"oci"}


def test_a_cluster_can_change_values(recipe: Recipe, catalog: Catalog, tmp_path: Path) -> None:
    bundle = build(recipe, catalog, "argocd-helm")
    found = rendered(bundle, tmp_path / "b", *REPO, "--set", "oci.replicas=5")
    settings = source_of(found["oci"])["helm"]
    assert isinstance(settings, dict)
    assert yaml.safe_load(settings["values"]) == {"replicas": 5}


def test_a_misspelt_release_is_refused(recipe: Recipe, catalog: Catalog, tmp_path: Path) -> None:
    root = write_out(build(recipe, catalog, "argocd-helm"), tmp_path / "b")
    done = helm("template", "x", str(root), *REPO, "--set", "ocii.replicas=5")
    assert done.returncode != 0
    assert "ocii" in done.stderr


def test_the_schema_is_one(recipe: Recipe, catalog: Catalog) -> None:
    from jsonschema import Draft7Validator

    schema = json.loads(build(recipe, catalog, "argocd-helm").files["values.schema.json"][0])
    Draft7Validator.check_schema(schema)


@pytest.mark.parametrize("query", [Criteria(service="eks", accelerator="h100", intent="training")])
def test_the_shipped_stack(tmp_path: Path, query: Criteria) -> None:
    catalog = open_catalog()
    bundle = build(resolve(catalog, query), catalog, "argocd-helm")
    found = rendered(bundle, tmp_path / "b", *REPO)
    assert set(found) == {release.name for release in bundle.plan.releases}
    for release in bundle.plan.releases:
        check(found[release.name])
        settings = source_of(found[release.name])["helm"]
        assert isinstance(settings, dict)
        assert yaml.safe_load(settings["values"]) == release.values
