"""A plan for people at a terminal: what is held first, then the stages with their steps."""

from __future__ import annotations

from aicr.documents.safe import cell
from aicr.upgrade.plan_report import by_hand
from aicr.upgrade.plan_words import (
    MODES,
    held_line,
    held_missing,
    held_steps_title,
    hop_cells,
    no_walk,
    stage_title,
    summary,
    way_back,
)
from aicr.upgrade.step_lines import step_lines
from aicr.upgrade.table import HEADERS, change_text, heading
from aicr.upgrade.wrap import wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.courses import Held, PlannedHop
    from aicr.upgrade.plan import Plan, Stage
    from aicr.upgrade.rows import Row


def plan_table(plan: Plan, notes: Sequence[str] = ()) -> str:
    """The whole plan as text; ``notes`` are said at its end."""
    report = plan.report
    lines = ["UPGRADE PLAN"]
    about = [
        ("from", report.before),
        ("to", report.after),
        ("deployer", report.deployer),
        ("stages", MODES[plan.mode]),
    ]
    lines += [f"  {name:<10}{cell(value)}" for name, value in about if value]
    if report.note:
        lines += ["", *wrapped(report.note, "  ")]
    if plan.held:
        lines += ["", "HELD" + (", moved in the last stage all the same" * plan.unplanned)]
        for held in plan.held:
            lines += _held(held, report.deployer)
    walk = no_walk(plan)
    if walk:
        lines += ["", "NO WALK", *wrapped(walk[0], "  ")]
        lines += [f"    {cell(line)}" for line in walk[1:]]
    for stage in plan.stages:
        lines += ["", *_stage(plan, stage)]
    said = way_back(plan)
    if said:
        lines += ["", "WAY BACK", *wrapped(said, "  ")]
    for note in notes:
        lines += ["", *wrapped(note, "  ")]
    lines += ["", summary(plan)]
    return "\n".join(lines) + "\n"


def _held(held: Held, deployer: str) -> list[str]:
    lines = wrapped(held_line(held), "      ", first="  ! ")
    lines += wrapped(held.stuck.explanation, "      ")
    missing, questions = held_missing(held)
    if missing:
        lines += wrapped(missing, "      ")
        for question in questions:
            lines += wrapped(question, "        ", first="      - ")
    if by_hand(held):
        lines += _work(held.stuck, deployer, held_steps_title(held), "      ")
    return lines


def _stage(plan: Plan, stage: Stage) -> list[str]:
    cells = [HEADERS, tuple("-" * len(name) for name in HEADERS)]
    cells += [tuple(map(cell, hop_cells(hop))) for hop in stage.hops]
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEADERS))]
    lines = [cell(stage_title(plan, stage))]
    lines += [
        "  " + "  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip()
        for line in cells
        if stage.hops
    ]
    if not stage.hops:
        lines.append("  nothing is planned in it")
    for hop in stage.hops:
        lines += _hop(hop, plan.report.deployer)
    return lines


def _hop(hop: PlannedHop, deployer: str) -> list[str]:
    row = hop.row
    if not (row.steps or row.precondition or row.identity_changes):
        return []
    lines = ["", f"  {heading(row)}"]
    if row.identity_changes:
        lines.append("    MOVED")
        for change in row.identity_changes:
            lines += wrapped(change_text(change), "      ")
    return lines + _work(row, deployer, "STEPS", "    ")


def _work(row: Row, deployer: str, title: str, indent: str) -> list[str]:
    lines: list[str] = []
    if row.precondition:
        lines += [f"{indent}PRECONDITION", *wrapped(row.precondition, indent + "  ")]
    if row.steps:
        lines += step_lines(row.steps, deployer, indent=indent, title=title)
    return lines
