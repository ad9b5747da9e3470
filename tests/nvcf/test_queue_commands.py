"""``drain``, ``gate``, ``preflight`` and ``verify`` as their users run them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.cli.main import main
from aicr.nvcf import drain
from aicr.nvcf.evidence import open_record
from aicr.nvcf.evidence_chain import verify as verify_record
from nvcf_cli_double import NvcfCli
from nvcf_world import NCA, WEST, World, creation, some_uuid, subject_of

FUNCTION, VERSION, TASK = some_uuid("f"), some_uuid("v"), some_uuid("t")
WHICH = f"{NCA}:{FUNCTION}:{VERSION}"


class Command:
    """Runs a command of this world; ``said`` is its JSON answer."""

    def __init__(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        self.world = world
        self.cli = NvcfCli(world.folder)
        self.record = world.folder / "record"
        self.said: dict[str, Any] = {}
        self.error = ""
        self._capsys = capsys

    def __call__(self, verb: str, *words: str, fleet: Path | None = None) -> int:
        path = fleet or self.world.fleet(accounts=[self.cli.entry(invocation=["--body", "{}"])])
        quick = ["--timeout-nats", "30"] if verb != "verify" else []
        settle = ["--settle", "0.05"] if verb in ("drain", "gate") else []
        if "--settle" in words:
            settle = []
        code = main(["nvcf", verb, "--fleet", str(path), "--record", str(self.record),
                     "--format", "json", *quick, *settle, *words])  # fmt: skip
        shown = self._capsys.readouterr()
        self.error = shown.err
        self.said = json.loads(shown.out) if shown.out.startswith("{") else {}
        return code

    def results(self) -> dict[str, str]:
        return {one["name"]: one["value"]["result"] for one in self.said["facts"]}


@pytest.fixture
def command(small_world: World, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(small_world, capsys)


def test_drain(command: Command) -> None:
    assert command("drain") == 0
    said = command.said
    assert (said["outcome"], said["exit"]) == ("drained", 0)
    at, until = (time.strptime(said[key], "%Y-%m-%dT%H:%M:%SZ") for key in ("asOf", "validUntil"))
    assert time.mktime(until) - time.mktime(at) == 300
    assert said["baseline"]["file"] == "readings/baseline-0001.json"
    assert "gate" in said["nextCommand"]
    names = [one["name"] for one in said["facts"]]
    assert "queue CreateNvcaFunctionTaskStream" in names
    assert all(one["source"] for one in said["facts"])


def test_what_is_left(command: Command) -> None:
    command.world.servers.publish(subject_of(), creation("one")[1])
    assert command("drain") == 2
    assert command.said["outcome"] == "not-drained"
    assert "recover" in command.said["nextCommand"]
    assert "redelivery" in command.said["next"]
    (left,) = command.said["left"]
    assert (left["cluster"], left["pending"], left["trend"]) == ("east", 1, "unchanged")
    # A task for the other cluster: its caller is not paused.
    task = creation("two", task=True)[1]
    command.world.servers.publish(subject_of(WEST, task=True), task)
    assert command("drain") == 2
    found = {one["cluster"]: one for one in command.said["left"]}
    assert found["west"]["trend"] == "growing (tasks for west: 0, now 1)"
    assert "growing (tasks for west: 0, now 1)" in " ".join(command.said["reasons"])


def test_an_affected_agent_is_what_to_do_first(command: Command) -> None:
    from nvcf_world import recorded

    store = command.world.doubles["east"].store
    pods = store.kind("", "pods")
    for pod in store.all(pods):
        store.delete(pods, pod["metadata"]["namespace"], pod["metadata"]["name"])
    store.seed(pods, *recorded("icms/nvca-pods-3.10.1")["items"])
    command.world.servers.publish(subject_of(), creation("one")[1])
    assert command("drain") == 2
    assert command.said["do"][0].startswith("east: its agent skips reused message ids: upgrade it")


STATEMENTS = [
    ("gate", "--guide-gate-passed", "CHG-1"), ("gate", "--callers-paused", "true"),
    ("gate", "--allow-running-tasks", "true"), ("drain", "--callers-paused", "true"),
    ("drain", "--reason", "x"), ("preflight", "--no-tasks", "true"), ("verify", "--invoke", NCA),
    ("drain", "--plan", "true"), ("gate", "--plan", "true"), ("preflight", "--plan", "true"),
    ("verify", "--plan", "true"),
]  # fmt: skip


@pytest.mark.parametrize(("verb", "flag", "value"), STATEMENTS)
def test_a_statement_is_made_on_the_command_line(
    command: Command, monkeypatch: pytest.MonkeyPatch, verb: str, flag: str, value: str
) -> None:
    """A variable that somebody set once states nothing about this run."""
    variable = "AICR_" + flag[2:].upper().replace("-", "_")
    monkeypatch.setenv(variable, value)
    more = ["--to", "1.0.10"] if verb == "preflight" else []
    assert command(verb, *more) == 1
    assert f"{variable}: {flag} is said of one run" in command.error


def test_a_gate_that_cannot_record_the_statement_holds(command: Command) -> None:
    assert command("drain") == 0
    assert command("gate", "--guide-gate-passed", "CHG-1") == 0
    uid = some_uuid("cluster control")
    with open_record(str(command.record), uid):
        assert command("gate", "--guide-gate-passed", "CHG-1") == 2
    assert command.said["outcome"] == "hold"
    assert command.results()["the guide's own gate"] == "could not be verified"
    assert list(command.results().values()).count("passed") == 5


def test_a_machine_that_slept_after_the_readings(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The servers' clock decides: theirs went on, and this machine's is set when it wakes."""
    real = drain.Gate.answer

    def answer(self: drain.Gate) -> drain.Answered:
        found = real(self)
        now = time.time
        monkeypatch.setattr(time, "time", lambda: now() + 400)
        return found

    monkeypatch.setattr(drain.Gate, "answer", answer)
    assert command("gate", "--guide-gate-passed", "CHG-1") == 2
    assert command.said["outcome"] == "hold"
    assert command.results()["fresh"] == "could not be verified"
    assert "the readings are 7 min old" in json.dumps(command.said)


def test_two_operators_at_once(command: Command) -> None:
    """Two processes on one record: each has an answer, one of them writes."""
    fleet = str(command.world.fleet())
    script = "import aicr.nvcf.drain as d; d.LEAST_SETTLE = 0\nfrom aicr.cli.main import run\nrun()"
    words = ["nvcf", "drain", "--fleet", fleet, "--record", str(command.record), "--settle", "1",
             "--timeout-nats", "30", "--format", "json"]  # fmt: skip
    assert command("drain") == 0
    both = [
        subprocess.Popen([sys.executable, "-c", script, *words], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [json.loads(one.communicate()[0]) for one in both]
    assert [(one["outcome"], one["exit"]) for one in said] == [("drained", 0)] * 2
    verdict = verify_record(str(command.record))
    assert (verdict.problems, verdict.closed) == ([], True)


def test_for_people(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    fleet = str(command.world.fleet())
    command.world.servers.publish(subject_of(), creation("one")[1])
    for form in ("table", "markdown"):
        code = main(["nvcf", "drain", "--fleet", fleet, "--settle", "0.05", "--format", form])
        out = capsys.readouterr().out
        assert code == 2
        for words in ("not-drained", "Do", "Do not", "Callers keep paused: deployments, scaling"):
            assert words in out
        assert "aicr nvcf recover" in out


def test_settle_and_reason(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aicr.nvcf.drain.LEAST_SETTLE", 30.0)
    assert command("drain", "--settle", "29") == 1
    assert "at least 30 s" in command.error
    assert command("drain", "--settle", "30", "--new-baseline") == 1
    assert "--reason" in command.error


@pytest.mark.parametrize("verb", ["drain", "recover", "gate", "preflight"])
def test_a_plan_reads_nothing(
    command: Command, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    more = ["--to", "1.0.10"] if verb == "preflight" else []
    fleet = str(command.world.fleet(direct=False))
    for double in command.world.doubles.values():
        double.requests.clear()
    assert main(["nvcf", verb, "--fleet", fleet, "--plan", *more]) == 0
    out = capsys.readouterr().out
    assert "kube-system" in out
    assert "nats stream ls" in out
    assert "created elsewhere: nothing" in out
    said = {"drain": "twice, 30 s apart", "gate": "Deployment nvca and its pods",
            "recover": "every retained message", "preflight": "nvcf-upgrade-receipt"}  # fmt: skip
    assert said[verb] in out
    assert not any(double.requests for double in command.world.doubles.values())


def test_a_plan_of_verify_sends_nothing(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("verify", "--invoke", NCA, "--plan") == 0
    fleet = str(command.world.fleet(accounts=[command.cli.entry(invocation=["--body", "{}"])]))
    assert main(["nvcf", "verify", "--fleet", fleet, "--invoke", NCA, "--plan"]) == 0
    out = capsys.readouterr().out
    assert f"sent: the invocation of account {NCA}, once" in out
    assert "task get" in out
    assert command.cli.asked() == []


def changed(world: World, change: Any) -> Path:
    path = world.fleet()
    document = yaml.safe_load(path.read_text())
    change(document)
    path.write_text(yaml.safe_dump(document))
    return path


@pytest.mark.parametrize("verb", ["drain", "gate", "recover", "preflight"])
def test_the_wrong_cluster_stops_everything(command: Command, verb: str) -> None:
    def other(document: Any) -> None:
        document["computeClusters"][0]["clusterUid"] = some_uuid("another")

    more = ["--to", "1.0.10"] if verb == "preflight" else []
    path = changed(command.world, other)
    for double in command.world.doubles.values():
        double.requests.clear()
    assert command(verb, *more, fleet=path) == 2
    assert (command.said["outcome"], command.said["because"]) == ("cannot-verify", "wrong-cluster")
    for double in command.world.doubles.values():
        assert {one.resource for one in double.requests} == {"namespaces"}


@pytest.mark.parametrize("verb", ["drain", "gate"])
def test_unpinned(command: Command, verb: str) -> None:
    def unpin(document: Any) -> None:
        del document["computeClusters"][1]["clusterUid"]

    assert command(verb, fleet=changed(command.world, unpin)) == 2
    if verb == "drain":
        assert (command.said["outcome"], command.said["because"]) == ("cannot-verify", "unpinned")
    else:
        assert command.said["outcome"] == "hold"
        assert command.results()["identities"] == "could not be verified"


def test_a_broken_fleet_file(command: Command) -> None:
    path = command.world.folder / "broken.yaml"
    path.write_text("controlPlane: {}\n")
    assert command("drain", fleet=path) == 1


def test_a_drain_that_was_killed_while_it_wrote(command: Command) -> None:
    """What it left is in no entry; the next one goes on beside it."""
    assert command("drain") == 0
    (command.record / "readings" / "drain-0002.json").write_bytes(b"{")
    assert command("drain") == 0
    assert command.said["outcome"] == "drained"
    assert "count for nothing" in json.dumps(command.said["notes"])
    assert (command.record / "readings" / "drain-0003.json").exists()


def test_a_record_that_was_changed(command: Command) -> None:
    assert command("drain") == 0
    baseline = command.record / "readings" / "baseline-0001.json"
    baseline.write_bytes(baseline.read_bytes() + b" ")
    for verb, word in (("drain", "cannot-verify"), ("gate", "hold")):
        code = command(verb, *(["--guide-gate-passed", "x"] if verb == "gate" else []))
        assert (code, command.said["outcome"]) == (2, word)


def test_the_runbooks_variable_is_not_read(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NATS_CONTEXT", "other")
    assert command("drain") == 0
    assert "NATS_CONTEXT is other and is not read; the context used is default" in command.error


def test_a_gate_begins_no_record(command: Command) -> None:
    """Another folder than the one meant knows of no restart: it is no go, and stays empty."""
    assert command("drain") == 0
    meant, command.record = command.record, command.record.with_name("recrod")
    assert command("gate", "--guide-gate-passed", "CHG-1") == 2
    assert command.said["drain"] == "cannot-verify"
    assert "there is no baseline" in " ".join(command.said["reasons"])
    assert not list(command.record.glob("readings/*"))
    command.record = meant
    assert command("gate", "--guide-gate-passed", "CHG-1") == 0


def test_gate(command: Command) -> None:
    assert command("drain") == 0
    assert command("gate") == 2
    assert command.said["outcome"] == "hold"
    assert command.results()["the guide's own gate"] == "could not be verified"
    assert command("gate", "--guide-gate-passed", "CHG-1") == 0
    assert command.said["outcome"] == "resume"
    assert "decides" in " ".join(command.said["notes"])
    manifest = (command.record / "manifest.jsonl").read_text()
    assert '"guideGatePassed":"CHG-1"' in manifest


@pytest.mark.parametrize("blocked", ["drain", "agents", "tasks", "registration"])
def test_the_gate_holds(command: Command, blocked: str) -> None:
    world = command.world
    expected = world.folder / "saved.json"
    config = {"clusterID": "d30423a8-99ce-51ca-911a-09b539a0b57a", "region": "ncp"}
    expected.write_text(json.dumps({"registrations": {"east": config, "west": config}}))
    more: list[str] = []
    assert command("drain") == 0
    if blocked == "drain":
        world.servers.publish(subject_of(), creation("one")[1])
    elif blocked == "agents":
        from nvcf_world import recorded

        store = world.doubles["east"].store
        pods = store.kind("", "pods")
        for pod in store.all(pods):
            store.delete(pods, pod["metadata"]["namespace"], pod["metadata"]["name"])
        store.seed(pods, *recorded("icms/nvca-pods-3.10.1")["items"])
    elif blocked == "tasks":
        command.cli.tasks("RUNNING", 1)
    else:
        more = ["--expect", str(expected)]
    assert command("gate", "--guide-gate-passed", "CHG-1", *more) == 2
    assert command.said["outcome"] == "hold"
    name = {
        "drain": "complete drain gate",
        "agents": "agents and roll gate",
        "tasks": "no task queued, launched or running",
        "registration": "identities",
    }[blocked]
    results = command.results()
    assert results[name] == "failed"
    assert list(results.values()).count("passed") == 5
    if blocked == "tasks":
        assert command("gate", "--guide-gate-passed", "CHG-1", "--allow-running-tasks") == 0


def test_a_gate_that_took_too_long(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command("drain") == 0
    monkeypatch.setattr("aicr.nvcf.clock.VALID", -1.0)
    assert command("gate", "--guide-gate-passed", "CHG-1") == 2
    assert command.results()["fresh"] == "could not be verified"


def test_only_the_gate_says_resume() -> None:
    import aicr

    root = Path(aicr.__file__).parent
    for path in [*root.glob("nvcf/*.py"), *root.glob("cli/nvcf_*.py")]:
        if path.name not in ("gate.py", "nvcf_gate.py"):
            assert '"resume"' not in path.read_text(), path


def test_preflight(command: Command) -> None:
    cli = command.cli
    cli.function(FUNCTION, VERSION, "ACTIVE", some_uuid("deployment"))
    cli.task(TASK, "COMPLETED")
    command.world.servers.publish(subject_of(), creation("one")[1])
    code = command("preflight", "--from", "1.0.10", "--to", "1.1.5", "--record-function", WHICH,
                   "--record-task", f"{NCA}:{TASK}")  # fmt: skip
    assert code == 0, command.said
    assert command.said["outcome"] == "ready"
    results = command.results()
    assert results["task worker images"] == "not applicable"
    assert results["drain gate"] == "not-yet-due"
    assert results["baseline of the queues"] == "passed"
    assert results["recorded function"] == results["recorded task"] == "passed"
    assert "hold 1 messages" in json.dumps(command.said)
    # What the baseline retained has to be accounted for later.
    command.world.servers.api("STREAM.PURGE.CreateNvcaFunctionTaskStream")
    assert command("drain") == 2
    assert command.said["outcome"] == "vanished"


@pytest.mark.parametrize(
    ("receipt", "result", "applies"),
    [("1.0.1", "passed", True), ("1.0.10", "passed", False), (None, "passed", True)],
)
def test_the_upgrade_receipt(
    command: Command, receipt: str | None, result: str, applies: bool
) -> None:
    if receipt:
        store = command.world.control.store
        meta = {"name": "nvcf-upgrade-receipt", "namespace": "nvcf"}
        data = {"installed_stack_version": receipt}
        store.seed(store.kind("", "configmaps"), {"metadata": meta, "data": data})
    code = command("preflight", "--to", "1.0.10")
    results = command.results()
    assert results["installed stack"] == result
    assert (results["task worker images"] == "could not be verified") == applies
    assert code == (2 if applies else 0)
    if applies:
        assert command.said["outcome"] == "cannot-verify"
        assert command("preflight", "--to", "1.0.10", "--no-tasks") == 0


def render_of(folder: Path) -> tuple[list[str], list[str]]:
    """Flags of ``preflight`` for a render and its inventory, and the images in it."""
    renders = json.loads((Path(__file__).parent.parent / "data/nvcf/renders.json").read_text())
    golden = next(one for one in renders["renders"] if one["name"] == "golden")
    templates = folder / "templates"
    templates.mkdir()
    (templates / "configmap-env.yaml").write_text(golden["env"])
    (templates / "configmap-remote-config.yaml").write_text(golden["remote"])
    images = golden["stdout"].split()
    artifacts = [
        {"type": "container-image", "name": image.rpartition("/")[2].partition(":")[0],
         "reference": image, "sources": [{"release": "nvct-api"}]}
        for image in images
    ]  # fmt: skip
    inventory = folder / "inventory.json"
    inventory.write_text(json.dumps({"schema_version": 1, "artifacts": artifacts}))
    return ["--render", str(templates), "--inventory", str(inventory)], images


def pulled(
    command: Command, good: list[tuple[str, str]], *, exit: int = 0, empty: tuple[str, ...] = ()
) -> None:
    """Leaves a run of ``pull-check`` in the record."""
    said = {
        "run": "r",
        "outcome": "pulled" if exit == 0 else "not-pulled",
        "exit": exit,
        "asOf": "2026-12-01T00:00:00Z",
        "units": [],
        "good": [[cluster, "gpu", "node", image] for cluster, image in good],
        "notAsked": [{"cluster": name, "outcome": "not-checked"} for name in empty],
    }
    with open_record(str(command.record), some_uuid("cluster control")) as record:
        file = f"20261201-{len(record.entries):06}/result.json"
        record.write(file, json.dumps(said).encode(), source="aicr", command="pull-check")


def test_a_pull_check_counts_for_what_it_asked(command: Command) -> None:
    flags, images = render_of(command.world.folder)

    def result(*, more: tuple[str, ...] = tuple(flags)) -> str:
        command("preflight", "--from", "1.0.1", "--to", "1.0.10", *more)
        return command.results()["pull check"]

    every = [(cluster, image) for cluster in ("east", "west") for image in images]
    assert result() == "could not be verified"  # there is none
    pulled(command, every)
    assert result() == "passed"
    assert command.said["outcome"] == "ready"
    assert result(more=()) == "could not be verified"  # which images the target needs?
    pulled(command, every, exit=2)
    assert result() == "failed"
    pulled(command, [one for one in every if one[0] == "east"])
    assert result() == "could not be verified"
    assert f"did not ask for {images[0]} in west and 1 more" in json.dumps(command.said)
    pulled(command, [one for one in every if one[0] == "east"], empty=("west",))
    assert result() == "passed"
    pulled(command, [("east", images[0]), ("west", "r.example/of-yesterday:1")], empty=("west",))
    assert result() == "could not be verified"


@pytest.mark.parametrize("edition", ["1.0.4", "1.1.0"])
def test_an_edition_is_no_stack_version(command: Command, edition: str) -> None:
    assert command("preflight", "--to", edition) == 1
    assert "is an edition of NVCF, not a stack version" in command.error
    assert "1.0.4 has 1.0.10" in command.error


def test_verify(command: Command) -> None:
    cli = command.cli
    deployment = some_uuid("deployment")
    cli.function(FUNCTION, VERSION, "ACTIVE", deployment)
    assert (
        command("preflight", "--from", "1.0.10", "--to", "1.1.5", "--record-function", WHICH) == 0
    )
    assert command("verify") == 2
    assert command.said["outcome"] == "not-verified"
    new = some_uuid("new")
    cli.function(some_uuid("nf"), new, "ACTIVE")
    more = ["--new-deployment", f"{NCA}:{some_uuid('nf')}:{new}", "--invoke", NCA]
    cli.says("{}", '{"result": 1}')
    assert command("verify", *more) == 0
    assert command.said["outcome"] == "verified"
    assert "its words name no recorded function" in json.dumps(command.said)
    assert command("verify", "--new-deployment", WHICH, "--invoke", NCA) == 2
    assert command.said["outcome"] == "not-verified"
    assert "is the recorded deployment" in json.dumps(command.said)
    assert command.said["nextCommand"].endswith(f" --new-deployment {WHICH} --invoke {NCA}")
    for status, now in (("ACTIVE", some_uuid("another")), ("ERROR", deployment)):
        cli.function(FUNCTION, VERSION, status, now)
        assert command("verify", *more) == 2
        assert command.said["outcome"] == "failed"
    cli.function(FUNCTION, VERSION, "ACTIVE", deployment)
    assert command("verify", *more) == 0
    cli.refuse("{}", "boom")
    assert command("verify", *more) == 2
    assert command.said["outcome"] == "failed"


def test_what_was_recorded_without_its_deployment(command: Command) -> None:
    """There is nothing to compare with: that is said before the upgrade, and not after it."""
    cli = command.cli
    words = ["--from", "1.0.10", "--to", "1.1.5", "--record-function", WHICH]
    for status, deployment in (("ACTIVE", ""), ("INACTIVE", some_uuid("deployment"))):
        cli.function(FUNCTION, VERSION, status, deployment)
        assert command("preflight", *words) == 2
        assert command.results()["recorded function"] == "could not be verified"
        assert "verify could compare nothing" in json.dumps(command.said)
    cli.says("{}", '{"result": 1}')
    more = ["--new-deployment", WHICH, "--invoke", NCA]
    assert command("verify", *more) == 2
    assert command.results()["recorded function"] == "could not be verified"


def test_the_last_recording_counts(command: Command) -> None:
    """A record outlives an upgrade: what was recorded again is compared with that."""
    words = ["--from", "1.0.10", "--to", "1.1.5", "--record-function", WHICH]
    for deployment in ("before the last upgrade", "before this one"):
        command.cli.function(FUNCTION, VERSION, "ACTIVE", some_uuid(deployment))
        assert command("preflight", *words) == 0
    command("verify")
    assert command.results()[f"recorded function {VERSION}"] == "passed"


@pytest.mark.parametrize(
    ("before", "now", "result"),
    [("RUNNING", "QUEUED", "failed"), ("LAUNCHED", "COMPLETED", "passed"),
     ("RUNNING", "RUNNING", "passed"), ("RUNNING", "ERRORED", "failed")],
)  # fmt: skip
def test_a_task_only_goes_on(command: Command, before: str, now: str, result: str) -> None:
    command.cli.task(TASK, before)
    words = ["--from", "1.0.10", "--to", "1.1.5", "--record-task", f"{NCA}:{TASK}"]
    assert command("preflight", *words) == 0
    command.cli.task(TASK, now)
    assert command("verify") == 2
    assert command.results()[f"recorded task {TASK}"] == result
    assert command.results()["recorded function"] == "could not be verified"


@pytest.mark.parametrize(
    ("receipt", "words", "said"),
    [
        ("", ["--from", "1.0.10", "--to", "1.0.1"], "the target 1.0.1 is older"),
        ("1.0.10", ["--to", "1.0.1"], "the target 1.0.1 is older"),
        ("1.0.1", ["--from", "1.0.9", "--to", "1.0.10"], "the upgrade receipt says 1.0.1"),
        ("soon", ["--to", "1.0.10"], "soon is no version"),
    ],
)
def test_preflight_on_wrong_versions(
    command: Command, receipt: str, words: list[str], said: str
) -> None:
    if receipt:
        store = command.world.control.store
        meta = {"name": "nvcf-upgrade-receipt", "namespace": "nvcf"}
        data = {"installed_stack_version": receipt}
        store.seed(store.kind("", "configmaps"), {"metadata": meta, "data": data})
    assert command("preflight", *words) == 2
    assert said in json.dumps(command.said)
    again = command.said["nextCommand"]
    assert f"--to {words[-1]} --record {command.record}" in again


def test_all_reasons_of_the_roll_gate_are_said(command: Command) -> None:
    from nvcf_world import recorded

    for name in ("east", "west"):
        store = command.world.doubles[name].store
        pods = store.kind("", "pods")
        for pod in store.all(pods):
            store.delete(pods, pod["metadata"]["namespace"], pod["metadata"]["name"])
        store.seed(pods, *recorded("icms/nvca-pods-3.10.1")["items"])
    assert command("gate") == 2
    (why,) = [one["value"]["why"] for one in command.said["facts"]
              if one["name"] == "agents and roll gate"]  # fmt: skip
    assert "east: affected" in why
    assert "west: affected" in why


def test_flags_that_belong_to_others(command: Command) -> None:
    for words, said in (
        (["--timeout", "5"], "--timeout: is for --wait alone"),
        (["--reason", "x"], "--reason: is for --new-baseline alone"),
        (["--nats-context", "production"], "--nats-context: is for the client in nats-box"),
    ):
        assert command("drain", *words) == 1
        assert said in command.error


def test_invocations_are_waited_for_until_the_timeout(command: Command) -> None:
    servers = command.world.servers
    (name,) = servers.functions(1)
    servers.publish(name.replace("_", ".") + ".a", b"{}")
    began = time.monotonic()
    assert command("drain", "--wait", "--timeout", "2") == 2
    assert time.monotonic() - began > 2
    assert command.said["next"].startswith("invocations end by themselves")
    assert command.said["nextCommand"].endswith("--wait")


def test_a_saved_cluster_that_is_gone(command: Command) -> None:
    expected = command.world.folder / "saved.json"
    gone = {"clusterID": "d30423a8-99ce-51ca-911a-09b539a0b57a"}
    expected.write_text(json.dumps({"registrations": {"north": gone}}))
    assert command("gate", "--expect", str(expected)) == 2
    assert "north: " in json.dumps(command.said)
    assert "the fleet file no cluster of that name" in json.dumps(command.said)


def test_watch_reports_a_change_and_ends_with_the_signal(small_world: World) -> None:
    script = (
        "import sys, aicr.nvcf.drain as d; d.LEAST_SETTLE = 0\n"
        "from aicr.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, "nvcf", "drain", "--fleet", str(small_world.fleet()),
         "--settle", "0.1", "--watch"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ),
    )  # fmt: skip
    assert process.stdout is not None
    try:
        assert process.stdout.readline().startswith("drain: drained (go")
        small_world.servers.publish(subject_of(), creation("one")[1])
        for line in process.stdout:
            if line.startswith("drain: not-drained"):
                break
    finally:
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=120)
    assert process.returncode == 143
    assert "the answer was drained and is not-drained" in error


def test_an_inventory_that_cannot_be_read_is_said(command: Command) -> None:
    """Also where no image is compared with it: it may have given agents their version."""
    words = ["--from", "1.0.10", "--to", "1.1.5", "--inventory", "/not/there"]
    assert command("preflight", *words) == 2
    assert command.said["outcome"] == "cannot-verify"
    assert command.results()["inventory"] == "could not be verified"
