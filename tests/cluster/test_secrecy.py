"""What a Secret holds beside the record's own fields appears nowhere."""

from __future__ import annotations

import base64
import gzip
import json
import logging
from pathlib import Path

import pytest

from aicr.cli.main import main
from kube_commands import recipe
from kube_double import ADMIN_TOKEN, KubeDouble
from kube_double_faults import Cut
from kube_double_helm import record, stored
from kube_servers import Server, on_the_double

HUSH = "hush-hush-do-not-tell"


def forms(text: str) -> list[str]:
    """The text, and what base64 makes of it at each offset."""
    found = [text]
    for shift in range(3):
        encoded = base64.b64encode(b"x" * shift + text.encode()).decode()
        found.append(encoded[4:-4])
    return found


@pytest.fixture
def secretive(empty: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(empty.kubeconfig()))
    recipe(nfd="0.19.0")
    secrets = empty.store.kind("", "secrets")
    config_maps = empty.store.kind("", "configmaps")
    for name, data in (("hushed", {"password": HUSH}), ("no-recipe", {"recipe.yaml": "- 1"})):
        meta = {"name": name, "namespace": "ns"}
        empty.store.seed(config_maps, {"metadata": meta, "data": data})
    plain = base64.b64encode(json.dumps({"name": HUSH, "version": HUSH}).encode())
    cut = base64.b64encode(gzip.compress(HUSH.encode() * 100, 0)[:-20])
    empty.store.seed(
        secrets,
        stored(record("nfd", "nfd", padding=HUSH, annotations={"other": HUSH})),
        stored(record("no-base64", "ns"), payload=f"!{HUSH}".encode()),
        stored(record("no-json", "ns"), payload=base64.b64encode(HUSH.encode())),
        stored(record("no-release", "ns"), payload=plain),
        stored(record("no-end", "ns"), payload=cut),
        {
            "metadata": {"name": "another", "namespace": "ns", "labels": {"owner": "helm"}},
            "data": {"password": base64.b64encode(HUSH.encode()).decode()},
            "type": "Opaque",
        },
    )
    return empty


TO = ["--to", "to.yaml", "--deployer", "helm"]
COMMANDS = {
    "table": ["inventory"],
    "json": ["inventory", "--format", "json"],
    "recipe": ["inventory", "--format", "recipe"],
    "drift": ["drift", "-r", "to.yaml", "--deployer", "helm"],
    "drift json": ["drift", "-r", "to.yaml", "--deployer", "helm", "--format", "json"],
    "check": ["upgrade-check", "--from", "cluster", *TO],
    "check json": ["upgrade-check", "--from", "cluster", *TO, "--format", "json"],
    "plan": ["upgrade-plan", "--from", "cluster", *TO],
    "not there": ["diff", "cm://ns/no-base64", "to.yaml"],
    "not a document": ["diff", "cm://ns/hushed", "to.yaml"],
    "not a recipe": ["diff", "cm://ns/no-recipe", "to.yaml"],
}


def tells_nothing(
    command: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> int:
    """Run it with everything that it might say; its exit code."""
    caplog.set_level(logging.DEBUG)
    code = main([*COMMANDS[command], "--debug"])
    shown = capsys.readouterr()
    everything = shown.out + shown.err + caplog.text
    assert len(everything) > 100
    for text in forms(HUSH):
        assert text not in everything
    assert ADMIN_TOKEN not in everything
    return code


@pytest.mark.usefixtures("secretive")
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_of_a_secret_is_shown(
    command: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    tells_nothing(command, capsys, caplog)


@on_the_double
@pytest.mark.parametrize("command", [name for name in COMMANDS if not name.startswith("not")])
def test_nothing_of_a_record_that_is_cut_off_is_shown(
    command: str,
    secretive: Server,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert isinstance(secretive, KubeDouble)
    secretive.faults.add(Cut(400), lambda request: request.verb == "get", times=99)
    assert tells_nothing(command, capsys, caplog) == 6


def test_a_fault_of_the_tool_does_not_tell_either(
    secretive: Server,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from aicr.upgrade import cluster_side

    def fails(*_: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr(cluster_side, "installs_of_releases", fails)
    assert main(["inventory", "--debug"]) == 8
    shown = capsys.readouterr()
    assert "a fault" in shown.err
    for text in forms(HUSH):
        assert text not in shown.out + shown.err
