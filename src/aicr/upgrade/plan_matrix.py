"""A plan at a glance: stages are columns, components are rows, each hop opens to its steps."""

from __future__ import annotations

from aicr.upgrade.page import badge, row_details, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.upgrade.courses import Held, PlannedHop
    from aicr.upgrade.plan import Plan

STYLE = """\
.matrix th[scope=row] { font-weight: 600; } .matrix td { min-width: 13rem; }
.matrix details { margin: 0; } .matrix tr.stays > * { background: var(--blocked-b); }
.matrix details[open] { min-width: 24rem; }
"""


def matrix(plan: Plan) -> str:
    """The table; "" where nothing moves and nothing is held."""
    if not plan.stages and not plan.held:
        return ""
    deployer = plan.report.deployer
    columns = [stage.n for stage in plan.stages]
    hops: dict[str, dict[int, PlannedHop]] = {}
    for stage in plan.stages:
        for hop in stage.hops:
            hops.setdefault(hop.row.component, {})[stage.n] = hop
    held = {one.change.component: one for one in plan.held}
    head = "".join(f'<th scope="col">Stage {n}{_release(plan, n)}</th>' for n in columns)
    names = [*held, *(name for name in hops if name not in held)]
    rows = [_row(name, columns, hops.get(name, {}), held.get(name), deployer) for name in names]
    return (
        '<h2>At a glance</h2>\n<div class="scroll"><table class="matrix">\n'
        f'<thead><tr><th scope="col">Component</th>{head}</tr></thead>\n'
        f"<tbody>\n{''.join(rows)}</tbody>\n</table></div>\n"
    )


def _release(plan: Plan, n: int) -> str:
    release = plan.stages[n - 1].release
    return f' <span class="quiet">{text(release)}</span>' if release else ""


def _row(
    name: str, columns: list[int], hops: dict[int, PlannedHop], held: Held | None, deployer: str
) -> str:
    said = ""
    if held is not None:
        why = f"held: {held.stuck.reason}"
        said = f"<br>{badge(held.stuck.verdict)} <span>{text(why)}</span>"
    cells = "".join(f"<td>{_hop(hops[n], deployer) if n in hops else ''}</td>" for n in columns)
    kind = ' class="stays"' if held is not None else ""
    return f'<tr{kind}><th scope="row">{text(name)}{said}</th>{cells}</tr>\n'


def _hop(hop: PlannedHop, deployer: str) -> str:
    row = hop.row
    move = row.after or "leaves the recipe"
    inside = row_details(row, deployer) or f"<p>{text(row.notes or 'Nothing to do.')}</p>\n"
    return (
        f'<details><summary><span class="v">{text(move)}</span> '
        f"{badge(row.verdict or row.change)}</summary>\n<div>{inside}</div></details>"
    )
