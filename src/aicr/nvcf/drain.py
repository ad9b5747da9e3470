"""The drain gate as it runs: read, settle, read, answer; and again while it is watched or waited
for. ``drain_state`` decides, ``reading`` reads; this says when, and keeps what was answered.
"""

from __future__ import annotations

import time

from aicr.errors import AicrError
from aicr.nvcf import clock
from aicr.nvcf.baseline import Past, read_live, read_past, write_answer, write_baseline
from aicr.nvcf.drain_state import (
    CANNOT_VERIFY,
    NOT_DRAINED,
    Decision,
    Observation,
    Terms,
    decide,
)
from aicr.nvcf.queues import Problem, Reading, narrowed
from aicr.nvcf.reading import Sources, take_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aicr.nvcf.evidence import Record
    from aicr.nvcf.reach import Reach

LEAST_SETTLE = 30.0
_KEPT_EVERY = 60.0
_LONGEST_PAUSE = 300.0


class Wishes:
    """What the operator asked for. ``queues`` are patterns; ``new_baseline`` the reason for one.

    ``begins`` is False where a record without a baseline gets none: another folder than the one
    meant would otherwise forget every restart.
    """

    __slots__ = ("begins", "callers_paused", "new_baseline", "queues", "restart_window", "settle")

    def __init__(
        self,
        *,
        settle: float = LEAST_SETTLE,
        callers_paused: bool = False,
        restart_window: float = 900.0,
        queues: Sequence[str] = (),
        new_baseline: str = "",
        begins: bool = True,
    ) -> None:
        self.begins = begins
        self.settle = settle
        self.callers_paused = callers_paused
        self.restart_window = restart_window
        self.queues = queues
        self.new_baseline = new_baseline


class Answered:
    """One answer of the gate, with all that it rests on."""

    __slots__ = ("baseline", "decision", "first", "notes", "owners", "second", "sources")

    def __init__(
        self,
        decision: Decision,
        first: Reading,
        second: Reading,
        *,
        sources: Sources,
        baseline: dict[str, object],
        owners: dict[str, str],
        notes: Sequence[str],
    ) -> None:
        self.decision = decision
        self.first = first
        self.second = second
        self.sources = sources
        self.baseline = baseline
        self.owners = owners
        self.notes = notes

    @property
    def at(self) -> float:
        return self.second.at

    @property
    def valid_until(self) -> float:
        return self.second.at + clock.VALID if self.decision.go else 0.0


class Gate:
    """The drain gate of one control plane; ``record`` is None where there is none to be had.

    ``sleep`` and ``tell`` are called with the seconds to wait and with words for a person.
    """

    def __init__(
        self,
        reach: Reach,
        record: Record | None,
        wishes: Wishes,
        *,
        sleep: Callable[[float], None] = time.sleep,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.reach = reach
        self.record = record
        self.wishes = wishes
        self._sleep = sleep
        self._tell = tell
        self._past: Past | None = None
        self._replace = bool(wishes.new_baseline)
        self._kept_at = 0.0
        self._kept = ""
        self._stated_at = 0.0

    def answer(self) -> Answered:
        """Read, settle, read, answer. Raises AicrError for a record that cannot be trusted or
        written."""
        sources = Sources()
        notes = [f"retired, and left aside: {one.vouched}" for one in self.reach.fleet.retired]
        past = self._read_past(notes)
        self._tell("first reading")
        owners, doubts = self.reach.owners()
        doubts = [*self.reach.doubts(), *doubts]
        first = take_reading(self.reach, past.wanted, sources)
        self._stated_at = self._stated_at or first.at
        past = self._baseline(past, first, doubts, notes)
        self._sleep(self.wishes.settle)
        self._tell("second reading")
        second = take_reading(self.reach, past.wanted, sources)
        doubts += self._apart(first, second)
        terms = Terms(
            owners=owners,
            retired=frozenset(one.name for one in self.reach.fleet.retired),
            doubts=doubts,
            callers_paused=self.wishes.callers_paused,
            stated_at=self._stated_at,
            restart_window=self.wishes.restart_window,
        )
        decision = self._decide(past, first, second, terms)
        answered = Answered(
            decision,
            first,
            second,
            sources=sources,
            baseline=past.shown(second.at),
            owners=owners,
            notes=notes,
        )
        self._keep(past, answered)
        return answered

    def _decide(self, past: Past, first: Reading, second: Reading, terms: Terms) -> Decision:
        timeline = past.timeline
        try:
            if self.wishes.queues:
                terms.queues = frozenset(narrowed(second.queues, self.wishes.queues))
                kept = terms.queues
                timeline = [_only(one, kept) for one in timeline]
                first, second = _only_reading(first, kept), _only_reading(second, kept)
            return decide(timeline, first, second, terms)
        except AicrError as error:
            return Decision(CANNOT_VERIFY, [error.message], [], [])

    def _read_past(self, notes: list[str]) -> Past:
        if self._past is not None:
            return self._past
        if self.record is None:
            return Past([], "")
        notes += self.record.notes
        past = read_past(self.record)
        return Past([], "") if self._replace else past

    def _baseline(
        self, past: Past, first: Reading, doubts: Sequence[Problem], notes: list[str]
    ) -> Past:
        """The baseline there is, or ``first`` made one: only a whole reading can be one."""
        if past.timeline or self.record is None or not self.wishes.begins:
            return past
        if not self.record.writable:
            notes.append("there is no baseline, and another command is writing this record")
            return past
        if first.problems or doubts:
            notes.append("no baseline was written: the first reading is not whole")
            return past
        try:
            access = self.reach.access()
            try:
                live = read_live(access, first)
            finally:
                access.close()
        except AicrError as error:
            notes.append(f"no baseline was written: {error.message}")
            return past
        found = write_baseline(self.record, first, live, self.wishes.new_baseline)
        self._replace = False
        notes.append(f"the first reading was written as the baseline ({found.file})")
        self._past = found
        return found

    def _apart(self, first: Reading, second: Reading) -> list[Problem]:
        """By the servers' clocks enough time lies between the two readings, and not far more."""
        if not first.until or not second.at:
            return []
        gap = second.at - first.until
        if gap < self.wishes.settle * 0.9:
            return [
                Problem(
                    "the two readings",
                    f"by the servers' clocks {gap:.0f} s lie between them, "
                    f"{self.wishes.settle:g} s were asked for",
                )
            ]
        if gap > self.wishes.settle + _LONGEST_PAUSE:
            return [
                Problem(
                    "the two readings",
                    f"by the servers' clocks {gap / 60:.0f} min lie between them (this machine "
                    "slept), so that what was read before the first one is too old",
                )
            ]
        return []

    def _keep(self, past: Past, answered: Answered) -> None:
        """Into the record: every new answer, and the same one again after a while."""
        decision = answered.decision
        if not past.timeline:
            return
        self._past = past
        observations = [
            Observation(
                answer=decision.answer, reading=answered.second, because=list(decision.because)[:20]
            )
        ]
        if _differ(answered.first, answered.second):
            # What was seen is not to be forgotten because a server went in between.
            observations.insert(0, Observation(answer="", reading=answered.first))
        news = len(observations) > 1 or _differ(past.timeline[-1].reading, answered.second)
        if self.record is None or not self.record.writable:
            past.timeline += observations
            return
        due = answered.at - self._kept_at >= _KEPT_EVERY
        if due or news or decision.answer != self._kept or decision.answer == NOT_DRAINED:
            for one in observations:
                write_answer(self.record, past, one)
            self._kept_at, self._kept = answered.at, decision.answer


def _differ(before: Reading, after: Reading) -> bool:
    """Whether a queue is not what it was, or shows in one of them alone."""
    return before.queues.keys() != after.queues.keys() or any(
        queue.settled != after.queues[name].settled for name, queue in before.queues.items()
    )


def _only(one: Observation, names: frozenset[str]) -> Observation:
    return Observation(
        answer=one.answer,
        reading=_only_reading(one.reading, names),
        because=one.because,
        live=one.live,
        reason=one.reason,
    )


def _only_reading(reading: Reading, names: frozenset[str]) -> Reading:
    import msgspec

    queues = {name: queue for name, queue in reading.queues.items() if name in names}
    return msgspec.structs.replace(reading, queues=queues)


def wait_until(answered: Answered, starts: dict[str, float | None]) -> float | None:
    """Until when what is left may still be redelivered (NATS time): per consumer of the NVCA
    streams, its own ``ack_wait`` or ``backoff`` after the newest start of its cluster's agent.

    ``starts`` is by cluster name. None where a start is not known.
    """
    latest = 0.0
    for queue in answered.second.queues.values():
        if queue.kind not in ("creation", "termination"):
            continue
        for name, consumer in queue.consumers.items():
            if not (consumer.pending or consumer.ack_pending):
                continue
            cluster = answered.owners.get(name.removeprefix(f"{queue.name}-"), "")
            start = starts.get(cluster)
            if start is None:
                return None
            latest = max(latest, start + consumer.redelivery)
    return latest


def longest_wait(answered: Answered) -> float:
    """How long to wait at most: the longest ``ack_wait`` and five minutes."""
    waits = [
        consumer.redelivery
        for queue in answered.second.queues.values()
        if queue.kind in ("creation", "termination")
        for consumer in queue.consumers.values()
    ]
    return max(waits, default=0.0) + 300.0
