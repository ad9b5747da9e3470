"""Each single read of the gate fails, hangs or answers garbage: the result is never a go."""

from __future__ import annotations

import json
import re
import socket
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
# What an answer of JetStream can be instead: none in time, nobody there, none of its own, its no.
ANSWERS = {
    "hangs": None,
    "nobody": b"",
    "garbage": b"<html>please log in</html>",
    "empty": b"{}",
    "refused": b'{"error": {"code": 503, "err_code": 10008, "description": "not now"}}',
}
WORDS = ["stream ls", "stream info", "consumer ls", "consumer info"]

Gate = Callable[..., int]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, NvcfCli]]:
    folder = tmp_path_factory.mktemp("world")
    for world in started(folder, 1):
        world.servers.nvca(EAST, WEST)
        world.servers.functions(1)
        yield world, NvcfCli(folder)


@pytest.fixture
def gate(
    place: tuple[World, NvcfCli], tmp_path: Path, quick: None, capsys: pytest.CaptureFixture[str]
) -> Gate:
    """Runs a command; ``bounds`` are short only where something hangs: a busy machine is slow."""
    world, cli = place
    fleet = world.fleet(accounts=[cli.entry()])
    begun = ["drain", "--fleet", str(fleet), "--record", str(tmp_path / "record")]
    assert main(["nvcf", *begun, "--settle", "0.05", "--timeout-nats", "30"]) == 0
    capsys.readouterr()

    def run(direct: bool = True, verb: str = "gate", **bounds: float) -> int:
        fleet = world.fleet(direct=direct, accounts=[cli.entry()])
        kept = ["--record", str(tmp_path / "record")]
        more = {
            "gate": [*kept, "--settle", "0.05", "--guide-gate-passed", "CHG-1"],
            "drain": [*kept, "--settle", "0.05"],
            "preflight": [*kept, "--to", "1.1.5"],
            "nats-roll": [],
        }[verb]
        bounds = {"read": 60, "nats": 30, "exec": 60, "account": 60} | bounds
        if verb in ("drain", "nats-roll"):
            del bounds["account"]
        return main([
            "nvcf", verb, "--fleet", str(fleet), "--format", "json", *more,
            *(word for name, seconds in bounds.items()
              for word in (f"--timeout-{name}", str(seconds))),
        ])  # fmt: skip

    return run


@pytest.fixture
def receipt(place: tuple[World, NvcfCli]) -> None:
    """``preflight`` reads which stack is installed."""
    store = place[0].control.store
    meta = {"name": "nvcf-upgrade-receipt", "namespace": "nvcf"}
    data = {"installed_stack_version": "1.0.10"}
    store.seed(store.kind("", "configmaps"), {"metadata": meta, "data": data})


def test_every_read_is_one_of_these(
    place: tuple[World, NvcfCli], gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a gate reads is what the tests below make fail, read by read."""
    world, cli = place
    asked: set[str] = set()
    real = DirectAccess._many

    async def many(self: DirectAccess, asking: Sequence[tuple[str, Any]]) -> list[bytes | None]:
        asked.update(api for api, _ in asking)
        return await real(self, asking)

    monkeypatch.setattr(DirectAccess, "_many", many)
    for double in world.doubles.values():
        double.requests.clear()
    before = len(cli.asked())
    assert gate() == 0
    assert asked
    assert all(any(api.startswith(subject) for subject in SUBJECTS) for api in asked)
    patterns = [path for _, path in READS]
    paths = {request.path.partition("?")[0] for double in world.doubles.values()
             for request in double.requests}  # fmt: skip
    assert len(paths) >= len(READS) - 1
    for path in paths:
        assert any(re.search(pattern, path) for pattern in patterns), path
    assert {words[5] for words in cli.asked()[before:]} == {"QUEUED", "LAUNCHED", "RUNNING"}
    world.commands.clear()
    assert gate(False) == 0
    words = {" ".join(one[5:7]) for one in world.commands if one[0] == "nats"}
    assert words == set(WORDS)


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


@pytest.mark.parametrize("fault", [FAULTS["fails"], GARBAGE], ids=["fails", "garbage"])
@pytest.mark.parametrize(("cluster", "path"), [*READS, ("control", r"/nvcf-upgrade-receipt$")])
def test_the_other_commands(
    place: tuple[World, NvcfCli],
    gate: Gate,
    receipt: None,
    cluster: str,
    path: str,
    fault: Fault,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """None of them takes less for a go: ``drain``, ``nats-roll``, and ``preflight``."""
    double = place[0].doubles[cluster]
    not_read = {
        "drain": ("deployments/nvca", "/pods$", "receipt"),
        "nats-roll": ("receipt",),
        "preflight": (),
    }
    for verb, others in not_read.items():
        double.faults.add(fault, lambda request: bool(re.search(path, request.path)), times=100)
        try:
            code = gate(verb=verb)
        finally:
            double.faults._planned.clear()
        said = json.loads(capsys.readouterr().out)
        assert code == (0 if any(other in path for other in others) else 2), (verb, said)
        assert "please log in" not in json.dumps(said)


def test_the_other_commands_without_a_fault(gate: Gate, receipt: None) -> None:
    for verb in ("drain", "nats-roll", "preflight"):
        assert gate(verb=verb) == 0


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
@pytest.mark.parametrize("subject", SUBJECTS)
@pytest.mark.parametrize("verb", ["gate", "nats-roll"])
def test_jetstream(
    gate: Gate, verb: str, subject: str, answer: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = DirectAccess._many

    async def many(self: DirectAccess, asked: Sequence[tuple[str, Any]]) -> list[bytes | None]:
        found = await real(self, asked)
        return [
            answer if api.startswith(subject) else body
            for (api, _), body in zip(asked, found, strict=True)
        ]

    monkeypatch.setattr(DirectAccess, "_many", many)
    assert gate(verb=verb) == 2


def test_a_connection_that_is_not_there(place: tuple[World, NvcfCli], gate: Gate) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        world = place[0]
        real = world.servers.all[0].port
        world.servers.all[0].port = nobody.getsockname()[1]
        try:
            for verb in ("gate", "drain", "nats-roll", "preflight"):
                assert gate(verb=verb, nats=1) == 2
        finally:
            world.servers.all[0].port = real


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
        ("stream ls", "fails"),
        ("stream ls", "hangs"),
        ("stream ls", "garbage"),
        ("stream ls", "cut"),
        ("stream info", "fails"),
        ("stream info", "cut"),
        ("stream info", "hangs"),
        ("stream info", "garbage"),
        ("consumer ls", "fails"),
        ("consumer ls", "cut"),
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
