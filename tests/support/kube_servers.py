"""The servers that a test of what a cluster answers runs against: the double, and, where
``KUBEBUILDER_ASSETS`` names one, a real API server. What breaks a server is for the double alone.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kube_double import KubeDouble
from kube_double_fixtures import fill
from kube_double_kinds import Kind, Object
from kube_real import KubeReal, assets

Server = KubeDouble | KubeReal

# For what breaks the server, or swaps what it knows under the client's hands.
on_the_double = pytest.mark.parametrize("kind_of_server", ["double"], indirect=True)

_APPLICATIONS = "applications.argoproj.io"
_SERVERS = ["double"] if assets() is None else [
    "double",
    pytest.param("real", marks=pytest.mark.xdist_group("kube-apiserver")),
]  # fmt: skip


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubeReal]:
    """The real server, for as long as the tests run."""
    binaries = assets()
    assert binaries is not None
    with KubeReal(tmp_path_factory.mktemp("kube-apiserver"), binaries) as running:
        yield running


@pytest.fixture(params=_SERVERS)
def kind_of_server(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def empty(kind_of_server: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A cluster with nothing in it."""
    if kind_of_server == "double":
        with KubeDouble(tmp_path) as double:
            yield double
    else:
        running: KubeReal = request.getfixturevalue("real")
        running.folder = tmp_path
        running.store.sweep()
        running.forget()
        yield running


@pytest.fixture
def server(kind_of_server: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A cluster with what was recorded in it."""
    if kind_of_server == "double":
        with KubeDouble(tmp_path) as double:
            fill(double)
            yield double
    else:
        running: KubeReal = request.getfixturevalue("real")
        running.folder = tmp_path
        store = running.store
        if store.changed:
            store.sweep(keep=(_APPLICATIONS,))
            fill(running)
            store.changed = False
        running.forget()
        yield running
        store.changed = store.changed or any(
            verb not in ("get", "list", "watch") for verb, _ in running.verbs()
        )


def change(
    server: Server, kind: Kind, namespace: str, name: str, edit: Callable[[Object], Any]
) -> None:
    """Put an object in the place of what is there; its status, too."""
    one = copy.deepcopy(server.store.get(kind, namespace, name))
    edit(one)
    server.store.delete(kind, namespace, name)
    server.store.seed(kind, one)


__all__ = ["Server", "change", "empty", "kind_of_server", "on_the_double", "real", "server"]
