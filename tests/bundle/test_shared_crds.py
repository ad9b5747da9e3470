"""A CRD that two charts bring: the one that does not own it leaves it alone under Argo CD."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.bundle.writers import WRITERS
from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from bundles import build, write_out
from crds import check
from small_catalog import SmallCatalog, helm
from tools import tool

CRD = "things.example.com"
SHARED = [{"name": CRD, "owners": ["owner", "other"]}]


def opened(root: Path, shared: object = SHARED) -> tuple[Recipe, Catalog]:
    catalog = SmallCatalog().registry(helm("copy", "1.0.0", sharedCRDs=shared), helm("owner"))
    catalog.overlay("base", componentRefs=[{"name": "copy"}, {"name": "owner"}])
    found = catalog.overlay("eks", criteria={"service": "eks"}).open(root)
    return resolve(found, Criteria(service="eks")), found


def applications(
    recipe: Recipe, catalog: Catalog, deployer: str, root: Path, *sets: str
) -> dict[str, dict[str, Any]]:
    bundle = build(recipe, catalog, deployer, sets=sets)
    if deployer == "argocd":
        documents = [
            yaml.safe_load(data)
            for path, (data, _) in bundle.files.items()
            if path.endswith("/application.yaml")
        ]
    else:
        command = [tool("helm", "HELM_BIN"), "template", "x", str(write_out(bundle, root))]
        command += ["--set", "repoURL=https://git.example/b.git"]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
        documents = list(yaml.safe_load_all(done.stdout))
    for document in documents:
        check(document)
    return {document["metadata"]["name"]: document["spec"] for document in documents}


def options(spec: dict[str, Any]) -> object:
    return spec["syncPolicy"]["syncOptions"]


@pytest.mark.parametrize("deployer", ["argocd", "argocd-helm"])
def test_the_copy_is_left_alone(tmp_path: Path, deployer: str) -> None:
    found = applications(*opened(tmp_path / "c"), deployer, tmp_path / "b")
    assert found["copy"]["ignoreDifferences"] == [
        {
            "group": "apiextensions.k8s.io",
            "kind": "CustomResourceDefinition",
            "name": CRD,
            "jsonPointers": ["/spec/versions/0/schema"],
        }
    ]
    assert "RespectIgnoreDifferences=true" in str(options(found["copy"]))
    assert "ignoreDifferences" not in found["owner"]
    assert "RespectIgnoreDifferences" not in str(options(found["owner"]))


@pytest.mark.parametrize("deployer", ["argocd", "argocd-helm"])
def test_without_the_owner_it_is_its_own(tmp_path: Path, deployer: str) -> None:
    recipe, catalog = opened(tmp_path / "c")
    found = applications(recipe, catalog, deployer, tmp_path / "b", "owner:enabled=false")
    assert "ignoreDifferences" not in found["copy"]


@pytest.mark.parametrize("deployer", sorted(set(WRITERS) - {"argocd", "argocd-helm"}))
def test_other_deployers_install_crds_once(tmp_path: Path, deployer: str) -> None:
    files = build(*opened(tmp_path), deployer).files
    assert not any(CRD.encode() in data for data, _ in files.values())


@pytest.mark.parametrize(
    ("shared", "says"),
    [
        ("x", r"copy\.sharedCRDs: expected a list"),
        ([CRD], r"copy\.sharedCRDs\[0\]: expected the name"),
        ([{"name": CRD}], r"sharedCRDs\[0\]: expected the name"),
        ([{"name": CRD, "owners": "owner"}], r"sharedCRDs\[0\]: expected the name"),
        ([{"name": CRD, "owners": [], "more": 1}], r"sharedCRDs\[0\]: expected the name"),
        ([{"name": "{{ x }}", "owners": ["owner"]}], r"'\{\{ x \}\}' is no name of a CRD"),
    ],
)
def test_what_cannot_be_read(tmp_path: Path, shared: object, says: str) -> None:
    with pytest.raises(AicrError, match=says):
        build(*opened(tmp_path, shared), "argocd")


def test_the_shipped_catalog_settles_the_compute_domain(tmp_path: Path) -> None:
    catalog = open_catalog()
    recipe = resolve(catalog, Criteria(service="eks", accelerator="h100", intent="training"))
    found = applications(recipe, catalog, "argocd", tmp_path)
    leaving = {name for name, spec in found.items() if "ignoreDifferences" in spec}
    assert leaving == {"gpu-operator"}
    assert "computedomains.resource.nvidia.com" in str(found["gpu-operator"])
