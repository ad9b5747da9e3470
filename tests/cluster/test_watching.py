from __future__ import annotations

import json
from typing import Any, cast

import pytest

from aicr.cluster.connection import Connection, Patience
from aicr.cluster.failures import ApiError
from aicr.cluster.reading import List
from aicr.cluster.watching import Expired, watch
from aicr.errors import AicrError
from kube_double import KubeDouble
from kube_double_faults import Answer, Drop
from kube_servers import Server, on_the_double

JSON = {"Content-Type": "application/json"}
PODS = List("pods", namespace="tasks", labels="run=1")


@pytest.fixture
def connection(server: Server) -> Connection:
    server.namespace("tasks")
    return Connection(str(server.kubeconfig()), patience=Patience(tries=1))


def pod(name: str, run: str = "1") -> dict[str, Any]:
    meta = {"name": name, "namespace": "tasks", "labels": {"run": run}}
    box = {"name": "box", "image": "registry.example.com/box:1"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [box]}}


def version(server: Server, name: str) -> str:
    kind = server.store.kind("", "pods")
    return str(server.store.get(kind, "tasks", name)["metadata"]["resourceVersion"])


def test_changes_since_a_version_come_in_order(server: Server, connection: Connection) -> None:
    store = server.store
    store.apply(pod("before"))
    since = version(server, "before")
    store.apply(pod("one"), pod("other", "2"))
    store.delete(store.kind("", "pods"), "tasks", "one")
    found: list[tuple[str, Any]] = []
    for one in watch(connection, PODS, since, seconds=60):
        found.append((one.kind, cast("Any", one.item)["metadata"]["name"]))
        if one.kind == "DELETED":
            break
    assert [one for one in found if one[0] != "MODIFIED"] == [("ADDED", "one"), ("DELETED", "one")]


def test_a_watch_ends_when_its_time_is_over(server: Server, connection: Connection) -> None:
    server.store.apply(pod("one", "2"))
    assert list(watch(connection, PODS, version(server, "one"), seconds=1)) == []


@on_the_double
def test_a_start_that_is_too_old(server: Server, connection: Connection) -> None:
    assert isinstance(server, KubeDouble)
    server.store.apply(pod("one"))
    server.store.compact()
    with pytest.raises(Expired):
        list(watch(connection, PODS, "1", seconds=5))


@on_the_double
@pytest.mark.parametrize("fault", [Drop(), Answer(200, "no json\n", JSON)])
def test_a_watch_that_breaks(server: Server, connection: Connection, fault: Any) -> None:
    assert isinstance(server, KubeDouble)
    server.faults.add(fault)
    with pytest.raises(AicrError):
        list(watch(connection, PODS, "1", seconds=2))


@on_the_double
def test_what_a_server_says_in_a_watch(server: Server, connection: Connection) -> None:
    assert isinstance(server, KubeDouble)
    status = {"kind": "Status", "code": 500, "message": "etcd is away"}
    server.faults.add(Answer(200, json.dumps({"type": "ERROR", "object": status}) + "\n", JSON))
    with pytest.raises(AicrError, match="etcd is away"):
        list(watch(connection, PODS, "1", seconds=2))
    server.faults.add(Answer(403, "no"))
    with pytest.raises(ApiError, match="no permission to watch pods in the namespace tasks"):
        list(watch(connection, PODS, "1", seconds=2))
