"""A kubelet for the Kubernetes double: it gives probe pods the statuses and events that a real one
was recorded to give, and counts how many are there at once."""

from __future__ import annotations

import copy
import json
import threading
import uuid
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kube_double import KubeDouble
from kube_double_kinds import Object

PODS = Path(__file__).parent.parent / "data" / "kube" / "pods"
Choice = Callable[[Object], str]


def recorded(name: str) -> Any:
    return json.loads((PODS / f"{name}.json").read_text())


class Kubelet:
    """Answers every pod of ``double`` with the recorded state that ``choose`` names; "" leaves it
    as it is. ``hold`` keeps all pods waiting until that many are there at once (or ``release``)."""

    def __init__(
        self, double: KubeDouble, choose: Choice | str = "pulled-running", *, hold: int = 0
    ) -> None:
        self.double = double
        self.choose: Choice = (lambda pod: choose) if isinstance(choose, str) else choose
        self.most_at_once = 0
        self.most_on_a_node: dict[str, int] = defaultdict(int)
        self.created: list[Object] = []
        self._live: dict[str, str] = {}
        self._waiting: list[Object] = []
        self._hold = hold
        self._stopped = False
        self._pods = double.store.kind("", "pods")
        self._events = double.store.kind("", "events")
        self._revision = double.store.revision
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Kubelet:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped = True
        with self.double.store.changed:
            self.double.store.changed.notify_all()
        self._thread.join(timeout=10)

    def release(self) -> None:
        self._hold = 0
        with self.double.store.changed:
            self.double.store.changed.notify_all()

    def _work(self) -> None:
        store = self.double.store
        while not self._stopped:
            found = list(store.events(self._pods, "", self._revision))
            for revision, what, pod in found:
                self._revision = max(self._revision, revision)
                self._count(what, pod)
            if self._waiting and len(self._live) >= self._hold:
                self._hold = 0
                waiting, self._waiting = self._waiting, []
                for pod in waiting:
                    self.answer(pod, self.choose(pod))
            elif not found:
                with store.changed:
                    if not list(store.events(self._pods, "", self._revision)):
                        store.changed.wait(0.2)

    def _count(self, what: str, pod: Object) -> None:
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName", "")
        if what == "ADDED" and uid not in self._live:
            self.created.append(pod)
            self._live[uid] = node
            self._waiting.append(pod)
            on_node = sum(one == node for one in self._live.values())
            self.most_on_a_node[node] = max(self.most_on_a_node[node], on_node)
            self.most_at_once = max(self.most_at_once, len(self._live))
        elif what == "DELETED":
            self._live.pop(uid, None)
            self._waiting = [one for one in self._waiting if one["metadata"]["uid"] != uid]

    def answer(self, pod: Object, state: str, *, image_id: str = "") -> None:
        """Give the pod a recorded state, with this imageID: first its events, then its status."""
        if not state:
            return
        for event in recorded(f"{state}-events")["items"]:
            self.event(pod, event)
        status = recorded(f"{state}-pod")["status"]
        if image_id:
            status["containerStatuses"][0]["imageID"] = image_id
        self.status(pod, status)

    def event(self, pod: Object, event: Mapping[str, Any]) -> None:
        meta = pod["metadata"]
        one = copy.deepcopy(dict(event))
        one["metadata"] = {
            "name": f"{meta['name']}.{uuid.uuid4().hex[:12]}",
            "namespace": meta["namespace"],
        }
        about = one["involvedObject"]
        about |= {"name": meta["name"], "namespace": meta["namespace"]}
        if "uid" in about:
            about["uid"] = meta["uid"]
        self.double.store.seed(self._events, one)

    def status(self, pod: Object, status: Mapping[str, Any]) -> None:
        meta = pod["metadata"]
        now = self.double.store.find(self._pods, meta["namespace"], meta["name"])
        if now is not None:
            body = {**copy.deepcopy(now), "status": dict(status)}
            body["metadata"].pop("resourceVersion", None)
            self.double.store.update(self._pods, meta["namespace"], meta["name"], body)


def node(
    name: str,
    *,
    architecture: str = "amd64",
    ready: bool = True,
    labels: Mapping[str, str] | None = None,
    gpus: int = 8,
    taints: list[dict[str, str]] | None = None,
) -> Object:
    """A node as a kubelet registers it."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/arch": architecture, "gpu": "yes", **(labels or {})},
        },
        "spec": {"taints": taints or []},
        "status": {
            "nodeInfo": {
                "architecture": architecture,
                "containerRuntimeVersion": "containerd://2.1.4",
                "operatingSystem": "linux",
            },
            "allocatable": {"nvidia.com/gpu": str(gpus)},
            "conditions": [{"type": "Ready", "status": "True" if ready else "Unknown"}],
        },
    }
