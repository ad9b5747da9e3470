"""Whether the queues are drained: the baseline, what was answered since, and two readings in, one
of the outcomes out. Nothing is read here, and no clock but the servers' counts.
"""

from __future__ import annotations

import math

from aicr.cluster import wire
from aicr.nvcf import clock
from aicr.nvcf.accounted import unaccounted, uncounted
from aicr.nvcf.left import Line, lines_of
from aicr.nvcf.queues import CREATION, TERMINATION, Problem, Queue, Reading
from aicr.nvcf.restarts import fallen, restarts, unseen_receipts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DRAINED = "drained"
RESTARTED_EMPTY = "drained-restarted-empty"
NOT_DRAINED = "not-drained"
LOST = "lost"
VANISHED = "vanished"
CANNOT_VERIFY = "cannot-verify"
PARTIAL = "partial"
BASELINE = "baseline"
GO = frozenset((DRAINED, RESTARTED_EMPTY))
RESTART_WINDOW = 900.0


class Observation(wire.Struct, frozen=True, kw_only=True):
    """A reading and what was answered of it: a drain's, or the baseline (``baseline``); "" for the
    first of two readings between which something changed.

    ``live`` has the baseline's creation messages in flight: requestId by sequence, "" where the
    message could not be read. ``reason`` is why a baseline was replaced.
    """

    answer: str
    reading: Reading
    because: list[str] = wire.field(default_factory=list)
    live: dict[str, str] = wire.field(default_factory=dict)
    reason: str = ""

    @property
    def go(self) -> bool:
        return self.answer in GO

    @property
    def says_nothing(self) -> bool:
        """Whether it neither saw that all is empty nor that anything is left."""
        return self.answer in (CANNOT_VERIFY, PARTIAL, "") and all(
            queue.empty for queue in self.reading.queues.values()
        )


OBSERVATION = wire.Decoder(Observation)


class Terms:
    """What the answer depends on besides readings. ``owners`` are the cluster ids of the fleet by
    id, ``retired`` ids that a person vouches for. ``doubts`` are reasons outside NATS for not
    knowing (an unpinned entry, a cluster that was not read, clocks). ``queues`` narrows the list.
    ``callers_paused`` was stated at ``stated_at`` (NATS time), and says nothing of what came later.
    """

    __slots__ = (
        "callers_paused", "doubts", "owners", "queues", "restart_window", "retired", "stated_at",
    )  # fmt: skip

    def __init__(
        self,
        *,
        owners: Mapping[str, str],
        retired: frozenset[str] = frozenset(),
        doubts: Sequence[Problem] = (),
        callers_paused: bool = False,
        stated_at: float = math.inf,
        restart_window: float = RESTART_WINDOW,
        queues: frozenset[str] | None = None,
    ) -> None:
        self.owners = owners
        self.retired = retired
        self.doubts = doubts
        self.callers_paused = callers_paused
        self.stated_at = stated_at
        self.restart_window = restart_window
        self.queues = queues


class Decision:
    """``because`` are the reasons for the answer; ``lines`` is what is left, queue by queue."""

    __slots__ = ("answer", "because", "lines", "notes")

    def __init__(
        self, answer: str, because: Sequence[str], notes: Sequence[str], lines: Sequence[Line]
    ) -> None:
        self.answer = answer
        self.because = because
        self.notes = notes
        self.lines = lines

    @property
    def go(self) -> bool:
        return self.answer in GO


def decide(
    timeline: Sequence[Observation], first: Reading, second: Reading, terms: Terms
) -> Decision:
    """``timeline`` is the baseline and every answer since, oldest first; empty where there is no
    baseline, which is a reason not to know."""
    notes: list[str] = []
    whole = [
        *timeline,
        Observation(answer="", reading=first),
        Observation(answer="", reading=second),
    ]
    found = restarts(whole, terms)
    lost = [one.why for one in found if one.verdict == LOST]
    lost += fallen(whole)
    lost += unseen_receipts(second)
    vanished = [] if lost else unaccounted(whole, notes)
    doubts = _doubts(first, second, terms)
    if not timeline:
        doubts.append(
            "there is no baseline (the first drain writes one), so that losses before now cannot "
            "be seen"
        )
    doubts += [one.why for one in found if one.verdict == CANNOT_VERIFY]
    doubts += uncounted(whole)
    lines = lines_of([one.reading for one in timeline], first, second, terms.owners)
    moving = _moving(first, second)
    notes += _notes(whole, second, terms)
    for answer, reasons in (
        (LOST, lost),
        (VANISHED, vanished),
        (CANNOT_VERIFY, doubts),
        (NOT_DRAINED, [one.words for one in lines] + moving),
    ):
        if reasons:
            return Decision(answer, reasons, notes, lines)
    if terms.queues is not None:
        return Decision(PARTIAL, [f"only {len(terms.queues)} queues were looked at"], notes, lines)
    passed = [one for one in found if one.verdict == RESTARTED_EMPTY]
    if passed:
        return Decision(RESTARTED_EMPTY, [one.why for one in passed], notes, lines)
    return Decision(DRAINED, [f"{len(second.queues)} queues are empty"], notes, lines)


def _doubts(first: Reading, second: Reading, terms: Terms) -> list[str]:
    found = [*map(str, terms.doubts)]
    for reading in (first, second):
        found += [text for one in reading.problems if (text := str(one)) not in found]
    if first.generation != second.generation:
        found.append("the StatefulSet of the NATS servers changed between the two readings")
    before = {one.pod: one for one in first.servers}
    for server in second.servers:
        old = before.get(server.pod)
        if old is None or old.settled != server.settled:
            found.append(f"NATS server {server.pod} restarted between the two readings")
    for stream in (CREATION, TERMINATION):
        queue = second.queues.get(stream)
        for name in queue.consumers if queue is not None else ():
            if not _owned(stream, name, terms):
                found.append(
                    f"consumer {name} belongs to no cluster of the fleet file (add the cluster, or "
                    "name it in retiredClusters)"
                )
    return found


def _owned(stream: str, consumer: str, terms: Terms) -> bool:
    if consumer == f"{stream}Consumer":
        return True
    cluster = consumer.removeprefix(f"{stream}-")
    return consumer.startswith(f"{stream}-") and (
        cluster in terms.owners or cluster in terms.retired
    )


def _moving(first: Reading, second: Reading) -> list[str]:
    found = []
    for name in sorted(first.queues.keys() | second.queues.keys()):
        before, after = first.queues.get(name), second.queues.get(name)
        if before is None or after is None:
            what = "appeared" if before is None else "was removed"
            found.append(f"{name} {what} between the two readings")
        elif before.settled != after.settled:
            found.append(f"{name} moved between the two readings ({_difference(before, after)})")
    return found


def _difference(before: Queue, after: Queue) -> str:
    for what, old, new in (
        ("made again", before.created, after.created),
        ("messages", before.messages, after.messages),
        ("last sequence", before.last_seq, after.last_seq),
        ("first sequence", before.first_seq, after.first_seq),
        ("leader", before.server, after.server),
        ("configuration", before.config, after.config),
        ("consumers", sorted(before.consumers), sorted(after.consumers)),
    ):
        if old != new:
            return f"{what}: {old}, then {new}"
    return "its consumers' counters"


def _notes(whole: Sequence[Observation], second: Reading, terms: Terms) -> list[str]:
    notes = list(second.notes)
    names = second.queues
    if not any(queue.kind == "invocation" for queue in names.values()):
        notes.append("there is no rq_* stream at all (no function is deployed)")
    else:
        notes.append(
            "rq_* streams are accounted for by counters only: a purge of requests in flight cannot "
            "be seen"
        )
    for stream in (CREATION, TERMINATION):
        queue = names.get(stream)
        if queue is None:
            continue
        if f"{stream}Consumer" in queue.consumers:
            notes.append(f"{stream}Consumer is the control plane's own consumer")
        for cluster, name in sorted(terms.owners.items()):
            if f"{stream}-{cluster}" not in queue.consumers:
                notes.append(f"{stream}: cluster {name} ({cluster}) has no consumer")
    base = whole[0].reading.at
    started = {one.pod: clock.from_rfc3339(one.start, one.pod) for one in second.servers}
    before = [f"{pod} {clock.shown(start)}" for pod, start in started.items() if start < base]
    if before:
        notes.append(
            f"started before the baseline: {', '.join(before)}; losses before it cannot be seen"
        )
    return notes
