"""Whether NATS may roll: every agent corrected, and the agents that were checked are all that
consume. Also whether a cluster's registration is the one that was saved."""

from __future__ import annotations

import json

from aicr.documents.reader import read_yaml
from aicr.documents.scalars import plain
from aicr.errors import invalid
from aicr.nvcf import clock
from aicr.nvcf.agent_versions import AFFECTED, CORRECTED, FIXED, UNKNOWN_TRAIN, UNVERIFIED
from aicr.nvcf.outcome import CANNOT_VERIFY, Fact, Outcome, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.nvcf.agents import Agent
    from aicr.nvcf.fleet import Declared
    from aicr.nvcf.kube import Opened

CREATION_STREAM = "CreateNvcaFunctionTaskStream"
OPEN = "open"
CLOSED = "closed"
CHANGED = "registration-changed"
_ORDER = (AFFECTED, UNVERIFIED, UNKNOWN_TRAIN, CORRECTED, FIXED)
_GOOD = (FIXED, CORRECTED)
_DO_NOT = (
    "Do not restart an old agent as a fix: reused message ids stay.",
    "Do not delete or replace a cluster's registration.",
)


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
        if agent.agent_class in _GOOD and not agent.cluster_id
    ]
    notes = [
        f"retired, and left aside: {one.name} ({one.reason}; {one.by}, {one.date})"
        for one in retired
    ]
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


def agents_outcome(
    agents: Sequence[Agent],
    opened: Opened,
    *,
    next_command: str = "aicr nvcf nats-roll",
    differences: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Outcome:
    """The answer of ``agents``: the class of the worst of them."""
    classes = [agent.agent_class for agent in agents] or [UNVERIFIED]
    worst = min(classes, key=_ORDER.index)
    seconds, which = opened.skew
    doubtful = seconds > clock.MOST_SKEW
    good = all(one in _GOOD for one in classes)
    ready = good and not differences and not doubtful
    answer = worst
    if differences:
        answer = CHANGED
    elif doubtful and good:
        answer = CANNOT_VERIFY
    return Outcome(
        command="agents",
        answer=answer,
        because=f"clock skew between {which}" if answer == CANNOT_VERIFY else "",
        go=ready,
        next_action="go on with the gate: aicr nvcf nats-roll" if ready else _next(answer),
        do=[f"{agent.cluster}: {agent.action}" for agent in agents if agent.agent_class != FIXED],
        do_not=_DO_NOT,
        next_command=next_command if ready else "aicr nvcf agents",
        notes=[*differences, *notes],
        **_shown(agents, opened),  # type: ignore[arg-type]
    )


def gate_outcome(
    gate: Gate,
    agents: Sequence[Agent],
    opened: Opened,
    consumers: Sequence[Consumer] | None,
    source: str,
) -> Outcome:
    """The answer of ``nats-roll``; ``source`` is where the consumers came from."""
    read = [
        Fact(
            "consumer",
            {"name": one.name, "pending": one.pending, "inFlight": one.in_flight},
            source,
        )
        for one in consumers or ()
    ]
    words = {
        OPEN: "NATS may roll once the complete drain gate has passed: aicr nvcf drain",
        CLOSED: "keep NATS as it is; do what the reasons say, wait one ack_wait, and repeat",
        CANNOT_VERIFY: "keep NATS as it is; make readable what could not be read, and repeat",
    }
    return Outcome(
        command="nats-roll",
        answer=gate.answer,
        go=gate.answer == OPEN,
        next_action=words[gate.answer],
        do=[words[gate.answer]],
        do_not=_DO_NOT,
        next_command="aicr nvcf drain" if gate.answer == OPEN else "aicr nvcf agents",
        notes=[*gate.reasons, *gate.notes],
        **_shown(agents, opened, read),  # type: ignore[arg-type]
    )


def wrong_cluster_outcome(command: str, opened: Opened) -> Outcome:
    """The answer where a cluster is not the one of its entry: nothing more was read."""
    return Outcome(
        command=command,
        answer=CANNOT_VERIFY,
        because="wrong-cluster",
        go=False,
        next_action="correct the kubeconfig, the context or the entry of the fleet file",
        do_not=["Do not pin the UID of a cluster that you did not mean."],
        next_command="aicr nvcf status",
        notes=[*opened.wrong, "nothing else was read"],
        facts=[Fact("wrong-cluster", said, "kube-system UID") for said in opened.wrong],
    )


def _next(answer: str) -> str:
    from aicr.nvcf.agents import ACTIONS

    if answer == CHANGED:
        return "find out who changed the registration: a new identity can orphan deployments"
    if answer == CANNOT_VERIFY:
        return "set the clocks right, and repeat"
    return ACTIONS[answer]


def _shown(agents: Sequence[Agent], opened: Opened, more: Sequence[Fact] = ()) -> dict[str, object]:
    times = [kube.now() for kube in opened.found.values()]
    seconds, which = opened.skew
    rows = [
        [
            agent.cluster,
            agent.agent_class,
            ", ".join(sorted({pod.version or "?" for pod in agent.pods})) or "-",
            agent.wanted_version or "-",
            agent.status_version or "-",
            agent.cluster_id or "-",
            "; ".join(agent.doubts),
        ]
        for agent in agents
    ]
    head = ["cluster", "class", "pods run", "wanted", "reported", "cluster id", "doubts"]
    return {
        "as_of": clock.shown(min(times)) if times else "",
        "clock": {"skewSeconds": round(seconds, 1), "between": which} if which else {},
        "tables": [Table("", head, rows)],
        "facts": [
            *(Fact("agent", _fact(agent), _source(agent, opened)) for agent in agents),
            *more,
        ],
    }


def _fact(agent: Agent) -> dict[str, object]:
    return {
        "cluster": agent.cluster,
        "class": agent.agent_class,
        "action": agent.action,
        "specVersion": agent.wanted_version or None,
        "statusVersion": agent.status_version or None,
        "registration": dict(agent.registration),
        "rolloutComplete": agent.rolled_out,
        "doubts": list(agent.doubts),
        "pods": [
            {
                "name": pod.name,
                "image": pod.image,
                "imageID": pod.image_id,
                "startedAt": pod.started,
                "restarts": pod.restarts,
                "version": pod.version or None,
            }
            for pod in agent.pods
        ],
    }


def _source(agent: Agent, opened: Opened) -> str:
    kube = opened.found.get(agent.cluster)
    return kube.source if kube else agent.cluster


def registrations_text(agents: Sequence[Agent]) -> str:
    """What ``--save`` writes. Raises INVALID_REQUEST where one of them is not known."""
    unknown = [agent.cluster for agent in agents if not agent.cluster_id]
    if unknown:
        raise invalid(f"--save: the registration of {', '.join(unknown)} is not known")
    said = {agent.cluster: dict(agent.registration) for agent in agents}
    return json.dumps({"registrations": said}, indent=2, sort_keys=True) + "\n"


def registration_differences(data: bytes, where: str, agents: Sequence[Agent]) -> list[str]:
    """What is otherwise than it was saved. Raises INVALID_REQUEST."""
    said = plain(read_yaml(data, where))
    saved = said.get("registrations") if isinstance(said, dict) else None
    if not isinstance(saved, dict):
        raise invalid(f"{where}: registrations: expected a map, as --save writes it")
    found: list[str] = []
    for agent in agents:
        before: Mapping[str, object] = saved.get(agent.cluster) or {}
        if not before:
            found.append(f"{agent.cluster}: {where} has no registration of it")
            continue
        for name in ("clusterID", "clusterGroupID", "region", "ncaID"):
            now = agent.registration.get(name, "")
            if str(before.get(name, "")) != now:
                found.append(
                    f"{agent.cluster}: {name} is {now or 'not known'}, saved was {before.get(name)}"
                )
    return found
