"""Names that would take the place of something else in a bundle."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.bundle.charts import manifest_names
from aicr.catalog.layers import Catalog
from aicr.catalog.model import ComponentRef
from aicr.errors import AicrError
from bundles import build, recipe_of, write_out
from tools import tool

SOURCE: dict[str, Any] = {
    "type": "Helm",
    "source": "https://charts.example",
    "chart": "c",
    "version": "1.0.0",
}


def test_manifests_have_names_of_their_own() -> None:
    assert manifest_names(["a/x.yaml", "b/y.yaml"]) == ["x.yaml", "y.yaml"]
    assert manifest_names(["a/x.yaml", "b/x.yaml"]) == ["a-x.yaml", "b-x.yaml"]
    assert manifest_names(["m/x/b.yaml", "m/y/b.yaml", "c/m-x-b.yaml"]) == [
        "m-x-b.yaml",
        "m-y-b.yaml",
        "c-m-x-b.yaml",
    ]
    with pytest.raises(AicrError, match=r'would both be "a-b-c\.yaml"'):
        manifest_names(["a/b-c.yaml", "a-b/c.yaml", "x/c.yaml", "a-b-c.yaml"])


@pytest.mark.parametrize(
    ("deployer", "name"),
    [("argocd", "aicr-bundle"), ("argocd-helm", "aicr-bundle"), ("flux", "sources"),
     ("flux", "vendor"), ("flux", "aicr-bundle")],
)  # fmt: skip
def test_names_of_the_bundles_own(catalog: Catalog, deployer: str, name: str) -> None:
    recipe = recipe_of(ComponentRef(name, **SOURCE))
    with pytest.raises(AicrError, match="a name of the bundle's own"):
        build(recipe, catalog, deployer)
    assert build(recipe, catalog, "helm").files


@pytest.mark.parametrize("name", ["recipe", "provenance", "bundle-info", "checksums"])
def test_a_component_called_like_a_file(catalog: Catalog, tmp_path: Path, name: str) -> None:
    bundle = build(recipe_of(ComponentRef(name, **SOURCE)), catalog, "argocd-helm")
    folder = write_out(bundle, tmp_path / "b")
    words = [tool("helm", "HELM_BIN"), "template", "x", str(folder)]
    found = subprocess.run(words, capture_output=True, encoding="utf-8", timeout=60)
    assert found.returncode == 0, found.stderr
    documents = [one for one in yaml.safe_load_all(found.stdout) if one]
    assert [one["metadata"]["name"] for one in documents] == [name]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_helm_could_not_read_is_not_written(catalog: Catalog, value: float) -> None:
    ref = ComponentRef("a", overrides={"deep": [{"x": value}], "text": ".nan"}, **SOURCE)
    with pytest.raises(AicrError, match=r'a: the value of "deep\[0\].x" is'):
        build(recipe_of(ref), catalog)
    named = ComponentRef("a", overrides={"text": ".nan"}, **SOURCE)
    assert b'text: ".nan"' in build(recipe_of(named), catalog).files["001-a/values.yaml"][0]
