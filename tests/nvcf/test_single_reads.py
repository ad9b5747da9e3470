"""Each single read of the gate fails, hangs or answers garbage: the result is never a go."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from aicr.cli.main import main
from aicr.nvcf.nats_direct import DirectAccess
from kube_double_exec import Result, nats_box, serve_exec
from kube_double_faults import Answer, Fault, Hang
from kube_double_request import Request
from nvcf_cli_double import NvcfCli
from nvcf_world import EAST, NCA, WEST, World, started

GARBAGE = Answer(200, "<html>please log in</html>", {"Content-Type": "application/json"})
EMPTY = Answer(200, "{}", {"Content-Type": "application/json"})
FAULTS = {
    "fails": Answer(500, "broken\n"),
    "hangs": Hang(1.0),
    "garbage": GARBAGE,
    "empty": EMPTY,
}
# (cluster, part of the path)
READS = [
    ("control", r"/namespaces/kube-system$"),
    ("control", r"/statefulsets/nats$"),
    ("control", r"/pods/nats-0$"),
    ("control", r"/proxy/varz$"),
    ("control", r"/proxy/healthz$"),
    ("control", r"/proxy/jsz$"),
    ("east", r"/namespaces/kube-system$"),
    ("east", r"/nvcfbackends$"),
    ("east", r"/icmsrequests$"),
    ("east", r"/deployments/nvca$"),
    ("west", r"/pods$"),
]
SUBJECTS = ["STREAM.NAMES", "CONSUMER.NAMES", "STREAM.INFO", "CONSUMER.INFO"]

Gate = Callable[..., int]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, NvcfCli]]:
    folder = tmp_path_factory.mktemp("world")
    for world in started(folder, 1):
        world.servers.nvca(EAST, WEST)
        world.servers.functions(1)
        yield world, NvcfCli(folder)


@pytest.fixture
def gate(place: tuple[World, NvcfCli], tmp_path: Path, quick: None) -> Gate:
    world, cli = place

    def run(direct: bool = True, **bounds: float) -> int:
        """``bounds`` are short only where something hangs: a busy machine is slow too."""
        fleet = world.fleet(direct=direct, accounts=[cli.entry()])
        bounds = {"read": 60, "nats": 30, "exec": 60, "account": 60} | bounds
        return main([
            "nvcf", "gate", "--fleet", str(fleet), "--record", str(tmp_path / "record"),
            "--settle", "0.05", "--guide-gate-passed", "CHG-1", "--format", "json",
            *(word for name, seconds in bounds.items()
              for word in (f"--timeout-{name}", str(seconds))),
        ])  # fmt: skip

    return run


def test_without_a_fault_it_is_a_go(gate: Gate, capsys: pytest.CaptureFixture[str]) -> None:
    code = gate()
    said = json.loads(capsys.readouterr().out)
    assert (code, said["outcome"]) == (0, "resume"), said
    assert said["keepPaused"] == ["deployments", "scaling", "invocations", "tasks"]


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
@pytest.mark.parametrize(("cluster", "path"), READS, ids=lambda value: str(value))
def test_kubernetes(
    place: tuple[World, NvcfCli],
    gate: Gate,
    cluster: str,
    path: str,
    fault: Fault,
    capsys: pytest.CaptureFixture[str],
) -> None:
    double = place[0].doubles[cluster]

    def this(request: Request) -> bool:
        return bool(re.search(path, request.path))

    double.faults.add(fault, this, times=100)
    try:
        assert gate(**({"read": 0.5} if isinstance(fault, Hang) else {})) == 2
    finally:
        double.faults._planned.clear()
    said = json.loads(capsys.readouterr().out)
    assert said["outcome"] in ("hold", "cannot-verify")
    assert "please log in" not in json.dumps(said)


@pytest.mark.parametrize("answer", [None, b"{}", b'{"error": {"err_code": 10008}}'])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_jetstream(
    gate: Gate, subject: str, answer: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = DirectAccess._many

    async def many(self: DirectAccess, asked: Sequence[tuple[str, Any]]) -> list[bytes | None]:
        found = await real(self, asked)
        return [
            answer if api.startswith(subject) else body
            for (api, _), body in zip(asked, found, strict=True)
        ]

    monkeypatch.setattr(DirectAccess, "_many", many)
    assert gate() == 2


def test_a_list_that_is_short_of_its_total(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    real = DirectAccess._many

    async def many(self: DirectAccess, asked: Sequence[tuple[str, Any]]) -> list[bytes | None]:
        found = await real(self, asked)
        if asked[0][0] != "STREAM.NAMES":
            return found
        page = json.loads(found[0] or b"{}")
        page["streams"] = ["TerminateNvcaStream"]
        return [json.dumps(page).encode()]

    monkeypatch.setattr(DirectAccess, "_many", many)
    assert gate() == 2


@pytest.mark.parametrize("status", ["QUEUED", "LAUNCHED", "RUNNING"])
@pytest.mark.parametrize("fault", ["fails", "garbage", "one", "full"])
def test_tasks(place: tuple[World, NvcfCli], gate: Gate, status: str, fault: str) -> None:
    cli = place[1]
    if fault == "fails":
        cli.refuse(status, "API error 401: no")
    elif fault == "garbage":
        cli.says(status, "{}")
    else:
        cli.tasks(status, 1 if fault == "one" else 50)
    try:
        assert gate() == 2
    finally:
        cli.tasks(status, 0)


def test_a_client_that_hangs(place: tuple[World, NvcfCli], gate: Gate) -> None:
    cli = place[1]
    cli.hang("QUEUED", 30)
    try:
        assert gate(account=2) == 2
    finally:
        cli.tasks("QUEUED", 0)


def test_a_server_whose_clock_is_wrong(place: tuple[World, NvcfCli], gate: Gate) -> None:
    import time

    double = place[0].doubles["west"]
    double.clock = lambda: time.time() - 20
    try:
        assert gate() == 2
    finally:
        double.clock = time.time


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        ("stream ls", "hangs"),
        ("stream ls", "cut"),
        ("stream info", "fails"),
        ("stream info", "cut"),
        ("stream info", "hangs"),
        ("stream info", "garbage"),
        ("consumer ls", "fails"),
        ("consumer ls", "hangs"),
        ("consumer ls", "garbage"),
        ("consumer info", "fails"),
        ("consumer info", "hangs"),
        ("consumer info", "garbage"),
        ("consumer info", "cut"),
    ],
)
def test_commands(place: tuple[World, NvcfCli], gate: Gate, words: str, fault: str) -> None:
    world = place[0]
    real = world.box()
    broken = {
        "fails": Result(stderr=b"nats: error: timeout", code=1),
        "cut": Result(b'["a', cut=3),
        "garbage": Result(b"<html>"),
        "hangs": Result(hang=6.0),
    }[fault]

    def run(command: Sequence[str]) -> Result:
        return broken if words in " ".join(command) else real(command)

    serve_exec(world.control, run)
    assert gate(False, **({"exec": 2} if fault == "hangs" else {})) == 2
    serve_exec(world.control, real)
    assert gate(False) == 0


def test_wget_is_asked_where_the_proxy_is_refused(
    place: tuple[World, NvcfCli], gate: Gate, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    world = place[0]
    ports = {server.name: server.monitor for server in world.servers.all}
    run = nats_box("/nowhere", world.servers.url, tmp_path / "box", ports)
    commands = serve_exec(world.control, run)
    world.control.faults.add(
        Answer(403, "no\n"), lambda request: request.subresource == "proxy", times=100
    )
    try:
        assert gate() == 0
    finally:
        world.control.faults._planned.clear()
    assert commands[0][:2] == ["wget", "-qO-"]
    assert "monitors by exec" in capsys.readouterr().out


def test_an_account_without_an_entry(place: tuple[World, NvcfCli], gate: Gate) -> None:
    assert NCA  # the account of the world; without it nobody can say whether tasks run
    world = place[0]
    fleet = world.fleet(accounts=[])
    assert main(["nvcf", "gate", "--fleet", str(fleet), "--settle", "0.05",
                 "--guide-gate-passed", "CHG-1"]) == 2  # fmt: skip
