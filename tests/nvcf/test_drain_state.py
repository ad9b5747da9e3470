"""Every outcome of the drain gate, from readings made by hand."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from aicr.nvcf.queues import CREATION, TERMINATION, Problem, Receipt
from readings import (
    EAST,
    RQ,
    T0,
    answered,
    baseline,
    consumer,
    decided,
    full,
    new_server,
    queue,
    reading,
    restarted,
    server,
    without,
)

EMPTY = reading(0, queue(RQ))


def after(minute: float, restart: float, *more: Any) -> Any:
    """All queues of nats-0 after it restarted, empty and counted from 0."""
    gone = restarted(restart)
    user = {
        "consumer_seq": 0, "stream_seq": 0, "floor_consumer_seq": 0, "floor_stream_seq": 0,
        "created": gone["server_start"],
    }  # fmt: skip
    known: dict[str, Any] = {"last_seq": 0, "first_seq": 0, "of": user}
    given = {one.name for one in more}
    queues = [queue(name, **gone, **known) for name in (CREATION, TERMINATION) if name not in given]
    return reading(minute, *queues, *more, servers=[new_server(restart)])


def test_drained() -> None:
    found = decided([baseline(EMPTY)], reading(10, queue(RQ)))
    assert (found.answer, found.go) == ("drained", True)
    assert "purge of requests in flight cannot be seen" in " ".join(found.notes)
    assert "started before the baseline" in " ".join(found.notes)


def test_no_rq_streams_is_printed_and_no_fault() -> None:
    found = decided([baseline(reading(0))], reading(10))
    assert found.answer == "drained"
    assert "no rq_* stream at all" in " ".join(found.notes)


@pytest.mark.parametrize(
    "left",
    [
        full(RQ, 1),
        full(CREATION, 3, of={"waiting": 0}),
        queue(CREATION, messages=1, last_seq=11, of={"ack_pending": 1}),
        queue(TERMINATION, messages=1, last_seq=11),
        queue("other_work", messages=1, last_seq=11, first_ts="2026-11-30T12:00:00Z"),
    ],
)
def test_not_drained(left: Any) -> None:
    found = decided([baseline(EMPTY)], reading(10, left))
    assert (found.answer, found.go) == ("not-drained", False)
    assert left.name in found.because[0]
    assert found.lines[0].queue == left.name


def test_pending_without_anybody_polling_is_said() -> None:
    left = full(CREATION, 3, of={"waiting": 0})
    assert "nobody asks for them" in decided([baseline(EMPTY)], reading(10, left)).because[0]


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [(full(RQ, 1), full(RQ, 3), "growing (requests still arrive)"),
     (full(CREATION, 3), full(CREATION, 3), "unchanged"),
     (full(CREATION, 3), queue(CREATION, messages=1, last_seq=13, of={"pending": 1}), "shrinking")],
)  # fmt: skip
def test_growing_or_shrinking(old: Any, new: Any, word: str) -> None:
    assert word in decided([baseline(reading(0, old))], reading(10, new)).because[0]


def test_what_came_long_ago_does_not_make_it_grow() -> None:
    old, new = full(RQ, 1), full(RQ, 3)
    said = decided([baseline(reading(0, old)), answered("not-drained", reading(30, new))],
                   reading(31, new)).because[0]  # fmt: skip
    assert "unchanged" in said
    assert "growing" in decided([baseline(reading(0, old))], reading(14, new)).because[0]


@pytest.mark.parametrize(
    ("before", "now", "word"),
    [
        (
            {f"Create.NVCA.Function.{EAST}.H100.a": 1},
            {
                f"Create.NVCA.Function.{EAST}.H100.a": 1,
                f"Create.NVCA.Function.{EAST}.L40S.a": 2,
                f"Create.NVCA.Task.{EAST}.H100.a": 1,
            },
            "growing (functions for east: 1, now 3; tasks for east: 0, now 1)",
        ),
        ({}, {"Create.NVCA.Task.other.H100.a": 4}, "growing (tasks for other: 0, now 4)"),
        ({}, {f"Terminate.NVCA.{EAST}": 1}, "growing (terminations for east: 0, now 1)"),
        ({}, {"work.a": 1}, "growing (work.a: 0, now 1)"),
        ({"a.b": 9}, {}, "growing (functions and tasks still arrive)"),
        ({}, {f"a.{n}": 1 for n in range(6)}, "a.3: 0, now 1; and 2 more)"),
    ],
)
def test_growing_names_what_arrives(before: dict[str, int], now: dict[str, int], word: str) -> None:
    old, new = full(CREATION, 1, left=before), full(CREATION, 4, left=now)
    assert word in decided([baseline(reading(0, old))], reading(10, new)).because[0]


@pytest.mark.parametrize(
    "change",
    [{"last_seq": 11}, {"first_seq": 12}, {"config": "d"}, {"of": {"consumer_seq": 11}},
     {"of": {"floor_stream_seq": 11}}, {"of": {"created": "2026-11-30T11:00:00Z"}},
     {"consumers": {}}],
)  # fmt: skip
def test_a_queue_that_moves_between_the_readings_is_not_drained(change: Any) -> None:
    moved = reading(10.5, queue(RQ, **change))
    found = decided([baseline(EMPTY)], reading(10, queue(RQ)), moved)
    assert found.answer == "not-drained"
    assert "between the two readings" in found.because[-1]


def test_a_queue_that_appears_between_the_readings() -> None:
    found = decided(
        [baseline(EMPTY)], reading(10, queue(RQ)), reading(10.5, queue(RQ), queue("rq_b"))
    )
    assert found.answer == "not-drained"


def test_what_changes_all_the_time_does_not_count() -> None:
    later = reading(10.5, queue(RQ, of={"waiting": 7, "redelivered": 2}, last_ts="x"))
    assert decided([baseline(EMPTY)], reading(10, queue(RQ)), later).answer == "drained"


@pytest.mark.parametrize(
    "second",
    [
        reading(10.5, queue(RQ), servers=[server(uid="another")]),
        reading(10.5, queue(RQ), servers=[server(), server("nats-1")]),
        reading(10.5, queue(RQ), problems=[Problem("stream x", "not read")]),
        msgspec.structs.replace(reading(10.5, queue(RQ)), generation=2),
    ],
)
def test_cannot_verify(second: Any) -> None:
    found = decided([baseline(EMPTY)], reading(10, queue(RQ)), second)
    assert (found.answer, found.go) == ("cannot-verify", False)


def test_cannot_verify_comes_before_not_drained() -> None:
    doubt = [Problem("cluster west", "unreachable")]
    assert decided([baseline(EMPTY)], reading(1, full(RQ)), doubts=doubt).answer == "cannot-verify"


def test_without_a_baseline_nothing_is_a_go() -> None:
    assert decided([], reading(10, queue(RQ))).answer == "cannot-verify"


def test_a_consumer_of_nobody() -> None:
    found = decided([baseline(EMPTY)], reading(10, queue(RQ)), owners={})
    assert found.answer == "cannot-verify"
    assert "belongs to no cluster" in found.because[0]
    retired = decided(
        [baseline(EMPTY)], reading(10, queue(RQ)), owners={}, retired=frozenset((EAST,))
    )
    assert retired.answer == "drained"


def test_a_retired_cluster_with_messages_left_is_not_drained() -> None:
    left = reading(10, full(CREATION, 1))
    found = decided([baseline(EMPTY)], left, owners={}, retired=frozenset((EAST,)))
    assert found.answer == "not-drained"


def test_the_control_planes_own_consumer_is_named() -> None:
    own = f"{CREATION}Consumer"
    one = queue(CREATION, consumers={own: consumer(own)})
    found = decided([baseline(reading(0, one))], reading(10, one))
    assert found.answer == "drained"
    assert "own consumer" in " ".join(found.notes)
    left = queue(CREATION, messages=1, consumers={own: consumer(own, pending=1)})
    assert decided([baseline(reading(0, one))], reading(10, left)).answer == "not-drained"


def test_partial_is_never_a_go() -> None:
    found = decided([baseline(EMPTY)], reading(10, queue(RQ)), queues=frozenset((RQ,)))
    assert (found.answer, found.go) == ("partial", False)


# Restarts.


def test_lost_where_nobody_looked_before_the_restart() -> None:
    found = decided([baseline(EMPTY)], after(10, 5))
    assert found.answer == "lost"
    assert "the last reading before it was not drained" in found.because[0]


def test_lost_where_messages_were_retained() -> None:
    base = reading(0, full(CREATION, 4))
    assert "4 messages at the time" in decided([baseline(base)], after(10, 5)).because[0]


def test_lost_while_the_stream_was_not_made_again() -> None:
    gone = without(without(after(10, 5), CREATION), TERMINATION)
    assert decided([baseline(EMPTY)], gone).answer == "lost"


def test_drained_restarted_empty() -> None:
    past = [baseline(reading(0)), answered("drained", reading(4))]
    found = decided(past, after(10, 5), paused=True)
    assert (found.answer, found.go) == ("drained-restarted-empty", True)
    assert "60 s before that" in found.because[0]


def test_only_the_operator_can_say_that_callers_were_paused() -> None:
    past = [baseline(reading(0)), answered("drained", reading(4))]
    found = decided(past, after(10, 5))
    assert found.answer == "cannot-verify"
    assert "--callers-paused" in found.because[0]


def test_a_drained_reading_too_long_before_the_restart() -> None:
    past = [baseline(reading(0)), answered("drained", reading(4))]
    found = decided(past, after(40, 30), paused=True)
    assert found.answer == "lost"
    assert "26 min after the last drained reading" in found.because[0]
    assert decided(past, after(40, 30), paused=True, restart_window=1800).go


@pytest.mark.parametrize("where", [RQ, CREATION])
def test_a_sequence_that_moved_since_the_first_drained_reading(where: str) -> None:
    moved = queue(where, last_seq=12, first_seq=13)
    past = [
        baseline(EMPTY),
        answered("drained", reading(2, queue(RQ))),
        answered("drained", reading(4, queue(RQ), moved)),
    ]
    found = decided(past, after(10, 5, queue(RQ, replicas=3)), paused=True)
    assert found.answer == "lost"
    assert "callers were not paused" in found.because[0]


def test_new_messages_after_the_restart_mean_that_callers_were_not_paused() -> None:
    past = [baseline(reading(0)), answered("drained", reading(4))]
    new = queue(CREATION, **restarted(5), last_seq=1, first_seq=2)
    assert decided(past, after(10, 5, new), paused=True).answer == "lost"


def test_readings_that_say_nothing_do_not_spoil_a_roll() -> None:
    down = reading(5.5, servers=[], problems=[Problem("nats-0", "down")])
    past = [
        baseline(reading(0)),
        answered("drained", reading(4)),
        answered("cannot-verify", without(without(down, CREATION), TERMINATION)),
    ]
    assert decided(past, after(10, 5), paused=True).answer == "drained-restarted-empty"


@pytest.mark.parametrize("word", ["not-drained", "cannot-verify", "partial"])
def test_a_reading_that_saw_messages_does(word: str) -> None:
    past = [
        baseline(reading(0)),
        answered("drained", reading(4)),
        answered(word, reading(4.5, full(CREATION))),
    ]
    assert decided(past, after(10, 5), paused=True).answer == "lost"


def test_one_roll_later_it_is_drained() -> None:
    past = [
        baseline(reading(0)),
        answered("drained", reading(4)),
        answered("drained-restarted-empty", after(10, 5)),
    ]
    assert decided(past, after(20, 5)).answer == "drained"
    # Callers go on, and later it is drained again: nothing of the roll is held against it.
    busy = queue(CREATION, **restarted(5), last_seq=9, first_seq=10,
                 of={"created": "2026-11-30T12:05:00Z"})  # fmt: skip
    past.append(answered("not-drained", after(60, 5, busy)))
    assert decided(past, after(90, 5, busy)).answer == "drained"


def test_a_lost_answer_stays_until_a_new_baseline() -> None:
    past = [baseline(EMPTY), answered("lost", after(10, 5))]
    assert decided(past, after(20, 5), paused=True).answer == "lost"
    assert decided([baseline(after(21, 5))], after(30, 5)).answer == "drained"


def test_a_replicated_stream_survives_a_restart() -> None:
    wide: dict[str, Any] = {"replicas": 3, "server": "nats-1"}
    past = [baseline(reading(0, queue(RQ, **wide)))]
    later = reading(
        10, queue(RQ, **wide, server_id="another"), servers=[server(), new_server(5, "nats-1")]
    )
    assert decided(past, later).answer == "drained"


def test_a_restart_between_the_two_readings_with_messages_before() -> None:
    past = [baseline(EMPTY), answered("drained", reading(4, queue(RQ)))]
    found = decided(past, reading(9, full(CREATION, 2)), after(10, 9.5), paused=True)
    assert found.answer == "lost"


def test_a_restart_between_the_two_readings_of_nothing() -> None:
    past = [baseline(reading(0)), answered("drained", reading(4))]
    found = decided(past, reading(9), after(10, 9.5), paused=True)
    assert found.answer == "cannot-verify"


# Counters.


@pytest.mark.parametrize(
    "change", [{"last_seq": 9, "first_seq": 10}, {"of": {"stream_seq": 9}},
               {"of": {"consumer_seq": 9}}]
)  # fmt: skip
@pytest.mark.parametrize("replicas", [1, 3])
def test_counters_never_fall(change: Any, replicas: int) -> None:
    base = reading(0, queue(RQ, replicas=replicas))
    found = decided([baseline(base)], reading(10, queue(RQ, replicas=replicas, **change)))
    assert found.answer == "lost"
    assert "fell from 10 to 9" in found.because[0]


def test_a_receipt_above_the_last_sequence() -> None:
    receipts = {CREATION: [Receipt("east", "sr-1", 40, T0 + 60)]}
    found = decided([baseline(EMPTY)], reading(10, queue(RQ), receipts=receipts))
    assert found.answer == "lost"
    assert "was made from message 40, the stream ends at 10" in found.because[0]
    old = {CREATION: [Receipt("east", "sr-1", 40, T0 - 5 * 3600)]}
    assert decided([baseline(EMPTY)], reading(10, queue(RQ), receipts=old)).answer == "drained"


# Accounted for.


def test_vanished_after_a_purge() -> None:
    base = reading(0, full(CREATION, 3))
    purged = queue(CREATION, last_seq=13, first_seq=14)
    found = decided([baseline(base)], reading(10, purged))
    assert found.answer == "vanished"
    assert "3 messages were pending" in found.because[0]


def test_consumed_messages_are_accounted_for() -> None:
    base = reading(0, full(CREATION, 3))
    done = queue(CREATION, last_seq=13, first_seq=14, of={"consumer_seq": 13, "stream_seq": 13})
    assert decided([baseline(base)], reading(10, done)).answer == "drained"


def test_vanished_after_the_time_when_it_expires() -> None:
    base = reading(0, full(CREATION, 1, at=-1, max_age=600.0))
    done = queue(CREATION, last_seq=11, first_seq=12, max_age=600.0,
                 of={"consumer_seq": 11, "stream_seq": 11})  # fmt: skip
    assert decided([baseline(base)], reading(5, done)).answer == "drained"
    found = decided([baseline(base)], reading(20, done))
    assert found.answer == "vanished"
    assert "nothing shows that it was consumed before" in found.because[0]
    # A reading in between that found it empty is what shows it.
    seen = [baseline(base), answered("not-drained", reading(5, done))]
    assert decided(seen, reading(20, done)).answer == "drained"


def test_in_flight_creation_messages_need_their_request() -> None:
    flying = queue(CREATION, messages=1, last_seq=11, first_ts="2026-11-30T12:00:00Z",
                   of={"ack_pending": 1, "consumer_seq": 11, "stream_seq": 11})  # fmt: skip
    done = queue(CREATION, last_seq=11, first_seq=12, of={"consumer_seq": 11, "stream_seq": 11})
    past = [baseline(reading(0, flying), {"11": "a-request"})]
    found = decided(past, reading(10, done))
    assert found.answer == "vanished"
    assert "message 11 was in flight" in found.because[0]
    assert decided(past, reading(10, done, requests=["a-request"])).answer == "drained"


@pytest.mark.parametrize("messages", [0, 2])
def test_a_removed_stream(messages: int) -> None:
    base = reading(0, full(RQ, messages) if messages else queue(RQ))
    found = decided([baseline(base)], reading(10))
    assert found.answer == ("vanished" if messages else "drained")
    assert messages or "removed-empty" in " ".join(found.notes)


def test_a_replicated_stream_that_was_made_again() -> None:
    base = reading(0, full(RQ, 2, replicas=3))
    again = queue(RQ, replicas=3, created="2026-11-30T12:05:00Z", last_seq=0)
    found = decided([baseline(base)], reading(10, again))
    assert found.answer == "vanished"


def test_a_consumer_that_was_removed_with_messages() -> None:
    base = reading(0, full(CREATION, 2))
    gone = queue(CREATION, last_seq=12, first_seq=13, consumers={})
    assert decided([baseline(base)], reading(10, gone)).answer == "vanished"


def test_messages_that_no_consumer_took() -> None:
    base = reading(0, queue(CREATION, messages=2, last_seq=12, first_ts="2026-11-30T12:00:00Z"))
    gone = queue(CREATION, last_seq=12, first_seq=13)
    assert decided([baseline(base)], reading(10, gone)).answer == "vanished"


def test_what_came_after_the_baseline_is_accounted_for_too() -> None:
    past = [baseline(reading(0)), answered("not-drained", reading(5, full(CREATION, 2)))]
    gone = queue(CREATION, last_seq=12, first_seq=13)
    assert decided(past, reading(10, gone)).answer == "vanished"


def test_every_restart_since_the_last_go_is_judged() -> None:
    """The second one came long after anything was seen drained, whatever the first one was."""
    went = answered("drained", reading(5))
    asked = answered("cannot-verify", after(10, restart=8))
    found = decided([baseline(reading(0)), went, asked], after(60, restart=55), paused=True)
    assert found.answer == "lost"
    assert "50 min after the last drained reading" in " ".join(found.because)
    found = decided([baseline(reading(0)), went, asked], after(16, restart=15), paused=True)
    assert found.answer == "drained-restarted-empty"
    assert len([one for one in found.because if one.startswith(CREATION)]) == 2
