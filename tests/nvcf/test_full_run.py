"""A whole night on all access paths: what was asked of anybody, and where secrets went."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aicr.cli.main import main
from aicr.nvcf import allow
from kube_double_faults import Answer
from kube_double_request import Request
from nats_servers import CREATION
from nvcf_cli_double import NvcfCli
from nvcf_world import EAST, NCA, World, creation, request_of, subject_of

SECRET = "hunter2-very-secret"
ONCE = base64.b64encode(SECRET.encode()).decode()
TWICE = base64.b64encode(f"TOKEN={ONCE}".encode()).decode()
LEAKS = [SECRET, ONCE.rstrip("="), TWICE.rstrip("=")[:20]]


class Overheard:
    """Every subject that anybody published to at the server, but deliveries."""

    def __init__(self, world: World) -> None:
        self.subjects: list[str] = []
        self._world = world
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Overheard:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(60)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._client.close(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)

    async def _listen(self) -> None:
        import nats

        self._client: Any = await nats.connect(self._world.servers.all[0].url)

        async def heard(message: Any) -> None:
            self.subjects.append(message.subject)

        await self._client.subscribe(">", cb=heard)
        await self._client.flush()


@pytest.fixture
def cli(small_world: World) -> NvcfCli:
    return NvcfCli(small_world.folder)


def plant(world: World, cli: NvcfCli) -> None:
    """Secrets wherever the tool looks."""
    fields, data = creation("one", secret=TWICE)
    other, more = creation("two", secret=ONCE, accountName=SECRET)
    broken = json.dumps({"requestId": SECRET, "launchSpecification": {"environment": TWICE}})
    world.servers.publish(subject_of(), data, more, broken.encode(), SECRET.encode())
    item = request_of(fields)
    item["spec"]["creationMsgInfo"]["functionLaunchSpecification"]["environment"] = TWICE
    item["metadata"]["annotations"] = {"note": SECRET}
    world.request("east", item)
    odd, _ = creation("odd")
    world.request("east", request_of(odd, status=SECRET, requestId=SECRET, action=SECRET))
    details = other["functionDetails"]
    deployed = {"functionId": details["functionId"], "ncaId": NCA, "functionStatus": "ACTIVE",
                "functionVersionId": details["functionVersionId"], "token": SECRET}  # fmt: skip
    said = json.dumps({"deployment": deployed})
    cli.says(details["functionVersionId"], said, stderr=f"DEBUG: Using {SECRET}")


def night(world: World, cli: NvcfCli, record: Path, *, direct: bool) -> None:
    fleet = str(world.fleet(direct=direct, accounts=[cli.entry(invocation=["--body", "{}"])]))
    usual = ["--fleet", fleet, "--record", str(record)]
    settle = ["--settle", "0.05"]
    assert main(["nvcf", "preflight", *usual, "--to", "1.0.10", "--from", "1.0.1"]) == 2
    assert main(["nvcf", "drain", *usual, *settle]) == 2
    assert main(["nvcf", "recover", "--fleet", fleet, "--append", str(record)]) == 2
    assert main(["nvcf", "analyze", str(record)]) == 2
    assert main(["nvcf", "gate", *usual, *settle, "--guide-gate-passed", "CHG-1"]) == 2
    assert main(["nvcf", "verify", *usual, "--invoke", NCA]) == 2
    assert main(["nvcf", "evidence", "verify", str(record)]) == 0


def checked(request: Request, query: list[tuple[str, str]]) -> None:
    allow.kubernetes(
        request.method,
        request.path,
        accept=request.headers.get("Accept", ""),
        body=request.body,
        query=query,
    )


@pytest.mark.parametrize("way", ["direct", "exec", "wget"])
def test_every_request_is_on_the_list(
    small_world: World, cli: NvcfCli, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a connection, by commands in nats-box, and there for the monitors too."""
    plant(small_world, cli)
    if way == "wget":
        refused = Answer(403, "no\n")
        small_world.control.faults.add(
            refused, lambda request: request.subresource == "proxy", times=1000
        )
    small_world.agent(ack=False)
    before = small_world.servers.api(f"STREAM.INFO.{CREATION}")["state"]
    for double in small_world.doubles.values():
        double.requests.clear()
    with Overheard(small_world) as overheard:
        night(small_world, cli, small_world.folder / "record", direct=way == "direct")
    ran = {words[0] for words in small_world.commands}
    assert ran == {"direct": set(), "exec": {"nats"}, "wget": {"nats", "wget"}}[way]
    for double in small_world.doubles.values():
        for request in double.requests:
            assert request.method == "GET"
            query = list(request.query.items())
            if request.subresource == "exec":  # every command is checked below
                query = [("command", word) for word in small_world.commands[0]]
            checked(request, query)
        assert {verb for verb, _ in double.verbs()} <= {"get", "list", "watch"}
    for words in small_world.commands:
        allow.command(words)
    for words in cli.asked():
        allow.account(words[2:], invoke=True)
    assert sum(words[2:4] == ["function", "invoke"] for words in cli.asked()) == 1
    # What the server itself says about requests is an event.
    api = [one for one in overheard.subjects if one.startswith(("$JS.API.", "$JS.ACK."))]
    assert api
    for subject in api:
        allow.jetstream(subject, {})
    assert not [
        one for one in overheard.subjects if not one.startswith(("$JS.", "_INBOX.", "$SYS"))
    ]
    after = small_world.servers.api(f"STREAM.INFO.{CREATION}")["state"]
    assert after == before
    capsys.readouterr()


@pytest.mark.parametrize("direct", [True, False])
def test_secrets_stay_where_they_are(
    small_world: World, cli: NvcfCli, direct: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(small_world, cli)
    record = small_world.folder / "record"
    night(small_world, cli, record, direct=direct)
    for form in ("table", "json", "markdown"):
        assert main(["nvcf", "analyze", str(record), "--format", form]) == 2
        assert main(["nvcf", "evidence", "show", str(record)]) == 0
    shown = capsys.readouterr()
    for leak in LEAKS:
        assert leak not in shown.out
        assert leak not in shown.err
        assert leak not in json.dumps(cli.asked())
        assert leak not in json.dumps(small_world.commands)
        assert leak not in json.dumps(
            [
                [one.path, *one.headers.values()]
                for double in small_world.doubles.values()
                for one in double.requests
            ]
        )
    # The private record holds message bodies as they came, and nothing else repeats them.
    for path in record.rglob("*"):
        if path.is_file() and not re.match(r"(message|compute|account)-", path.name):
            for leak in LEAKS:
                assert leak not in path.read_text(), path


def test_a_redacted_pack(
    small_world: World, cli: NvcfCli, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(small_world, cli)
    record = small_world.folder / "record"
    night(small_world, cli, record, direct=True)
    packed = small_world.folder / "pack.tar.gz"
    assert main(["nvcf", "evidence", "pack", str(record), "--redact", "-o", str(packed)]) == 0
    assert packed.stat().st_mode & 0o077 == 0
    contents = dict(members(packed))
    names = set(contents)
    assert {"manifest.jsonl", "message-1.json.redacted.json", "compute-east.1.redacted.json",
            "stream-before.json.redacted.json", "report.json.redacted.json",
            "readings/baseline-0001.json.redacted.json"} <= names  # fmt: skip
    assert any(name.startswith("account-") for name in names)
    whole = "\n".join(name + text for name, text in contents.items())
    for leak in LEAKS:
        assert leak not in whole
    one = json.loads(contents["message-1.json.redacted.json"])
    assert one["requestId"] == creation("one")[0]["requestId"]
    requests = json.loads(contents["compute-east.1.redacted.json"])
    assert "(withheld)" in json.dumps(requests)
    assert main(["nvcf", "evidence", "pack", str(record), "--redact", "-o", str(packed)]) == 1
    plain = small_world.folder / "plain.tar.gz"
    assert main(["nvcf", "evidence", "pack", str(record), "-o", str(plain)]) == 0
    assert "may hold secrets" in capsys.readouterr().err
    assert any(TWICE[:20] in text or ONCE in text or "data" in text for _, text in members(plain))


def members(path: Path) -> Iterator[tuple[str, str]]:
    with tarfile.open(path) as archive:
        for member in archive.getmembers():
            opened = archive.extractfile(member)
            assert opened is not None
            yield member.name, opened.read().decode()


def test_colliding_labels_in_the_whole_run(
    small_world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both the right and a wrong request carry the label; the right one is found."""
    import hashlib

    fields, data = creation("one")
    wrong, _ = creation("wrong")
    small_world.servers.publish(subject_of(), data)
    label = hashlib.sha256(f"{subject_of(EAST)}:1".encode()).hexdigest()[:63]
    small_world.request("east", request_of(wrong, label=label))
    small_world.request("east", request_of(fields, label=label))
    assert main(["nvcf", "recover", "--fleet", str(small_world.fleet()), "--format", "json"]) == 2
    (fact,) = json.loads(capsys.readouterr().out)["facts"]
    assert fact["value"]["outcome"] == "in-progress"
    assert fact["value"]["flags"] == ["colliding-id"]
    assert fact["value"]["request"]["name"] == request_of(fields)["metadata"]["name"]
