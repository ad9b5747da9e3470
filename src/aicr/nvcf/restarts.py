"""Whether content of a queue was dropped: restarts of the servers that hold it alone, and counters
that fell. Replicated streams lose nothing with one server, so that only their counters count.
"""

from __future__ import annotations

from itertools import pairwise

from aicr.nvcf import clock
from aicr.nvcf.queues import Queue, Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.nvcf.drain_state import Observation, Terms

_SLACK = 5.0
ASK = "pass --callers-paused if callers were paused all along"


class Restart:
    """A queue whose only server restarted (or that was made again) since the last go; ``verdict``
    is ``lost``, ``cannot-verify`` or ``drained-restarted-empty``."""

    __slots__ = ("queue", "verdict", "why")

    def __init__(self, queue: str, verdict: str, why: str) -> None:
        self.queue = queue
        self.verdict = verdict
        self.why = why


def restarts(whole: Sequence[Observation], terms: Terms) -> list[Restart]:
    """Every one; ``whole`` ends with the two readings that are to be answered."""
    found = []
    names = sorted({name for one in whole for name in one.reading.queues})
    settled = max((index for index, one in enumerate(whole) if one.go), default=0)
    for name in names:
        known: set[float] = set()  # a queue that is gone shows one restart in every reading since
        for index in range(settled + 1, len(whole)):
            before = _last_seen(whole, name, index)
            if before is None:
                continue
            began = _began(before, whole[index].reading)
            if began is not None and began not in known:
                known.add(began)
                found.append(_judge(whole, name, index, began, terms))
    return found


def _last_seen(whole: Sequence[Observation], name: str, index: int) -> Queue | None:
    for at in range(index - 1, -1, -1):
        queue = whole[at].reading.queues.get(name)
        if queue is not None:
            return queue
    return None


def _began(before: Queue, after: Reading) -> float | None:
    """When the content began anew, where it did; replicated streams are not asked."""
    queue = after.queues.get(before.name)
    if before.replicas > 1:
        return None
    if queue is None:
        server = after.server(before.server)
        if server is None or server.id == before.server_id:
            return None
        return clock.from_rfc3339(server.start, server.pod)
    if queue.replicas > 1 or queue.incarnation == before.incarnation:
        return None
    if queue.server_id != before.server_id and queue.server == before.server:
        return clock.from_rfc3339(queue.server_start, queue.server)
    return clock.from_rfc3339(queue.created, queue.name)


def _judge(
    whole: Sequence[Observation], name: str, index: int, began: float, terms: Terms
) -> Restart:
    at = clock.shown(began)
    last = index - 1
    while last > 0 and whole[last].says_nothing:
        last -= 1
    anchor = whole[last]
    if not anchor.go:
        queue = _last_seen(whole, name, index)
        kept = "" if queue is None or queue.empty else f" ({queue.messages} messages at the time)"
        return Restart(
            name,
            "lost",
            f"{name}: its server restarted at {at}, and the last reading before it was not drained"
            f"{kept}; what it held is gone",
        )
    gap = began - anchor.reading.until
    if gap > terms.restart_window:
        return Restart(
            name,
            "lost",
            f"{name}: its server restarted at {at}, {gap / 60:.0f} min after the last drained "
            f"reading (at most {terms.restart_window / 60:.0f} min may lie between); what came "
            "meanwhile is gone unseen",
        )
    if gap < -_SLACK:
        return Restart(
            name,
            "cannot-verify",
            f"{name}: its server says that it restarted at {at}, before the last drained reading",
        )
    moved = _moved(whole, last, index)
    if moved:
        return Restart(
            name,
            "lost",
            f"{name}: its server restarted at {at}, and {moved} since the first drained reading: "
            "callers were not paused, so that what came before the restart may be gone unseen",
        )
    if not terms.callers_paused or began > terms.stated_at:
        return Restart(
            name,
            "cannot-verify",
            f"{name}: its server restarted at {at}, after a drained reading; whether anything came "
            f"in between, only you can say: {ASK}",
        )
    return Restart(
        name,
        "drained-restarted-empty",
        f"{name}: its server restarted at {at}; it was drained {max(gap, 0):.0f} s before that (at "
        f"most {terms.restart_window / 60:.0f} min may lie between), and callers were paused, as "
        "you said",
    )


def _moved(whole: Sequence[Observation], last: int, index: int) -> str:
    """Which queue's last sequence moved since the first drained reading that nothing interrupted,
    "" where none did."""
    first = last
    while first > 0 and (whole[first - 1].go or whole[first - 1].says_nothing):
        first -= 1
    while not whole[first].go:
        first += 1
    start = dict(whole[first].reading.queues)
    for one in whole[first + 1 :]:
        for name, queue in one.reading.queues.items():
            old = start.get(name)
            expected = 0 if old is None or old.incarnation != queue.incarnation else old.last_seq
            if queue.last_seq != expected:
                return f"the last sequence of {name} moved from {expected} to {queue.last_seq}"
    return ""


def fallen(whole: Sequence[Observation]) -> list[str]:
    """Counters that are lower than before within one incarnation."""
    found = []
    for name in sorted({name for one in whole for name in one.reading.queues}):
        seen = [one.reading.queues[name] for one in whole if name in one.reading.queues]
        for before, after in pairwise(seen):
            if before.incarnation != after.incarnation:
                continue
            if after.last_seq < before.last_seq:
                found.append(
                    f"{name}: its last sequence fell from {before.last_seq} to {after.last_seq}"
                )
                break
            what = _fallen_consumer(before, after)
            if what:
                found.append(f"{name}: {what}")
                break
    return found


def _fallen_consumer(before: Queue, after: Queue) -> str:
    for name, old in before.consumers.items():
        new = after.consumers.get(name)
        if new is None or new.created != old.created:
            continue
        for before_seq, after_seq in (
            (old.stream_seq, new.stream_seq),
            (old.consumer_seq, new.consumer_seq),
        ):
            if after_seq < before_seq:
                return f"what was delivered to {name} fell from {before_seq} to {after_seq}"
    return ""


def unseen_receipts(reading: Reading) -> list[str]:
    """Live requests made since the stream began from messages that it does not know."""
    found = []
    for name, receipts in reading.receipts.items():
        queue = reading.queues.get(name)
        if queue is None or queue.replicas > 1:
            continue
        began = max(
            clock.from_rfc3339(queue.created, name),
            clock.from_rfc3339(queue.server_start, queue.server),
        )
        for one in receipts:
            if one.created > began and one.sequence > queue.last_seq:
                found.append(
                    f"{name}: request {one.request} of cluster {one.cluster} was made from message "
                    f"{one.sequence}, the stream ends at {queue.last_seq}"
                )
                break
    return found
