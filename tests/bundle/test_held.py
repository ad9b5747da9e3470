"""What UPGRADING.md says of holding releases back is true of a real API server.

With kubectl and Helm, where ``KUBEBUILDER_ASSETS`` names a server; no controller runs there, so
what counts is what the objects say.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aicr.bundle.build import Bundle, Request, build_bundle
from aicr.catalog.open import open_catalog
from aicr.recipe.criteria import Criteria
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from bundles import write_out
from kube_real import KubeReal, assets
from kube_servers import real
from tools import tool
from upgrading import blocks, rows

__all__ = ["real"]

pytestmark = [
    pytest.mark.skipif(assets() is None, reason="KUBEBUILDER_ASSETS names no API server"),
    pytest.mark.xdist_group("kube-apiserver"),
]
AUTOMATED = {"prune": True, "selfHeal": True}


def definition(group: str, version: str, kind: str, plural: str) -> dict[str, object]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
            "versions": [
                {"name": version, "served": True, "storage": True,
                 "schema": {"openAPIV3Schema": schema}},
            ],
        },
    }  # fmt: skip


KINDS = (
    ("argoproj.io", "v1alpha1", "Application", "applications"),
    ("helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases"),
    ("source.toolkit.fluxcd.io", "v1", "GitRepository", "gitrepositories"),
    ("source.toolkit.fluxcd.io", "v1", "HelmRepository", "helmrepositories"),
    ("source.toolkit.fluxcd.io", "v1", "OCIRepository", "ocirepositories"),
)


class Shell:
    """Commands against the server, in a bundle's folder."""

    def __init__(self, server: KubeReal, home: Path) -> None:
        server.folder = home
        server.store.sweep()
        folders = [os.path.dirname(tool("kubectl", "KUBECTL_BIN")),
                   os.path.dirname(tool("helm", "HELM_BIN"))]  # fmt: skip
        self.env = {
            "PATH": ":".join([*folders, "/usr/bin", "/bin"]),
            "HOME": str(home),
            "KUBECONFIG": str(server.kubeconfig()),
        }
        for kind in KINDS:
            self.run("kubectl apply -f -", given=json.dumps(definition(*kind)))
            name = f"{kind[3]}.{kind[0]}"
            self.run(f"kubectl wait --for=condition=Established crd/{name} --timeout=120s")
        server.namespace("argocd", "flux-system")

    def run(self, script: str, cwd: Path | None = None, *, given: str = "") -> str:
        done = subprocess.run(
            ["bash", "-c", f"set -o pipefail\n{script}"], cwd=cwd, env=self.env, input=given,
            capture_output=True, encoding="utf-8", timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def specs(self, kind: str, namespace: str) -> dict[str, dict[str, Any]]:
        listed = json.loads(self.run(f"kubectl -n {namespace} get {kind} -o json"))["items"]
        return {one["metadata"]["name"]: one["spec"] for one in listed}


@pytest.fixture
def shell(real: KubeReal, tmp_path: Path) -> Iterator[Shell]:
    found = Shell(real, tmp_path)
    yield found
    names = " ".join(f"{plural}.{group}" for group, _, _, plural in KINDS)
    found.run(f"kubectl delete crd --wait {names}")


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], tuple[Bundle, Path, Path]]:
    """A deployer's bundle, where it is, and where one is of the release before."""

    def write(deployer: str) -> tuple[Bundle, Path, Path]:
        catalog = open_catalog()
        recipe = resolve(catalog, Criteria(service="eks", accelerator="h100", intent="training"))
        request = Request(deployer, repo="https://git.example/b.git")
        found = build_bundle(recipe, catalog, request, where="r.yaml")
        before = build_bundle(older(recipe), catalog, request, where="r.yaml")
        return found, write_out(found, tmp_path / "new"), write_out(before, tmp_path / "old")

    return write


def older(recipe: Recipe) -> Recipe:
    """The recipe with another version of a chart, and without one component."""
    kept = [ref for ref in recipe.components if ref.name != "prometheus-adapter"]
    moved = [ref.replace(version="v26.3.3") if ref.name == "gpu-operator" else ref for ref in kept]
    order = [name for name in recipe.deployment_order if name != "prometheus-adapter"]
    return recipe.replace(components=moved, deployment_order=order)


def stops(shell: Shell, block: str) -> None:
    """The block that stops everything; what is not there yet is not found."""
    shell.run(f"({block}) || true")


def test_argocd(shell: Shell, written: Callable[[str], tuple[Bundle, Path, Path]]) -> None:
    found, new, old = written("argocd")
    # As the app-of-apps applies them.
    shell.run("kubectl apply -f app-of-apps.yaml", old)
    shell.run('for file in */application.yaml; do kubectl apply -f "$file"; done', old)
    stops(shell, blocks(found)[0])
    held = shell.specs("applications", "argocd")
    assert "aicr-bundle" in held
    assert all("automated" not in spec["syncPolicy"] for spec in held.values())
    for _, command, _ in rows(found):
        shell.run(command, new)
        name = command.split("/")[0].partition("-")[2].partition("-")[2]
        now = shell.specs("applications", "argocd")
        begun = {one for one, spec in now.items() if "automated" in spec["syncPolicy"]}
        assert name in begun, command
    now = shell.specs("applications", "argocd")
    assert now["gpu-operator"]["sources"][0]["targetRevision"] == "v26.7.0"
    assert "automated" not in now["aicr-bundle"]["syncPolicy"]
    shell.run(blocks(found)[-1], new)
    after = shell.specs("applications", "argocd")
    assert after.pop("aicr-bundle")["syncPolicy"]["automated"] == {"selfHeal": True}
    assert set(after) == {one.name for one in found.plan.releases}
    assert all(spec["syncPolicy"]["automated"] == AUTOMATED for spec in after.values())


def test_argocd_helm(shell: Shell, written: Callable[[str], tuple[Bundle, Path, Path]]) -> None:
    found, new, old = written("argocd-helm")
    install = "helm upgrade --install aicr-bundle . --namespace argocd"
    shell.run(install, old)
    stops(shell, blocks(found)[0])
    held = shell.specs("applications", "argocd")
    assert all("automated" not in spec["syncPolicy"] for spec in held.values())
    for number, (_, command, _) in enumerate(rows(found), start=1):
        shell.run(f"{blocks(found)[1]}\n{command}", new)
        now = shell.specs("applications", "argocd")
        begun = [one for one, spec in now.items() if "automated" in spec["syncPolicy"]]
        assert len(begun) == number
    before = shell.specs("applications", "argocd")
    assert before["gpu-operator"]["source"]["targetRevision"] == "v26.7.0"
    assert "`--take-ownership`" in found.files["UPGRADING.md"][0].decode()
    shell.run(f"{install} --take-ownership", new)
    assert shell.specs("applications", "argocd") == before
    assert "deployed" in shell.run("helm list --namespace argocd")


def test_flux(shell: Shell, written: Callable[[str], tuple[Bundle, Path, Path]]) -> None:
    found, new, old = written("flux")
    shell.run("kubectl apply -k .", old)
    stops(shell, blocks(found)[0])
    shell.run("kubectl apply -k .", new)
    now = shell.specs("helmreleases", "flux-system")
    assert {name for name, spec in now.items() if not spec.get("suspend")} == {"prometheus-adapter"}
    assert now["gpu-operator"]["chart"]["spec"]["version"] == "v26.7.0"
    # What ``flux resume`` does, and a controller that applies the bundle once more.
    shell.run(
        "kubectl -n flux-system patch helmrelease gpu-operator --type merge "
        '-p \'{"spec":{"suspend":false}}\''
    )
    shell.run("kubectl apply -k . --server-side --force-conflicts", new)
    now = shell.specs("helmreleases", "flux-system")
    assert now["gpu-operator"]["suspend"] is False
    assert now["nfd"]["suspend"] is True
