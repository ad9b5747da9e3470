from __future__ import annotations

import base64
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr import __version__
from aicr.cluster import nodes
from aicr.cluster.connection import Connection, Patience
from aicr.errors import AicrError
from kube_double import ADMIN_TOKEN, KubeDouble
from kube_double_faults import TOO_MANY, Answer, Cut, Drop, Fault, Hang, Slow
from kube_double_fixtures import Connect, fill
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


# Which cluster, and as whom


def test_https_with_its_own_authority(tls: KubeDouble) -> None:
    connection = Connection(str(tls.kubeconfig()))
    assert len(names(connection)) == 3
    assert (connection.server, connection.context) == (tls.url, "double")
    assert not connection.notes


def test_the_user_agent_names_tool_and_version(tls: KubeDouble) -> None:
    names(Connection(str(tls.kubeconfig())))
    assert tls.requests[-1].headers["User-Agent"].startswith(f"aicr/{__version__} ")


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


# What goes wrong on the way


@pytest.mark.parametrize(
    "fault", [TOO_MANY, Answer(500, "boom"), Answer(503), Answer(504), Cut(), Cut(200), Drop()]
)
def test_reads_survive_what_passes(fault: Fault, double: KubeDouble, connect: Connect) -> None:
    connection = connect(double)
    double.faults.add(fault, times=4)
    assert len(names(connection)) == 3
    assert len(double.requests) == 5


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        (TOO_MANY, "RATE_LIMITED", "Too many requests"),
        (Answer(500, "boom"), "UNAVAILABLE", "boom"),
        (Answer(504, "late"), "TIMEOUT", "late"),
        (Cut(200), "UNAVAILABLE", "after 5 tries"),
        (Drop(), "UNAVAILABLE", "after 5 tries"),
    ],
)
def test_what_does_not_pass_is_an_error(
    fault: Fault, code: str, said: str, double: KubeDouble, connect: Connect
) -> None:
    connection = connect(double)
    double.faults.add(fault, times=99)
    with pytest.raises(AicrError) as caught:
        names(connection)
    assert caught.value.code == code
    assert said in caught.value.message
    assert len(double.requests) == 5


def test_retry_after_is_honoured(double: KubeDouble) -> None:
    slept: list[float] = []
    connection = Connection(str(double.kubeconfig()), patience=Patience(sleep=slept.append))
    double.faults.add(Answer(429, "", {"Retry-After": "7"}))
    assert names(connection)
    assert 7 <= slept[0] <= 7.2
    double.faults.add(Answer(429, "", {"Retry-After": "3600"}))
    with pytest.raises(AicrError) as caught:
        names(connection)
    assert caught.value.code == "RATE_LIMITED"


@pytest.mark.parametrize("status", [400, 404, 409, 422, 501])
def test_nothing_else_is_tried_again(status: int, double: KubeDouble, connect: Connect) -> None:
    connection = connect(double)
    double.faults.add(Answer(status, "no"))
    with pytest.raises(AicrError):
        names(connection)
    assert len(double.requests) == 1


def test_a_redirect_is_not_followed(double: KubeDouble, connect: Connect) -> None:
    connection = connect(double)
    double.faults.add(Answer(302, "", {"Location": "http://example.com/"}))
    with pytest.raises(AicrError):
        names(connection)
    assert len(double.requests) == 1


@pytest.mark.parametrize("fault", [Slow(0.05), Hang(1.0)])
def test_slow_answers_have_an_end(fault: Fault, double: KubeDouble) -> None:
    patience = Patience(request=0.4)
    connection = Connection(str(double.kubeconfig()), patience=patience)
    double.faults.add(fault)
    before = time.monotonic()
    with pytest.raises(AicrError) as caught:
        names(connection)
    assert caught.value.code == "TIMEOUT"
    assert time.monotonic() - before < 2
    assert len(names(connection)) == 3


def test_an_answer_without_end(double: KubeDouble) -> None:
    connection = Connection(str(double.kubeconfig()), patience=Patience(largest=1000))
    with pytest.raises(AicrError) as caught:
        names(connection)
    assert "more than 1000 bytes" in caught.value.message


def test_an_answer_of_something_else(double: KubeDouble, connect: Connect) -> None:
    connection = connect(double)
    double.faults.add(Answer(200, "<html>log in</html>", {"Content-Type": "text/html"}))
    with pytest.raises(AicrError) as caught:
        names(connection)
    assert "not what a Kubernetes API server sends" in caught.value.message
    assert "log in<" not in caught.value.message


def test_a_server_that_dies_between_pages(double: KubeDouble, connect: Connect) -> None:
    from aicr.cluster.helm_releases import read_releases
    from kube_double_faults import Run

    connection = connect(double)
    double.faults.add(Run(double.stop), lambda request: request.verb == "get")
    with pytest.raises(AicrError) as caught:
        read_releases(connection)
    assert caught.value.code == "UNAVAILABLE"
    assert "cannot be reached" in caught.value.message


def test_a_clock_that_jumps(double: KubeDouble, connect: Connect) -> None:
    now = iter([2e9, 1e9, 3e9])
    double.clock = lambda: next(now)
    connection = connect(double)
    for expected in ("2033-05-18", "2001-09-09", "2065-01-24"):
        assert names(connection)
        assert connection.time.startswith(expected)


# What may not be done


def test_a_denied_list_names_what_to_grant(double: KubeDouble, connect: Connect) -> None:
    connection = connect(double, token="token-user-token")
    with pytest.raises(AicrError) as caught:
        names(connection)
    error = caught.value
    assert error.exit_code == 4
    assert error.message.startswith(
        f"no permission to list nodes at the cluster scope on {double.url} (context other)"
    )
    assert "docs/rbac/some.yaml" in error.hint


def test_writes_are_not_tried_again(double: KubeDouble, connect: Connect) -> None:
    from aicr.cluster.failures import Permission

    connection = connect(double)
    path = "/api/v1/namespaces/gpu-operator/configmaps"
    for fault in (Answer(500, "boom"), TOO_MANY, Drop()):
        double.requests.clear()
        double.faults.add(fault)
        with pytest.raises(AicrError):
            connection.write(
                "POST",
                path,
                Permission("create", "configmaps"),
                json.dumps({"metadata": {"name": "x"}}).encode(),
            )
        assert len(double.requests) == 1
