"""Whether the NATS roll may resume: all checked in one run, and the one place that says so."""

from __future__ import annotations

from aicr.errors import AicrError
from aicr.nvcf import clock
from aicr.nvcf.agent_starts import read_agents
from aicr.nvcf.drain_report import NEVER, next_of
from aicr.nvcf.drain_state import CANNOT_VERIFY
from aicr.nvcf.outcome import Outcome
from aicr.nvcf.page import (
    FAILED,
    NOT_APPLICABLE,
    PASSED,
    UNVERIFIED,
    Check,
    facts_of,
    roll_check,
    table_of,
    tasks_check,
)
from aicr.nvcf.registrations import registration_differences
from aicr.nvcf.to_copy import to_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.nvcf.agents import Agent
    from aicr.nvcf.drain import Answered, Gate
    from aicr.nvcf.evidence import Record
    from aicr.nvcf.reach import Reach

RESUME = "resume"
HOLD = "hold"
GUIDE = (
    "the guide's own gate: its text is not public, and it decides; that it passed is your statement"
)


class Asked:
    """What the operator states. ``guide`` is where the passed gate of the guide is written down;
    ``expected`` the saved registrations (path and content), None where none were given.
    ``digests`` gives agent images by digest a version."""

    __slots__ = ("account_seconds", "allow_tasks", "digests", "expected", "guide")

    def __init__(
        self,
        *,
        guide: str,
        allow_tasks: bool = False,
        expected: tuple[str, bytes] | None = None,
        digests: Mapping[str, str] | None = None,
        account_seconds: float = 30.0,
    ) -> None:
        self.digests = digests
        self.guide = guide
        self.allow_tasks = allow_tasks
        self.expected = expected
        self.account_seconds = account_seconds


def decide_gate(
    reach: Reach, record: Record | None, drain: Gate, asked: Asked
) -> tuple[list[Check], Answered]:
    """Every check. The two readings come first: all else is asked after them, and ``fresh`` is
    judged at the end, so that nothing in the answer is older than it says. Raises AicrError for a
    record that cannot be trusted."""
    answered = drain.answer()
    agents = read_agents(reach, asked.digests)
    tasks = tasks_check(
        reach.fleet.control_plane.accounts, seconds=asked.account_seconds, allowed=asked.allow_tasks
    )
    checks = [
        _drain(answered),
        roll_check(reach, agents, answered.second),
        _identities(reach, agents, asked),
        tasks,
        _guide(asked, record),
        _fresh(reach, answered),
    ]
    if record is not None and record.writable:
        said = {one.name: one.result for one in checks}
        record.log("gate", {"guideGatePassed": asked.guide or None, "checks": said})
    return checks, answered


def is_go(checks: Sequence[Check]) -> bool:
    """Whether nothing speaks against it; what does not apply was left out by the operator."""
    return bool(checks) and all(one.result in (PASSED, NOT_APPLICABLE) for one in checks)


def gate_page(
    checks: Sequence[Check], answered: Answered, *, record: str, source: str = ""
) -> Outcome:
    go = is_go(checks)
    bad = [one for one in checks if one.result in (FAILED, UNVERIFIED)]
    action = "resume the NATS roll: one server, then this gate again"
    if bad:
        action = f"hold the NATS roll: {bad[0].name}: {bad[0].then or bad[0].why}"
    return Outcome(
        command="gate",
        answer=RESUME if go else HOLD,
        go=go,
        as_of=clock.shown(answered.at),
        valid_until=clock.shown(answered.at + clock.VALID) if go else "",
        clock={"source": "NATS servers (varz.now)"},
        baseline=answered.baseline,
        next_action=action,
        next_command=(
            to_copy("gate", "--record", record, then="--guide-gate-passed <REF>")
            if go
            else to_copy("drain", "--record", record)
        ),
        do=["Resume the NATS roll: one server, then this gate again."]
        if go
        else ["Hold the NATS roll.", *(f"{one.name}: {one.then or one.why}." for one in bad)],
        do_not=() if go else NEVER,
        tables=[table_of(checks)],
        facts=facts_of(checks),
        notes=[GUIDE, *answered.notes, *answered.decision.notes],
        extra={"drain": answered.decision.answer, "reasons": list(answered.decision.because)},
    )


def _drain(answered: Answered) -> Check:
    decision = answered.decision
    more = f" (and {len(decision.because) - 1} more)" if len(decision.because) > 1 else ""
    why = f"{decision.answer}: {decision.because[0] if decision.because else ''}{more}"
    source = str(answered.sources)
    if decision.go:
        return Check("complete drain gate", PASSED, why, source=source)
    result = UNVERIFIED if decision.answer == CANNOT_VERIFY else FAILED
    then = next_of(decision) or "wait for redelivery, then aicr nvcf recover"
    return Check("complete drain gate", result, why, then=then, source=source)


def _identities(reach: Reach, agents: Sequence[Agent], asked: Asked) -> Check:
    name = "identities"
    if reach.opened.unpinned:
        one = next(iter(reach.opened.unpinned))
        return Check(name, UNVERIFIED, f"{one} is unpinned", then="aicr nvcf status --pin")
    if reach.opened.failed:
        one = next(iter(reach.opened.failed))
        return Check(name, UNVERIFIED, f"{one} was not reached", then="aicr nvcf status")
    if asked.expected is None:
        return Check(
            name,
            PASSED,
            "every cluster is the one of its entry",
            source="UIDs of the namespaces kube-system",
        )
    path, data = asked.expected
    try:
        differences = registration_differences(data, path, agents, reach.fleet)
    except AicrError as error:
        return Check(name, UNVERIFIED, error.message)
    if differences:
        then = "find out who changed the registration: a new identity can orphan deployments"
        return Check(name, FAILED, "; ".join(differences), then=then, source="NVCFBackend")
    return Check(name, PASSED, "clusters and registrations are the saved ones", source=path)


def _guide(asked: Asked, record: Record | None) -> Check:
    name = "the guide's own gate"
    if asked.guide and (record is None or not record.writable):
        return Check(
            name, UNVERIFIED, f"stated ({asked.guide}), and the record cannot take it",
            then="see who else writes the record; repeat once that command has ended",
        )  # fmt: skip
    if asked.guide:
        return Check(name, PASSED, f"stated by the operator: {asked.guide}", source="operator")
    return Check(
        name, UNVERIFIED, "nobody stated that it passed",
        then="run your guide's gate, then pass --guide-gate-passed REF",
    )  # fmt: skip


def _fresh(reach: Reach, answered: Answered) -> Check:
    """A statement holds for five minutes, by the servers' clock, also where this machine slept."""
    import time

    now = time.time() + reach.nats_offset.high
    age = max(0.0, now - answered.at)
    if not answered.at:
        return Check("fresh", UNVERIFIED, "no server's time was read")
    if age > clock.VALID:
        return Check("fresh", UNVERIFIED, f"the readings are {age / 60:.0f} min old", then="repeat")
    return Check("fresh", PASSED, f"the readings are {age:.0f} s old", source="varz.now")
