"""What is left in the queues, line by line: for whom, since when, and what makes it grow.

Growing tells an operator that a caller is not paused: of which kind, it names.
"""

from __future__ import annotations

from aicr.nvcf.queues import CARRIES, Queue, Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What came longer ago than this says nothing of callers now.
RECENT = 900.0
_KINDS = {"Function": "functions", "Task": "tasks"}
_NAMED = 4


class Line:
    """A queue that is not empty, or moves; ``cluster`` is whose agent takes it, "" where nobody's
    that is known."""

    __slots__ = (
        "cluster", "consumer", "in_flight", "messages", "pending", "polled", "queue", "since",
        "trend",
    )  # fmt: skip

    def __init__(
        self,
        queue: str,
        consumer: str,
        cluster: str,
        *,
        messages: int,
        pending: int,
        in_flight: int,
        since: str,
        trend: str,
        polled: bool,
    ) -> None:
        self.queue = queue
        self.consumer = consumer
        self.cluster = cluster
        self.messages = messages
        self.pending = pending
        self.in_flight = in_flight
        self.since = since
        self.trend = trend
        self.polled = polled

    @property
    def whose(self) -> str:
        """The cluster, else what tells the consumer from others of the queue; "" where nobody
        takes it."""
        return self.cluster or self.consumer.removeprefix(self.queue).lstrip("-_")

    @property
    def words(self) -> str:
        whose = f"cluster {self.cluster}" if self.cluster else self.whose
        where = f"{self.queue}, {whose}" if whose else self.queue
        unpolled = "" if self.polled else ", and nobody asks for them"
        if not self.consumer:
            return f"{where}: {self.messages} messages that no consumer takes, {self.trend}"
        return (
            f"{where}: {self.pending} pending, {self.in_flight} in flight, {self.trend}{unpolled}"
        )


def lines_of(
    earlier: Sequence[Reading], first: Reading, second: Reading, owners: Mapping[str, str]
) -> list[Line]:
    """``earlier`` are readings before, oldest first; ``owners`` the names of clusters by id."""
    recent = [one for one in earlier if second.at - one.at <= RECENT]
    found = []
    for name in sorted(first.queues.keys() | second.queues.keys()):
        queue = second.queues.get(name) or first.queues[name]
        if queue.empty and name in second.queues:
            before = first.queues.get(name)
            if before is None or before.empty:
                continue
            queue = before
        trend = _trend([*recent, first], queue, owners)
        busy = [one for one in queue.consumers.values() if one.pending or one.ack_pending]
        for consumer in busy:
            found.append(
                Line(
                    name,
                    consumer.name,
                    owners.get(consumer.name.removeprefix(f"{name}-"), ""),
                    messages=queue.messages,
                    pending=consumer.pending,
                    in_flight=consumer.ack_pending,
                    since=_second(queue.first_ts),
                    trend=trend,
                    polled=consumer.waiting > 0 or not consumer.pending,
                )
            )
        if not busy:
            found.append(
                Line(
                    name, "", "", messages=queue.messages, pending=0, in_flight=0,
                    since=_second(queue.first_ts), trend=trend, polled=True,
                )
            )  # fmt: skip
    return found


def _trend(earlier: Sequence[Reading], queue: Queue, owners: Mapping[str, str]) -> str:
    old = next((one.queues[queue.name] for one in earlier if queue.name in one.queues), queue)
    if old.incarnation == queue.incarnation and queue.last_seq > old.last_seq:
        return f"growing ({_arriving(old, queue, owners)})"
    return "shrinking" if queue.messages < old.messages else "unchanged"


def _arriving(old: Queue, queue: Queue, owners: Mapping[str, str]) -> str:
    """Of what more is retained than before, where subjects were read; else what it carries."""
    before, now = _by_kind(old.left, owners), _by_kind(queue.left, owners)
    grew = [
        f"{what}: {before.get(what, 0)}, now {count}"
        for what, count in sorted(now.items())
        if count > before.get(what, 0)
    ]
    if not grew:
        return f"{CARRIES[queue.kind]} still arrive"
    more = f"; and {len(grew) - _NAMED} more" if len(grew) > _NAMED else ""
    return "; ".join(grew[:_NAMED]) + more


def _by_kind(left: Mapping[str, int], owners: Mapping[str, str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for subject, count in left.items():
        parts = subject.split(".")
        what = subject
        if parts[0] == "Create" and len(parts) > 3:
            cluster = owners.get(parts[3], parts[3])
            what = f"{_KINDS.get(parts[2], parts[2])} for {cluster}"
        elif parts[0] == "Terminate" and len(parts) > 2:
            what = f"terminations for {owners.get(parts[2], parts[2])}"
        found[what] = found.get(what, 0) + count
    return found


def _second(time: str) -> str:
    """A time of NATS, to the second; "" where nothing is left."""
    return f"{time[:19]}Z" if time else ""
