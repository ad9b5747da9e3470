from __future__ import annotations

import json
from typing import Any

import pytest

from aicr.cluster.connection import Connection, Patience
from aicr.cluster.failures import ApiError
from aicr.cluster.reading import List
from aicr.cluster.watching import Expired, watch
from aicr.errors import AicrError
from kube_double import KubeDouble
from kube_double_faults import Answer, Drop

JSON = {"Content-Type": "application/json"}
PODS = List("pods", namespace="tasks", labels="run=1")


@pytest.fixture
def connection(double: KubeDouble) -> Connection:
    double.namespace("tasks")
    return Connection(str(double.kubeconfig()), patience=Patience(tries=1))


def pod(name: str, run: str = "1") -> dict[str, Any]:
    meta = {"name": name, "namespace": "tasks", "labels": {"run": run}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {}}


def test_changes_since_a_version_come_in_order(double: KubeDouble, connection: Connection) -> None:
    store = double.store
    store.apply(pod("before"))
    since = str(store.revision)
    store.apply(pod("one"), pod("other", "2"))
    store.delete(store.kind("", "pods"), "tasks", "one")
    changes = watch(connection, PODS, since, seconds=5)
    found = [(one.kind, one.item["metadata"]["name"]) for one in (next(changes), next(changes))]  # type: ignore[index]
    changes.close()  # type: ignore[attr-defined]
    assert found == [("ADDED", "one"), ("DELETED", "one")]


def test_a_watch_ends_when_its_time_is_over(double: KubeDouble, connection: Connection) -> None:
    assert list(watch(connection, PODS, str(double.store.revision), seconds=1)) == []


def test_a_start_that_is_too_old(double: KubeDouble, connection: Connection) -> None:
    double.store.apply(pod("one"))
    double.store.compact()
    with pytest.raises(Expired):
        list(watch(connection, PODS, "1", seconds=5))


@pytest.mark.parametrize("fault", [Drop(), Answer(200, "no json\n", JSON)])
def test_a_watch_that_breaks(double: KubeDouble, connection: Connection, fault: Any) -> None:
    double.faults.add(fault)
    with pytest.raises(AicrError):
        list(watch(connection, PODS, "1", seconds=2))


def test_what_a_server_says_in_a_watch(double: KubeDouble, connection: Connection) -> None:
    status = {"kind": "Status", "code": 500, "message": "etcd is away"}
    double.faults.add(Answer(200, json.dumps({"type": "ERROR", "object": status}) + "\n", JSON))
    with pytest.raises(AicrError, match="etcd is away"):
        list(watch(connection, PODS, "1", seconds=2))
    double.faults.add(Answer(403, "no"))
    with pytest.raises(ApiError, match="no permission to watch pods in the namespace tasks"):
        list(watch(connection, PODS, "1", seconds=2))
