"""What a plan says in words, in every format the same: why something is held, what a stage is."""

from __future__ import annotations

from aicr.upgrade.plan import RELEASES
from aicr.upgrade.plan_report import QUESTIONS, by_hand, missing_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.courses import Held, PlannedHop
    from aicr.upgrade.plan import Plan, Stage

NOT_SHIPPED = "combination not shipped"
MODES = {"hops": "each component by its own hops", RELEASES: "through past releases of the stack"}


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def summary(plan: Plan) -> str:
    """The last line: how much changed, and how it gets there."""
    changes = len(plan.report.rows)
    if not changes:
        return "no component changes"
    said = f"{counted(changes, 'component change')}: "
    if plan.closed:
        return said + "no walk through releases leads to the target"
    hops = counted(len(plan.hops), "hop")
    return (
        f"{said}{hops} in {counted(len(plan.stages), 'stage')}, {plan.manual} with steps, "
        f"{len(plan.held)} held"
    )


def held_line(held: Held) -> str:
    """What is held and how far it gets, in one line."""
    row = held.change
    name = (
        f"{row.component} (would replace {row.replaces})"
        if row.change == "replaced"
        else (row.component)
    )
    gets = f"gets to {held.reached}" if held.reached else f"stays at {row.before or '-'}"
    stuck = held.stuck
    at = f" at {stuck.stopped_at}" if stuck.stopped_at else ""
    return f"{name}: {gets}, wanted {row.after or '-'} ({stuck.verdict}: {stuck.reason}{at})"


def held_missing(held: Held) -> tuple[str, Sequence[str]]:
    """Which record is missing and what its author must answer; "" where none would help."""
    missing = missing_record(held)
    if missing is None:
        return "", ()
    text = f"Missing record: from {missing[0]}, to {missing[1]}. Its author must answer:"
    return text, QUESTIONS


def held_steps_title(held: Held) -> str:
    return "STEPS BY HAND" if by_hand(held) else "STEPS"


def stage_title(plan: Plan, stage: Stage) -> str:
    """The heading of a stage."""
    last = stage.n == len(plan.stages)
    what = [f"release {stage.release}" if stage.release else NOT_SHIPPED]
    if last:
        kept = plan.held and not plan.unplanned
        what.append("the target, held components as they were" if kept else "the target")
    if stage.reversible:
        what.append("reversible")
    return f"STAGE {stage.n} of {len(plan.stages)}: {', '.join(what)}"


def hop_cells(hop: PlannedHop) -> tuple[str, str, str, str, str]:
    """Component, from, to, verdict and notes of a hop."""
    row = hop.row
    notes = row.notes
    if hop.pinned_by:
        notes = f"{notes}, pinned by {hop.pinned_by}" if notes else f"pinned by {hop.pinned_by}"
    elif hop.stop:
        notes = f"{notes}, pinned by no release: check that it was published"
    return row.component, row.before or "-", row.after or "-", row.verdict or "-", notes


def way_back(plan: Plan) -> str:
    """How far back there is a way, and on whose word."""
    if not plan.stages:
        return ""
    last = plan.reversible_to
    if not last:
        return "No stage has a way back that the records vouch for, so look before stage 1."
    until = "Stage 1 has" if last == 1 else f"Stages 1 to {last} have"
    return (
        f"{until} a way back, by the records' authors; the target's values are judged by no "
        "record, and the way back will read as a downgrade."
    )


def no_walk(plan: Plan) -> list[str]:
    """Why no walk through releases leads to the target."""
    if not plan.closed:
        return []
    start = plan.reached or "what runs"
    lines = [f"No walk through past releases leads to the target. From {start}:"]
    lines += [
        f"to {name or 'the target'}: closed by {component}" for name, component in plan.closed
    ]
    return lines
