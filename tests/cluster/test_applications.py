from __future__ import annotations

import base64
from typing import Any

import pytest

from aicr.cluster.applications import Application, read_applications
from aicr.errors import AicrError
from kube_double_fixtures import Connect, recording
from kube_servers import Server, change


def by_place(server: Server, connect: Connect) -> dict[str, Application]:
    found = read_applications(connect(server))
    assert found.served
    return {f"{one.stored_in}/{one.name}": one for one in found.applications}


def versions(one: Application) -> list[tuple[str, str]] | None:
    if one.completed is None:
        return None
    return [(source.chart or source.path, source.revision) for source in one.completed]


def test_what_was_recorded(server: Server, connect: Connect) -> None:
    found = by_place(server, connect)
    assert {place: versions(one) for place, one in found.items()} == {
        "argocd/cert-manager": [("cert-manager", "v1.20.2")],
        "argocd/gpu-operator": [("gpu-operator", "v26.3.0")],
        "argocd/gpu-operator-post": [("003-gpu-operator-post", "main")],
        "argocd/kube-prometheus-stack": [("", "main"), ("kube-prometheus-stack", "79.5.0")],
        "argocd/kueue-east": [("kueue", "0.15.0")],
        "argocd/network-operator": [("network-operator", "26.1.0")],
        "argocd/nodewright": None,
        "team-argocd/cert-manager": None,
    }
    assert {place for place, one in found.items() if not one.local} == {
        "argocd/kueue-east",
        "argocd/network-operator",
    }
    failed = found["argocd/gpu-operator"]
    assert (failed.sync, failed.phase, failed.health) == ("OutOfSync", "Failed", "Degraded")
    assert failed.wanted[0].revision == "v26.7.1"


def cluster(name: str, server: str) -> dict[str, Any]:
    fields = {"name": name, "server": server, "config": '{"bearerToken": "hush-hush"}'}
    return {
        "metadata": {
            "name": f"cluster-{name}",
            "namespace": "argocd",
            "labels": {"argocd.argoproj.io/secret-type": "cluster"},
        },
        "type": "Opaque",
        "data": {key: base64.b64encode(text.encode()).decode() for key, text in fields.items()},
    }


@pytest.mark.parametrize(
    ("address", "local"),
    [
        ("https://kubernetes.default.svc", True),
        ("https://kubernetes.default.svc:443/", True),
        ("https://10.9.8.7", False),
    ],
)
def test_a_destination_by_name(address: str, local: bool, server: Server, connect: Connect) -> None:
    server.store.seed(server.store.kind("", "secrets"), cluster("gpu-west-2", address))
    assert by_place(server, connect)["argocd/network-operator"].local is local


def test_an_address_that_is_the_one_that_is_asked(server: Server, connect: Connect) -> None:
    kind = server.store.kind("argoproj.io", "applications")
    change(
        server,
        kind,
        "argocd",
        "kueue-east",
        lambda one: one["spec"]["destination"].update(server=server.url + "/"),
    )
    assert by_place(server, connect)["argocd/kueue-east"].local


def test_names_are_looked_up_only_where_there_are_any(server: Server, connect: Connect) -> None:
    kind = server.store.kind("argoproj.io", "applications")
    server.store.delete(kind, "argocd", "network-operator")
    read_applications(connect(server))
    assert server.verbs() == {("list", "applications")}


def test_no_applications(empty: Server, connect: Connect) -> None:
    found = read_applications(connect(empty))
    assert (found.applications, found.served) == ([], False)
    empty.store.define(recording("argo/crd"))
    found = read_applications(connect(empty))
    assert (found.applications, found.served) == ([], True)


def test_a_denied_list(server: Server, connect: Connect) -> None:
    with pytest.raises(AicrError) as caught:
        read_applications(connect(server, token="token-user-token"))
    assert caught.value.code == "FORBIDDEN"
    assert "list applications.argoproj.io at the cluster scope" in caught.value.message


def test_the_last_sync_by_its_number(server: Server, connect: Connect) -> None:
    kind = server.store.kind("argoproj.io", "applications")
    change(server, kind, "argocd", "cert-manager", lambda one: one["status"]["history"].reverse())
    one = by_place(server, connect)["argocd/cert-manager"]
    assert (versions(one), one.history_id) == ([("cert-manager", "v1.20.2")], 1)
