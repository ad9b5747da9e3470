"""Who asks, as a real API server sees it: certificates, token files, impersonation."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from aicr import __version__
from aicr.cluster.connection import Connection
from aicr.cluster.failures import ApiError
from aicr.cluster.nodes import read_nodes
from kube_double import ADMIN_TOKEN
from kube_double_rbac import ADMINS
from kube_real import KubeReal, assets

pytestmark = [
    pytest.mark.skipif(assets() is None, reason="KUBEBUILDER_ASSETS names no real API server"),
    pytest.mark.xdist_group("kube-apiserver"),
]


@pytest.fixture
def asked(real: KubeReal, tmp_path: Path) -> KubeReal:
    real.folder = tmp_path
    real.store.sweep()
    real.forget()
    return real


def ask(real: KubeReal, user: dict[str, Any]) -> str:
    """Ask as this user; who the server's audit log says that it was."""
    read_nodes(Connection(str(real.kubeconfig(user))))
    request = real.requests[-1]
    assert request.headers["User-Agent"] == f"aicr/{__version__}"
    assert request.user is not None
    return request.user.name


def test_certificates(asked: KubeReal) -> None:
    path = asked.authority.issue("operator", groups=(ADMINS,))
    data = base64.b64encode(path.read_bytes()).decode()
    files = {"client-certificate": str(path), "client-key": str(path)}
    assert ask(asked, files) == "operator"
    assert ask(asked, {"client-certificate-data": data, "client-key-data": data}) == "operator"
    nobody = asked.authority.issue("nobody")
    with pytest.raises(ApiError) as caught:
        ask(asked, {"client-certificate": str(nobody), "client-key": str(nobody)})
    assert 'User "nobody" cannot list resource "nodes"' in caught.value.message


def test_a_token_file(asked: KubeReal, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{ADMIN_TOKEN}\n")
    assert ask(asked, {"tokenFile": "token"}) == "admin"


def test_impersonation(asked: KubeReal) -> None:
    admin = {"token": ADMIN_TOKEN, "as": "token-user"}
    with pytest.raises(ApiError) as caught:
        ask(asked, admin)
    assert 'User "token-user" cannot list resource "nodes"' in caught.value.message
    assert ask(asked, admin | {"as-groups": ["some", ADMINS]}) == "admin"
    assert ask(asked, admin | {"as-groups": [ADMINS], "as-uid": "7"}) == "admin"
