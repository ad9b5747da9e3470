"""``aicr nvcf nats-roll`` on a real NATS server."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.cli.main import main
from aicr.nvcf.queues import CREATION
from nvcf_world import EAST, WEST, World, creation, recorded, some_uuid, subject_of

Roll = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def roll(small_world: World, capsys: pytest.CaptureFixture[str]) -> Roll:
    def run(*words: str, fleet: Path | None = None) -> tuple[int, dict[str, Any]]:
        path = fleet or small_world.fleet()
        code = main(["nvcf", "nats-roll", "--fleet", str(path), "--format", "json",
                     "--timeout-nats", "30", *words])  # fmt: skip
        return code, json.loads(capsys.readouterr().out)

    return run


@pytest.mark.parametrize("direct", [True, False])
def test_open(small_world: World, roll: Roll, direct: bool) -> None:
    # What is left for a consumer is the drain gate's question.
    small_world.servers.publish(subject_of(), creation("one")[1])
    code, said = roll(fleet=small_world.fleet(direct=direct))
    assert (code, said["outcome"]) == (0, "open"), said
    at, until = (time.strptime(said[key], "%Y-%m-%dT%H:%M:%SZ") for key in ("asOf", "validUntil"))
    assert time.mktime(until) - time.mktime(at) == 300
    found = {one["value"]["name"]: one for one in said["facts"] if one["name"] == "consumer"}
    assert set(found) == {f"{CREATION}-{EAST}", f"{CREATION}-{WEST}"}
    assert found[f"{CREATION}-{EAST}"]["value"]["pending"] == 1
    assert all("monitors by proxy; " in one["source"] for one in found.values())
    assert said["nextCommand"].startswith("aicr nvcf drain --fleet ")
    for double in small_world.doubles.values():
        assert {one.method for one in double.requests} == {"GET"}


def test_closed_where_a_cluster_has_no_consumer(small_world: World, roll: Roll) -> None:
    small_world.servers.api(f"CONSUMER.DELETE.{CREATION}.{CREATION}-{WEST}")
    code, said = roll()
    assert (code, said["outcome"], said["validUntil"]) == (2, "closed", None)
    assert said["notes"] == [f"west: no consumer for its cluster id {WEST}"]


def test_closed_where_a_consumer_is_unknown(small_world: World, roll: Roll) -> None:
    name = f"{CREATION}-{some_uuid('old')}"
    small_world.servers.consumer(CREATION, name, f"Create.NVCA.*.{some_uuid('old')}.*")
    code, said = roll()
    assert (code, said["outcome"]) == (2, "closed")
    assert said["notes"] == [f"the consumer {name} belongs to no cluster of the fleet file"]
    declared = [{"clusterId": some_uuid("old"), "reason": "sold", "by": "me", "date": "2026-11-30"}]
    code, said = roll(fleet=small_world.fleet(retiredClusters=declared))
    assert (code, said["outcome"]) == (0, "open")


def test_closed_by_an_affected_agent(small_world: World, roll: Roll) -> None:
    store = small_world.doubles["east"].store
    pods = store.kind("", "pods")
    for pod in store.all(pods):
        store.delete(pods, pod["metadata"]["namespace"], pod["metadata"]["name"])
    store.seed(pods, *recorded("icms/nvca-pods-3.10.1")["items"])
    code, said = roll()
    assert (code, said["outcome"]) == (2, "closed")
    assert said["notes"][0].startswith("east: affected: ")


def test_cannot_verify_while_nats_cannot_be_read(small_world: World, roll: Roll) -> None:
    small_world.servers.all[0].stop()
    code, said = roll()
    assert (code, said["outcome"]) == (2, "cannot-verify")
    assert any(note.startswith("NATS server nats-0: ") for note in said["notes"])
    assert any(note.startswith("access to NATS: ") for note in said["notes"])
    assert said["notes"][-1] == "the consumers of the creation stream were not read"


def test_what_only_one_side_sees_is_no_difference(small_world: World, roll: Roll) -> None:
    """A client that does not answer leaves the monitors' numbers, which alone prove nothing."""
    path = small_world.fleet()
    document = yaml.safe_load(path.read_text())
    document["controlPlane"]["nats"]["url"] = "nats://127.0.0.1:1"
    path.write_text(yaml.safe_dump(document))
    small_world.servers.api(f"CONSUMER.DELETE.{CREATION}.{CREATION}-{WEST}")
    code, said = roll(fleet=path)
    assert (code, said["outcome"]) == (2, "cannot-verify")
    assert any(note.startswith("access to NATS: ") for note in said["notes"])


@pytest.mark.parametrize("entry", ["control", "east"])
def test_a_wrong_cluster_stops_everything(small_world: World, roll: Roll, entry: str) -> None:
    path = small_world.fleet()
    document = yaml.safe_load(path.read_text())
    one = document["controlPlane"] if entry == "control" else document["computeClusters"][0]
    one["clusterUid"] = some_uuid("another")
    path.write_text(yaml.safe_dump(document))
    for double in small_world.doubles.values():
        double.requests.clear()
    code, said = roll(fleet=path)
    assert (code, said["outcome"], said["because"]) == (2, "cannot-verify", "wrong-cluster")
    for double in small_world.doubles.values():
        assert {one.resource for one in double.requests} == {"namespaces"}


def test_a_plan_reads_nothing(small_world: World, capsys: pytest.CaptureFixture[str]) -> None:
    path = small_world.fleet(direct=False)
    for double in small_world.doubles.values():
        double.requests.clear()
    assert main(["nvcf", "nats-roll", "--fleet", str(path), "--plan"]) == 0
    out = capsys.readouterr().out
    for words in ("control-plane: read the UID", "read StatefulSet nats-system/nats",
                  f"consumer info of {CREATION}", "created: nothing"):  # fmt: skip
        assert words in out
    assert not any(double.requests for double in small_world.doubles.values())
