"""A small world for ``aicr nvcf``: real NATS servers, a control plane and compute clusters."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

import nats_servers
from kube_double import KubeDouble
from kube_double_exec import Command, nats_box, recorded_box, serve_exec, serve_monitors
from nats_servers import Servers
from tools import find_tool

DATA = Path(__file__).parents[1] / "data" / "kube"
NCA = "fakeNcaIdAlphaAlphaAlphaAlphaAlphaAlpha000001"
EAST = "d30423a8-99ce-51ca-911a-09b539a0b57a"
WEST = "c35a260c-01b9-5c3e-8afa-52b1e0edd364"
_NAMESPACE = uuid.UUID("5b0e0b3c-6a63-4fb0-8c6b-0f8b6a2d5c11")


def recorded(name: str) -> Any:
    return json.loads((DATA / f"{name}.json").read_text())


def some_uuid(text: str) -> str:
    return str(uuid.uuid5(_NAMESPACE, text))


def creation(
    name: str, *, task: bool = False, secret: str = "", **more: object
) -> tuple[dict[str, Any], bytes]:
    """A creation message of this name: its fields, and its bytes."""
    fields: dict[str, Any] = {
        "requestId": some_uuid(f"request {name}"),
        "sub": "",
        "ncaId": NCA,
        "action": "RequestICMSInstancesForTask" if task else "RequestICMSInstances",
        "messageBatchId": some_uuid(f"batch {name}"),
        "launchSpecification": {
            "cloudProvider": "NCP",
            "environment": secret or "bm90LWEtc2VjcmV0",
            "deploymentId": some_uuid(f"deployment {name}"),
        },
    }
    if task:
        fields["taskDetails"] = {"taskId": some_uuid(f"task {name}"), "taskType": "CONTAINER"}
        del fields["launchSpecification"]["deploymentId"]
    else:
        fields["functionDetails"] = {
            "functionId": some_uuid(f"function {name}"),
            "functionVersionId": some_uuid(f"version {name}"),
            "functionType": "DEFAULT",
        }
    fields |= more
    return fields, json.dumps(fields).encode()


def subject_of(cluster: str = EAST, *, task: bool = False) -> str:
    return f"Create.NVCA.{'Task' if task else 'Function'}.{cluster}.H100.NCP|GPU|H100_8x"


def request_of(
    fields: dict[str, Any],
    *,
    cluster: str = EAST,
    sequence: int = 1,
    status: str = "RequestInProgress",
    label: str = "",
    created: str = "2026-11-30T16:47:51Z",
    **spec: object,
) -> dict[str, Any]:
    """The ICMSRequest that an agent makes of this message."""
    subject = subject_of(cluster, task="taskDetails" in fields)
    details = {key: fields[key] for key in ("functionDetails", "taskDetails") if key in fields}
    return {
        "metadata": {
            "name": f"sr-{some_uuid(str(fields['requestId']))}",
            "namespace": "nvcf-backend",
            "creationTimestamp": created,
            "labels": {"SQSMessageID": label} if label else {},
        },
        "spec": {
            "requestId": fields["requestId"],
            "ncaId": fields["ncaId"],
            "action": fields["action"],
            "sqsMessageReceipt": f"{subject}:{sequence}",
            "creationMsgInfo": {
                "deploymentId": fields["launchSpecification"].get("deploymentId"),
                "functionLaunchSpecification": {"environment": "c2VjcmV0LW9mLXJlcXVlc3Q="},
            },
            **details,
            **spec,
        },
        "status": {"requestStatus": status} if status else {},
    }


class World:
    """Servers, a control plane ("control"), the compute clusters "east" and "west"."""

    def __init__(self, folder: Path, servers: Servers) -> None:
        self.folder = folder
        self.servers = servers
        self.commands: list[list[str]] = []
        self.doubles: dict[str, KubeDouble] = {}
        for name in ("control", "east", "west"):
            home = folder / name
            home.mkdir()
            self.doubles[name] = KubeDouble(home)

    def __enter__(self) -> World:
        for double in self.doubles.values():
            double.__enter__()
        self._fill_control()
        self._fill_compute("east", EAST)
        self._fill_compute("west", WEST)
        return self

    def __exit__(self, *_: object) -> None:
        for double in self.doubles.values():
            double.stop()

    @property
    def control(self) -> KubeDouble:
        return self.doubles["control"]

    def _system(self, name: str) -> None:
        double = self.doubles[name]
        kind = double.store.kind("", "namespaces")
        uid = some_uuid(f"cluster {name}")
        double.store.seed(kind, {"metadata": {"name": "kube-system", "uid": uid}})

    def _fill_control(self) -> None:
        self._system("control")
        store = self.control.store
        self.control.namespace("nats-system", "nvcf")
        count = len(self.servers.all)
        store.seed(
            store.kind("apps", "statefulsets"),
            {
                "metadata": {"name": "nats", "namespace": "nats-system", "generation": 1},
                "spec": {"replicas": count, "serviceName": "nats-headless"},
                "status": {"observedGeneration": 1, "readyReplicas": count},
            },
        )
        for server in self.servers.all:
            self.pod(server.name)
        self.pod("nats-box-5d4c", labels={"app.kubernetes.io/component": "nats-box"})
        ports = {server.name: server.monitor for server in self.servers.all}
        serve_monitors(self.control, ports)
        self.commands = serve_exec(self.control, self.box())

    def box(self) -> Command:
        """The commands of nats-box: the real nats client where it is installed."""
        ports = {server.name: server.monitor for server in self.servers.all}
        client = find_tool("nats", "NATS_BIN")
        if client is None:
            return recorded_box(self.servers.url, ports)
        return nats_box(client, self.servers.url, self.folder / "box", ports)

    def pod(self, name: str, *, labels: dict[str, str] | None = None, ready: bool = True) -> None:
        store = self.control.store
        store.seed(
            store.kind("", "pods"),
            {
                "metadata": {
                    "name": name,
                    "namespace": "nats-system",
                    "labels": labels or {"app.kubernetes.io/component": "nats"},
                },
                "spec": {"containers": [{"name": "main", "image": "nats"}]},
                "status": {
                    "phase": "Running",
                    "conditions": [{"type": "Ready", "status": str(ready)}],
                    "containerStatuses": [{"name": "main", "restartCount": 0}],
                },
            },
        )

    def _fill_compute(self, name: str, cluster: str) -> None:
        self._system(name)
        double = self.doubles[name]
        store = double.store
        double.namespace("nvcf-backend", "nvca-operator", "nvca-system")
        store.define(recorded("icms/crd-icmsrequests"))
        backends = store.define(recorded("icms/crd-nvcfbackends"))
        backend = recorded("icms/nvcfbackend-3.10.3")
        for part in ("spec", "status"):
            backend[part]["clusterConfig"]["clusterID"] = cluster
        store.seed(backends, {key: backend[key] for key in ("metadata", "spec", "status")})
        deployment = recorded("icms/nvca-deployment-3.10.3")
        store.seed(
            store.kind("apps", "deployments"),
            {key: deployment[key] for key in ("metadata", "spec", "status")},
        )
        store.seed(store.kind("", "pods"), *recorded("icms/nvca-pods-3.10.3")["items"])

    def request(self, name: str, item: dict[str, Any]) -> None:
        store = self.doubles[name].store
        store.seed(store.kind("nvca.nvcf.nvidia.io", "icmsrequests"), item)

    def agent_started_now(self, name: str) -> None:
        """One ack_wait from here this cluster's agent may still get its messages."""
        store = self.doubles[name].store
        kind = store.kind("", "pods")
        for pod in store.all(kind):
            for status in pod["status"].get("containerStatuses", ()):
                now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                status["state"] = {"running": {"startedAt": now}}
            store.seed(kind, pod)

    def fleet(self, *, direct: bool = True, **more: object) -> Path:
        """A fleet file for this world, all entries pinned."""
        nats = {"url": self.servers.url} if direct else {}
        document = {
            "controlPlane": {
                **self._entry("control"),
                "nats": nats,
                "accounts": more.pop("accounts", []),
            },
            "computeClusters": [
                {
                    "name": name,
                    **self._entry(name),
                    "pools": [{"name": "gpu", "selector": "nvidia.com/gpu.present=true"}],
                }
                for name in ("east", "west")
            ],
            **more,
        }
        path = self.folder / "fleet.yaml"
        path.write_text(yaml.safe_dump(document))
        return path

    def _entry(self, name: str) -> dict[str, str]:
        return {
            "kubeconfig": str(self.doubles[name].kubeconfig(name=name)),
            "context": name,
            "clusterUid": some_uuid(f"cluster {name}"),
        }

    def agent(self, cluster: str = EAST, count: int = 1, *, ack: bool = True) -> list[bytes]:
        return self.servers.fetch(
            nats_servers.CREATION, f"{nats_servers.CREATION}-{cluster}", count, ack=ack
        )


def started(folder: Path, count: int = 1) -> Iterator[World]:
    """A world with its servers running, and everything stopped after."""
    servers = Servers(folder, count)
    try:
        servers.start()
        with World(folder, servers) as world:
            yield world
    finally:
        servers.stop()
