"""Credential plugins: what they give, when they are asked again, and what never waits for them."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.cluster import nodes, plugin
from aicr.cluster.connection import Connection
from aicr.errors import AicrError
from kube_double import ADMIN_TOKEN, KubeDouble
from kube_double_faults import Answer
from kube_double_rbac import ADMINS, User

API = "client.authentication.k8s.io/v1"
Spec = dict[str, Any]

# Answers with a token, or whatever the file "status" holds, and counts how often it was asked.
ANSWERS = f"""
import json, os, sys
folder = os.path.dirname(os.path.abspath(sys.argv[0]))
with open(os.path.join(folder, "asked"), "a") as file:
    file.write(os.environ["KUBERNETES_EXEC_INFO"] + "\\n")
status = json.load(open(os.path.join(folder, "status")))
print(json.dumps(dict(apiVersion="{API}", kind="ExecCredential", status=status)))
"""


class Plugin:
    """A plugin in a folder of its own; ``answer`` is what it says from now on."""

    def __init__(self, folder: Path, script: str = ANSWERS) -> None:
        folder.mkdir()
        self.folder = folder
        self.script = folder / "plugin.py"
        self.script.write_text(script)
        self.answer(token=ADMIN_TOKEN)

    def answer(self, **status: str) -> None:
        (self.folder / "status").write_text(json.dumps(status))

    @property
    def asked(self) -> list[Any]:
        path = self.folder / "asked"
        return [json.loads(line)["spec"] for line in path.read_text().splitlines()]

    def user(self, **spec: Any) -> Spec:
        usual = {
            "apiVersion": API,
            "command": sys.executable,
            "args": [str(self.script)],
            "interactiveMode": "Never",
        }
        return {"exec": usual | spec}


@pytest.fixture
def answers(tmp_path: Path) -> Plugin:
    return Plugin(tmp_path / "plugin")


def names(connection: Connection) -> list[str]:
    return [node.name for node in nodes.read_nodes(connection)]


def refused(double: KubeDouble, user: Spec) -> AicrError:
    with pytest.raises(AicrError) as caught:
        names(Connection(str(double.kubeconfig(user))))
    assert caught.value.code == "UNAUTHORIZED"
    assert "context double: the credential plugin" in caught.value.message
    assert not double.requests
    return caught.value


def script(tmp_path: Path, body: str, **spec: Any) -> Spec:
    return Plugin(tmp_path / "script", body).user(**spec)


def test_a_plugin_is_asked_once(double: KubeDouble, answers: Plugin) -> None:
    path = str(double.kubeconfig(answers.user()))
    for _ in range(2):
        connection = Connection(path)
        assert names(connection)
        assert names(connection)
    assert answers.asked == [{"interactive": False}]


def test_a_plugin_is_asked_again_when_its_answer_is_over(
    double: KubeDouble, answers: Plugin, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers.answer(token=ADMIN_TOKEN, expirationTimestamp="2026-11-30T17:00:00Z")
    now = 1_796_000_000.0  # before that, in 2026
    monkeypatch.setattr(time, "time", lambda: now)
    connection = Connection(str(double.kubeconfig(answers.user())))
    assert names(connection)
    double.tokens = {"next": User("admin", (ADMINS,))}
    answers.answer(token="next", expirationTimestamp="2026-11-30T18:00:00Z")
    now = 1_796_058_001.0
    before = len(double.requests)
    assert names(connection)
    assert len(double.requests) == before + 1  # nobody had to refuse the old one
    # Over by this machine's clock already when it comes: the server's clock is what counts.
    now = 2_000_000_000.0
    assert names(connection)
    assert names(connection)
    assert len(answers.asked) == 3


def test_a_plugin_is_asked_again_when_the_server_refuses(
    double: KubeDouble, answers: Plugin
) -> None:
    connection = Connection(str(double.kubeconfig(answers.user())))
    assert names(connection)
    double.tokens = {"next": User("admin", (ADMINS,))}
    answers.answer(token="next")
    assert names(connection)
    double.tokens = {}
    with pytest.raises(AicrError) as caught:
        names(connection)
    assert "does not accept the credentials" in caught.value.message
    assert len(answers.asked) == 3


def test_a_certificate_of_a_plugin(tmp_path: Path, answers: Plugin) -> None:
    with KubeDouble(tmp_path, tls=True) as tls:
        assert tls.authority is not None
        first, second = (
            tls.authority.issue(name, groups=(ADMINS,)).read_text() for name in ("one", "two")
        )
        answers.answer(clientCertificateData=first, clientKeyData=first)
        connection = Connection(str(tls.kubeconfig(answers.user())))
        names(connection)
        assert tls.requests[-1].user == User("one", (ADMINS,))
        answers.answer(clientCertificateData=second, clientKeyData=second)
        tls.faults.add(Answer(401, "Unauthorized"))
        names(connection)
        assert tls.requests[-1].user == User("two", (ADMINS,))


def test_what_a_plugin_is_told(tmp_path: Path, answers: Plugin) -> None:
    with KubeDouble(tmp_path, tls=True) as tls:
        assert tls.authority is not None
        extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
        path = tls.kubeconfig(
            answers.user(provideClusterInfo=True, env=[{"name": "PROFILE", "value": "prod"}]),
            cluster={"extensions": [extension]},
        )
        answers.script.write_text(ANSWERS + "assert os.environ['PROFILE'] == 'prod'\n")
        names(Connection(str(path)))
        authority = base64.b64encode(tls.authority.certificate.read_bytes()).decode()
        told = {"server": tls.url, "certificate-authority-data": authority}
        assert answers.asked == [
            {"interactive": False, "cluster": {**told, "config": {"audience": "x"}}}
        ]


def test_a_command_beside_the_kubeconfig(double: KubeDouble, tmp_path: Path) -> None:
    plugin = Plugin(tmp_path / "bin")
    plugin.script.write_text(f"#!{sys.executable}\n{ANSWERS}")
    plugin.script.chmod(0o755)
    user = plugin.user(command="./bin/plugin.py", args=[])
    assert names(Connection(str(double.kubeconfig(user))))


def test_a_token_wins_over_a_plugin(double: KubeDouble, answers: Plugin) -> None:
    user = {**answers.user(), "token": ADMIN_TOKEN}
    assert names(Connection(str(double.kubeconfig(user))))
    assert not (answers.folder / "asked").exists()


ECHO = "print('''%s''')"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import sys; sys.exit('the session is over')", "it ended with 1: the session is over"),
        ("print('hush-hush')", "what it wrote is no JSON"),
        ("print('[1]')", "no ExecCredential"),
        (ECHO % json.dumps({"kind": "ExecCredential", "apiVersion": "v2", "status": {}}),
         "it speaks v2, and the kubeconfig says client.authentication.k8s.io/v1"),
        (ECHO % json.dumps({"kind": "ExecCredential", "apiVersion": API}), "with a status"),
        (ECHO % json.dumps({"kind": "ExecCredential", "apiVersion": API, "status": {"x": "y"}}),
         "it gave neither a token nor a certificate"),
        (ECHO % json.dumps({"kind": "ExecCredential", "apiVersion": API,
                            "status": {"clientCertificateData": "hush-hush"}}),
         "a certificate or a key, and not both"),
    ],
)  # fmt: skip
def test_a_plugin_that_gives_nothing(
    body: str, said: str, double: KubeDouble, tmp_path: Path
) -> None:
    error = refused(double, script(tmp_path, body))
    assert said in error.message
    assert "hush" not in error.message
    assert error.hint == "log in as you would for kubectl, then try again"


def test_a_plugin_that_is_not_there(double: KubeDouble, answers: Plugin) -> None:
    user = answers.user(command="no-such-plugin", installHint="brew install no-such-plugin")
    error = refused(double, user)
    assert "no-such-plugin gave no credentials: it cannot be started: No such file" in error.message
    assert error.hint == "brew install no-such-plugin"


def test_a_plugin_that_needs_a_terminal(double: KubeDouble, answers: Plugin) -> None:
    error = refused(double, answers.user(interactiveMode="Always"))
    assert "it needs a terminal (interactiveMode: Always), and there is none here" in error.message
    assert "is none of Never" in refused(double, answers.user(interactiveMode="Perhaps")).message


# What waits


def test_a_plugin_that_waits_for_a_person_has_none_to_wait_for(
    double: KubeDouble, tmp_path: Path
) -> None:
    """Without a terminal its stdin is empty, and there is no /dev/tty to open."""
    body = "import sys\nassert sys.stdin.read() == ''\nopen('/dev/tty')"
    assert "/dev/tty" in refused(double, script(tmp_path, body)).message


def test_a_plugin_that_never_ends_is_ended(
    double: KubeDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin, "ALONE", 0.2)
    body = "import time\ntime.sleep(600)"
    error = refused(double, script(tmp_path, body))
    assert "it had not answered after 0.2 s, and was ended" in error.message
    assert "waiting for a terminal or a browser?" in error.hint


def test_what_such_a_plugin_started_is_ended_too(
    double: KubeDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (
        "import os, subprocess, sys\n"
        "print('open https://login.example.com', file=sys.stderr, flush=True)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(tmp_path / 'new')!r}, 'w').write(str(child.pid))\n"
        f"os.rename({str(tmp_path / 'new')!r}, {str(tmp_path / 'pid')!r})\n"
        "child.wait()\n"
    )
    communicate = subprocess.Popen.communicate

    def waits_until_it_runs(self: Any, input: Any = None, timeout: float | None = None) -> Any:
        if timeout == plugin.ALONE:
            until((tmp_path / "pid").exists)
            raise subprocess.TimeoutExpired(self.args, timeout)
        return communicate(self, input, timeout)

    monkeypatch.setattr(subprocess.Popen, "communicate", waits_until_it_runs)
    error = refused(double, script(tmp_path, body))
    assert "and was ended: open https://login.example.com" in error.message
    pid = int((tmp_path / "pid").read_text())
    until(lambda: is_over(pid))


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def is_over(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        return False
    return state == "Z"


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no terminals here")
@pytest.mark.parametrize("mode", ["IfAvailable", "Always"])
def test_a_plugin_may_ask_a_person_at_a_terminal(
    mode: str, double: KubeDouble, tmp_path: Path
) -> None:
    body = f"""
import json, sys
told = json.loads(__import__("os").environ["KUBERNETES_EXEC_INFO"])
assert told["spec"]["interactive"] is True
print("code?", file=sys.stderr, flush=True)
token = sys.stdin.readline().strip()
print(json.dumps({{"apiVersion": "{API}", "kind": "ExecCredential", "status": {{"token": token}}}}))
"""
    user = script(tmp_path, body, interactiveMode=mode)
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "aicr", "snapshot", "-k", str(double.kubeconfig(user))],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    os.close(theirs)
    said = b""
    while b"code?" not in said:
        said += os.read(ours, 1000)
    os.write(ours, ADMIN_TOKEN.encode() + b"\n")
    out, _ = process.communicate(timeout=120)
    os.close(ours)
    assert process.returncode == 0
    assert yaml.safe_load(out)["kind"] == "Snapshot"
