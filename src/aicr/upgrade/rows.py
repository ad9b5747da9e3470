"""What is reported of one component that changed: its row, with everything the records say."""

from __future__ import annotations

from aicr.upgrade.advice import explain
from aicr.upgrade.match import IDENTITY_CHANGED, RECORDED, UNKNOWN
from aicr.upgrade.model import BLOCKED, SAFE, choose_steps
from aicr.upgrade.notes import notes
from aicr.upgrade.path import Ways
from aicr.versions.semver import breaking, jump

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aicr.upgrade.inventory import Identity, IdentityChange
    from aicr.upgrade.match import Judge, Judgement
    from aicr.upgrade.model import Replacement, Step, StepGroup, Transition
    from aicr.upgrade.path import Walks

_NO_WAYS = Ways()


class Row:
    """One changed component. Text is "" where the field does not apply.

    ``change`` is version, identity, added, removed or replaced. ``replaces`` is the component
    whose place this one takes; of an added row with ``outdone_by``, the one that another arrival
    replaces already.
    """

    __slots__ = (
        "after",
        "before",
        "breaking",
        "change",
        "component",
        "covers",
        "downgrade",
        "fails_run",
        "identity_changes",
        "judgement",
        "jump",
        "outdone_by",
        "precondition",
        "reason",
        "references",
        "replaces",
        "reversible",
        "reversible_notes",
        "start_at",
        "step_groups",
        "steps",
        "stopped_at",
        "summary",
        "verdict",
        "verified_by",
        "ways",
    )

    def __init__(
        self,
        component: str,
        change: str,
        *,
        before: str = "",
        after: str = "",
        replaces: str = "",
        outdone_by: str = "",
        verdict: str = "",
        reason: str = "",
        judgement: Judgement | None = None,
        jump: str = "",
        covers: str = "",
        breaking: bool = False,
        downgrade: bool = False,
        start_at: str = "",
        stopped_at: str = "",
        ways: Ways = _NO_WAYS,
        summary: str = "",
        precondition: str = "",
        reversible: bool | None = None,
        reversible_notes: str = "",
        verified_by: str = "",
        step_groups: Sequence[StepGroup] = (),
        deployer: str = "",
        references: Sequence[str] = (),
        identity_changes: Sequence[IdentityChange] = (),
    ) -> None:
        self.component = component
        self.change = change
        self.before = before
        self.after = after
        self.replaces = replaces
        self.outdone_by = outdone_by
        self.verdict = verdict
        self.reason = reason
        self.judgement = judgement
        self.jump = jump
        self.covers = covers
        self.breaking = breaking
        self.downgrade = downgrade
        self.start_at = start_at
        self.stopped_at = stopped_at
        self.ways = ways
        self.summary = summary
        self.precondition = precondition
        self.reversible = reversible
        self.reversible_notes = reversible_notes
        self.verified_by = verified_by
        self.step_groups = step_groups
        self.steps: Sequence[Step] = choose_steps(step_groups, deployer) if deployer else ()
        self.references = references
        self.identity_changes = identity_changes
        self.fails_run = change not in ("added", "removed") and verdict != SAFE

    # Worded when somebody asks: a fleet judges far more moves than it prints.
    @property
    def notes(self) -> str:
        """The NOTES cell."""
        return notes(self)

    @property
    def explanation(self) -> str:
        """What the verdict means and what to do, in words."""
        return explain(self)


def version_row(
    component: str,
    old: Identity,
    new: Identity,
    judge: Judge,
    walks: Callable[[str], Walks],
    *,
    changes: Sequence[IdentityChange] = (),
    deployer: str = "",
) -> Row:
    """The row of a component that is on both sides in different versions."""
    source, target = judge.version(old.version), judge.version(new.version)
    judgement = judge.judge(source, target)
    verdict, reason, record = judgement.verdict, judgement.reason, judgement.record
    if verdict == SAFE and changes:
        verdict, reason = UNKNOWN, IDENTITY_CHANGED
    distance, covers, breaks, back, ways = "", "", False, False, _NO_WAYS
    if source is not None and target is not None:
        distance = jump(source, target)
        breaks = breaking(source, target)
        back = target < source
        if judgement.verdict == BLOCKED:
            ways = walks(component).ways(source, target)
        if reason == RECORDED and record is not None:
            covers = jump(source, record.ceiling)
    # Only the record for this very move may speak; one that merely stops it is for another move.
    speaking = judgement.crossed if reason == RECORDED else ()
    if len(speaking) == 1 or not speaking:
        references = record.references if record is not None else ()
    else:
        references = list(dict.fromkeys(ref for t in speaking for ref in t.references))
    return Row(
        component,
        "version",
        before=old.version,
        after=new.version,
        verdict=verdict,
        reason=reason,
        judgement=judgement,
        jump=distance,
        covers=covers,
        breaking=breaks,
        downgrade=back,
        stopped_at=judgement.stopped_at,
        start_at=judgement.start_at,
        ways=ways,
        summary=_joined(speaking, "summary"),
        precondition=_joined(speaking, "precondition"),
        reversible=_reversible(speaking),
        reversible_notes=_joined(speaking, "reversible_notes"),
        verified_by="; ".join(dict.fromkeys(t.verified_by for t in speaking if t.verified_by)),
        step_groups=record.step_groups if reason == RECORDED and record is not None else (),
        deployer=deployer,
        references=references,
        identity_changes=changes,
    )


def replaced_row(
    component: str, old: Identity, new: Identity, block: Replacement, *, deployer: str = ""
) -> Row:
    """The row of a component that arrives in the place of one that departs."""
    return Row(
        component,
        "replaced",
        before=old.version,
        after=new.version,
        replaces=block.component,
        verdict=block.verdict,
        reason=RECORDED,
        summary=block.summary,
        verified_by=block.verified_by,
        step_groups=block.step_groups,
        deployer=deployer,
    )


def _joined(records: Sequence[Transition], field: str) -> str:
    """What the records say in a field; where they differ, each under its boundary."""
    if len(records) == 1 or len({getattr(t, field) for t in records}) == 1:
        return str(getattr(records[0], field))
    said = [(t.to.text, getattr(t, field)) for t in records if getattr(t, field).strip()]
    return "\n\n".join(f"At {boundary}: {text}" for boundary, text in said)


def _reversible(records: Sequence[Transition]) -> bool | None:
    """Whether all say that the way back is open; False where one says that it is not."""
    if any(t.reversible is False for t in records):
        return False
    return True if records and all(t.reversible for t in records) else None
