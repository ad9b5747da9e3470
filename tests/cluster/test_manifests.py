"""The manifests of this project are what a real API server takes: each field known, each valid."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.cluster.connection import Connection, Patience
from aicr.cluster.exec import run
from aicr.cluster.failures import ApiError
from kube_real import KubeReal, assets

ROOT = Path(__file__).parents[2]
MANIFESTS = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("deploy/*.yaml", "docs/rbac/*.yaml", "docs/nvcf/roles/*.yaml")
    for path in ROOT.glob(pattern)
)
HOME = "aicr-manifests"
pytestmark = [
    pytest.mark.skipif(assets() is None, reason="KUBEBUILDER_ASSETS names no real API server"),
    pytest.mark.xdist_group("kube-apiserver"),
]


def resources(real: KubeReal) -> dict[tuple[str, str], tuple[str, bool]]:
    """Of each kind that the manifests use: its resource, and whether it is namespaced."""
    found: dict[tuple[str, str], tuple[str, bool]] = {}
    for version in ("v1", "apps/v1", "policy/v1", "rbac.authorization.k8s.io/v1",
                    "networking.k8s.io/v1"):  # fmt: skip
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        for one in real.ask("GET", root, None, (200,))["resources"]:
            if "/" not in one["name"]:
                found[version, one["kind"]] = one["name"], one["namespaced"]
    return found


@pytest.mark.parametrize("path", MANIFESTS)
def test_a_server_takes_it(path: str, real: KubeReal) -> None:
    kinds = resources(real)
    objects = [one for one in yaml.safe_load_all((ROOT / path).read_text()) if one]
    assert objects
    for item in objects:
        version = item["apiVersion"]
        name, namespaced = kinds[version, item["kind"]]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if namespaced:
            home = item["metadata"].get("namespace", HOME)
            real.namespace(home)
            root += f"/namespaces/{home}"
        query = "?dryRun=All&fieldValidation=Strict"
        real.ask("POST", f"{root}/{name}{query}", item, (201,))


@pytest.mark.parametrize("verbs", [["get", "create"], ["get"], ["create"]])
def test_which_rights_an_exec_needs(verbs: list[str], real: KubeReal, tmp_path: Path) -> None:
    """Both, from Kubernetes 1.35 on; the double asks for both, too."""
    real.folder = tmp_path
    real.store.sweep()
    box = {"name": "box", "image": "registry.example.com/box:1"}
    meta = {"name": "box", "namespace": HOME}
    real.store.apply(
        {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [box]}}
    )
    role: Mapping[str, Any] = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "exec", "namespace": HOME},
        "rules": [{"apiGroups": [""], "resources": ["pods/exec"], "verbs": verbs}],
    }
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "exec", "namespace": HOME},
        "subjects": [
            {"kind": "User", "name": "token-user", "apiGroup": "rbac.authorization.k8s.io"}
        ],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "exec"},
    }
    real.store.apply(role, binding)
    real.granted("token-user", role, HOME)
    path = real.kubeconfig({"token": "token-user-token"}, name="user")
    connection = Connection(str(path), patience=Patience(tries=1))
    with pytest.raises(ApiError) as caught:
        run(connection, HOME, "box", ["true"], seconds=60)
    assert (caught.value.status == 403) == (len(verbs) == 1), caught.value.message
    if len(verbs) == 1:
        assert "no permission to get and create pods/exec box" in caught.value.message
    else:
        assert "does not have a host assigned" in caught.value.message
