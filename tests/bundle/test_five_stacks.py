"""Five stacks of the shipped catalog for all five deployers, each held against what reads it.

Every chart renders and lints with a real Helm, every document has the fields that its controller
knows, every script passes shellcheck, and ``deploy.sh`` calls Helm as planned.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.bundle.build import Bundle, Request, build_bundle
from aicr.bundle.contents import open_contents
from aicr.bundle.verify import verify
from aicr.bundle.writers import GITOPS, WRITERS
from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.recipe.criteria import Criteria
from aicr.recipe.resolve import resolve
from bundles import write_out
from crds import check, check_state
from kustomize import built
from stubs import Stubs
from tools import tool

REPO = "https://git.example/bundles.git"
STACKS = {
    "eks-kueue": Criteria(
        service="eks", accelerator="h100", intent="training", os="ubuntu", platform="kueue"
    ),
    "gke-dynamo": Criteria(
        service="gke", accelerator="h100", intent="inference", os="cos", platform="dynamo"
    ),
    "ocp-nim": Criteria(
        service="ocp", accelerator="a100", intent="inference", os="rhel", platform="nim"
    ),
    "aks-slurm": Criteria(
        service="aks", accelerator="h100", intent="training", os="ubuntu", platform="slurm"
    ),
    "bcm-kubeflow": Criteria(
        service="bcm", accelerator="h100", intent="training", os="ubuntu", platform="kubeflow"
    ),
}
Made = Callable[[str], Bundle]


@pytest.fixture(scope="module")
def shipped() -> Catalog:
    return open_catalog()


@pytest.fixture(params=STACKS)
def made(request: pytest.FixtureRequest, shipped: Catalog) -> Made:
    """A stack's bundle for a deployer."""
    recipe = resolve(shipped, STACKS[request.param])

    def make(deployer: str) -> Bundle:
        repo = REPO if deployer in GITOPS else ""
        return build_bundle(recipe, shipped, Request(deployer, repo=repo), where="r.yaml")

    return make


def helm(*words: str | Path) -> str:
    done = subprocess.run(
        [tool("helm", "HELM_BIN"), *map(str, words)], capture_output=True, encoding="utf-8",
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def documents(text: str | bytes) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(text) if one]


def generated(found: Bundle, root: Path) -> dict[str, Path]:
    """Where the generated charts are, by release."""
    return {
        release.name: next(
            path.parent
            for path in root.glob(f"*{release.name}/Chart.yaml")
            if path.parent.name in (release.name, release.folder)
        )
        for release in found.plan.releases
        if release.chart is None
    }


def test_every_generated_chart_renders_and_lints(made: Made, tmp_path: Path) -> None:
    """The charts of the five deployers are the same, so each one is looked at once."""
    seen: dict[frozenset[tuple[str, bytes]], str] = {}
    for deployer in WRITERS:
        found = made(deployer)
        root = write_out(found, tmp_path / deployer)
        for name, chart in generated(found, root).items():
            files = [chart / "Chart.yaml", chart / "values.yaml", *(chart / "templates").iterdir()]
            key = frozenset((path.name, path.read_bytes()) for path in files)
            if key not in seen:
                seen[key] = name
                helm("lint", chart)
                assert documents(helm("template", name, chart, "--namespace", "ns")), name
    assert seen


def test_helm(made: Made, tmp_path: Path) -> None:
    found = made("helm")
    root = write_out(found, tmp_path / "b")
    scripts = sorted(map(str, root.rglob("*.sh")))
    assert len(scripts) == len(found.plan.releases) + 2
    done = subprocess.run(
        [tool("shellcheck", "SHELLCHECK_BIN"), *scripts], capture_output=True, encoding="utf-8"
    )
    assert done.stdout == ""
    stubs = Stubs(tmp_path, "helm", "kubectl")
    assert stubs.run(root / "deploy.sh", cwd=tmp_path).returncode == 0
    called = [(call[3], call[call.index("--namespace") + 1]) for call in stubs.calls]
    assert called == [(one.name, one.namespace) for one in found.plan.releases]


def test_helmfile(made: Made) -> None:
    found = made("helmfile")
    states = [
        yaml.safe_load(data)
        for path, (data, _) in found.files.items()
        if path == "helmfile.yaml" or path.startswith("level-")
    ]
    for state in states:
        check_state(state)
    listed = {
        one["name"]: one["namespace"] for state in states for one in state.get("releases", ())
    }
    assert listed == {one.name: one.namespace for one in found.plan.releases}


def test_argocd(made: Made) -> None:
    found = made("argocd")
    check(yaml.safe_load(found.files["app-of-apps.yaml"][0]))
    for release in found.plan.releases:
        document = yaml.safe_load(found.files[f"{release.folder}/application.yaml"][0])
        check(document)
        assert document["metadata"]["name"] == release.name


def test_argocd_helm(made: Made, tmp_path: Path) -> None:
    found = made("argocd-helm")
    root = write_out(found, tmp_path / "b")
    helm("lint", root)
    rendered = documents(helm("template", "aicr-bundle", root, "--namespace", "argocd"))
    for document in rendered:
        check(document)
    values = {one["metadata"]["name"]: one["spec"]["source"]["helm"]["values"] for one in rendered}
    assert {name: yaml.safe_load(text) for name, text in values.items()} == {
        one.name: one.values for one in found.plan.releases
    }


def test_flux(made: Made, tmp_path: Path) -> None:
    found = made("flux")
    objects = built(write_out(found, tmp_path / "b"))
    for document in objects:
        check(document)
    releases = [one for one in objects if one["kind"] == "HelmRelease"]
    assert {one["metadata"]["name"] for one in releases} == {
        one.name for one in found.plan.releases
    }


@pytest.mark.parametrize("deployer", WRITERS)
def test_verified(made: Made, tmp_path: Path, deployer: str) -> None:
    found = verify(open_contents(str(write_out(made(deployer), tmp_path / "b"))))
    assert found.intact, found.problems


@pytest.mark.parametrize(
    "change", [{"needs": ["chart"]}, {"chart": None}, {"version": 26.1}, {"waits": True}]
)
def test_the_schema_of_helmfile_finds_what_is_wrong(change: dict[str, object]) -> None:
    release = {"name": "x", "namespace": "y", "chart": "./x"}
    check_state({"releases": [release]})
    with pytest.raises(AssertionError):
        check_state({"releases": [release | change]})
