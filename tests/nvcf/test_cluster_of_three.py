"""The gate and a capture on three real servers while leaders change and servers go: never a go that
is not one, and the right answer once they agree again."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from aicr.cli.main import main
from aicr.nvcf.evidence import Record
from aicr.nvcf.evidence_chain import verify
from aicr.nvcf.queues import CREATION, TERMINATION
from nats_process import NatsServer
from nvcf_cli_double import NvcfCli
from nvcf_fixtures import Operator, limits
from nvcf_world import EAST, WEST, World, creation, request_of, subject_of
from waiting import until

NOT_YET = ("not-drained", "cannot-verify")


def rq_of(world: World) -> str:
    (name,) = (one for one in world.servers.api("STREAM.NAMES")["streams"] if one[:3] == "rq_")
    return str(name)


def leader_of(world: World, stream: str) -> str:
    return str(world.servers.api(f"STREAM.INFO.{stream}")["cluster"].get("leader", ""))


def host_of(world: World, stream: str, *, leads: bool = True) -> NatsServer:
    """The server that leads the stream, or one that does not."""
    leader = leader_of(world, stream)
    return next(one for one in world.servers.all if (one.name == leader) == leads)


def step_down(world: World, stream: str) -> None:
    """Another server leads the stream when this returns."""
    before = leader_of(world, stream)
    asked = 0.0

    def changed() -> bool:
        nonlocal asked
        if leader_of(world, stream) not in ("", before):
            return True
        if time.monotonic() - asked > 10:  # the servers may elect the same one again
            world.servers.api(f"STREAM.LEADER.STEPDOWN.{stream}")
            asked = time.monotonic()
        return False

    until(changed, f"another leader of {stream}")


def test_a_leader_that_changes_between_the_readings(wide_world: World) -> None:
    operator = Operator(wide_world)
    assert operator.settled() == "drained"
    rq = rq_of(wide_world)
    found = operator.drain(between=lambda: step_down(wide_world, rq))
    assert found.decision.answer in NOT_YET
    if found.decision.answer == "not-drained":
        assert "leader: " in " ".join(found.decision.because)
    assert operator.settled(passing=NOT_YET) == "drained"
    wide_world.servers.publish(f"rq.ncp.{rq.removeprefix('rq_ncp_')}.x", b"request")
    assert operator.word(between=lambda: step_down(wide_world, rq)) in NOT_YET
    assert operator.settled() == "not-drained"


def test_a_consumers_leader_that_changes(wide_world: World) -> None:
    """Nothing is lost by it, and nothing looks lost."""
    operator = Operator(wide_world)
    assert operator.settled() == "drained"
    rq = rq_of(wide_world)
    subject = f"CONSUMER.LEADER.STEPDOWN.{rq}.{rq}_workers"
    assert operator.word(between=lambda: wide_world.servers.api(subject)) in ("drained", *NOT_YET)
    assert operator.settled(passing=NOT_YET) == "drained"
    wide_world.servers.publish(f"rq.ncp.{rq.removeprefix('rq_ncp_')}.x", b"request")
    assert operator.word(between=lambda: wide_world.servers.api(subject)) in NOT_YET


def test_the_leader_of_all_restarts_between_the_readings(wide_world: World) -> None:
    operator = Operator(wide_world)
    assert operator.settled() == "drained"
    leader = wide_world.servers.all[0].get("/jsz")["meta_cluster"]["leader"]
    server = next(one for one in wide_world.servers.all if one.name == leader)
    assert operator.word(between=server.restart) == "cannot-verify"
    wide_world.servers.agree()
    word = operator.settled(callers_paused=True)
    held = {leader_of(wide_world, one) for one in (CREATION, TERMINATION)}
    assert word == ("drained-restarted-empty" if server.name in held else "drained")


@pytest.mark.parametrize("leads", [True, False])
def test_a_server_that_is_lost_between_the_readings(wide_world: World, leads: bool) -> None:
    operator = Operator(wide_world, bounds=limits(nats=3.0))
    assert operator.settled() == "drained"
    server = host_of(wide_world, CREATION, leads=leads)
    found = operator.drain(between=server.stop)
    assert found.decision.answer == "cannot-verify"
    assert f"NATS server {server.name}" in " ".join(found.decision.because)
    assert operator.word() == "cannot-verify"
    server.start()
    wide_world.servers.agree()
    if leads or server is host_of(wide_world, TERMINATION):
        # It held a stream alone: only the operator can say that nothing came in between.
        assert operator.settled(callers_paused=True) == "drained-restarted-empty"
    else:
        assert operator.settled() == "drained"


def test_a_server_that_is_lost_with_messages(wide_world: World) -> None:
    operator = Operator(wide_world, bounds=limits(nats=3.0))
    assert operator.settled() == "drained"
    wide_world.servers.publish(subject_of(), creation("one")[1])
    server = host_of(wide_world, CREATION)
    assert operator.word(between=server.stop) == "cannot-verify"
    server.start()
    wide_world.servers.agree()
    assert operator.settled(callers_paused=True) == "lost"


def test_vanished_after_a_purge(wide_world: World) -> None:
    """On all replicas at once, and on the one server of the creation stream."""
    rq = rq_of(wide_world)
    for stream, subject in ((CREATION, subject_of()), (rq, f"rq.ncp.{rq[7:]}.x")):
        wide_world.servers.publish(subject, creation("one")[1])
        operator = Operator(wide_world, record=f"record of {stream}")
        assert operator.settled() == "not-drained"
        wide_world.servers.api(f"STREAM.PURGE.{stream}")
        assert operator.settled(passing=NOT_YET) == "vanished"


def test_a_whole_roll(wide_world: World) -> None:
    """One server after the other, with the gate between them; then drained, as if nothing was."""
    operator = Operator(wide_world)
    assert operator.settled() == "drained"
    went = []
    for server in wide_world.servers.all:
        server.restart()
        wide_world.servers.agree()
        went.append(operator.settled(callers_paused=True, passing=NOT_YET))
    assert set(went) <= {"drained", "drained-restarted-empty"}
    assert "drained-restarted-empty" in went
    assert operator.settled(passing=NOT_YET) == "drained"


def test_a_replicated_stream_made_again_with_lower_sequences(wide_world: World) -> None:
    rq = rq_of(wide_world)
    subject = f"rq.ncp.{rq.removeprefix('rq_ncp_')}"
    wide_world.servers.publish(f"{subject}.x", b"one", b"two")
    wide_world.servers.fetch(rq, f"{rq}_workers", 2)
    operator = Operator(wide_world)
    assert operator.settled(passing=NOT_YET) == "drained"

    def make_again() -> None:
        wide_world.servers.api(f"STREAM.DELETE.{rq}")
        wide_world.servers.stream(rq, f"{subject}.>", replicas=3, max_age=0)
        wide_world.servers.consumer(rq, f"{rq}_workers", f"{subject}.>", 30)

    found = operator.drain(between=make_again)
    assert found.decision.answer in NOT_YET
    assert operator.settled(passing=NOT_YET) == "drained"
    wide_world.servers.publish(f"{subject}.x", b"one")
    assert operator.settled() == "not-drained"
    assert operator.word(between=make_again) in ("vanished", "cannot-verify")
    assert operator.settled() == "vanished"


def test_what_was_not_read_keeps_the_roll_shut(
    wide_world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server that is down holds neither NVCA stream: all that was read looks good."""
    holders = {leader_of(wide_world, one) for one in (CREATION, TERMINATION)}
    server = next(one for one in wide_world.servers.all if one.name not in holders)
    fleet = str(wide_world.fleet(accounts=[NvcfCli(wide_world.folder).entry()]))
    usual = ["--fleet", fleet, "--format", "json", "--timeout-nats", "30"]

    def roll() -> int:
        return main(["nvcf", "nats-roll", *usual])

    until(lambda: roll() == 0, "the roll gate is open")
    capsys.readouterr()
    server.stop()
    assert roll() == 2
    said = json.loads(capsys.readouterr().out)
    assert (said["outcome"], said["validUntil"]) == ("cannot-verify", None)
    for verb, more in (
        ("preflight", ["--from", "1.0.10", "--to", "1.1.5"]),
        ("gate", ["--settle", "0.1", "--guide-gate-passed", "CHG-1"]),
    ):
        assert main(["nvcf", verb, *usual, *more]) == 2
        said = json.loads(capsys.readouterr().out)
        (roll_line,) = (one for one in said["facts"] if one["name"] == "agents and roll gate")
        assert roll_line["value"]["result"] == "could not be verified", (verb, roll_line)


@pytest.fixture
def captured(
    wide_world: World, capsys: pytest.CaptureFixture[str]
) -> Callable[..., dict[str, Any]]:
    def run(*words: str) -> dict[str, Any]:
        fleet = str(wide_world.fleet())
        command = ["nvcf", "recover", "--fleet", fleet, "--format", "json", *words]
        assert main(command) == 2
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return run


def test_a_server_that_is_lost_while_it_is_captured(
    wide_world: World,
    captured: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between the messages and the requests: what was captured stays, and the answer is stop."""
    fields, data = creation("one")
    wide_world.servers.publish(subject_of(), data)
    wide_world.request("east", request_of(fields))
    from aicr.nvcf.requests import read_requests as real

    server = host_of(wide_world, CREATION)

    def read(*arguments: Any) -> Any:
        server.stop()
        return real(*arguments)

    monkeypatch.setattr("aicr.nvcf.recover.read_requests", read)
    record = wide_world.folder / "evidence"
    said = captured("--record", str(record), "--timeout-nats", "5")
    assert (said["outcome"], said["capture"]) == ("stop", "incomplete")
    assert [one["value"]["outcome"] for one in said["facts"]] == ["in-progress"]
    assert verify(str(record)).intact
    assert (record / "message-1.json").exists()


def test_leaders_that_change_while_it_is_captured(
    wide_world: World,
    captured: Callable[..., dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Messages that nobody answered for are named; the next capture has them."""
    servers = wide_world.servers
    servers.api(f"STREAM.DELETE.{CREATION}")
    servers.stream(CREATION, "Create.NVCA.>", replicas=3)
    for cluster in (EAST, WEST):
        servers.consumer(CREATION, f"{CREATION}-{cluster}", f"Create.NVCA.*.{cluster}.*.*")
    bodies = [creation(str(number))[1] for number in range(300)]
    servers.publish(subject_of(), *bodies)
    monkeypatch.setattr("aicr.nvcf.nats_direct.WINDOW", 20)
    real = Record.write

    def write(self: Record, file: str, *more: Any, **named: Any) -> str:
        if file in ("message-60.json", "message-150.json"):
            step_down(wide_world, CREATION)
        return real(self, file, *more, **named)

    monkeypatch.setattr(Record, "write", write)
    record = wide_world.folder / "evidence"
    said = captured("--record", str(record), "--timeout-nats", "5")
    assert said["outcome"] == "stop"
    kept = len(list(record.glob("message-*.json")))
    if said["capture"] == "complete":
        assert kept == 300
    else:
        assert said["problems"]
        assert kept < 300 or "changed-while-reading" in " ".join(said["problems"])
    assert verify(str(record)).intact
    until(lambda: captured("--append", str(record))["capture"] == "complete", "a whole capture")
    assert verify(str(record)).closed
