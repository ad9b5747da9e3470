from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aicr.cli.main import main
from aicr.cluster.connection import Patience
from aicr.nvcf.agent_versions import class_of
from aicr.nvcf.agents import Agent, agent_pod, judge, version_of
from aicr.nvcf.fleet import Declared
from aicr.nvcf.roll_gate import Consumer, roll_gate
from fleets import FleetOfDoubles, fleet_of, give_agent
from kube_double_faults import Answer, Drop

ICMS = Path(__file__).parent.parent / "data" / "kube" / "icms"
ID = "c35a260c-01b9-5c3e-8afa-52b1e0edd364"
STREAM = "CreateNvcaFunctionTaskStream"
DIGEST = "sha256:" + "3c" * 32


def load(name: str) -> Any:
    return json.loads((ICMS / f"{name}.json").read_text())


def agent(state: str, backend: str, *, digests: dict[str, str] | None = None) -> Agent:
    pods = load(f"nvca-pods-{state}")["items"]
    return judge(
        "east",
        [load(f"nvcfbackend-{backend}")],
        load(f"nvca-deployment-{state}"),
        [pod for one in pods if (pod := agent_pod(one, digests or {})) is not None],
    )


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("3.10.0", "affected"), ("v3.10.2", "affected"), ("3.10.2-hotfix.1", "affected"),
        ("3.10.3", "fixed"), ("3.10.3-hotfix.2", "fixed"), ("3.10.11", "fixed"),
        ("3.10.3-rc.1", "unverified"), ("3.10.2-nv-1", "unverified"), ("3.10", "unverified"),
        ("3.10.03", "unverified"), ("latest", "unverified"), ("", "unverified"),
        ("3.10.3+build", "unverified"),
        ("3.5.2", "unknown-train"), ("3.11.0", "unknown-train"), ("4.0.0", "unknown-train"),
    ],
)  # fmt: skip
def test_the_table_of_versions(version: str, expected: str) -> None:
    assert class_of(version) == expected


def test_a_guides_selection_is_exact_and_clears_no_affected_version() -> None:
    assert class_of("3.5.9", "3.5.9") == "corrected"
    assert class_of("v3.5.9", "3.5.9") == "corrected"
    assert class_of("3.5.10", "3.5.9") == "unknown-train"
    assert class_of("3.10.1", "3.10.1") == "affected"
    assert class_of("3.10.3-rc.1", "3.10.3-rc.1") == "unverified"


@pytest.mark.parametrize(
    ("state", "backend", "expected", "doubt"),
    [
        ("3.10.1", "3.10.1", "affected", ""),
        ("3.10.3", "3.10.3", "fixed", ""),
        ("3.10.1", "upgrading-3.10.3", "affected", "spec.version is 3.10.3"),
        ("3.10.3", "upgrading-3.10.3", "unverified", "status.version is 3.10.1"),
        ("rolling-3.10.1-to-3.10.3", "3.10.3", "affected", "rollout in progress"),
        ("digest-only-image", "3.10.3", "unverified", "no tag and no known digest"),
        ("stuck-rollout-imagepullbackoff", "3.10.3", "unverified", "rollout in progress"),
    ],
)
def test_recorded_agents(state: str, backend: str, expected: str, doubt: str) -> None:
    found = agent(state, backend)
    assert found.agent_class == expected, found.doubts
    assert any(doubt in one for one in found.doubts) if doubt else not found.doubts


def test_a_failed_pod_that_is_still_listed_does_not_run() -> None:
    found = agent("rolling-3.10.1-to-3.10.3", "3.10.3")
    assert sorted(pod.version for pod in found.pods) == ["3.10.1", "3.10.3"]


def test_a_digest_can_be_given_a_version() -> None:
    found = agent("digest-only-image", "3.10.3", digests={DIGEST: "3.10.3"})
    assert found.agent_class == "fixed"
    assert agent("digest-only-image", "3.10.3", digests={DIGEST: "3.10.1"}).agent_class == (
        "affected"
    )


def test_a_tag_that_contradicts_its_digest() -> None:
    image_id = f"registry.example.com/nvcf/nvca@{DIGEST}"
    version, doubt = version_of(
        "registry.example.com/nvcf/nvca:3.10.3", image_id, {DIGEST: "3.10.1"}
    )
    assert version == ""
    assert "contradicts" in doubt
    assert version_of("r/nvca:v3.10.3", image_id, {DIGEST: "3.10.3"}) == ("3.10.3", "")


def test_health_is_read_in_any_case_and_counts() -> None:
    backend = load("nvcfbackend-3.10.3")
    deployment, pods = load("nvca-deployment-3.10.3"), load("nvca-pods-3.10.3")["items"]
    running = [pod for one in pods if (pod := agent_pod(one, {})) is not None]
    assert judge("east", [backend], deployment, running).agent_class == "fixed"
    backend["status"]["agentStatus"] = "UNHEALTHY"
    assert judge("east", [backend], deployment, running).agent_class == "unverified"
    for backends in ([], [load("nvcfbackend-3.10.3")] * 2):
        assert judge("east", backends, deployment, running).agent_class == "unverified"
    good = load("nvcfbackend-3.10.3")
    assert judge("east", [good], deployment, running[:1]).agent_class == "unverified"
    assert judge("east", [good], deployment, []).agent_class == "unverified"


def test_a_restart_on_an_affected_version_is_said_outright() -> None:
    pods = load("nvca-pods-3.10.1")["items"]
    pods[0]["status"]["containerStatuses"][0]["restartCount"] = 1
    running = [pod for one in pods if (pod := agent_pod(one, {})) is not None]
    found = judge("east", [load("nvcfbackend-3.10.1")], load("nvca-deployment-3.10.1"), running)
    assert "does not fix reused message ids" in found.action
    assert "does not fix" not in agent("3.10.1", "3.10.1").action


# The gate.


def fixed(cluster: str = "east", cluster_id: str = ID) -> Agent:
    return Agent(cluster, agent_class="fixed", registration={"clusterID": cluster_id})


def consumer(of: str, left: int = 0) -> Consumer:
    return Consumer(f"{STREAM}-{of}", left, 0)


def test_the_gate_opens_only_for_all_of_the_consumers() -> None:
    assert roll_gate([fixed()], [consumer(ID)]).answer == "open"
    assert roll_gate([fixed()], [consumer(ID, 3)]).answer == "open"  # what is left: the drain gate
    assert roll_gate([fixed()], None).answer == "cannot-verify"
    assert roll_gate([fixed()], []).answer == "cannot-verify"
    assert roll_gate([fixed()], [consumer(ID), consumer("other")]).answer == "cannot-verify"
    assert roll_gate([fixed(), fixed("west", "w")], [consumer(ID)]).answer == "cannot-verify"
    assert roll_gate([], []).answer == "cannot-verify"
    assert roll_gate([fixed(cluster_id="")], [consumer(ID)]).answer == "cannot-verify"
    assert roll_gate([fixed(), fixed("west")], [consumer(ID)]).answer == "cannot-verify"
    assert roll_gate([fixed()], [consumer(ID)], doubts=["unpinned"]).answer == "cannot-verify"


def test_a_difference_closes_the_gate_where_nothing_is_in_doubt() -> None:
    more = [consumer(ID), consumer("other")]
    assert roll_gate([fixed()], [], whole=True).answer == "closed"
    assert roll_gate([fixed()], more, whole=True).answer == "closed"
    assert roll_gate([fixed()], more, doubts=["unpinned"], whole=True).answer == "cannot-verify"
    # The consumer may be that of the cluster whose id is not known.
    unknown = [fixed(), fixed("west", cluster_id="")]
    assert roll_gate(unknown, more, whole=True).answer == "cannot-verify"


def test_retired_clusters_are_left_aside_while_nothing_is_left_for_them() -> None:
    gone = [Declared("old", "sold", "me", "2026-11-30")]
    gate = roll_gate([fixed()], [consumer(ID), consumer("old")], gone)
    assert gate.answer == "open"
    assert "retired, and left aside: old (sold; me, 2026-11-30)" in gate.notes
    assert roll_gate([fixed()], [consumer(ID), consumer("old", 1)], gone).answer == "closed"


def test_the_control_planes_own_consumer_must_be_at_0() -> None:
    own = Consumer(f"{STREAM}Consumer", 0, 0)
    gate = roll_gate([fixed()], [consumer(ID), own])
    assert gate.answer == "open"
    assert any("own consumer" in note for note in gate.notes)
    own = Consumer(f"{STREAM}Consumer", 0, 1)
    assert roll_gate([fixed()], [consumer(ID), own]).answer == "closed"


@pytest.mark.parametrize(
    ("agent_class", "answer"),
    [("affected", "closed"), ("unknown-train", "closed"), ("unverified", "cannot-verify"),
     ("corrected", "open")],
)  # fmt: skip
def test_every_class_and_the_gate(agent_class: str, answer: str) -> None:
    one = Agent("east", agent_class=agent_class, registration={"clusterID": ID})
    assert roll_gate([one], [consumer(ID)]).answer == answer


# The commands.


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FleetOfDoubles]:
    monkeypatch.setattr(
        "aicr.cli.nvcf_agents.patience_of",
        lambda args: Patience(tries=1, sleep=lambda seconds: None),
    )
    with fleet_of(tmp_path, ("east", "west")) as found:
        give_agent(found.clusters["east"], "3.10.3")
        give_agent(found.clusters["west"], "3.10.1", cluster_id="w")
        yield found


def run(
    fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str], command: str, *words: str
) -> tuple[int, dict[str, Any]]:
    code = main(["nvcf", command, "--fleet", str(fleet.path), "--format", "json", *words])
    out = capsys.readouterr().out
    return code, json.loads(out) if out else {}


def test_the_worst_agent_is_the_answer(
    fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = run(fleet, capsys, "agents")
    assert (code, said["outcome"]) == (2, "affected")
    assert "Compute Plane 1.0.5" in said["next"]
    classes = {fact["value"]["cluster"]: fact["value"]["class"] for fact in said["facts"]}
    assert classes == {"east": "fixed", "west": "affected"}
    assert run(fleet, capsys, "agents", "--cluster", "east")[0] == 0
    code, said = run(fleet, capsys, "nats-roll")
    assert (code, said["outcome"]) == (2, "closed")


def test_the_gate_waits_for_the_consumers(
    fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.entries = fleet.entries[:1]
    fleet.write()
    code, said = run(fleet, capsys, "nats-roll")
    assert (code, said["outcome"]) == (2, "cannot-verify")
    assert said["notes"][0].startswith("the StatefulSet of the NATS servers: ")
    assert said["notes"][-1] == "the consumers of the creation stream were not read"


def test_registrations_are_saved_and_compared(
    fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = str(fleet.folder / "saved.json")
    assert run(fleet, capsys, "agents", "--save", saved, "--cluster", "east")[0] == 0
    assert run(fleet, capsys, "agents", "--expect", saved, "--cluster", "east")[0] == 0
    text = Path(saved).read_text()
    Path(saved).write_text(text.replace('"region": "ncp"', '"region": "other"'))
    code, said = run(fleet, capsys, "agents", "--expect", saved, "--cluster", "east")
    assert (code, said["outcome"]) == (2, "registration-changed")
    assert "region is ncp, saved was other" in said["notes"][0]
    code, said = run(fleet, capsys, "agents", "--expect", saved)
    assert any("west: " in note and "no registration" in note for note in said["notes"])


def test_clocks_that_disagree(fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]) -> None:
    import time

    fleet.clusters["west"].clock = lambda: time.time() + 60
    code, said = run(fleet, capsys, "nats-roll")
    assert code == 2
    assert any("s apart" in note for note in said["notes"])
    assert said["clock"]["skewSeconds"] > 50


def test_an_unpinned_cluster_keeps_the_gate_shut(
    fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]
) -> None:
    del fleet.entry("east")["clusterUid"]
    fleet.write()
    _, said = run(fleet, capsys, "nats-roll")
    assert any(note.startswith("cluster east: unpinned: ") for note in said["notes"])


@pytest.mark.parametrize("fault", [Answer(500, "broken"), Answer(403, "no"), Drop()])
@pytest.mark.parametrize("resource", ["namespaces", "nvcfbackends", "deployments", "pods"])
def test_no_read_that_fails_makes_a_go(
    fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str], resource: str, fault: Any
) -> None:
    fleet.clusters["east"].faults.add(fault, lambda one: one.resource == resource, times=1000)
    code, said = run(fleet, capsys, "agents", "--cluster", "east")
    assert (code, said["outcome"]) == (2, "unverified")


def test_nothing_but_reads(fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]) -> None:
    run(fleet, capsys, "agents")
    run(fleet, capsys, "nats-roll")
    for double in fleet.clusters.values():
        assert {one.method for one in double.requests} <= {"GET"}
