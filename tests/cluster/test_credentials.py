from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr import __version__
from aicr.cluster import nodes
from aicr.cluster.connection import Connection
from aicr.errors import AicrError
from kube_double import ADMIN_TOKEN, KubeDouble
from kube_double_fixtures import fill
from kube_double_rbac import ADMINS, User


@pytest.fixture
def tls(tmp_path: Path) -> Iterator[KubeDouble]:
    with KubeDouble(tmp_path, tls=True) as double:
        fill(double)
        yield double


def names(connection: Connection) -> list[str]:
    return [node.name for node in nodes.read_nodes(connection)]


def refused(kubeconfig: Path | None, context: str | None = None) -> AicrError:
    with pytest.raises(AicrError) as caught:
        names(Connection(str(kubeconfig) if kubeconfig else None, context))
    return caught.value


def test_https_with_its_own_authority(tls: KubeDouble) -> None:
    connection = Connection(str(tls.kubeconfig()))
    assert len(names(connection)) == 3
    assert (connection.server, connection.context) == (tls.url, "double")
    assert not connection.notes


def test_the_user_agent_names_tool_and_version(tls: KubeDouble) -> None:
    names(Connection(str(tls.kubeconfig())))
    assert tls.requests[-1].headers["User-Agent"].startswith(f"aicr/{__version__}")


def test_a_certificate_of_another_authority_is_not_trusted(tls: KubeDouble) -> None:
    error = refused(tls.kubeconfig(cluster={"certificate-authority": ""}))
    assert error.code == "UNAVAILABLE"
    assert "cannot be trusted" in error.message


def test_nobody_checks_the_certificate_only_where_the_kubeconfig_says_so(tls: KubeDouble) -> None:
    insecure = {"certificate-authority": "", "insecure-skip-tls-verify": True}
    connection = Connection(str(tls.kubeconfig(cluster=insecure)))
    assert len(names(connection)) == 3
    assert "insecure-skip-tls-verify" in connection.notes[0]


def test_a_server_name_of_its_own(tls: KubeDouble) -> None:
    assert names(Connection(str(tls.kubeconfig(cluster={"tls-server-name": "double.example.com"}))))
    error = refused(tls.kubeconfig(cluster={"tls-server-name": "elsewhere.example.com"}))
    assert error.code == "UNAVAILABLE"


def test_a_client_certificate(tls: KubeDouble) -> None:
    assert tls.authority is not None
    path = tls.authority.issue("operator", groups=(ADMINS,))
    data = base64.b64encode(path.read_bytes()).decode()
    for user in (
        {"client-certificate": str(path), "client-key": str(path)},
        {"client-certificate-data": data, "client-key-data": data},
    ):
        assert names(Connection(str(tls.kubeconfig(user))))
        assert tls.requests[-1].user == User("operator", (ADMINS,))


def plugin(tmp_path: Path, body: str) -> dict[str, Any]:
    script = tmp_path / "plugin.py"
    script.write_text(body)
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": sys.executable,
            "args": [str(script)],
            "interactiveMode": "Never",
        }
    }


CREDENTIAL = """
import json
status = {"token": open(%r).read().strip()}
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                  "status": status}))
"""


def test_a_credential_plugin(tls: KubeDouble, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(ADMIN_TOKEN)
    assert names(Connection(str(tls.kubeconfig(plugin(tmp_path, CREDENTIAL % str(token))))))


def test_a_credential_plugin_that_fails(tls: KubeDouble, tmp_path: Path) -> None:
    user = plugin(tmp_path, "import sys; sys.exit('the session is over')")
    error = refused(tls.kubeconfig(user))
    assert error.code == "UNAUTHORIZED"
    assert "the session is over" in error.message
    assert not tls.requests


def test_a_token_that_expires_half_way_is_asked_for_again(tls: KubeDouble, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(ADMIN_TOKEN)
    connection = Connection(str(tls.kubeconfig(plugin(tmp_path, CREDENTIAL % str(token)))))
    assert names(connection)
    tls.tokens = {"next-token": User("admin", (ADMINS,))}
    token.write_text("next-token")
    assert names(connection)
    tls.tokens = {}
    with pytest.raises(AicrError) as caught:
        names(connection)
    assert caught.value.code == "UNAUTHORIZED"


def test_a_token_file_that_rotates(tls: KubeDouble, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(ADMIN_TOKEN + "\n")
    connection = Connection(str(tls.kubeconfig({"tokenFile": "token"})))
    assert names(connection)
    tls.tokens = {"next-token": User("admin", (ADMINS,))}
    (tmp_path / "token").write_text("next-token\n")
    before = len(tls.requests)
    assert names(connection)
    assert len(tls.requests) == before + 1


def test_a_proxy(double: KubeDouble) -> None:
    through = {"server": "http://api.example.com", "proxy-url": double.url}
    connection = Connection(str(double.kubeconfig(cluster=through)))
    assert len(names(connection)) == 3
    assert double.requests[-1].headers["Host"] == "api.example.com"


def test_oidc(tls: KubeDouble) -> None:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    token = f"{part({'alg': 'RS256'})}.{part({'exp': 4_000_000_000})}.signature"
    tls.tokens[token] = User("admin", (ADMINS,))
    provider = {"name": "oidc", "config": {"id-token": token, "client-id": "x"}}
    assert names(Connection(str(tls.kubeconfig({"auth-provider": provider}))))


def test_the_account_of_a_pod(
    tls: KubeDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kubernetes.config import incluster_config

    assert tls.authority is not None
    (tmp_path / "token").write_text(ADMIN_TOKEN)
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tls.authority.certificate))
    host, port = tls.url.removeprefix("https://").split(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    connection = Connection()
    assert (connection.context, len(names(connection))) == ("in-cluster", 3)
    assert refused(None, "another").code == "INVALID_REQUEST"


def test_impersonation(tls: KubeDouble) -> None:
    names(Connection(str(tls.kubeconfig({"token": ADMIN_TOKEN, "as": "somebody"}))))
    assert tls.requests[-1].headers["Impersonate-User"] == "somebody"


def test_a_token_that_cannot_be_one_is_not_shown(tls: KubeDouble) -> None:
    error = refused(tls.kubeconfig({"token": "top\nsecret"}))
    assert error.code == "UNAUTHORIZED"
    assert "secret" not in error.message


def test_several_kubeconfigs_are_one(
    double: KubeDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = yaml.safe_load(double.kubeconfig().read_text())
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "token").write_text(ADMIN_TOKEN)
    users = [{"name": "double", "user": {"tokenFile": "token"}}]
    parts = {
        tmp_path / "a": {"contexts": whole["contexts"], "current-context": "double"},
        folder / "b": {"users": users, "current-context": "another"},
        tmp_path / "c": {"clusters": whole["clusters"], "users": [{"name": "double", "user": {}}]},
    }
    for path, part in parts.items():
        path.write_text(yaml.safe_dump(part))
    paths = ["/not/there", *map(str, parts)]
    monkeypatch.setenv("KUBECONFIG", ":".join(paths))
    connection = Connection()
    assert connection.context == "double"
    assert len(names(connection)) == 3


def test_the_usual_place(double: KubeDouble, tmp_path: Path) -> None:
    (tmp_path / ".kube").mkdir()
    (tmp_path / ".kube" / "config").write_text(double.kubeconfig().read_text())
    assert len(names(Connection())) == 3


def test_another_context(double: KubeDouble) -> None:
    path = double.kubeconfig()
    document = yaml.safe_load(path.read_text())
    document["contexts"].append({"name": "other", "context": {"cluster": "double"}})
    path.write_text(yaml.safe_dump(document))
    assert refused(path, "other").code == "FORBIDDEN"
    assert double.requests[-1].user == User("system:anonymous", ("system:unauthenticated",))
    error = refused(path, "third")
    assert error.code == "INVALID_REQUEST"
    assert error.hint == "contexts there: double, other"


WITHOUT_SERVER = """
contexts: [{name: x, context: {cluster: y}}]
current-context: x
clusters: [{name: y, cluster: {}}]
"""
WITHOUT_COMMAND = """
contexts: [{name: x, context: {cluster: y, user: z}}]
current-context: x
clusters: [{name: y, cluster: {server: 'https://127.0.0.1:1'}}]
users: [{name: z, user: {exec: {args: [hush-hush]}}}]
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must be a map"),
        ("a: [", "cannot be read as a kubeconfig"),
        ("current-context: x", 'there is no context "x"'),
        ("{}", "no current-context"),
        ("contexts: [{name: x, context: {cluster: y}}]\ncurrent-context: x", 'no cluster "y"'),
        (WITHOUT_SERVER, "has no server"),
        (WITHOUT_COMMAND, "gave no credentials"),
    ],
)
def test_kubeconfigs_that_are_none(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(text)
    error = refused(path)
    assert said in error.message
    assert "hush" not in error.message + error.hint


def test_no_kubeconfig(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no kubeconfig" in refused(None).message
    assert "no such file" in refused(Path("/not/there")).message
    monkeypatch.setenv("KUBECONFIG", "/not/there")
    assert "KUBECONFIG names no file" in refused(None).message


def test_without_the_client_the_error_says_what_to_install(
    double: KubeDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = double.kubeconfig()
    for name in [name for name in sys.modules if name.partition(".")[0] == "kubernetes"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    with pytest.raises(AicrError) as caught:
        Connection(str(path))
    assert "pip install 'aicr[cluster]'" in caught.value.message
