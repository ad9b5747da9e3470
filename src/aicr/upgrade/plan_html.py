"""A plan as one HTML page to walk through at night, with boxes to check; it prints well."""

from __future__ import annotations

from aicr.upgrade.page import about, badge, page, paragraphs, steps, table, text
from aicr.upgrade.plan_matrix import STYLE as MATRIX_STYLE
from aicr.upgrade.plan_matrix import matrix
from aicr.upgrade.plan_page import Commands
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

STYLE = (
    MATRIX_STYLE
    + """\
section { border-top: 2px solid var(--line); margin-top: 2rem; }
.held { border-left: .3rem solid var(--blocked); padding: .1rem .8rem; margin: .8rem 0; }
.hop { border-left: .3rem solid var(--manual); padding: .1rem .8rem; margin: 1rem 0; }
"""
)


def plan_html(
    plan: Plan, commands: Mapping[int, Commands] | None = None, notes: Sequence[str] = ()
) -> str:
    """The whole page; ``commands`` are those of each stage, ``notes`` what to know before."""
    report = plan.report
    body = ["<h1>Upgrade plan</h1>\n"]
    body.append(
        about(
            [
                ("From", report.before),
                ("To", report.after),
                ("Deployer", report.deployer),
                ("Stages", MODES[plan.mode]),
            ]
        )
    )
    body.append(f'<p class="sum">{text(summary(plan))}</p>\n')
    said_first = [one[:1].upper() + one[1:] for one in (report.note, *notes) if one]
    body += [f'<p class="note">{text(note)}</p>\n' for note in said_first]
    if plan.held:
        body.append("<h2>Held</h2>\n")
        body += [_held(held, report.deployer) for held in plan.held]
    body.append(matrix(plan))
    walk = no_walk(plan)
    if walk:
        closed = "".join(f"<li>{text(line)}</li>\n" for line in walk[1:])
        body.append(f"<h2>No walk</h2>\n<p>{text(walk[0])}</p>\n<ul>\n{closed}</ul>\n")
    said = way_back(plan)
    if said:
        body.append(f"<h2>Way back</h2>\n<p>{text(said)}</p>\n")
    for stage in plan.stages:
        body.append(_stage(plan, stage, (commands or {}).get(stage.n, Commands())))
    return page(f"Upgrade plan: {report.before}", body, style=STYLE)


def _held(held: Held, deployer: str) -> str:
    parts = [f'<div class="held">\n<h3>{text(held_line(held))}</h3>\n']
    parts.append(paragraphs(held.stuck.explanation))
    missing, questions = held_missing(held)
    if missing:
        asked = "".join(f"<li>{text(question)}</li>\n" for question in questions)
        parts.append(f"<p>{text(missing)}</p>\n<ul>\n{asked}</ul>\n")
    if by_hand(held):
        if held.stuck.precondition:
            parts.append(f"<h3>Precondition</h3>\n{paragraphs(held.stuck.precondition)}")
        parts.append(steps(held.stuck.steps, deployer, title="Steps by hand"))
    return "".join([*parts, "</div>\n"])


def _stage(plan: Plan, stage: Stage, commands: Commands) -> str:
    title = stage_title(plan, stage)
    parts = [f"<section>\n<h2>Stage{text(title[len('STAGE') :])}</h2>\n"]
    rows = []
    for hop in stage.hops:
        name, old, new, _, notes = hop_cells(hop)
        rows.append(
            [
                f"<strong>{text(name)}</strong>",
                f'<span class="v">{text(old)}</span>',
                f'<span class="v">{text(new)}</span>',
                badge(hop.row.verdict or hop.row.change),
                text(notes),
            ]
        )
    if rows:
        parts.append(table(("Component", "From", "To", "Verdict", "Notes"), rows))
    before = [
        _box(f"{hop.row.component}: its precondition holds (below)")
        for hop in stage.hops
        if hop.row.precondition
    ]
    if not stage.reversible:
        before.append(_box("There is a backup to go back to: no record vouches for a way back"))
    before += _commands(commands.before, "What runs is what this stage starts from")
    parts.append(f'<h3>Before</h3>\n<ul class="check">\n{"".join(before)}</ul>\n')
    parts += [_hop(hop, plan.report.deployer) for hop in stage.hops]
    apply = _commands(commands.apply, "Build the bundle and apply it as its README says")
    apply = apply or [_box("Apply the versions of the table above")]
    parts.append(f'<h3>Apply</h3>\n<ul class="check">\n{"".join(apply)}</ul>\n')
    after = _commands(commands.after, "What runs is what this stage says")
    after += [
        _box(f"{hop.row.component} {hop.row.after} is healthy")
        for hop in stage.hops
        if hop.row.after
    ]
    if stage.n < len(plan.stages):
        after.append(_box(f"Go on to stage {stage.n + 1}, or stop: a plan from here is the rest"))
    parts.append(f'<h3>After</h3>\n<ul class="check">\n{"".join(after)}</ul>\n</section>\n')
    return "".join(parts)


def _hop(hop: PlannedHop, deployer: str) -> str:
    row = hop.row
    if not (row.steps or row.precondition or row.identity_changes):
        return ""
    parts = [f'<div class="hop">\n<h3>{text(heading(row))}</h3>\n', paragraphs(row.summary)]
    if row.identity_changes:
        moved = "".join(f"<li>{text(change_text(c))}</li>\n" for c in row.identity_changes)
        parts.append(f"<p><strong>Moved</strong></p>\n<ul>\n{moved}</ul>\n")
    if row.precondition:
        parts.append(_boxed("Precondition", row.precondition))
    parts += _work(row, deployer)
    return "".join([*parts, "</div>\n"])


def _work(row: Row, deployer: str) -> list[str]:
    if not row.steps:
        return []
    parts = [f"<p>Steps (deployer: {text(deployer)}):</p>\n"]
    for number, step in enumerate(row.steps, 1):
        said = step.description + (f"\n\nWhy: {step.reason}" if step.reason else "")
        parts.append(_boxed(f"{number}. {step.id}", said))
    return parts


def _boxed(title: str, said: str) -> str:
    return f'<ul class="check">\n{_box(title, strong=True)}</ul>\n{paragraphs(said)}'


def _box(said: str, *, strong: bool = False) -> str:
    shown = f"<strong>{text(said)}</strong>" if strong else text(said)
    return f'<li><label><input type="checkbox"><span>{shown}</span></label></li>\n'


def _commands(found: Sequence[str], said: str) -> list[str]:
    if not found:
        return []
    lines = "\n".join(text(one) for one in found)
    box = f'<label><input type="checkbox"><span>{text(said)}:</span></label>'
    return [f"<li>{box}<pre>{lines}</pre></li>\n"]
