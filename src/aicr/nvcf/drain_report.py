"""What the drain gate's answer means for the person who asked: the next action, what to do and what
not, and every fact with its source."""

from __future__ import annotations

from aicr.nvcf import clock
from aicr.nvcf.drain_state import (
    CANNOT_VERIFY,
    DRAINED,
    LOST,
    NOT_DRAINED,
    PARTIAL,
    RESTARTED_EMPTY,
    VANISHED,
)
from aicr.nvcf.outcome import Fact, Outcome, Table
from aicr.nvcf.queues import kind_of
from aicr.nvcf.restarts import ASK
from aicr.nvcf.to_copy import to_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.nvcf.drain import Answered
    from aicr.nvcf.drain_state import Decision
    from aicr.nvcf.queues import Reading

GATE = "go on with the gate within 5 minutes"
HOLD = (
    "hold the NATS roll and leave callers paused; run recover and send the evidence to NVIDIA "
    "support"
)
NEXT = {
    DRAINED: GATE,
    RESTARTED_EMPTY: GATE,
    LOST: HOLD,
    VANISHED: (
        "ask who purged, or removed, what was retained; until that is known treat it as lost: hold "
        "the NATS roll and leave callers paused"
    ),
    CANNOT_VERIFY: "fix the read that the reason names, then repeat",
    PARTIAL: "run drain without --queues: only all queues together are a go",
}
NEVER = (
    "Do not purge a stream, delete messages by sequence, or remove active ICMSRequest objects.",
    "Do not restart agents as a fix: it does not help with reused message ids.",
)


STATE_IT = (
    f"{ASK}, and repeat; if they were not, hold the NATS roll and run recover: what came before "
    "the restart is gone unseen"
)


REPEAT = (
    "invocations end by themselves while callers stay paused: wait, and repeat drain (recover does "
    "not read them)"
)


def nvca_left(decision: Decision) -> bool:
    """Whether messages of agents are left, which redelivery or ``recover`` may explain."""
    return any(kind_of(line.queue) in ("creation", "termination") for line in decision.lines)


def next_of(decision: Decision) -> str:
    """The next action; "" for what is left, which depends on the time."""
    if decision.answer == CANNOT_VERIFY and all(ASK in one for one in decision.because):
        return STATE_IT  # every read succeeded
    return NEXT.get(decision.answer, "")


def outcome_of(
    answered: Answered,
    *,
    command: str,
    record: str,
    waits: float | None,
    agents: Sequence[str] = (),
) -> Outcome:
    """``waits`` is until when what is left may still be redelivered (NATS time); 0 where nothing
    waits for that, None where it is not known. ``agents`` is what to do about agents first."""
    decision = answered.decision
    action = next_of(decision)
    redelivery = waits is None or waits > answered.at
    if decision.answer == NOT_DRAINED:
        action = _wait(waits, answered.at) if nvca_left(decision) else REPEAT
    evidence = to_copy("recover", "--append", record)
    again = to_copy("drain", "--record", record)
    waiting = to_copy("drain", "--record", record, "--wait")
    passed = "--guide-gate-passed <REF>"
    following = {
        DRAINED: to_copy("gate", "--record", record, then=passed),
        RESTARTED_EMPTY: to_copy("gate", "--record", record, then=f"--callers-paused {passed}"),
        NOT_DRAINED: waiting if redelivery or not nvca_left(decision) else evidence,
        LOST: evidence,
        VANISHED: evidence,
        CANNOT_VERIFY: again,
        PARTIAL: again,
    }[decision.answer]
    second = answered.second
    return Outcome(
        command=command,
        answer=decision.answer,
        go=decision.go,
        because="unpinned" if _only_unpinned(decision.because) else "",
        as_of=clock.shown(second.at),
        valid_until=clock.shown(answered.valid_until),
        clock={"source": "NATS servers (varz.now)"},
        baseline=answered.baseline,
        next_action=action,
        next_command=following,
        do=[*agents, f"{action[0].upper()}{action[1:]}."],
        do_not=() if decision.go else NEVER,
        facts=_facts(answered),
        tables=[_why(answered), _left(answered), _servers(second)],
        notes=[*answered.notes, *decision.notes],
        extra={
            "reasons": list(decision.because),
            "left": [
                {
                    "queue": line.queue,
                    "consumer": line.consumer or None,
                    "cluster": line.cluster or None,
                    "messages": line.messages,
                    "pending": line.pending,
                    "inFlight": line.in_flight,
                    "since": line.since or None,
                    "trend": line.trend,
                    "polled": line.polled,
                }
                for line in decision.lines
            ],
        },
    )


def _only_unpinned(because: Sequence[str]) -> bool:
    return bool(because) and any("unpinned:" in one for one in because)


def _wait(waits: float | None, now: float) -> str:
    if waits is None:
        return (
            "wait one ack_wait for redelivery (an agent's start is not known, so that the time "
            "cannot be named), repeat drain, then run recover"
        )
    if waits > now:
        return (
            f"wait until {clock.shown(waits)} ({(waits - now) / 60:.0f} min) for redelivery, "
            "repeat drain, then run recover"
        )
    return "redelivery has had its time: run recover to see what is left"


def _why(answered: Answered) -> Table:
    return Table("Why", ("reason",), [(one,) for one in answered.decision.because[:50]])


def _left(answered: Answered) -> Table:
    rows = [
        (
            line.queue,
            line.whose or "-",
            str(line.messages),
            str(line.pending),
            str(line.in_flight),
            line.since or "-",
            line.trend + ("" if line.polled else ", nobody asks for them"),
        )
        for line in answered.decision.lines
    ]
    head = ("queue", "for", "messages", "pending", "in flight", "oldest", "trend")
    return Table("What is left", head, rows)


def _servers(second: Reading) -> Table:
    rows = [
        (
            one.pod,
            one.name,
            one.start[:19] + "Z",
            str(one.restarts),
            str(sum(queue.server == one.name for queue in second.queues.values())),
        )
        for one in second.servers
    ]
    return Table("NATS servers", ("pod", "server", "started", "restarts", "leads queues"), rows)


def _facts(answered: Answered) -> list[Fact]:
    second = answered.second
    at = clock.shown(second.at)
    monitor = answered.sources.monitor
    facts = [
        Fact(f"server {one.pod}", {"serverId": one.id, "start": one.start, "podUid": one.uid,
                                   "restarts": one.restarts, "version": one.version}, monitor, at)
        for one in second.servers
    ]  # fmt: skip
    for name, queue in sorted(second.queues.items()):
        facts.append(
            Fact(
                f"queue {name}",
                {
                    "kind": queue.kind,
                    "leader": queue.server,
                    "replicas": queue.replicas,
                    "messages": queue.messages,
                    "firstSeq": queue.first_seq,
                    "lastSeq": queue.last_seq,
                    "created": queue.created,
                    "consumers": {
                        one.name: {
                            "pending": one.pending,
                            "inFlight": one.ack_pending,
                            "redelivered": one.redelivered,
                            "ackWaitSeconds": one.ack_wait,
                        }
                        for one in queue.consumers.values()
                    },
                },
                monitor,
                at,
            )
        )
    facts.append(Fact("streams that are no queues", sorted(second.others), monitor, at))
    facts.append(Fact("names of streams and consumers", "compared", answered.sources.client, at))
    facts.append(Fact("cluster ids", answered.owners, answered.sources.clusters, at))
    return facts
