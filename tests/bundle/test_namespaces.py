"""A Namespace that the deployer makes is left out of a Kustomize build; what it said is told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from aicr.bundle import kustomize
from aicr.bundle.build import Bundle
from aicr.bundle.namespaces import without_namespaces
from aicr.catalog.model import ComponentRef
from aicr.errors import AicrError
from bundles import build, recipe_of, write_out
from small_catalog import SmallCatalog
from tools import tool

NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata:
  name: mine
"""
LABELS = """\
  labels:
    kubernetes.io/metadata.name: mine
    pod-security.kubernetes.io/enforce: privileged
  annotations:
    note: it's "$(mine)"
"""
MAP = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: greeting
data:
  text: |
    ---
    kind: Namespace
"""
OTHER = NAMESPACE.replace("mine", "other")


def test_only_what_the_deployer_makes_is_left_out() -> None:
    data = f"{NAMESPACE}---\n{OTHER}---\n{MAP}".encode()
    kept, left_out = without_namespaces(data, "x", {"mine"})
    assert kept == f"{OTHER}---\n{MAP}".encode()
    assert [(one.name, one.commands) for one in left_out] == [("mine", [])]
    assert without_namespaces(data, "x", {"elsewhere"}) == (data, [])


def test_wherever_it_stands() -> None:
    kept, _ = without_namespaces(f"{MAP}---\n{NAMESPACE}".encode(), "x", {"mine"})
    assert kept == MAP.encode()


def test_what_it_said_of_the_namespace() -> None:
    _, (one,) = without_namespaces(f"{NAMESPACE}{LABELS}---\n{MAP}".encode(), "x", {"mine"})
    assert one.commands == [
        "kubectl label namespace mine --overwrite 'pod-security.kubernetes.io/enforce=privileged'",
        "kubectl annotate namespace mine --overwrite 'note=it'\\''s \"$(mine)\"'",
    ]


def test_nothing_else() -> None:
    with pytest.raises(AicrError, match="makes the namespace mine and nothing else") as caught:
        without_namespaces(NAMESPACE.encode(), "x", {"mine"})
    assert "x:enabled=false" in caught.value.hint


def bundle(
    root: Path, monkeypatch: pytest.MonkeyPatch, builds: dict[str, str], *order: str
) -> Bundle:
    monkeypatch.setattr(kustomize, "build", lambda ref, _: builds[ref.name].encode())
    catalog = SmallCatalog().registry({"name": "a"}).overlay("base", componentRefs=[]).open(root)
    refs = [
        ComponentRef(
            name, type="Kustomize", source="https://h/x", tag="v1",
            namespace="mine" if name == "a" else "other",
        )
        for name in builds
    ]  # fmt: skip
    return build(recipe_of(*refs, order=order), catalog)


def templates(found: Bundle) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {}
    for path, (data, _) in found.files.items():
        if path.endswith("kustomize.yaml"):
            kinds[path[4]] = [
                f"{one['kind']} {one['metadata']['name']}" for one in yaml.safe_load_all(data)
            ]
    return kinds


def test_its_own_namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = bundle(tmp_path, monkeypatch, {"a": f"{NAMESPACE}{LABELS}---\n{MAP}"}, "a")
    assert templates(found) == {"a": ["ConfigMap greeting"]}
    warnings = [one.message for one in found.notices if "Namespace" in one.message]
    assert len(warnings) == 1
    assert 'the Namespace "mine" in the build of "a" is left out' in warnings[0]
    readme = found.files["README.md"][0].decode()
    assert "```bash\nkubectl label namespace mine --overwrite " in readme


def test_without_labels_there_is_nothing_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = bundle(tmp_path, monkeypatch, {"a": f"{NAMESPACE}---\n{MAP}"}, "a")
    (notice,) = [one for one in found.notices if "Namespace" in one.message]
    assert notice.severity == "info"
    assert "## Namespaces" not in found.files["README.md"][0].decode()


def test_another_ones_namespace_is_kept_where_it_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = {"a": f"{OTHER}---\n{MAP}", "b": MAP}
    first = bundle(tmp_path / "1", monkeypatch, builds, "a", "b")
    assert templates(first)["a"] == ["Namespace other", "ConfigMap greeting"]
    later = bundle(tmp_path / "2", monkeypatch, builds, "b", "a")
    assert templates(later)["a"] == ["ConfigMap greeting"]


def test_namespaces_of_every_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = NAMESPACE.replace("mine", "kube-system")
    found = bundle(tmp_path, monkeypatch, {"a": f"{system}---\n{MAP}"}, "a")
    assert templates(found)["a"] == ["ConfigMap greeting"]


def test_helm_renders_what_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helm = tool("helm", "HELM_BIN")
    found = bundle(tmp_path / "c", monkeypatch, {"a": f"{NAMESPACE}---\n{MAP}"}, "a")
    chart = write_out(found, tmp_path / "b") / "001-a"
    done = subprocess.run([helm, "template", "a", str(chart)], capture_output=True, check=True)
    assert list(yaml.safe_load_all(done.stdout)) == [yaml.safe_load(MAP)]
