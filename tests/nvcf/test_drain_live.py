"""The drain gate on real NATS servers: one, and a cluster of three."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence

import pytest

from aicr.nvcf.drain import Gate, Wishes
from aicr.nvcf.drain_report import next_of
from aicr.nvcf.evidence_chain import verify
from aicr.nvcf.queues import CREATION, TERMINATION
from kube_double_exec import Result, serve_exec
from nvcf_fixtures import Operator, limits, reach_of
from nvcf_world import EAST, WEST, World, creation, request_of, subject_of
from waiting import until


def again(world: World) -> None:
    """What the control plane and the agents do after a restart of the only server."""
    world.servers.all[0].restart()
    world.servers.nvca(EAST, WEST)


def test_a_day_at_the_gate(small_world: World) -> None:
    operator = Operator(small_world)
    first = operator.drain()
    assert first.decision.answer == "drained"
    assert "written as the baseline" in first.notes[0]
    assert "direct connection" in first.sources.client
    assert first.sources.monitor == "monitors by proxy"
    fields, data = creation("one")
    small_world.servers.publish(subject_of(), data)
    pending = operator.drain()
    assert pending.decision.answer == "not-drained"
    assert pending.decision.lines[0].pending == 1
    small_world.agent(ack=False)
    flying = operator.drain()
    assert (flying.decision.lines[0].pending, flying.decision.lines[0].in_flight) == (0, 1)
    assert flying.baseline["answersSince"] == 2
    small_world.request("east", request_of(fields))
    assert verify(str(operator.folder)).intact


def test_consumed_is_drained(small_world: World) -> None:
    small_world.servers.publish(subject_of(), creation("one")[1], creation("two")[1])
    operator = Operator(small_world)
    assert operator.word() == "not-drained"
    small_world.agent(count=2)
    assert operator.word() == "drained"


def test_in_flight_at_the_baseline_needs_its_request(small_world: World) -> None:
    fields, data = creation("one")
    small_world.servers.publish(subject_of(), data)
    small_world.agent(ack=False)
    operator = Operator(small_world)
    assert operator.word() == "not-drained"
    small_world.servers.api(f"STREAM.MSG.DELETE.{CREATION}", {"seq": 1})
    gone = operator.drain()
    assert gone.decision.answer == "vanished"
    assert "was in flight" in gone.decision.because[0]
    small_world.request("east", request_of(fields))
    assert operator.word() == "drained"


def test_lost(small_world: World) -> None:
    small_world.servers.publish(subject_of(), creation("one")[1])
    operator = Operator(small_world)
    assert operator.word() == "not-drained"
    small_world.servers.all[0].stop()
    down = operator.drain()
    assert down.decision.answer == "cannot-verify"
    small_world.servers.all[0].start()
    small_world.servers.nvca(EAST, WEST)
    found = operator.drain(callers_paused=True)
    assert found.decision.answer == "lost"
    assert "1 messages at the time" in found.decision.because[0]
    # It stays lost, and a new baseline is a deliberate act.
    assert operator.word(callers_paused=True) == "lost"
    assert operator.word(new_baseline="support has the evidence") == "drained"


def test_drained_then_restarted_then_one_roll_later(world: World) -> None:
    world.servers.nvca(EAST, WEST)
    operator = Operator(world)
    assert operator.word() == "drained"
    again(world)
    unstated = operator.drain()  # nobody stated that callers were paused
    assert unstated.decision.answer == "cannot-verify"
    assert next_of(unstated.decision).startswith("pass --callers-paused if callers were paused")
    found = operator.drain(callers_paused=True)
    assert found.decision.answer == "drained-restarted-empty"
    assert found.decision.go
    assert operator.word() == "drained"


def test_a_statement_says_nothing_of_a_later_restart(world: World) -> None:
    """Watched: the statement was made when the command began."""
    world.servers.nvca(EAST, WEST)
    operator = Operator(world)
    with operator.record() as record:
        gate = Gate(reach_of(world), record, Wishes(settle=0.05, callers_paused=True))
        assert gate.answer().decision.answer == "drained"
        again(world)
        after = gate.answer()
    assert after.decision.answer == "cannot-verify"
    assert next_of(after.decision).startswith("pass --callers-paused")


def test_a_purge_behind_redeliveries(world: World) -> None:
    """Messages that come again and again raise the same counter as others that come once."""
    world.servers.nvca(EAST, WEST, ack_wait=0.2)
    bodies = [creation(name) for name in ("one", "two", "three")]
    world.servers.publish(subject_of(), bodies[0][1])
    world.agent(ack=False)
    world.servers.publish(subject_of(), *(data for _, data in bodies[1:]))
    operator = Operator(world)
    assert operator.word() == "not-drained"
    for _ in range(5):  # the first of them, or all three in turn
        time.sleep(0.3)
        world.agent(ack=False)
    for fields, _ in bodies:
        world.request("east", request_of(fields))
    world.servers.api(f"STREAM.PURGE.{CREATION}")
    found = operator.drain()
    assert found.decision.answer == "cannot-verify"
    assert "some came again" in " ".join(found.decision.because)


def test_what_came_and_went_between_two_readings(small_world: World) -> None:
    operator = Operator(small_world)
    assert operator.word() == "drained"
    small_world.servers.publish(subject_of(), creation("one")[1], creation("two")[1])
    small_world.servers.api(f"STREAM.PURGE.{CREATION}")
    found = operator.drain()
    assert found.decision.answer == "cannot-verify"
    assert "others were purged, expired or deleted" in found.decision.because[0]
    assert operator.word(new_baseline="a test of purging") == "drained"


def test_published_and_dropped_unseen_after_a_drained_reading(world: World) -> None:
    """Nobody can see it: only the operator's word that callers were paused stands against it."""
    world.servers.nvca(EAST, WEST)
    operator = Operator(world)
    assert operator.word() == "drained"
    world.servers.publish(subject_of(), creation("one")[1])
    assert operator.word() == "not-drained"
    again(world)
    assert operator.word(callers_paused=True) == "lost"


def test_what_was_seen_while_another_read_failed_is_not_forgotten(small_world: World) -> None:
    """Watched: twice the same answer, within a moment, and between them a message came."""
    operator = Operator(small_world)
    assert operator.word() == "drained"
    small_world.doubles["west"].stop()
    with operator.record() as record:
        gate = Gate(reach_of(small_world), record, Wishes(settle=0.05))
        assert gate.answer().decision.answer == "cannot-verify"
        small_world.servers.publish(subject_of(), creation("one")[1])
        assert gate.answer().decision.answer == "cannot-verify"
    again(small_world)
    assert operator.word(callers_paused=True) == "lost"


def test_drained_long_after_an_old_restart(world: World) -> None:
    again(world)
    found = Operator(world).drain()
    assert found.decision.answer == "drained"
    assert "losses before it cannot be seen" in " ".join(found.decision.notes)


def test_vanished_after_a_purge(small_world: World) -> None:
    small_world.servers.publish(subject_of(), creation("one")[1])
    operator = Operator(small_world)
    assert operator.word() == "not-drained"
    small_world.servers.api(f"STREAM.PURGE.{CREATION}")
    assert operator.word() == "vanished"


def test_vanished_after_expiry(world: World) -> None:
    world.servers.stream(TERMINATION, "Terminate.NVCA.>")
    for age in (2, 8, 32):  # the shortest in which this machine takes two readings
        second = 10**9
        world.servers.stream(
            CREATION, "Create.NVCA.>", max_age=age * second, duplicate_window=second
        )
        world.servers.consumer(CREATION, f"{CREATION}-{EAST}", f"Create.NVCA.*.{EAST}.*.*")
        world.servers.publish(subject_of(), creation("one")[1])
        operator = Operator(world, record=f"record-{age}")
        found = operator.drain(settle=0.02)
        if found.first.queues[CREATION].messages and found.second.queues[CREATION].messages:
            break
        world.servers.api(f"STREAM.DELETE.{CREATION}")
    assert found.decision.answer == "not-drained"
    until(lambda: not world.servers.state(CREATION)["messages"], "the message expires")
    assert operator.word() == "vanished"


def test_a_stream_made_again_with_lower_sequences_while_reading(small_world: World) -> None:
    small_world.servers.publish(subject_of(), creation("one")[1])
    operator = Operator(small_world)
    assert operator.word() == "not-drained"

    def make_again() -> None:
        small_world.servers.api(f"STREAM.DELETE.{CREATION}")
        small_world.servers.stream(CREATION, "Create.NVCA.>")
        small_world.servers.consumer(CREATION, f"{CREATION}-{EAST}", f"Create.NVCA.*.{EAST}.*.*")

    assert operator.word(between=make_again) in ("lost", "vanished")


def test_a_consumer_deleted_meanwhile(small_world: World) -> None:
    operator = Operator(small_world)
    assert operator.word() == "drained"
    name = f"{CREATION}-{WEST}"
    found = operator.drain(
        between=lambda: small_world.servers.api(f"CONSUMER.DELETE.{CREATION}.{name}")
    )
    assert found.decision.answer == "not-drained"


def test_a_caller_that_is_not_paused(small_world: World) -> None:
    operator = Operator(small_world)
    assert operator.word() == "drained"

    def call() -> None:
        small_world.servers.publish(subject_of(), creation("one")[1])
        small_world.agent()

    found = operator.drain(between=call)
    assert found.decision.answer == "not-drained"
    assert "moved between the two readings" in " ".join(found.decision.because)


def test_the_only_message_is_in_the_last_of_many_queues(world: World) -> None:
    world.servers.nvca(EAST, WEST)
    names = []
    with world.servers.client() as client:

        async def make() -> None:
            for number in range(600):
                version = f"f0d78217-3c60-5fca-acb4-{number:012x}"
                name = f"rq_ncp_{version}"
                names.append(name)
                config = {"name": name, "subjects": [f"rq.ncp.{version}.>"], "storage": "memory",
                          "retention": "workqueue"}  # fmt: skip
                subject = f"$JS.API.STREAM.CREATE.{name}"
                await client.request(subject, json.dumps(config).encode(), timeout=60)
                user = {"durable_name": f"{name}_workers", "ack_policy": "explicit"}
                body = {"stream_name": name, "config": user}
                subject = f"$JS.API.CONSUMER.DURABLE.CREATE.{name}.{name}_workers"
                await client.request(subject, json.dumps(body).encode(), timeout=60)

        world.servers.run(make())
    operator = Operator(world)
    found = operator.drain()
    assert found.decision.answer == "drained"
    assert len(found.second.queues) == 602
    last = names[-1].removeprefix("rq_ncp_")
    world.servers.publish(f"rq.ncp.{last}.x", b"request")
    left = operator.drain()
    assert left.decision.answer == "not-drained"
    assert left.decision.lines[0].queue == names[-1]


def test_narrowed(small_world: World) -> None:
    operator = Operator(small_world)
    assert operator.word() == "drained"
    small_world.servers.publish(subject_of(), creation("one")[1])
    assert operator.word(queues=["rq_*"]) == "partial"
    assert operator.word(queues=[CREATION]) == "not-drained"
    assert operator.word(queues=["no_such"]) == "cannot-verify"


def test_two_operators_at_once(small_world: World) -> None:
    operator = Operator(small_world)
    assert operator.word() == "drained"
    before = len(verify(str(operator.folder)).entries)
    with operator.record() as held:
        assert held.writable
        second = operator.drain()
        assert "another command is writing" in " ".join(second.notes)
        assert second.decision.answer == "drained"
    assert len(verify(str(operator.folder)).entries) == before


def test_a_baseline_is_never_made_of_half_a_reading(small_world: World) -> None:
    small_world.doubles["west"].stop()
    operator = Operator(small_world)
    found = operator.drain()
    assert found.decision.answer == "cannot-verify"
    assert "no baseline was written" in " ".join(found.notes)
    assert found.baseline == {}


# Three servers.


def test_a_cluster_of_three(wide_world: World) -> None:
    operator = Operator(wide_world)
    found = operator.drain()
    assert found.decision.answer == "drained", found.decision.because
    rq = next(name for name in found.second.queues if name.startswith("rq_"))
    assert found.second.queues[rq].replicas == 3
    wide_world.servers.publish(f"rq.ncp.{rq.removeprefix('rq_ncp_')}.x", b"request")
    assert operator.word() == "not-drained"
    wide_world.servers.fetch(rq, f"{rq}_workers")
    # The replicas agree on the acknowledgement after a while.
    assert operator.settled(passing=("not-drained", "cannot-verify")) == "drained"
    # The server of the creation stream goes down and comes back, as in a roll.
    host = next(
        one for one in wide_world.servers.all if one.name == found.second.queues[CREATION].server
    )
    host.stop()
    down = Operator(wide_world, bounds=limits(nats=1.0)).drain()
    assert down.decision.answer == "cannot-verify"
    host.start()
    assert operator.settled(callers_paused=True) == "drained-restarted-empty"


def test_lost_on_one_of_three(wide_world: World) -> None:
    wide_world.servers.publish(subject_of(), creation("one")[1])
    operator = Operator(wide_world)
    found = operator.drain()
    assert found.decision.answer == "not-drained"
    host = next(
        one for one in wide_world.servers.all if one.name == found.second.queues[CREATION].server
    )
    host.restart()
    assert operator.settled(callers_paused=True) == "lost"


def test_through_nats_box(small_world: World) -> None:
    operator = Operator(small_world, direct=False)
    found = operator.drain()
    assert found.decision.answer == "drained"
    assert "pod nats-system/nats-box-5d4c, NATS context default" in found.sources.client
    small_world.servers.publish(subject_of(), creation("one")[1])
    assert operator.word() == "not-drained"
    small_world.agent(ack=False)
    assert operator.word() == "not-drained"


def test_nats_box_is_replaced_once(small_world: World) -> None:
    small_world.pod("nats-box-new", labels={"app.kubernetes.io/component": "nats-box"})

    def replace() -> None:
        store = small_world.control.store
        store.delete(store.kind("", "pods"), "nats-system", "nats-box-5d4c")

    found = Operator(small_world, direct=False).drain(between=replace)
    assert found.decision.answer == "drained"
    assert "nats-box-new was taken instead" in " ".join(found.second.notes)


@pytest.mark.parametrize("another", ["gone too", "not ready", "ending"])
def test_no_nats_box_is_left(small_world: World, another: str) -> None:
    """One replacement is taken; then it has to stay."""
    labels = {"app.kubernetes.io/component": "nats-box"}
    small_world.pod("nats-box-new", labels=labels, ready=another != "not ready")
    store = small_world.control.store
    pods = store.kind("", "pods")
    if another == "ending":
        (pod,) = (one for one in store.all(pods) if one["metadata"]["name"] == "nats-box-new")
        pod["metadata"]["deletionTimestamp"] = "2026-11-30T16:00:00Z"
        store.seed(pods, pod)
    operator = Operator(small_world, direct=False)
    real = small_world.box()
    asked = 0

    def run(command: Sequence[str]) -> Result:
        """The first pod goes with the fourth command, its replacement with the sixth."""
        nonlocal asked
        asked += 1
        if asked == 4:
            store.delete(pods, "nats-system", "nats-box-5d4c")
        if asked == 6 and another == "gone too":
            store.delete(pods, "nats-system", "nats-box-new")
        return real(command)

    serve_exec(small_world.control, run)
    found = operator.drain()
    assert found.decision.answer == "cannot-verify"
    assert "no ready nats-box pod" in " ".join(found.decision.because) or (
        another == "gone too" and "nats-box" in " ".join(found.decision.because)
    )


def test_a_settle_that_was_cut_short(small_world: World) -> None:
    """By the servers' clock the two readings are too close: whoever waited did not wait."""
    operator = Operator(small_world)
    assert operator.word() == "drained"
    gate = Gate(reach_of(small_world), None, Wishes(settle=30.0), sleep=lambda seconds: None)
    found = gate.answer()
    assert found.decision.answer == "cannot-verify"
    assert "30 s were asked for" in " ".join(found.decision.because)
