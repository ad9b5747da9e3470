"""A fleet of doubles: a control plane and compute clusters, with the file that names them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from kube_double import KubeDouble
from kube_double_kinds import Object
from kubelet_double import node

ICMS = Path(__file__).parent.parent / "data" / "kube" / "icms"
NAMESPACE = "nvcf-backend"


class FleetOfDoubles:
    """``clusters`` by name, ``path`` of the fleet file, ``entries`` to change before ``write``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "fleet.yaml"
        self.clusters: dict[str, KubeDouble] = {}
        self.entries: list[dict[str, Any]] = []
        self.more: dict[str, Any] = {}
        self.control: dict[str, Any] = {}

    def write(self) -> Path:
        document = {"controlPlane": self.control, "computeClusters": self.entries, **self.more}
        self.path.write_text(yaml.safe_dump(document, sort_keys=False))
        return self.path

    def entry(self, name: str) -> dict[str, Any]:
        return next(one for one in self.entries if one["name"] == name)


def uid_of(name: str) -> str:
    return f"00000000-0000-4000-8000-{name.encode().hex():0>12.12}"


@contextlib.contextmanager
def fleet_of(
    folder: Path,
    names: Sequence[str] = ("east",),
    *,
    nodes: int = 1,
    pinned: bool = True,
    user: Mapping[str, Any] | None = None,
) -> Iterator[FleetOfDoubles]:
    """A running fleet; every cluster has ``nodes`` nodes in one pool."""
    found = FleetOfDoubles(folder)
    with contextlib.ExitStack() as stack:
        for name in ("control", *names):
            (folder / name).mkdir()
            double = stack.enter_context(KubeDouble(folder / name))
            prepare(double, name)
            found.clusters[name] = double
            entry: dict[str, Any] = {
                "kubeconfig": str(double.kubeconfig(user)),
                "context": "double",
            }
            if pinned:
                entry["clusterUid"] = uid_of(name)
            if name == "control":
                double.namespace("nats-system")
                found.control = entry
                continue
            for number in range(nodes):
                double.store.apply(node(f"{name}-{number}"))
            found.entries.append(
                {
                    "name": name,
                    **entry,
                    "serviceAccount": "task-service-account",
                    "pullSecrets": ["task-registry-secret"],
                    "pools": [{"name": "gpu", "selector": "gpu=yes"}],
                }
            )
        found.write()
        yield found


def prepare(double: KubeDouble, name: str) -> None:
    """What every cluster has."""
    system: Object = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "kube-system", "uid": uid_of(name)},
    }
    double.store.apply(system)
    double.namespace(NAMESPACE, "nvca-operator", "nvca-system")
    for kind, object_name, more in (
        ("ServiceAccount", "task-service-account", {}),
        ("Secret", "task-registry-secret", {"data": {".dockerconfigjson": "c2VjcmV0LXdvcmQ="}}),
    ):
        meta = {"name": object_name, "namespace": NAMESPACE}
        double.store.apply({"apiVersion": "v1", "kind": kind, "metadata": meta, **more})
    for crd in ("crd-nvcfbackends", "crd-icmsrequests"):
        double.store.define(json.loads((ICMS / f"{crd}.json").read_text()))


def give_agent(double: KubeDouble, state: str, *, backend: str = "", cluster_id: str = "") -> None:
    """The agent of a cluster as it was recorded."""
    of = backend or (state if state in ("3.10.1", "3.10.3") else "3.10.3")
    found = json.loads((ICMS / f"nvcfbackend-{of}.json").read_text())
    if cluster_id:
        found["status"]["clusterConfig"]["clusterID"] = cluster_id
    store = double.store
    store.seed(store.kind("nvcf.nvidia.io", "nvcfbackends"), found)
    deployment = json.loads((ICMS / f"nvca-deployment-{state}.json").read_text())
    store.seed(store.kind("apps", "deployments"), deployment)
    pods = json.loads((ICMS / f"nvca-pods-{state}.json").read_text())["items"]
    store.seed(store.kind("", "pods"), *pods)
