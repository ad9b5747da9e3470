"""A fleet's answer as one HTML page: the matrix, filterable, each cell opening to its detail."""

from __future__ import annotations

from aicr.upgrade.fleet_table import counted, move_line, of_group, sign, summary, with_work
from aicr.upgrade.page import about, badge, move_text, page, row_details, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.fleet import ClusterReport, Fleet, Move
    from aicr.upgrade.rows import Row

_STYLE = """\
body { max-width: none; }
.matrix { max-height: 75vh; overflow: auto; width: max-content; max-width: 100%; }
.matrix table { width: auto; }
.matrix thead th { position: sticky; top: 0; z-index: 1; vertical-align: bottom; }
.matrix thead th span { writing-mode: vertical-rl; transform: rotate(180deg); font-weight: 600;
  max-height: 14rem; overflow-wrap: anywhere; }
.matrix tbody th { position: sticky; left: 0; background: var(--paper); font-weight: 600;
  min-width: 10rem; max-width: 24rem; overflow-wrap: anywhere;
  border-right: 1px solid var(--line); }
.matrix td { text-align: center; padding: .15rem; min-width: 2.4rem; }
.matrix td:nth-child(2) { min-width: 7.5rem; }
.matrix td a { display: block; padding: .15rem .4rem; border-radius: .3rem; font-weight: 700;
  text-decoration: none; }
.matrix td a:hover { text-decoration: underline; }
.none { color: var(--none); background: var(--none-b); }
.legend { display: flex; flex-wrap: wrap; gap: .4rem 1rem; margin: .5rem 0; }
.legend b { display: inline-block; min-width: 1.5rem; text-align: center; border-radius: .3rem; }
@media print { .matrix { max-height: none; overflow: visible; }
  .matrix thead th, .matrix tbody th { position: static; } }
"""

_SCRIPT = """\
"use strict";
(() => {
const name = document.getElementById("name"), verdict = document.getElementById("verdict");
const rows = document.querySelectorAll("tr[data-name]");
const shown = document.getElementById("shown");
function filter() {
  const wanted = name.value.trim().toLowerCase();
  let count = 0;
  for (const row of rows) {
    const found = row.dataset.name.toLowerCase().includes(wanted)
      && (!verdict.value || row.dataset.verdicts.split(" ").includes(verdict.value));
    row.hidden = !found;
    if (found) count += 1;
  }
  shown.textContent = count + " of " + rows.length + " clusters";
}
function reveal() {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target && target.tagName === "DETAILS") { target.open = true; target.scrollIntoView(); }
}
document.getElementById("filter").hidden = false;
name.addEventListener("input", filter);
verdict.addEventListener("change", filter);
window.addEventListener("hashchange", reveal);
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link && link.getAttribute("href") === location.hash) reveal();
});
filter();
reveal();
})();
"""

_LEGEND = (
    ("B", "blocked", "blocked"), ("U", "unknown", "unknown"), ("V", "unversioned", "unversioned"),
    ("M", "manual", "manual"), ("s", "safe", "safe"), ("+", "none", "added"),
    ("-", "none", "removed"),
)  # fmt: skip
_FILTER = """\
<form class="filter" id="filter" hidden>
<label>Cluster <input id="name" type="search" autocomplete="off"></label>
<label>with a verdict <select id="verdict"><option value="">any</option><option>blocked</option>\
<option>unknown</option><option>unversioned</option><option>manual</option><option>safe</option>\
</select></label>
<output id="shown" class="quiet"></output>
</form>
"""


def fleet_html(fleet: Fleet) -> str:
    """The whole page."""
    moves = fleet.moves()
    places = {id(row): n for n, move in enumerate(moves) for row in [move.row]}
    by_key = _Places(fleet, moves, places)
    components = fleet.components()
    body = ["<h1>Fleet check</h1>\n", about([("To", fleet.to)]) if fleet.to else ""]
    body.append(f'<p class="sum">{text(summary(fleet))}</p>\n')
    signs = "".join(f'<span><b class="{css}">{one}</b> {word}</span>' for one, css, word in _LEGEND)
    body.append(f'<div class="legend">{signs}</div>\n{_FILTER}<main>\n')
    for value, group in fleet.groups():
        if fleet.group_by:
            said = f"{fleet.group_by}: {value} ({of_group(group)})"
            body.append(f"<h2>{text(said)}</h2>\n")
        group = [one for one in group if one.error is None]
        if group:
            changed = {row.component for one in group for row in one.rows}
            body.append(_matrix(group, [c for c in components if c in changed], by_key))
    if moves:
        body.append("<h2>Moves</h2>\n")
        body += [_move(move, n) for n, move in enumerate(moves)]
    work = with_work(fleet)
    if work:
        body.append("<h2>Work by hand</h2>\n<ul>\n")
        body += [
            f'<li><a href="#move-{by_key.of(move.row)}">{text(move_line(move))}</a></li>\n'
            for move in work
        ]
        body.append("</ul>\n")
    body.append("</main>\n")
    if fleet.unread:
        body.append("<h2>Could not be read</h2>\n<ul>\n")
        body += [
            f"<li><strong>{text(one.name)}</strong>: {text(one.unread_because)}</li>\n"
            for one in fleet.unread
        ]
        body.append("</ul>\n")
    return page("Fleet check", body, style=_STYLE, script=_SCRIPT)


class _Places:
    """Which move a row of the matrix belongs to."""

    def __init__(self, fleet: Fleet, moves: Sequence[Move], places: dict[int, int]) -> None:
        self._places = dict(places)
        by_cluster = {
            (move.row.component, name): n for n, move in enumerate(moves) for name in move.clusters
        }
        for one in fleet.read:
            for row in one.rows:
                self._places.setdefault(id(row), by_cluster[row.component, one.name])

    def of(self, row: Row) -> int:
        return self._places[id(row)]


def _matrix(group: Sequence[ClusterReport], components: Sequence[str], places: _Places) -> str:
    titles = "".join(f'<th scope="col"><span>{text(name)}</span></th>' for name in components)
    lines: list[str] = []
    for one in group:
        rows = {row.component: row for row in one.rows}
        verdicts = " ".join(sorted({row.verdict for row in one.rows if row.verdict}))
        cells = "".join(f"<td>{_cell(rows.get(name), places)}</td>" for name in components)
        mark = badge(one.verdict or ("failing" if one.failing else "no verdict"))
        lines.append(
            f'<tr data-name="{text(one.name)}" data-verdicts="{verdicts}">'
            f'<th scope="row">{text(one.name)}</th><td>{mark}</td>{cells}</tr>\n'
        )
    return (
        '<div class="scroll matrix" tabindex="0" role="region" aria-label="Clusters by components">'
        f'<table>\n<thead><tr><th scope="col">Cluster</th><th scope="col">Worst</th>{titles}'
        f"</tr></thead>\n<tbody>\n{''.join(lines)}</tbody>\n</table></div>\n"
    )


def _cell(row: Row | None, places: _Places) -> str:
    if row is None:
        return ""
    css = row.verdict or "none"
    said = f"{row.component} {row.before or '-'} to {row.after or '-'}: {row.verdict or row.change}"
    return (
        f'<a class="{css}" href="#move-{places.of(row)}" title="{text(said)}" '
        f'aria-label="{text(said)}">{sign(row)}</a>'
    )


def _move(move: Move, n: int) -> str:
    row = move.row
    by = f" (deployer {move.deployer})" if move.deployer else ""
    head = (
        f"{badge(row.verdict or row.change)} <strong>{text(row.component)}</strong> "
        f'{move_text(row)} <span class="quiet">on {counted(len(move.clusters), "cluster")}'
        f"{text(by)}; {text(row.notes)}</span>"
    )
    names = "".join(f"<li>{text(name)}</li>\n" for name in move.clusters)
    return (
        f'<details id="move-{n}"><summary>{head}</summary>\n<div>\n'
        f"{row_details(row, move.deployer)}<h3>Clusters</h3>\n<ul>\n{names}</ul>\n"
        "</div></details>\n"
    )
