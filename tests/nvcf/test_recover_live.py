"""What is retained on a real server, captured and explained, from the command line and back."""

from __future__ import annotations

import hashlib
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from aicr.cli.main import main
from aicr.nvcf.evidence_chain import verify
from nats_servers import CREATION
from nvcf_cli_double import NvcfCli
from nvcf_world import EAST, NCA, WEST, World, creation, request_of, some_uuid, subject_of


def run(
    capsys: pytest.CaptureFixture[str], world: World, *words: str, direct: bool = True, **fleet: Any
) -> dict[str, Any]:
    """The JSON answer of a command that ended with 2."""
    file = world.fleet(direct=direct, **fleet)
    command = ["nvcf", words[0], "--fleet", str(file), "--format", "json", *words[1:]]
    code = main(command)
    shown = capsys.readouterr()
    assert code == 2, shown.err
    found: dict[str, Any] = json.loads(shown.out)
    return found


def outcomes(said: dict[str, Any]) -> dict[int, str]:
    return {fact["value"]["sequence"]: fact["value"]["outcome"] for fact in said["facts"]}


def incident(world: World) -> dict[str, dict[str, Any]]:
    """Five messages: explained, colliding, of nobody, ended, garbage."""
    fields = {}
    for name in ("one", "two", "three", "four"):
        fields[name], data = creation(name)
        world.servers.publish(subject_of(), data)
    world.servers.publish(subject_of(), b'{"requestId": "<script>"}')
    label = hashlib.sha256(f"{subject_of()}:2".encode()).hexdigest()[:63]
    old, _ = creation("old")
    world.request("east", request_of(fields["one"]))
    world.request("east", request_of(old, label=label, sequence=2, status="RequestCompleted"))
    world.request("east", request_of(fields["four"], status="RequestFailed"))
    return fields


def test_the_incident(small_world: World, capsys: pytest.CaptureFixture[str]) -> None:
    fields = incident(small_world)
    cli = NvcfCli(small_world.folder)
    two, three = (fields[name]["functionDetails"] for name in ("two", "three"))
    deployment = fields["two"]["launchSpecification"]["deploymentId"]
    cli.function(two["functionId"], two["functionVersionId"], "DEPLOYING", deployment)
    cli.missing(three["functionId"], three["functionVersionId"])
    record = small_world.folder / "evidence"
    said = run(capsys, small_world, "recover", "--record", str(record), accounts=[cli.entry()])
    assert (said["outcome"], said["capture"], said["exit"]) == ("stop", "complete", 2)
    assert outcomes(said) == {
        1: "in-progress", 2: "waiting-unclaimed", 3: "orphaned-candidate", 4: "terminal-request",
        5: "undecodable",
    }  # fmt: skip
    assert said["counts"]["colliding-id"] == 1
    # Accounts are asked only about what no request explains, once each.
    assert len(cli.asked()) == 2
    assert verify(str(record)).intact
    assert stat.S_IMODE(record.stat().st_mode) == 0o700
    names = {path.name for path in record.iterdir()}
    assert {"stream-before.json", "message-3.json", "compute-east.1", "stream-after.json"} <= names
    kept = json.loads((record / "message-1.json").read_text())
    assert set(kept) >= {"subject", "seq", "data", "time"}
    # The same from the folder alone.
    again = run_analyze(capsys, record)
    assert outcomes(again) == outcomes(said)
    assert again["outcome"] == "stop"
    assert again["notCaptured"] == []
    # Nothing was consumed.
    assert small_world.servers.api(f"STREAM.INFO.{CREATION}")["state"]["messages"] == 5


def run_analyze(capsys: pytest.CaptureFixture[str], folder: Path, *more: str) -> dict[str, Any]:
    code = main(["nvcf", "analyze", str(folder), "--format", "json", *more])
    shown = capsys.readouterr()
    assert code == 2, shown.err
    found: dict[str, Any] = json.loads(shown.out)
    return found


def test_nothing_retained(small_world: World, capsys: pytest.CaptureFixture[str]) -> None:
    said = run(capsys, small_world, "recover")
    assert (said["outcome"], said["capture"]) == ("nothing-retained", "complete")
    assert "another cause" in said["next"]
    assert run_analyze(capsys, Path(said["record"]))["outcome"] == "nothing-retained"


def test_wait_while_a_corrected_agent_may_still_get_it(
    small_world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    fields, data = creation("one")
    small_world.servers.publish(subject_of(), data)
    small_world.request("east", request_of(fields))
    assert run(capsys, small_world, "recover")["outcome"] == "stop"
    # Its agent started just now: one ack_wait has not passed.
    small_world.agent_started_now("east")
    said = run(capsys, small_world, "recover")
    assert said["outcome"] == "wait"
    assert list(said["until"]) == ["east"]
    assert said["exit"] == 2


def test_a_second_capture_is_a_run_of_its_own(
    small_world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    record = small_world.folder / "evidence"
    small_world.servers.publish(subject_of(), creation("one")[1])
    run(capsys, small_world, "recover", "--record", str(record))
    small_world.servers.all[0].restart()
    small_world.servers.nvca(EAST, WEST)
    small_world.servers.publish(subject_of(), creation("two")[1])
    run(capsys, small_world, "recover", "--append", str(record))
    first = json.loads((record / "message-1.json").read_text())
    second = json.loads((record / "run-2" / "message-1.json").read_text())
    assert first["data"] != second["data"]
    assert verify(str(record)).intact
    last, old = (run_analyze(capsys, record, *more) for more in ((), ("--run", "1")))
    assert [one["facts"][0]["value"]["requestId"] for one in (old, last)] == [
        some_uuid("request one"), some_uuid("request two"),
    ]  # fmt: skip


def test_a_new_folder_must_be_new(small_world: World, capsys: pytest.CaptureFixture[str]) -> None:
    record = small_world.folder / "evidence"
    run(capsys, small_world, "recover", "--record", str(record))
    command = ["nvcf", "recover", "--fleet", str(small_world.fleet()), "--record", str(record)]
    assert main(command) == 1
    assert "is there already" in capsys.readouterr().err


def test_a_stream_that_changes_while_it_is_read(
    small_world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    small_world.servers.publish(subject_of(), creation("one")[1])
    from aicr.nvcf.requests import read_requests as real

    def read(*arguments: Any) -> Any:
        if arguments[1] == "east":
            small_world.servers.publish(subject_of(), creation("two")[1])
        return real(*arguments)

    monkeypatch.setattr("aicr.nvcf.recover.read_requests", read)
    said = run(capsys, small_world, "recover")
    assert said["capture"] == "incomplete"
    assert "changed-while-reading" in said["problems"][0]
    assert said["outcome"] == "stop"


def test_drained_while_it_was_read(
    small_world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    small_world.servers.publish(subject_of(), creation("one")[1])
    from aicr.nvcf.requests import read_requests as real

    def read(*arguments: Any) -> Any:
        if arguments[1] == "east":
            small_world.agent()
        return real(*arguments)

    monkeypatch.setattr("aicr.nvcf.recover.read_requests", read)
    assert run(capsys, small_world, "recover")["outcome"] == "recheck-drain"


@pytest.mark.parametrize("gone", ["east", "control", "nats"])
def test_what_cannot_be_reached(
    small_world: World, capsys: pytest.CaptureFixture[str], gone: str
) -> None:
    fields, data = creation("one")
    small_world.servers.publish(subject_of(), data)
    small_world.request("east", request_of(fields))
    if gone == "nats":
        small_world.servers.all[0].stop()
    else:
        small_world.doubles[gone].stop()
    said = run(capsys, small_world, "recover")
    assert said["outcome"] == "stop"
    assert said["capture"] == ("incomplete" if gone == "east" else "failed")
    assert set(outcomes(said).values()) <= {"unverified"}


def test_through_exec_attempts_are_capped(
    small_world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(6):
        small_world.servers.publish(subject_of(), creation(str(number))[1])
    small_world.servers.api(f"STREAM.MSG.DELETE.{CREATION}", {"seq": 2})
    said = run(capsys, small_world, "recover", "--exec-attempts", "4", direct=False)
    assert said["capture"] == "incomplete"
    assert "4 sequences of 6 were tried through exec" in " ".join(said["problems"])
    assert sorted(outcomes(said)) == [1, 3, 4]
    whole = run(capsys, small_world, "recover", direct=False)
    assert sorted(outcomes(whole)) == [1, 3, 4, 5, 6]
    assert whole["capture"] == "complete"


def test_sparse_streams_cost_by_what_exists(
    small_world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aicr.nvcf.nats_direct.MOST_GAPS", 5)
    with small_world.servers.client() as client:

        async def publish() -> None:
            for _ in range(300):
                await client.request(subject_of(), b"x", timeout=60)

        small_world.servers.run(publish())
    small_world.servers.api(f"STREAM.PURGE.{CREATION}", {"seq": 299})
    small_world.servers.publish(subject_of(), *(creation(str(n))[1] for n in range(9)))
    for sequence in range(302, 309):
        small_world.servers.api(f"STREAM.MSG.DELETE.{CREATION}", {"seq": sequence})
    said = run(capsys, small_world, "recover")
    assert said["capture"] == "complete"
    assert sorted(outcomes(said)) == [299, 300, 301, 309]


def test_messages_are_asked_for_in_bounded_windows(
    small_world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many at once, never more than a window, and fewer where they are large."""
    from aicr.nvcf.nats_direct import DirectAccess

    real = DirectAccess._many
    windows: list[int] = []

    async def many(self: DirectAccess, asked: Any) -> Any:
        if asked[0][0].startswith("STREAM.MSG.GET"):
            windows.append(len(asked))
        return await real(self, asked)

    monkeypatch.setattr(DirectAccess, "_many", many)
    small_world.servers.publish(subject_of(), *(creation(str(n))[1] for n in range(90)))
    monkeypatch.setattr("aicr.nvcf.nats_direct.WINDOW", 40)
    assert run(capsys, small_world, "recover")["capture"] == "complete"
    assert windows == [40, 40, 10]
    windows.clear()
    monkeypatch.setattr("aicr.nvcf.nats_direct.MOST_BYTES", 20_000)
    said = run(capsys, small_world, "recover")
    assert (said["capture"], len(said["facts"]), sum(windows)) == ("complete", 90, 90)
    assert max(windows) < 40


def test_captured_by_hand(small_world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """As the runbook does it: the stream, some messages, one file for each cluster."""
    fields = incident(small_world)
    folder = small_world.folder / "by-hand"
    folder.mkdir()
    info = small_world.servers.api(f"STREAM.INFO.{CREATION}")
    (folder / "stream-before.json").write_text(json.dumps(info))
    for sequence in range(1, 6):
        got = small_world.servers.api(f"STREAM.MSG.GET.{CREATION}", {"seq": sequence})
        (folder / f"message-{sequence}.json").write_text(json.dumps(got["message"], indent=2))
    store = small_world.doubles["east"].store
    items = store.all(store.kind("nvca.nvcf.nvidia.io", "icmsrequests"))
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    (folder / "compute-east.Xy12Ab").write_text(json.dumps(listed))
    said = run_analyze(capsys, folder)
    assert said["outcome"] == "stop"
    assert outcomes(said)[1] == "in-progress"
    assert outcomes(said)[4] == "terminal-request"
    assert outcomes(said)[2] == "unverified"
    missing = " ".join(said["notCaptured"])
    for what in ("stream-after.json", "consumer-*.json", "owning accounts", "manifest.jsonl"):
        assert what in missing
    assert fields["one"]["requestId"] in json.dumps(said["facts"])
    # Clusters without a file may have the request: a 404 alone makes no message obsolete.
    three = fields["three"]["functionDetails"]
    subject = f"function-{NCA}-{three['functionId']}-{three['functionVersionId']}"
    cli = NvcfCli(small_world.folder)
    cli.missing(three["functionId"], three["functionVersionId"])
    problem = json.loads((cli.folder / "answers.json").read_text())[three["functionVersionId"]]
    (folder / "account-0001.json").write_text(json.dumps({"subject": subject, **problem}))
    assert outcomes(run_analyze(capsys, folder))[3] == "unverified"
    (folder / "message-2.json").unlink()
    assert run_analyze(capsys, folder)["capture"] == "incomplete"


def test_a_record_that_was_changed(small_world: World, capsys: pytest.CaptureFixture[str]) -> None:
    incident(small_world)
    record = small_world.folder / "evidence"
    run(capsys, small_world, "recover", "--record", str(record))
    path = record / "message-1.json"
    path.write_text(path.read_text() + " ")
    said = run_analyze(capsys, record)
    assert "the record was changed: message-1.json" in " ".join(said["problems"])
    assert said["outcome"] == "stop"
    command = ["nvcf", "recover", "--fleet", str(small_world.fleet()), "--append", str(record)]
    assert main(command) == 1
    assert "does not verify" in capsys.readouterr().err
