"""The probe pod: the published one field for field, with labels that say whose it is; how it is
made, seen and removed."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict

from aicr.cluster.failures import ApiError, Permission
from aicr.cluster.reading import List, object_path
from aicr.cluster.watching import Expired, watch
from aicr.errors import AicrError
from aicr.nvcf import allow
from aicr.nvcf.pull_reading import CONTAINER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from aicr.nvcf.kube import Kube
    from aicr.nvcf.pull_units import Unit

TOOL_LABEL = "aicr.run/tool"
RUN_LABEL = "aicr.run/run"
TOOL = "nvcf-pull-check"
DEADLINE = 120
_WATCH_SECONDS = 60
_TOO_MANY_TRIES = 5


def probe_pod(unit: Unit, run: str) -> dict[str, Any]:
    """The pod that asks the unit's question."""
    cluster = unit.cluster
    spec: dict[str, Any] = {
        "nodeName": unit.node,
        "serviceAccountName": cluster.service_account,
        "imagePullSecrets": [{"name": name} for name in cluster.pull_secrets],
        "automountServiceAccountToken": False,
        "restartPolicy": "Never",
        "activeDeadlineSeconds": DEADLINE,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": CONTAINER,
                "image": unit.image.text,
                "imagePullPolicy": "Always",
                "args": ["--help"],
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    }
    if unit.pool.tolerations:
        spec["tolerations"] = [dict(one) for one in unit.pool.tolerations]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": "task-image-check-",
            "labels": {TOOL_LABEL: TOOL, RUN_LABEL: run},
        },
        "spec": spec,
    }


def create_probe(kube: Kube, namespace: str, pod: Mapping[str, Any]) -> dict[str, Any]:
    """The pod as the server made it. A server that is too busy made none, and is asked again."""
    path = object_path("pods", namespace)
    permission = Permission("create", "pods", namespace=namespace)
    body = json.dumps(pod).encode()
    patience = kube.connection.patience
    for attempt in range(_TOO_MANY_TRIES):
        try:
            answer = kube.connection.write("POST", path, permission, body)
            found: dict[str, Any] = json.loads(answer.body)
            return found
        except ApiError as error:
            if error.status != 429 or attempt == _TOO_MANY_TRIES - 1:
                raise
            patience.sleep(patience.pause(attempt, None) or 0)
    raise AssertionError


def delete_probe(kube: Kube, namespace: str, name: str, uid: str) -> None:
    """Ask for the removal of this very pod, at once; that it is gone already is no fault."""
    options = {
        "kind": "DeleteOptions",
        "apiVersion": "v1",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": uid},
    }
    try:
        kube.connection.write(
            "DELETE",
            object_path("pods", namespace, name),
            Permission("delete", "pods", namespace=namespace, name=name),
            json.dumps(options).encode(),
        )
    except ApiError as error:
        # 409: the name is another pod's by now.
        if error.status not in (404, 409):
            raise


def list_probes(kube: Kube, namespace: str, run: str = "") -> tuple[list[dict[str, Any]], str]:
    """The probe pods that are there, of one run or of all, and the version of that list."""
    wanted = _wanted(namespace, run)
    answer = kube.connection.read(wanted.path, wanted.permission, {"labelSelector": wanted.labels})
    said = json.loads(answer.body)
    items = [one for one in said.get("items") or () if isinstance(one, dict)]
    return items, str((said.get("metadata") or {}).get("resourceVersion") or "")


def events_of(kube: Kube, namespace: str, name: str) -> list[dict[str, Any]]:
    """The events about a pod of this name."""
    fields = f"involvedObject.kind=Pod,involvedObject.name={name}"
    return kube.items(List("events", namespace=namespace), fields)


def _wanted(namespace: str, run: str) -> List:
    labels = f"{TOOL_LABEL}={TOOL}" + (f",{RUN_LABEL}={run}" if run else "")
    return List("pods", namespace=namespace, labels=labels)


class Watcher:
    """Follows the probe pods of one run in one namespace, from before the first is made."""

    def __init__(self, kube: Kube, namespace: str, run: str) -> None:
        self.changed = threading.Condition()
        self.error = ""
        self._kube = kube
        self._namespace = namespace
        self._run = run
        self._pods: dict[str, Mapping[str, Any]] = {}
        self._gone: set[str] = set()
        self._versions: dict[str, int] = defaultdict(int)
        self._stopped = False

    def start(self) -> None:
        """Begin to watch; raises what the first list raises."""
        since = self._list()
        threading.Thread(target=self._work, args=(since,), daemon=True).start()

    def stop(self) -> None:
        with self.changed:
            self._stopped = True
            self.changed.notify_all()

    def seen(self, uid: str) -> tuple[Mapping[str, Any] | None, bool, int]:
        """The pod as last seen, whether it is gone, and how often it changed."""
        return self._pods.get(uid), uid in self._gone, self._versions[uid]

    def add(self, pod: Mapping[str, Any]) -> None:
        """A pod that was read or made otherwise; what the watch said since is kept."""
        with self.changed:
            uid = str(pod["metadata"]["uid"])
            if uid not in self._pods:
                self._pods[uid] = pod
                self._versions[uid] += 1
            self.changed.notify_all()

    def _list(self) -> str:
        known = set(self._pods)  # one that is made while the list is read may not be in it
        items, version = list_probes(self._kube, self._namespace, self._run)
        there = {str(one["metadata"]["uid"]) for one in items}
        with self.changed:
            for one in items:
                self._see(one)
            for uid in known - there:
                self._remove(uid)
            self.changed.notify_all()
        return version

    def _work(self, since: str) -> None:
        attempt = 0
        patience = self._kube.connection.patience
        while not self._stopped:
            try:
                if not since:
                    since = self._list()
                since = self._follow(since)
                attempt = 0
                self.error = ""
            except Expired:
                since = ""
            except AicrError as error:
                self.error = error.message
                since = ""
                time.sleep(min(patience.wait * 2**attempt, 5.0))
                attempt = min(attempt + 1, 6)

    def _follow(self, since: str) -> str:
        wanted = _wanted(self._namespace, self._run)
        allow.kubernetes("GET", wanted.path)
        for change in watch(self._kube.connection, wanted, since, seconds=_WATCH_SECONDS):
            meta: Mapping[str, Any] = change.item.get("metadata") or {}  # type: ignore[assignment]
            since = str(meta.get("resourceVersion") or since)
            with self.changed:
                self._see(change.item)
                if change.kind == "DELETED":
                    self._remove(str(meta.get("uid")))
                self.changed.notify_all()
            if self._stopped:
                break
        return since

    def _see(self, pod: Mapping[str, Any]) -> None:
        uid = str(pod["metadata"]["uid"])
        self._pods[uid] = pod
        self._versions[uid] += 1

    def _remove(self, uid: str) -> None:
        if uid not in self._gone:
            self._gone.add(uid)
            self._versions[uid] += 1


def left_over(
    kube: Kube, namespace: str, run: str, *, keep: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The pods of a run that are still there, but those with these UIDs."""
    items, _ = list_probes(kube, namespace, run)
    return [one for one in items if one["metadata"]["uid"] not in keep]
