"""The same against the double and, where KUBEBUILDER_ASSETS names one, a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from aicr.cluster.applications import read_applications
from aicr.cluster.config_maps import Location, read_document, write_document
from aicr.cluster.connection import Connection, Patience
from aicr.cluster.helm_releases import read_releases
from aicr.cluster.nodes import read_version
from aicr.cluster.unmanaged import find_unmanaged
from aicr.errors import AicrError
from kube_double import KubeDouble
from kube_double_fixtures import recording
from kube_double_helm import record, stored
from kube_double_rbac import User
from kube_real import KubeReal, assets

RBAC = Path(__file__).parents[2] / "docs" / "rbac"
Server = KubeDouble | KubeReal


@pytest.fixture(scope="module", params=["double", "real"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    running: Server
    if request.param == "double":
        running = KubeDouble(folder, tls=True)
        running.tokens["token-user-token"] = User("token-user")
    else:
        binaries = assets()
        if binaries is None:
            pytest.skip("KUBEBUILDER_ASSETS names no real API server")
        running = KubeReal(folder, binaries)
    with running:
        running.namespace("gpu-operator")
        store = running.store
        store.seed(store.kind("", "secrets"), *recording("helm/secrets-list")["items"])
        store.seed(store.kind("", "configmaps"), *recording("helm/configmaps-list")["items"])
        application = store.define(recording("argo/crd"))
        store.seed(application, *recording("argo/applications-list")["items"])
        yield running


def connected(server: Server, page: int = 250, **user: object) -> Connection:
    path = server.kubeconfig(user or None, name="other" if user else "double")
    return Connection(str(path), patience=Patience(page=page), role="docs/rbac/inventory.yaml")


@pytest.mark.parametrize("page", [1, 3, 250])
def test_releases(page: int, server: Server) -> None:
    found = read_releases(connected(server, page))
    newest = {one.name: (one.revision, one.chart_version) for one in found.releases}
    assert found.records >= 16
    assert newest["nfd"] == (3, "0.19.0")
    assert newest["grove"] == (2, "v0.1.0-alpha.13")
    assert newest["nvsentinel"] == (2, "v1.10.0")


@pytest.mark.parametrize("page", [2, 250])
def test_applications(page: int, server: Server) -> None:
    found = read_applications(connected(server, page)).applications
    assert len(found) == 8
    assert {one.name for one in found if not one.local} == {"kueue-east", "network-operator"}


def test_config_maps(server: Server) -> None:
    connection = connected(server)
    place = Location("gpu-operator", "aicr-recipe")

    def write(text: str, where: Location = place) -> str:
        return write_document(
            connection, where, text, key="recipe.yaml", component="recipe", version="1"
        )

    assert [write("a"), write("b"), write("b")] == ["created", "updated", "updated"]
    assert read_document(connection, place, ("recipe.yaml",)).text == "b"
    with pytest.raises(AicrError) as caught:
        write("a", Location("no-such-namespace", "x"))
    assert "there is no namespace no-such-namespace" in caught.value.message
    assert write("x" * (1_048_576 - 4), Location("gpu-operator", "large")) == "created"


def test_what_nobody_owns(server: Server) -> None:
    kinds = [("argoproj.io", "Application"), ("example.com", "Nothing"), ("apps", "DaemonSet")]
    found, absent = find_unmanaged(connected(server, 3), kinds)
    assert len(found) == 8
    assert absent == [("example.com", "Nothing")]


def test_version(server: Server) -> None:
    assert read_version(connected(server)).version.startswith("v1.")


def test_rights(server: Server) -> None:
    connection = connected(server, token="token-user-token")
    with pytest.raises(AicrError) as caught:
        read_releases(connection)
    assert caught.value.code == "FORBIDDEN"
    assert 'User "token-user" cannot list resource "secrets" in API group ""' in str(caught.value)
    role = yaml.safe_load((RBAC / "inventory.yaml").read_text())
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "bound"},
        "subjects": [
            {"kind": "User", "name": "token-user", "apiGroup": "rbac.authorization.k8s.io"}
        ],
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "aicr-inventory",
        },
    }
    server.store.apply(role, binding)
    read_releases(Connection(str(server.kubeconfig({"token": "token-user-token"}, name="other"))))
    with pytest.raises(AicrError) as caught:
        read_releases(connected(server, token="of-nobody"))
    assert caught.value.code == "UNAUTHORIZED"


def test_a_record_in_flight(server: Server) -> None:
    secrets = server.store.kind("", "secrets")
    server.store.seed(
        secrets, stored(record("late", "late", 9)), stored(record("late", "late", 10))
    )
    found = {one.name: one.revision for one in read_releases(connected(server, 2)).releases}
    assert found["late"] == 10
