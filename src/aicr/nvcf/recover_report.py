"""What a capture of retained messages means: wait, look again, or stop. It never means go on."""

from __future__ import annotations

from aicr.cluster import wire
from aicr.nvcf import clock
from aicr.nvcf.drain_report import NEVER
from aicr.nvcf.matching import (
    COLLIDING,
    CONFLICTING,
    OTHER_CAUSES,
    UNDECODABLE,
    UNVERIFIED,
    WAITING,
)
from aicr.nvcf.outcome import Fact, Outcome, Table
from aicr.nvcf.queues import CREATION, TERMINATION
from aicr.nvcf.to_copy import to_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.nvcf.matching import Finding
    from aicr.nvcf.recover import Captured

NOTHING = "nothing-retained"
RECHECK = "recheck-drain"
WAIT = "wait"
STOP = "stop"
_SHOWN = 200
_WITH_IDS = 40
_IDS = (
    "subject", "action", "requestId", "ncaId", "deploymentId", "functionId", "functionVersionId",
    "taskId",
)  # fmt: skip
_KEPT = 1000
ACTIONS = {
    NOTHING: "run drain; a stuck deployment then has another cause",
    RECHECK: "what was retained is gone since: run drain again",
    STOP: (
        "hold the NATS roll, keep callers paused, leave pending work intact, and share the private "
        "evidence with NVIDIA support"
    ),
}
_STOPS = frozenset((UNDECODABLE, UNVERIFIED, CONFLICTING))


def answer_of(
    found: Captured, waits: Mapping[str, float | None], now: float
) -> tuple[str, dict[str, float]]:
    """The answer, and for ``wait`` until when by cluster (their own time).

    ``waits`` is by cluster with a corrected agent: when its redelivery has had its time.
    """
    if found.failed or not found.before or CREATION not in found.before:
        return STOP, {}
    left_before = sum(one.state.messages for one in found.before.values())
    left_after = sum(one.state.messages for one in found.after.values())
    if not left_before and not left_after and set(found.after) == set(found.before):
        return NOTHING if not found.problems else STOP, {}
    if not left_after and set(found.after) == set(found.before):
        return RECHECK, {}
    if found.problems or any(one.outcome in _STOPS for one in found.findings):
        return STOP, {}
    until: dict[str, float] = {}
    for one in found.findings:
        name = found.clusters.names.get(one.message.cluster_id, "")
        end = waits.get(name)
        if end is None or end <= now:
            return STOP, {}
        until[name] = end
    return (WAIT, until) if until else (STOP, {})


def outcome_of(
    found: Captured,
    *,
    command: str,
    record: str,
    answer: str,
    until: Mapping[str, float],
    as_of: str,
    not_captured: Sequence[str] = (),
) -> Outcome:
    action = ACTIONS.get(answer, "")
    if answer == WAIT:
        each = ", ".join(f"{name} until {clock.shown(end)}" for name, end in sorted(until.items()))
        action = f"wait for redelivery ({each}), then run drain"
    following = to_copy("recover") if answer == STOP else to_copy("drain")
    if record:
        following = (
            to_copy("evidence", "pack", record, "--redact")
            if answer == STOP
            else to_copy("drain", "--record", record)
        )
    notes = [*found.notes]
    if any(one.outcome == WAITING for one in found.findings):
        notes.append(f"{WAITING}: {OTHER_CAUSES}")
    if any(COLLIDING in one.flags for one in found.findings):
        notes.append(
            f"{COLLIDING}: another request carries the SQSMessageID that this message would get; "
            "this is evidence of the cause, and no key"
        )
    notes += [f"not captured: {one}" for one in not_captured]
    return Outcome(
        command=command,
        answer=answer,
        go=False,
        because=f"capture: {found.capture}",
        as_of=as_of,
        next_action=action,
        next_command=following,
        do=[f"{action[0].upper()}{action[1:]}."],
        do_not=NEVER,
        tables=[
            _streams(found),
            _counts(found.findings),
            _messages(found),
            _ids(found),
            _problems(found),
        ],
        facts=[
            Fact(
                "retained message",
                finding_fact(one),
                "; ".join(found.sources),
                one.message.time,
            )
            for one in found.findings[:_KEPT]
        ],
        notes=notes,
        extra={
            "capture": found.capture,
            "problems": list(found.problems),
            "record": record or None,
            "counts": counts_of(found.findings),
            "until": {name: clock.shown(end) for name, end in until.items()},
            "notCaptured": list(not_captured),
        },
    )


def report_json(found: Captured) -> bytes:
    """The first findings, ids only, for the record; ``analyze`` gives all of them again."""
    lines = [wire.encode(finding_fact(one)) for one in found.findings[:_KEPT]]
    return b"[\n" + b",\n".join(lines) + b"\n]\n"


def finding_fact(one: Finding) -> dict[str, object]:
    message = one.message
    fact: dict[str, object] = {
        "sequence": message.sequence,
        "subject": message.subject,
        "time": message.time,
        "outcome": one.outcome,
        "why": one.why,
        "flags": list(one.flags),
    }
    if not message.problem:
        fact |= {
            "requestId": message.request_id,
            "ncaId": message.nca_id,
            "action": message.action,
            "deploymentId": message.deployment or None,
            "functionId": message.function or None,
            "functionVersionId": message.version or None,
            "taskId": message.task or None,
        }
    if one.request is not None:
        fact["request"] = {
            "cluster": one.request.cluster,
            "namespace": one.request.namespace,
            "name": one.request.name,
            "status": one.request.status,
        }
    return fact


def counts_of(findings: Sequence[Finding]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in findings:
        found[one.outcome] = found.get(one.outcome, 0) + 1
        for flag in one.flags:
            found[flag] = found.get(flag, 0) + 1
    return dict(sorted(found.items()))


def _streams(found: Captured) -> Table:
    rows = []
    for stream in (CREATION, TERMINATION):
        info = found.before.get(stream)
        if info is None:
            continue
        state = info.state
        numbers = f"{state.first_seq}-{state.last_seq}" if state.messages else "-"
        rows.append((stream, f"{state.messages} messages", numbers, "", ""))
        for one in found.consumers.get(stream, {}).values():
            whose = one.name.removeprefix(f"{stream}-")
            name = found.clusters.names.get(whose)
            rows.append(
                (
                    f"  for {name}" if name else f"  {one.name}",
                    f"{one.pending} pending, {one.ack_pending} in flight",
                    "",
                    str(one.redelivered),
                    f"{one.ack_wait:g} s",
                )
            )
    head = ("stream, and for whom", "left", "sequences", "redelivered", "ack_wait")
    return Table("Streams", head, rows)


def _counts(findings: Sequence[Finding]) -> Table:
    rows = [(name, str(count)) for name, count in counts_of(findings).items()]
    return Table("Outcomes", ("outcome", "messages"), rows)


def _messages(found: Captured) -> Table:
    rows = []
    for one in found.findings[:_SHOWN]:
        message = one.message
        cluster = message.cluster_id
        rows.append(
            (
                str(message.sequence),
                one.outcome + "".join(f" +{flag}" for flag in one.flags),
                found.clusters.names.get(cluster, cluster) or "-",
                message.time[:19],
                one.why,
            )
        )
    head = ("seq", "outcome", "for", "time", "why")
    return Table(f"Retained messages{_first(found, _SHOWN)}", head, rows)


def _ids(found: Captured) -> Table:
    """Under each other, since they are long, and are to be copied."""
    rows = []
    for one in found.findings[:_WITH_IDS]:
        fact = finding_fact(one)
        request = one.request
        where = f"{request.cluster}/{request.namespace}/{request.name}" if request else ""
        ids = {**{key: fact.get(key) for key in _IDS}, "request": where}
        number = str(one.message.sequence)
        for key, value in ids.items():
            if value:
                rows.append((number, key, str(value)))
                number = ""
    return Table(f"Their ids{_first(found, _WITH_IDS)}", ("seq", "what", "id"), rows)


def _first(found: Captured, most: int) -> str:
    count = len(found.findings)
    return f" (the first {most} of {count}; --format json has more)" if count > most else ""


def _problems(found: Captured) -> Table:
    return Table("Why the capture is not whole", ("problem",), [(p,) for p in found.problems[:50]])
