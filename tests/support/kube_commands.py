"""The commands on a small catalog of their own, from the command line to a double and back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.cli.main import main
from kube_servers import Server

Aicr = Callable[..., tuple[int, str, str]]

RECORDS_FILE = "components/kueue/upgrades.yaml"
REGISTRY = {
    "apiVersion": "aicr.run/v1beta1",
    "kind": "ComponentRegistry",
    "components": [
        {
            "name": name,
            "helm": {"defaultRepository": repository, "defaultChart": chart},
            **(
                {"upgrades": {"file": f"components/{name}/upgrades.yaml"}}
                if name == "kueue"
                else {}
            ),
        }
        for name, repository, chart in (
            ("cert-manager", "https://charts.jetstack.io", "cert-manager"),
            ("gpu-operator", "https://helm.ngc.nvidia.com/nvidia", "gpu-operator"),
            ("grove", "oci://ghcr.io/grove", "grove-charts"),
            ("kueue", "oci://registry.k8s.io/kueue/charts", "kueue"),
            (
                "kube-prometheus-stack",
                "https://prometheus-community.github.io/helm-charts",
                "kube-prometheus-stack",
            ),
            ("nfd", "https://kubernetes-sigs.github.io/nfd/charts", "node-feature-discovery"),
        )
    ],
}
RECORDS = {
    "apiVersion": "aicr.run/v1beta1",
    "kind": "ComponentUpgrades",
    "component": "kueue",
    "transitions": [
        {
            "from": "<0.16.0",
            "to": ">=0.16.0 <=0.17.0",
            "verdict": "manual",
            "summary": "queues are renamed",
            "stepsByDeployer": [{"steps": [{"id": "rename", "description": "Rename them."}]}],
            "affectedResources": [{"group": "kueue.x-k8s.io", "kinds": ["ClusterQueue"]}],
        }
    ],
}
QUEUES = {
    "spec": {
        "group": "kueue.x-k8s.io",
        "scope": "Cluster",
        "names": {"plural": "clusterqueues", "kind": "ClusterQueue"},
        "versions": [{"name": "v1beta2"}],
    }
}


@pytest.fixture
def aicr(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Aicr:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(server.kubeconfig()))
    folder = tmp_path / "catalog"
    (folder / "components" / "kueue").mkdir(parents=True)
    (folder / "registry.yaml").write_text(yaml.safe_dump(REGISTRY))
    (folder / RECORDS_FILE).write_text(yaml.safe_dump(RECORDS))

    def run(*arguments: str) -> tuple[int, str, str]:
        catalog = [] if arguments[0] == "snapshot" else ["--catalog", "catalog"]
        code = main([*arguments, *catalog])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def recipe(path: str = "to.yaml", **versions: str) -> str:
    refs = [
        {
            "name": name.replace("_", "-"),
            "type": "Helm",
            "chart": {"grove": "grove-charts", "nfd": "node-feature-discovery"}.get(
                name, name.replace("_", "-")
            ),
            "source": "https://charts.example.com",
            "version": version,
        }
        for name, version in versions.items()
    ]
    document = {
        "kind": "RecipeResult",
        "apiVersion": "aicr.run/v1beta1",
        "componentRefs": refs,
        "deploymentOrder": [ref["name"] for ref in refs],
    }
    Path(path).write_text(yaml.safe_dump(document))
    return path


def check(aicr: Aicr, *arguments: str) -> tuple[int, dict[str, Any], str]:
    words = ["upgrade-check", "--from", "cluster", "--format", "json", *arguments]
    code, out, err = aicr(*words)
    return code, json.loads(out) if out else {}, err


def rows(report: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    return {
        row["component"]: (row["change"], row.get("from"), row.get("verdict"), row.get("reason"))
        for row in report["components"]
    }
