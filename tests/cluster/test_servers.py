"""What a server decides by itself: its pages, its order, its limits and its roles.

Asked are the double and, where ``KUBEBUILDER_ASSETS`` names one, a real API server, as in most
tests beside this one.
"""

from __future__ import annotations

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
from kube_double_helm import record, stored
from kube_real import assets
from kube_servers import Server

RBAC = Path(__file__).parents[2] / "docs" / "rbac"


def connected(server: Server, page: int = 250, **user: object) -> Connection:
    path = server.kubeconfig(user or None, name="other" if user else "double")
    return Connection(str(path), patience=Patience(page=page), role="docs/rbac/inventory.yaml")


def test_a_real_server_takes_part() -> None:
    binaries = assets()
    if binaries is None:
        pytest.skip("KUBEBUILDER_ASSETS names no real API server")
    for name in ("etcd", "kube-apiserver"):
        assert (binaries / name).is_file()


@pytest.mark.parametrize("page", [1, 3, 250])
def test_releases(page: int, server: Server) -> None:
    found = read_releases(connected(server, page))
    newest = {one.name: (one.revision, one.chart_version) for one in found.releases}
    assert found.records == 16
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
    server.granted("token-user", role)
    assert read_releases(connection).records == 16
    with pytest.raises(AicrError) as caught:
        read_releases(connected(server, token="of-nobody"))
    assert caught.value.code == "UNAUTHORIZED"


def test_revisions_are_numbers(server: Server) -> None:
    """A server's order is by name, in which v10 comes before v9."""
    secrets = server.store.kind("", "secrets")
    server.store.seed(
        secrets, stored(record("late", "late", 9)), stored(record("late", "late", 10))
    )
    found = {one.name: one.revision for one in read_releases(connected(server, 2)).releases}
    assert found["late"] == 10


def test_a_release_of_a_mebibyte(empty: Server) -> None:
    """As large as a Secret may be: one page holds more than all of it."""
    import random

    one = record("large", "large", version="1.2.3")
    one["manifest"] = random.Random(7).randbytes(250_000).hex()
    empty.store.seed(empty.store.kind("", "secrets"), stored(one))
    [found] = read_releases(connected(empty)).releases
    assert (found.chart_version, found.problem) == ("1.2.3", "")
