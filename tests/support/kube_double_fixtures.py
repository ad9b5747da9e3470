"""Doubles of a cluster, filled from recordings of a real one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aicr.cluster.connection import Connection, Patience
from kube_double import KubeDouble
from kube_double_rbac import User

if TYPE_CHECKING:
    from kube_real import KubeReal

DATA = Path(__file__).parents[1] / "data" / "kube"

Connect = Callable[..., Connection]


def recording(name: str) -> Any:
    """A recorded answer: the whole exchange where there is one, else its body."""
    return json.loads((DATA / f"{name}.json").read_text())


def fill(double: KubeDouble | KubeReal) -> None:
    """What the recordings were made of: Helm's records, Applications, nodes."""
    store = double.store
    double.namespace("gpu-operator")
    store.seed(store.kind("", "nodes"), *recording("pods/nodes-list")["items"])
    store.seed(store.kind("", "secrets"), *recording("helm/secrets-list")["items"])
    store.seed(store.kind("", "configmaps"), *recording("helm/configmaps-list")["items"])
    application = store.define(recording("argo/crd"))
    store.seed(application, *recording("argo/applications-list")["items"])
    if isinstance(double, KubeDouble):
        double.tokens["token-user-token"] = User("token-user", ("system:authenticated",))


@pytest.fixture(autouse=True)
def no_cluster_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HTTPS_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[KubeDouble]:
    """A cluster with nothing in it."""
    with KubeDouble(tmp_path) as double:
        yield double


@pytest.fixture
def double(bare: KubeDouble) -> KubeDouble:
    fill(bare)
    return bare


@pytest.fixture
def patience() -> Patience:
    """As in earnest, but nobody waits."""
    return Patience(sleep=lambda seconds: None)


@pytest.fixture
def connect(patience: Patience) -> Connect:
    def to(double: KubeDouble | KubeReal, **user: object) -> Connection:
        kubeconfig = double.kubeconfig(user or None, name="other" if user else "double")
        return Connection(str(kubeconfig), role="docs/rbac/some.yaml", patience=patience)

    return to
