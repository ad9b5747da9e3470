"""The flux bundle: it builds with Kustomize, and its objects are valid and depend as planned."""

from __future__ import annotations

from pathlib import Path

import pytest

from aicr.bundle.build import Bundle, Request, build_bundle
from aicr.bundle.writers.flux import git_ref
from aicr.catalog.layers import Catalog
from aicr.catalog.model import ComponentRef
from aicr.catalog.open import open_catalog
from aicr.recipe.criteria import Criteria
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from bundles import STACK_RELEASES, build, parsed, recipe_of, write_out
from crds import check
from kustomize import built

REPO = "https://git.example/bundles.git"
Document = dict[str, dict[str, object]]


def bundle(recipe: Recipe, catalog: Catalog, *sets: str, repo: str = REPO) -> Bundle:
    request = Request("flux", sets=sets, repo=repo)
    return build_bundle(recipe, catalog, request, where="recipe.yaml")


def documents(found: Bundle) -> dict[tuple[str, str], Document]:
    """What kustomization.yaml lists, by kind and name."""
    index = parsed(found.files["kustomization.yaml"][0])
    assert isinstance(index, dict)
    assert index["kind"] == "Kustomization"
    listed: dict[tuple[str, str], Document] = {}
    for path in index["resources"]:
        document = parsed(found.files[path][0])
        assert isinstance(document, dict)
        listed[document["kind"], document["metadata"]["name"]] = document
    assert len(listed) == len(index["resources"])
    return listed


def releases(found: Bundle) -> dict[str, Document]:
    return {name: one for (kind, name), one in documents(found).items() if kind == "HelmRelease"}


def test_every_object_is_valid_and_listed(recipe: Recipe, catalog: Catalog) -> None:
    found = bundle(recipe, catalog)
    listed = documents(found)
    for document in listed.values():
        check(document)
        assert document["metadata"]["namespace"] == "flux-system"
    assert list(releases(found)) == STACK_RELEASES
    assert [key for key in listed if key[0] != "HelmRelease"] == [
        ("GitRepository", "aicr-bundle"),
        ("HelmRepository", "charts-example-chart"),
        ("OCIRepository", "registry-example-charts-oci-chart"),
    ]


def test_dependencies_are_the_plans(recipe: Recipe, catalog: Catalog) -> None:
    found = bundle(recipe, catalog)
    for release in found.plan.releases:
        spec = releases(found)[release.name]["spec"]
        assert spec.get("dependsOn", []) == [{"name": name} for name in release.needs]


def test_charts_and_values(recipe: Recipe, catalog: Catalog) -> None:
    found = bundle(recipe, catalog)
    listed = releases(found)
    assert listed["chart"]["spec"]["chart"] == {
        "spec": {
            "chart": "chart",
            "version": "v1.2.3",
            "sourceRef": {"kind": "HelmRepository", "name": "charts-example-chart"},
        }
    }
    assert listed["oci"]["spec"]["chartRef"] == {
        "kind": "OCIRepository",
        "name": "registry-example-charts-oci-chart",
    }
    assert listed["plain"]["spec"]["chart"] == {
        "spec": {
            "chart": "./plain",
            "reconcileStrategy": "Revision",
            "sourceRef": {"kind": "GitRepository", "name": "aicr-bundle"},
        }
    }
    assert "plain/Chart.yaml" in found.files
    assert "plain/templates/only.yaml" in found.files
    for release in found.plan.releases:
        assert listed[release.name]["spec"]["values"] == release.values
        assert listed[release.name]["spec"]["targetNamespace"] == release.namespace


def test_crds_are_replaced_where_the_registry_says_so(recipe: Recipe, catalog: Catalog) -> None:
    for name, document in releases(bundle(recipe, catalog)).items():
        for action in ("install", "upgrade"):
            settings = document["spec"][action]
            assert isinstance(settings, dict)
            assert settings.get("crds") == ("CreateReplace" if name == "chart" else None)


def test_charts_of_one_repository_share_a_source(catalog: Catalog) -> None:
    one = ComponentRef("a", type="Helm", source="https://h/x/", version="1.0.0")
    two = ComponentRef("b", type="Helm", source="https://h/x", version="2.0.0")
    other = ComponentRef("c", type="Helm", source="oci://h/x", chart="y", version="1.0.0+z")
    alike = ComponentRef("d", type="Helm", source="https://h-x", chart="y", version="1.0.0")
    found = build(recipe_of(one, two, other, alike), catalog, "flux")
    sources = {key: doc for key, doc in documents(found).items() if key[0] != "HelmRelease"}
    assert set(sources) == {
        ("HelmRepository", "h-x"),
        ("OCIRepository", "h-x-y"),
        ("HelmRepository", "h-x-x"),
    }
    assert sources["OCIRepository", "h-x-y"]["spec"]["ref"] == {"tag": "1.0.0_z"}


@pytest.mark.parametrize(
    ("revision", "expected"),
    [
        ("main", {"branch": "main"}),
        ("v1.2.3", {"tag": "v1.2.3"}),
        ("refs/heads/x", {"name": "refs/heads/x"}),
        ("0123456789abcdef" * 4, {"commit": "0123456789abcdef" * 4}),
        ("01234" * 8, {"commit": "01234" * 8}),
        ("01234" * 7, {"branch": "01234" * 7}),
    ],
)  # fmt: skip
def test_revisions(revision: str, expected: dict[str, str]) -> None:
    assert git_ref(revision) == expected


def test_a_repository_is_asked_for_only_where_it_is_needed(
    recipe: Recipe, catalog: Catalog
) -> None:
    (notice,) = bundle(recipe, catalog, repo="").notices
    assert "--repo" in notice.message
    sets = ["chart:enabled=false", "plain:enabled=false"]
    assert bundle(recipe, catalog, *sets, repo="").notices == []


def test_kustomize_builds_it(recipe: Recipe, catalog: Catalog, tmp_path: Path) -> None:
    found = bundle(recipe, catalog, "oci:new.off=null", "oci:t=007")
    objects = built(write_out(found, tmp_path / "b"))
    assert {(one["kind"], one["metadata"]["name"]): one for one in objects} == documents(found)


def test_the_shipped_stack(tmp_path: Path) -> None:
    catalog = open_catalog()
    recipe = resolve(catalog, Criteria(service="eks", accelerator="h100", intent="training"))
    found = bundle(recipe, catalog)
    for document in documents(found).values():
        check(document)
    assert len(built(write_out(found, tmp_path / "b"))) == len(documents(found))
