"""Under the roles of docs/nvcf/roles a real API server lets the commands read what they read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.cli.main import main
from fleets import ICMS, NAMESPACE
from kube_real import KubeReal, assets
from kubelet_double import node

ROLES = Path(__file__).parents[2] / "docs" / "nvcf" / "roles"
RBAC = "rbac.authorization.k8s.io"
pytestmark = [
    pytest.mark.skipif(assets() is None, reason="KUBEBUILDER_ASSETS names no real API server"),
    pytest.mark.xdist_group("kube-apiserver"),
]


def load(name: str) -> Any:
    return json.loads((ICMS / f"{name}.json").read_text())


@pytest.fixture
def fleet(real: KubeReal, tmp_path: Path) -> Path:
    """The fleet file of one cluster with an agent, asked by a user without any rights."""
    real.folder = tmp_path
    store = real.store
    store.sweep()
    real.namespace("kube-system", NAMESPACE, "nats-system", "nvca-operator", "nvca-system")
    for crd in ("crd-nvcfbackends", "crd-icmsrequests"):
        store.define(load(crd))
    meta = {"name": "task-service-account", "namespace": NAMESPACE}
    secret = {"name": "task-registry-secret", "namespace": NAMESPACE}
    store.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta},
        {"apiVersion": "v1", "kind": "Secret", "metadata": secret, "data": {"a": "aHVzaA=="}},
        node("east-0"),
    )
    store.seed(store.kind("nvcf.nvidia.io", "nvcfbackends"), load("nvcfbackend-3.10.3"))
    store.seed(store.kind("apps", "deployments"), load("nvca-deployment-3.10.3"))
    store.seed(store.kind("", "pods"), *load("nvca-pods-3.10.3")["items"])
    uid = store.get(store.kind("", "namespaces"), "", "kube-system")["metadata"]["uid"]
    kubeconfig = str(real.kubeconfig({"token": "token-user-token"}, name="user"))
    entry = {"kubeconfig": kubeconfig, "context": "user", "clusterUid": uid}
    east = {
        **entry,
        "name": "east",
        "clusterId": "c35a260c-01b9-5c3e-8afa-52b1e0edd364",
        "serviceAccount": "task-service-account",
        "pullSecrets": ["task-registry-secret"],
        "pools": [{"name": "gpu", "selector": "gpu=yes"}],
    }
    path = tmp_path / "fleet.yaml"
    path.write_text(yaml.safe_dump({"controlPlane": entry, "computeClusters": [east]}))
    return path


def bind(real: KubeReal, name: str) -> None:
    for role in yaml.safe_load_all((ROLES / f"{name}.yaml").read_text()):
        namespace = role["metadata"].get("namespace", "")
        meta = {"name": role["metadata"]["name"]} | ({"namespace": namespace} if namespace else {})
        binding = {
            "apiVersion": f"{RBAC}/v1",
            "kind": f"{role['kind']}Binding",
            "metadata": meta,
            "subjects": [{"kind": "User", "name": "token-user", "apiGroup": RBAC}],
            "roleRef": {"apiGroup": RBAC, "kind": role["kind"], "name": meta["name"]},
        }
        real.store.apply(role, binding)
        real.granted("token-user", role, namespace)


@pytest.mark.parametrize("command", ["agents", "status"])
def test_with_just_that_role(
    command: str, real: KubeReal, fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bind(real, command)
    real.forget()
    main(["nvcf", command, "--fleet", str(fleet), "--format", "json"])
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert not any("cannot be" in note for note in said["notes"]), said
    assert "forbidden" not in json.dumps(said)
    if command == "agents":
        assert (said["outcome"], said["exit"]) == ("fixed", 0)
    else:
        assert all(": rights: missing:" in one for one in said["missing"]), said["missing"]
    asked = {(one.verb, one.resource) for one in real.requests if one.verb}
    assert {verb for verb, resource in asked if not resource.endswith("reviews")} <= {"get", "list"}
    assert asked


@pytest.mark.parametrize("command", ["agents", "status"])
def test_without_it(
    command: str, real: KubeReal, fleet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["nvcf", command, "--fleet", str(fleet), "--format", "json"])
    said = json.dumps(json.loads(capsys.readouterr().out))
    assert "no permission to get namespaces kube-system" in said
