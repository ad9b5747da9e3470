"""What ``agents`` and ``nats-roll`` answer: the next action; each agent and consumer as a fact."""

from __future__ import annotations

from aicr.nvcf import clock
from aicr.nvcf.agent_versions import AFFECTED, CORRECTED, FIXED, UNKNOWN_TRAIN, UNVERIFIED
from aicr.nvcf.outcome import CANNOT_VERIFY, Fact, Outcome, Table
from aicr.nvcf.roll_gate import CLOSED, GOOD, OPEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.nvcf.agents import Agent
    from aicr.nvcf.kube import Opened
    from aicr.nvcf.roll_gate import Consumer, Gate

CHANGED = "registration-changed"
_ORDER = (AFFECTED, UNVERIFIED, UNKNOWN_TRAIN, CORRECTED, FIXED)
_DO_NOT = (
    "Do not restart an old agent as a fix: reused message ids stay.",
    "Do not delete or replace a cluster's registration.",
)


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
    good = all(one in GOOD for one in classes)
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
    at: float,
) -> Outcome:
    """The answer of ``nats-roll``; ``source`` is where the consumers came from, and ``at`` the
    NATS servers' time then."""
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
        **_shown(agents, opened, read, at=at, holds=gate.answer == OPEN),  # type: ignore[arg-type]
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
        extra={"reasons": list(opened.wrong)},
        facts=[Fact("wrong-cluster", said, "kube-system UID") for said in opened.wrong],
    )


def _next(answer: str) -> str:
    from aicr.nvcf.agents import ACTIONS

    if answer == CHANGED:
        return "find out who changed the registration: a new identity can orphan deployments"
    if answer == CANNOT_VERIFY:
        return "set the clocks right, and repeat"
    return ACTIONS[answer]


def _shown(
    agents: Sequence[Agent],
    opened: Opened,
    more: Sequence[Fact] = (),
    *,
    at: float = 0.0,
    holds: bool = False,
) -> dict[str, object]:
    times = [kube.now() for kube in opened.found.values()] + [at] * bool(at)
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
        "valid_until": clock.shown(min(times) + clock.VALID) if times and holds else "",
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
