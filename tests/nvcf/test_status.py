from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aicr.cli.main import main
from aicr.cluster.connection import Patience
from aicr.nvcf.fleet_file import read_fleet
from fleets import FleetOfDoubles, fleet_of, uid_of
from kube_double_faults import Answer, Drop
from kubelet_double import node


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "aicr.cli.nvcf_status.patience_of",
        lambda args: Patience(tries=1, sleep=lambda seconds: None),
    )


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[FleetOfDoubles]:
    with fleet_of(tmp_path, ("east", "west")) as found:
        yield found


def status(
    fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[int, dict[str, Any]]:
    code = main(["nvcf", "status", "--fleet", str(fleet.path), "--format", "json", *words])
    return code, json.loads(capsys.readouterr().out)


def test_a_complete_fleet(fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = status(fleet, capsys)
    assert (code, said["outcome"]) == (0, "complete"), said["missing"]
    names = [fact["value"]["name"] for fact in said["facts"]]
    assert names == ["control-plane", "east", "west"]
    east = said["facts"][1]["value"]
    assert east["found"]["clusterUid"] == uid_of("east")
    assert east["found"]["secret task-registry-secret"] == "is there"
    assert east["nodes"][0]["architecture"] == "amd64"


def test_of_a_secret_only_the_metadata_is_asked_for(
    fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]
) -> None:
    status(fleet, capsys)
    asked = [one for one in fleet.clusters["east"].requests if one.resource == "secrets"]
    assert asked
    for one in asked:
        assert one.headers["Accept"].startswith("application/json;as=PartialObjectMetadata;")


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        ({"pullSecrets": ["no-such-secret"]}, "secret no-such-secret: is not there"),
        ({"serviceAccount": "nobody"}, "serviceaccount nobody: is not there"),
        ({"taskNamespace": "nowhere"}, "namespace nowhere: is not there"),
        ({"architectures": ["arm64"]}, "declared architecture arm64"),
        ({"pools": []}, "has allocatable GPUs and is in no pool"),
    ],
)
def test_what_is_missing_is_named(
    fleet: FleetOfDoubles,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, Any],
    missing: str,
) -> None:
    fleet.entry("east").update(change)
    fleet.write()
    code, said = status(fleet, capsys)
    assert (code, said["outcome"]) == (2, "incomplete")
    assert any(missing in one for one in said["missing"])


def test_a_taint_that_evicts_the_probe(
    fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]
) -> None:
    taint = {"key": "dedicated", "value": "tasks", "effect": "NoExecute"}
    fleet.clusters["east"].store.apply(node("east-0", taints=[taint]))
    code, said = status(fleet, capsys)
    assert code == 2
    assert "its taint dedicated=tasks:NoExecute (not tolerated) evicts" in said["missing"][0]
    fleet.entry("east")["pools"][0]["tolerations"] = [
        {"key": "dedicated", "value": "tasks", "effect": "NoExecute"}
    ]
    fleet.write()
    assert status(fleet, capsys)[0] == 0


def test_a_wrong_cluster_is_not_read(
    fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.control["clusterUid"] = "another"
    fleet.write()
    code, said = status(fleet, capsys)
    assert (code, said["outcome"], said["because"]) == (2, "cannot-verify", "wrong-cluster")
    for double in fleet.clusters.values():
        assert {one.path for one in double.requests} == {"/api/v1/namespaces/kube-system"}


def test_a_cluster_that_cannot_be_reached_does_not_hide_the_others(
    fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]
) -> None:
    fleet.clusters["west"].stop()
    code, said = status(fleet, capsys)
    assert (code, said["outcome"]) == (2, "cannot-verify")
    assert [fact["value"]["name"] for fact in said["facts"]] == ["control-plane", "east"]
    assert any("west: cannot be read" in one for one in said["missing"])


def test_pinning_writes_what_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with fleet_of(tmp_path, pinned=False) as fleet:
        text = fleet.path.read_text()
        code, said = status(fleet, capsys)
        assert code == 2
        assert said["unpinned"] == {"control-plane": uid_of("control"), "east": uid_of("east")}
        assert fleet.path.read_text() == text
        code, said = status(fleet, capsys, "--pin")
        assert code == 0, said
        pinned = read_fleet(str(fleet.path))
        assert pinned.control_plane.cluster_uid == uid_of("control")
        assert pinned.compute[0].cluster_uid == uid_of("east")
        removed = [line for line in fleet.path.read_text().splitlines() if "Uid" not in line]
        assert removed == text.splitlines()


def test_rights_are_asked_for_and_not_tried(
    fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]
) -> None:
    status(fleet, capsys)
    made = {one.resource for one in fleet.clusters["east"].requests if one.verb == "create"}
    assert made == {"selfsubjectaccessreviews"}


@pytest.mark.parametrize("fault", [Answer(403, "no"), Answer(500, "broken"), Drop()])
@pytest.mark.parametrize(
    "resource",
    ["namespaces", "serviceaccounts", "secrets", "nodes", "selfsubjectaccessreviews"],
)
def test_no_read_that_fails_makes_it_complete(
    fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str], resource: str, fault: Any
) -> None:
    fleet.clusters["east"].faults.add(fault, lambda one: one.resource == resource, times=1000)
    code, said = status(fleet, capsys)
    assert code == 2
    assert said["missing"]


def test_a_plan_asks_nobody(fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nvcf", "status", "--fleet", str(fleet.path), "--plan"]) == 0
    assert "created: nothing" in capsys.readouterr().out
    assert all(not double.requests for double in fleet.clusters.values())


def test_a_new_fleet_file_is_never_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "fleet.yaml"
    assert main(["nvcf", "init", "--fleet", str(path)]) == 0
    text = path.read_text()
    assert "computeClusters:" in text
    assert main(["nvcf", "init", "--fleet", str(path)]) == 1
    assert path.read_text() == text
    capsys.readouterr()
    assert main(["nvcf", "init", "--fleet", "-"]) == 0
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(
    "words", [["nope"], ["status", "--nope"], ["status", "--fleet", "/not/there"]]
)
def test_a_bad_invocation_is_1(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nvcf", *words]) == 1
    assert capsys.readouterr().err.startswith("aicr: error: ")
