"""Whether NATS may roll: every agent corrected, and the agents that were checked are all that
consume."""

from __future__ import annotations

from aicr.nvcf import clock
from aicr.nvcf.agent_versions import AFFECTED, CORRECTED, FIXED, UNKNOWN_TRAIN, UNVERIFIED
from aicr.nvcf.outcome import CANNOT_VERIFY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.nvcf.agents import Agent
    from aicr.nvcf.fleet import Declared
    from aicr.nvcf.queues import Reading
    from aicr.nvcf.reach import Reach

CREATION_STREAM = "CreateNvcaFunctionTaskStream"
OPEN = "open"
CLOSED = "closed"
GOOD = (FIXED, CORRECTED)


class Consumer:
    """A consumer of the creation stream, with what is left for it."""

    __slots__ = ("in_flight", "name", "pending")

    def __init__(self, name: str, pending: int, in_flight: int) -> None:
        self.name = name
        self.pending = pending
        self.in_flight = in_flight


class Gate:
    """The gate's answer and the reasons for it."""

    __slots__ = ("answer", "notes", "reasons")

    def __init__(self, answer: str, reasons: Sequence[str], notes: Sequence[str]) -> None:
        self.answer = answer
        self.reasons = reasons
        self.notes = notes


def roll_of(reach: Reach, agents: Sequence[Agent], reading: Reading) -> Gate:
    """The gate on what one run read. What could not be read keeps it from opening: a consumer may
    be missing for that reason."""
    doubts = [str(one) for one in reach.doubts()]
    seconds, which = reach.opened.skew
    if seconds > clock.MOST_SKEW and not reading.until:  # else the reading has compared them
        doubts.append(f"the clocks of {which} are {seconds:.0f} s apart")
    doubts += [text for one in reading.problems if (text := str(one)) not in doubts]
    return roll_gate(
        agents, consumers_of(reading), reach.fleet.retired, doubts, whole=not reading.problems
    )


def consumers_of(reading: Reading) -> list[Consumer] | None:
    """The creation stream's consumers; None where they were not read."""
    queue = reading.queues.get(CREATION_STREAM)
    if queue is None:
        return None
    return [Consumer(one.name, one.pending, one.ack_pending) for one in queue.consumers.values()]


def roll_gate(
    agents: Sequence[Agent],
    consumers: Sequence[Consumer] | None,
    retired: Sequence[Declared] = (),
    doubts: Sequence[str] = (),
    *,
    whole: bool = False,
) -> Gate:
    """Judge. ``consumers`` is None while they were not read; ``doubts`` keep it from opening.

    ``whole`` says that nothing of NATS was left unread: a difference between clusters and
    consumers then closes the gate, unless something else is in doubt, which may be its cause.
    """
    closed = [
        f"{agent.cluster}: {agent.agent_class}: {agent.action}"
        for agent in agents
        if agent.agent_class in (AFFECTED, UNKNOWN_TRAIN)
    ]
    unsure = [
        f"{agent.cluster}: {'; '.join(agent.doubts) or 'unverified'}"
        for agent in agents
        if agent.agent_class == UNVERIFIED
    ]
    unsure += doubts
    unsure += [
        f"{agent.cluster}: its cluster id is not known"
        for agent in agents
        if agent.agent_class in GOOD and not agent.cluster_id
    ]
    notes = [f"retired, and left aside: {one.vouched}" for one in retired]
    ids = [agent.cluster_id for agent in agents if agent.cluster_id]
    unsure += [
        f"two clusters have the cluster id {one}" for one in sorted(set(ids)) if ids.count(one) > 1
    ]
    if not agents:
        unsure.append("no compute cluster was checked")
    if consumers is None:
        unsure.append("the consumers of the creation stream were not read")
    else:
        differs = closed if whole and not unsure else unsure
        _compare(agents, consumers, {one.name for one in retired}, closed, differs, notes)
    answer = CLOSED if closed else CANNOT_VERIFY if unsure else OPEN
    return Gate(answer, [*closed, *unsure], notes)


def _compare(
    agents: Sequence[Agent],
    consumers: Sequence[Consumer],
    retired: set[str],
    closed: list[str],
    differs: list[str],
    notes: list[str],
) -> None:
    """The clusters of the fleet file and the consumers must be the same set."""
    ids = {agent.cluster_id for agent in agents if agent.cluster_id}
    seen: set[str] = set()
    for one in consumers:
        left = one.pending + one.in_flight
        if one.name == f"{CREATION_STREAM}Consumer":
            notes.append(f"{one.name} is the control plane's own consumer")
            if left:
                closed.append(f"{one.name}: {left} messages are left for it, 0 expected")
            continue
        of = one.name.removeprefix(f"{CREATION_STREAM}-")
        seen.add(of)
        if of in ids:
            continue
        if of not in retired:
            differs.append(f"the consumer {one.name} belongs to no cluster of the fleet file")
        elif left:
            closed.append(f"{one.name}: its cluster is retired, {left} messages are left for it")
    differs += [
        f"{agent.cluster}: no consumer for its cluster id {agent.cluster_id}"
        for agent in agents
        if agent.cluster_id and agent.cluster_id not in seen
    ]
