"""A Kustomize component is built, patched, and wrapped as a chart that renders to the build."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from aicr.bundle.kustomize import target
from aicr.catalog.layers import Catalog
from aicr.catalog.model import ComponentRef
from aicr.errors import AicrError
from aicr.recipe.model import Recipe
from bundles import build, recipe_of, write_out
from kustomize import builder
from small_catalog import SmallCatalog
from tools import tool

MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: greeting}
data:
  text: "{{ no template }} of ours"
  other: unpatched
"""
PATCH = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: greeting}
data: {other: patched}
"""


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    git = tool("git", "GIT_BIN")
    root = tmp_path_factory.mktemp("repo")
    (root / "deploy").mkdir()
    (root / "deploy" / "map.yaml").write_text(MAP)
    (root / "deploy" / "kustomization.yaml").write_text("resources: [map.yaml]\n")
    who = ["-c", "user.name=t", "-c", "user.email=t@example"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["tag", "v1.0.0"]):
        subprocess.run([git, "-C", str(root), *who, *command], check=True)
    return root


def component(repository: Path, **fields: object) -> ComponentRef:
    ref = ComponentRef(
        "built", type="Kustomize", source=f"file://{repository}", path="deploy", tag="v1.0.0"
    )
    return ref.replace(**fields)


def opened(root: Path) -> Catalog:
    catalog = SmallCatalog().registry({"name": "built"}).overlay("base", componentRefs=[])
    return catalog.add("components/built/patch.yaml", PATCH).open(root)


def alone(ref: ComponentRef) -> Recipe:
    return recipe_of(ref, order=[ref.name])


def test_where_kustomize_looks() -> None:
    ref = ComponentRef("x", source="https://h/a/b/", path="./deploy/prod", tag="v1")
    assert target(ref) == "https://h/a/b//deploy/prod?ref=v1"
    assert target(ref.replace(path="", tag="")) == "https://h/a/b"


def test_built_and_patched(repository: Path, tmp_path: Path) -> None:
    builder()
    helm = tool("helm", "HELM_BIN")
    ref = component(repository, patches=["components/built/patch.yaml"])
    bundle = build(alone(ref), opened(tmp_path / "c"))
    root = write_out(bundle, tmp_path / "b")
    chart = root / "001-built"
    assert yaml.safe_load((chart / "Chart.yaml").read_text())["appVersion"] == "v1.0.0"
    done = subprocess.run(
        [helm, "template", "built", str(chart)], capture_output=True, encoding="utf-8", check=True
    )
    data = yaml.safe_load(done.stdout)["data"]
    assert data == {"text": "{{ no template }} of ours", "other": "patched"}


def test_kubectl_is_missing(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(AicrError, match="neither kubectl nor kustomize is on PATH") as caught:
        build(alone(component(repository)), opened(tmp_path / "c"))
    assert "built:enabled=false" in caught.value.hint


@pytest.mark.parametrize("name", ["kubectl", "kustomize"])
def test_one_of_two_programs_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A stand-in that answers with how it was called."""
    program = tmp_path / name
    program.write_text('#!/bin/sh\necho "kind: X"\necho "called: $0 $1"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    ref = ComponentRef("built", type="Kustomize", source="https://git.example/x", tag="v1.0.0")
    found = build(alone(ref), opened(tmp_path / "c")).files["001-built/templates/kustomize.yaml"]
    verb = "kustomize" if name == "kubectl" else "build"
    assert yaml.safe_load(found[0])["called"] == f"{program} {verb}"


def test_a_build_that_fails_says_what_kubectl_says(repository: Path, tmp_path: Path) -> None:
    builder()
    with pytest.raises(AicrError, match=r'kustomize( build)? of "built" failed') as caught:
        build(alone(component(repository, path="nowhere")), opened(tmp_path / "c"))
    assert "nowhere" in caught.value.hint


def test_a_patch_that_is_not_there(repository: Path, tmp_path: Path) -> None:
    builder()
    ref = component(repository, patches=["components/built/gone.yaml"])
    with pytest.raises(AicrError, match=r"components/built/gone\.yaml"):
        build(alone(ref), opened(tmp_path / "c"))


def test_no_source(tmp_path: Path) -> None:
    ref = ComponentRef("built", type="Kustomize", path="x")
    with pytest.raises(AicrError, match="there is nothing to deploy"):
        build(alone(ref), opened(tmp_path / "c"))


def test_nothing_is_left_in_the_temporary_folder(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builder()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", None)
    build(alone(component(repository)), opened(tmp_path / "c"))
    assert os.listdir(scratch) == []
