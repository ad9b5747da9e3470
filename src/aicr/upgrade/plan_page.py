"""A plan as a page of Markdown to walk through at night, with boxes to check."""

from __future__ import annotations

from aicr.documents.safe import cell, escaped
from aicr.upgrade.markdown import paragraphs
from aicr.upgrade.plan_report import by_hand
from aicr.upgrade.plan_words import (
    MODES,
    held_line,
    held_missing,
    hop_cells,
    no_walk,
    stage_title,
    summary,
    way_back,
)
from aicr.upgrade.table import change_text, heading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.upgrade.courses import Held, PlannedHop
    from aicr.upgrade.plan import Plan, Stage
    from aicr.upgrade.rows import Row

# A folder with this in its plan.md was written as a plan.
SIGN = "<!-- aicr upgrade-plan -->"


class Commands:
    """What to run around a stage: before it, to apply it, after it."""

    __slots__ = ("after", "apply", "before")

    def __init__(
        self, before: Sequence[str] = (), apply: Sequence[str] = (), after: Sequence[str] = ()
    ) -> None:
        self.before = before
        self.apply = apply
        self.after = after


def plan_page(
    plan: Plan, commands: Mapping[int, Commands] | None = None, notes: Sequence[str] = ()
) -> str:
    """The whole page; ``commands`` are those of each stage, ``notes`` what to know before."""
    report = plan.report
    lines = [SIGN, "", "# Upgrade plan", ""]
    about = [("From", report.before), ("To", report.after), ("Deployer", report.deployer),
             ("Stages", MODES[plan.mode])]  # fmt: skip
    lines += [f"- {name}: {escaped(value)}" for name, value in about if value]
    lines += ["", f"**{escaped(summary(plan))}**"]
    if report.note:
        lines += ["", escaped(report.note)]
    for note in notes:
        lines += ["", f"> **Warning:** {escaped(note)}"]
    if plan.held:
        lines += ["", "## Held"]
        for held in plan.held:
            lines += ["", *_held(held, report.deployer)]
    walk = no_walk(plan)
    if walk:
        lines += ["", "## No walk", "", escaped(walk[0]), ""]
        lines += [f"- {escaped(line)}" for line in walk[1:]]
    said = way_back(plan)
    if said:
        lines += ["", "## Way back", "", escaped(said)]
    for stage in plan.stages:
        lines += ["", *_stage(plan, stage, (commands or {}).get(stage.n, Commands()))]
    return "\n".join(lines) + "\n"


def _held(held: Held, deployer: str) -> list[str]:
    lines = [f"### {escaped(held_line(held))}", "", escaped(held.stuck.explanation)]
    missing, questions = held_missing(held)
    if missing:
        lines += ["", escaped(missing), "", *(f"- {escaped(question)}" for question in questions)]
    if by_hand(held):
        lines += ["", "By hand:", *_work(held.stuck, deployer)]
    return lines


def _stage(plan: Plan, stage: Stage, commands: Commands) -> list[str]:
    lines = [f"## {escaped(_title(stage_title(plan, stage)))}"]
    if stage.hops:
        lines += ["", "| Component | From | To | Verdict | Notes |", "| --- " * 5 + "|"]
        for hop in stage.hops:
            lines.append("| " + " | ".join(escaped(text) for text in hop_cells(hop)) + " |")
    lines += ["", "### Before", ""]
    lines += [
        f"- [ ] {escaped(name)}: its precondition holds (below)"
        for name in (hop.row.component for hop in stage.hops if hop.row.precondition)
    ]
    if not stage.reversible:
        lines.append("- [ ] There is a backup to go back to: no record vouches for a way back")
    lines += _commands(commands.before, "what runs is what this stage starts from")
    for hop in stage.hops:
        if hop.row.steps or hop.row.precondition or hop.row.identity_changes:
            lines += ["", *_hop(hop, plan.report.deployer)]
    lines += ["", "### Apply", ""]
    lines += _commands(commands.apply, "build the bundle and apply it as its README says")
    if not commands.apply:
        lines.append("- [ ] Apply the versions of the table above")
    lines += ["", "### After", ""]
    lines += _commands(commands.after, "what runs is what this stage says")
    lines += [
        f"- [ ] {escaped(hop.row.component)} {escaped(hop.row.after)} is healthy"
        for hop in stage.hops
        if hop.row.after
    ]
    if stage.n < len(plan.stages):
        lines.append(f"- [ ] Go on to stage {stage.n + 1}, or stop: a plan from here is the rest")
    return lines


def _title(title: str) -> str:
    return "Stage" + title[len("STAGE") :]


def _commands(commands: Sequence[str], about: str) -> list[str]:
    if not commands:
        return []
    lines = [f"- [ ] {about}:", "", "  ```"]
    lines += [f"  {cell(command)}" for command in commands]
    return [*lines, "  ```", ""]


def _hop(hop: PlannedHop, deployer: str) -> list[str]:
    row = hop.row
    lines = [f"### {escaped(heading(row))}"]
    if row.summary:
        lines += ["", *paragraphs(row.summary, "")]
    if row.identity_changes:
        lines += ["", "**Moved**", ""]
        lines += [f"- {escaped(change_text(change))}" for change in row.identity_changes]
    return lines + _work(row, deployer)


def _work(row: Row, deployer: str) -> list[str]:
    lines: list[str] = []
    if row.precondition:
        lines += ["", "- [ ] **Precondition**", "", *paragraphs(row.precondition, "  ")]
    if row.steps:
        lines += ["", f"Steps (deployer: {escaped(deployer)}):", ""]
    for step in row.steps:
        lines += [f"- [ ] **{escaped(step.id)}**", "", *paragraphs(step.description, "  ")]
        if step.reason:
            lines += ["", *paragraphs(f"Why: {step.reason}", "  ")]
        lines.append("")
    return lines
