from __future__ import annotations

import base64
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from cryptography.hazmat.primitives import serialization

from aicr import __version__
from aicr.cluster import nodes
from aicr.cluster.connection import Connection
from aicr.errors import AicrError
from command import run_aicr
from kube_double import ADMIN_TOKEN, KubeDouble
from kube_double_faults import Answer
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
    for verb in ("snapshot", "inventory"):
        done = run_aicr(verb, "-k", tls.kubeconfig(cluster=insecure))
        assert done.returncode == 0
        assert done.stderr.count("insecure-skip-tls-verify: nobody checks that") == 1
        assert done.stderr.startswith("aicr: warning: the kubeconfig says")


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


def test_a_client_certificate_that_was_replaced(tls: KubeDouble, tmp_path: Path) -> None:
    assert tls.authority is not None
    shown = tmp_path / "shown.pem"
    shown.write_bytes(tls.authority.issue("old", groups=(ADMINS,)).read_bytes())
    user = {"client-certificate": str(shown), "client-key": str(shown)}
    connection = Connection(str(tls.kubeconfig(user)))
    assert names(connection)
    shown.write_bytes(tls.authority.issue("new", groups=(ADMINS,)).read_bytes())
    tls.faults.add(Answer(401, "Unauthorized"))
    assert names(connection)
    assert [one.user.name for one in tls.requests if one.user] == ["old", "old", "new"]
    tls.faults.add(Answer(401, "Unauthorized"))
    with pytest.raises(AicrError) as caught:
        names(connection)
    assert caught.value.code == "UNAUTHORIZED"
    assert len(tls.requests) == 4


def test_a_token_that_was_replaced_in_the_kubeconfig(tls: KubeDouble) -> None:
    connection = Connection(str(tls.kubeconfig()))
    assert names(connection)
    tls.tokens = {"next-token": User("admin", (ADMINS,))}
    tls.kubeconfig({"token": "next-token"})
    assert names(connection)
    tls.tokens = {"last-token": User("admin", (ADMINS,))}
    tls.kubeconfig({"token": "last-token"}, cluster={"server": "https://127.0.0.1:1"})
    with pytest.raises(AicrError) as caught:  # another server by now: that was not asked for
        names(connection)
    assert caught.value.code == "UNAUTHORIZED"


def test_a_key_that_the_kubeconfig_holds_stays_in_no_file(tls: KubeDouble, tmp_path: Path) -> None:
    assert tls.authority is not None
    path = tls.authority.issue("operator", groups=(ADMINS,))
    data = base64.b64encode(path.read_bytes()).decode()
    authority = base64.b64encode(tls.authority.certificate.read_bytes()).decode()
    kubeconfig = tls.kubeconfig(
        {"client-certificate-data": data, "client-key-data": data},
        cluster={"certificate-authority": "", "certificate-authority-data": authority},
    )
    folder = tmp_path / "temporary"
    folder.mkdir()
    done = run_aicr("snapshot", "-k", kubeconfig, env={"TMPDIR": str(folder)})
    assert done.returncode == 0, done.stderr
    assert tls.requests[-1].user == User("operator", (ADMINS,))
    assert list(folder.iterdir()) == []


def test_certificates_beside_the_kubeconfig_that_names_them(
    tls: KubeDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tls.authority is not None
    whole = yaml.safe_load(tls.kubeconfig().read_text())
    for name in ("clusters", "users"):
        (tmp_path / name / "files").mkdir(parents=True)
    issued = tls.authority.issue("operator", groups=(ADMINS,))
    (tmp_path / "users" / "files" / "me.pem").write_bytes(issued.read_bytes())
    authority = tmp_path / "clusters" / "files" / "ca.crt"
    authority.write_bytes(tls.authority.certificate.read_bytes())
    whole["clusters"][0]["cluster"]["certificate-authority"] = "files/ca.crt"
    me = {"client-certificate": "files/me.pem", "client-key": "files/me.pem"}
    whole["users"][0]["user"] = me
    users = {"users": whole.pop("users")}
    (tmp_path / "clusters" / "config").write_text(yaml.safe_dump(whole))
    (tmp_path / "users" / "config").write_text(yaml.safe_dump(users))
    paths = [str(tmp_path / name / "config") for name in ("users", "clusters")]
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(paths))
    assert names(Connection())
    assert tls.requests[-1].user == User("operator", (ADMINS,))


def encrypted(path: Path) -> str:
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"hush"),
    ).decode()


@pytest.mark.parametrize(
    ("user", "cluster", "said"),
    [
        ({"client-certificate": "{cert}", "client-key": "/not/there"}, {}, "No such file"),
        ({"client-certificate": "/not/there", "client-key": "{cert}"}, {}, "No such file"),
        ({"client-certificate": "{cert}", "client-key": "{locked}"}, {}, "the client key is encr"),
        ({"client-certificate-data": "!", "client-key-data": "!"}, {}, "is no base64"),
        ({}, {"certificate-authority": "/not/there"}, "/not/there holds no certificate"),
        ({}, {"certificate-authority-data": "aHVzaA=="}, "certificate-authority-data holds no"),
    ],
)
def test_certificates_that_are_none(
    user: dict[str, str],
    cluster: dict[str, str],
    said: str,
    tls: KubeDouble,
    tmp_path: Path,
) -> None:
    assert tls.authority is not None
    path = tls.authority.issue("operator")
    (tmp_path / "locked").write_text(encrypted(path))
    filled = {
        key: value.format(cert=path, locked=tmp_path / "locked") for key, value in user.items()
    }
    error = refused(tls.kubeconfig(filled, cluster=cluster))
    assert error.code == "INVALID_REQUEST"
    assert said in error.message
    assert "hush" not in error.message
    assert not tls.requests


def test_a_name_and_a_password(tls: KubeDouble) -> None:
    refused(tls.kubeconfig({"username": "me", "password": "it"}))
    given = base64.b64encode(b"me:it").decode()
    assert tls.requests[-1].headers["Authorization"] == f"Basic {given}"


def test_a_token_file_that_rotates(tls: KubeDouble, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(ADMIN_TOKEN + "\n")
    connection = Connection(str(tls.kubeconfig({"tokenFile": "token"})))
    assert names(connection)
    tls.tokens = {"next-token": User("admin", (ADMINS,))}
    (tmp_path / "token").write_text("next-token\n")
    before = len(tls.requests)
    assert names(connection)
    assert len(tls.requests) == before + 1


def test_a_plain_proxy(double: KubeDouble) -> None:
    through = {"server": "http://api.example.com", "proxy-url": double.url}
    connection = Connection(str(double.kubeconfig(cluster=through)))
    assert len(names(connection)) == 3
    assert double.requests[-1].headers["Host"] == "api.example.com"


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


def test_the_token_of_a_pod_that_rotates(
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
    assert names(connection)
    tls.tokens = {"next-token": User("admin", (ADMINS,))}
    (tmp_path / "token").write_text("next-token")
    assert names(connection)
    (tmp_path / "token").unlink()
    assert "token file does not exist" in refused(None).message


def test_impersonation(tls: KubeDouble) -> None:
    user = {"token": ADMIN_TOKEN, "as": "somebody", "as-uid": "7", "as-groups": ["one", "two"]}
    names(Connection(str(tls.kubeconfig(user))))
    headers = tls.requests[-1].headers
    assert (headers["Impersonate-User"], headers["Impersonate-Uid"]) == ("somebody", "7")
    assert tls.requests[-1].all_of("Impersonate-Group") == ["one", "two"]
    error = refused(tls.kubeconfig(user | {"as-user-extra": {"scopes": ["x"]}}))
    assert "as-user-extra is not supported" in error.message


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
    assert "pip install '.[cluster]'" in caught.value.message
