"""Whether everything that a reading saw retained was consumed, not purged, expired or removed.

Acknowledging raises what a consumer was delivered; a purge or an expiry does not. A redelivery
raises it too, so that the counters alone do not tell it from the delivery of another message.
"""

from __future__ import annotations

from itertools import pairwise

from aicr.nvcf import clock
from aicr.nvcf.queues import CREATION, INVOCATION, TERMINATION, Queue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.nvcf.drain_state import Observation


def unaccounted(whole: Sequence[Observation], notes: list[str]) -> list[str]:
    """What was retained since the last go and is gone without a trace; ``notes`` gets the streams
    that were removed while they were empty."""
    start = max((index for index, one in enumerate(whole) if one.go), default=0)
    now = whole[-1].reading
    found = []
    for name in sorted({name for one in whole[start:] for name in one.reading.queues}):
        seen = [(index, one.reading) for index, one in enumerate(whole) if index >= start]
        why = ""
        for index, reading in seen[:-1]:
            queue = reading.queues.get(name)
            if queue is None or queue.empty or why:
                continue
            why = _gone(whole, index, queue)
        if name not in now.queues and not why and not now.problems:
            notes.append(f"{name} was removed after a reading that found it empty (removed-empty)")
        if why:
            found.append(f"{name}: {why}")
    return found


def uncounted(whole: Sequence[Observation]) -> list[str]:
    """NVCA streams that are empty, and whose deliveries since the last go are not the ones that
    were due: fewer are a purge or an expiry of what no reading saw, more are redeliveries, which
    may hide one."""
    start = max((index for index, one in enumerate(whole) if one.go), default=0)
    found = []
    for name in (CREATION, TERMINATION):
        seen = [one.reading.queues[name] for one in whole[start:] if name in one.reading.queues]
        if not seen or not seen[-1].empty:
            continue
        why = next((why for pair in pairwise(seen) if (why := _miscounted(*pair))), "")
        if why:
            found.append(
                f"{name}: {why}; where you know what became of them, drain --new-baseline --reason"
            )
    return found


def _miscounted(old: Queue, new: Queue) -> str:
    kept = {name: new.consumers.get(name) for name in old.consumers}
    if new.incarnation != old.incarnation or new.retention != "workqueue":
        return ""
    if any(now is None or now.created != old.consumers[name].created
           for name, now in kept.items()):  # fmt: skip
        return ""
    waited = sum(one.pending for one in old.consumers.values())
    came = new.last_seq - old.last_seq
    due = waited + came - sum(one.pending for one in new.consumers.values())
    made = sum(one.consumer_seq for one in new.consumers.values()) - sum(
        one.consumer_seq for one in old.consumers.values()
    )
    said = f"{waited} messages were pending and {came} came, so that {max(due, 0)} were due"
    unclaimed = new.messages - sum(one.pending + one.ack_pending for one in new.consumers.values())
    if made < due - max(unclaimed, 0):
        return f"{said}, and {made} deliveries were made: others were purged, expired or deleted"
    if made > due > 0 and waited:
        return (
            f"{said}, and {made} deliveries were made: some came again, and hide whether all came "
            "once"
        )
    return ""


def _gone(whole: Sequence[Observation], index: int, old: Queue) -> str:
    """Why what ``old`` retained is not accounted for; "" where it is, or is still there."""
    later = [one.reading for one in whole[index + 1 :]]
    now = later[-1].queues.get(old.name)
    if now is None:
        if later[-1].problems:
            return ""  # it may be there and unread
        last = next(
            (one.queues[old.name] for one in reversed(later) if old.name in one.queues), old
        )
        if not last.empty:
            return f"it was removed with {last.messages} messages in it"
        now = last
    if now.replicas == 1 and now.incarnation != old.incarnation:
        return ""  # a restart, which is judged as one
    if now.created != old.created:
        return f"it was removed with {old.messages} messages in it, and made again"
    if not now.empty:
        return ""
    return (
        _expired(whole, index, old)
        or _not_delivered(old, now)
        or _without_request(whole, index, old)
    )


def _expired(whole: Sequence[Observation], index: int, old: Queue) -> str:
    """Each step in which something went has to end before the oldest message could expire."""
    if not old.max_age:
        return ""
    before = old
    for one in whole[index + 1 :]:
        after = one.reading.queues.get(old.name)
        if after is None:
            continue
        if not before.messages or before.first_seq > old.last_seq:
            return ""
        ends = clock.from_rfc3339(before.first_ts, old.name) + before.max_age
        if one.reading.until >= ends:
            return (
                f"its messages expire after {old.max_age / 3600:.0f} h, the oldest at "
                f"{clock.shown(ends)}; nothing shows that it was consumed before"
            )
        before = after
    return ""


def _not_delivered(old: Queue, now: Queue) -> str:
    claimed = 0
    for name, one in old.consumers.items():
        claimed += one.pending + one.ack_pending
        new = now.consumers.get(name)
        if new is None or new.created != one.created:
            if one.pending or one.ack_pending:
                return f"consumer {name} was removed with {one.pending + one.ack_pending} messages"
            continue
        rose = new.consumer_seq - one.consumer_seq
        if rose < one.pending:
            return (
                f"{one.pending} messages were pending for {name}, {rose} were delivered since: the "
                "others were purged, expired or deleted"
            )
    if old.name.startswith(INVOCATION):
        return ""
    unclaimed = old.messages - claimed
    taken = sum(
        one.consumer_seq for name, one in now.consumers.items() if name not in old.consumers
    )
    if unclaimed > taken:
        return f"{unclaimed} messages that no consumer had taken are gone"
    return ""


def _without_request(whole: Sequence[Observation], index: int, old: Queue) -> str:
    """Creation messages in flight at the baseline: an acknowledged one became a request."""
    if old.name != CREATION:
        return ""
    seen = {request for one in whole[index + 1 :] for request in one.reading.requests}
    for sequence, request in whole[index].live.items():
        if not request:
            return f"message {sequence} was in flight, and its requestId could not be read then"
        if request not in seen:
            return f"message {sequence} was in flight, and no request with its requestId was seen"
    return ""
