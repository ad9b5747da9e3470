"""A check as one HTML page: what stops the move, what to do in which order, each row opening to its
details, and which component waits for which."""

from __future__ import annotations

from aicr.upgrade.page import about, badge, move_text, page, row_details, text
from aicr.upgrade.picture import STYLE as PICTURE_STYLE
from aicr.upgrade.picture import picture
from aicr.upgrade.table import counted
from aicr.upgrade.todo import stopping, todo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.check import Report
    from aicr.upgrade.rows import Row

STYLE = (
    PICTURE_STYLE
    + """\
.verdict { border-left: .4rem solid var(--none); padding: .5rem .9rem; margin: .8rem 0;
  background: var(--panel); }
.verdict p { margin: 0; font-size: 1.15rem; font-weight: 600; }
.verdict.stops { border-color: var(--blocked); } .verdict.works { border-color: var(--manual); }
.verdict.clear { border-color: var(--safe); }
.tally { display: flex; flex-wrap: wrap; gap: .4rem; list-style: none; margin: .4rem 0 0;
  padding: 0; }
ol.todo { padding-left: 1.6rem; max-width: 62rem; } ol.todo li { margin: .4rem 0; }
.todo .all { display: block; font-size: .95em; } .todo .one { display: inline-block; }
.rows { border: 1px solid var(--line); border-radius: .3rem; }
.rows .row { border: 0; border-radius: 0; border-top: 1px solid var(--line); margin: 0; }
.rows .head, .row summary { display: grid; gap: .2rem 1rem; align-items: baseline;
  grid-template-columns: 1rem minmax(9rem, 15rem) 7rem minmax(10rem, 15rem) 1fr;
  overflow-wrap: anywhere; }
.rows .head { padding: .35rem .7rem; background: var(--panel); font-weight: 600; }
.row summary { list-style: none; } .row summary::-webkit-details-marker { display: none; }
.row summary::before { content: "\\25b8"; } .row[open] summary::before { content: "\\25be"; }
.row summary:hover { background: var(--panel); }
@media (max-width: 50rem) { .rows .head { display: none; }
  .row summary { grid-template-columns: 1rem 1fr; }
  .row summary > * { grid-column: 2; } .row summary::before { grid-row: 1; } }
.files a { margin-right: 1rem; }
@media print { .files { display: none; } }
"""
)
# Paper cannot be clicked: what is closed on the screen is open on it.
SCRIPT = """\
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details:not([open])")) {
    one.open = true;
    one.dataset.closed = "";
  }
});
addEventListener("afterprint", () => {
  for (const one of document.querySelectorAll("details[data-closed]")) {
    one.open = false;
    delete one.dataset.closed;
  }
});
"""

# What stops comes first, then what has to be done, then what needs nothing.
_RANKS = {"blocked": 0, "unversioned": 1, "unknown": 2, "manual": 3, "safe": 4, "": 5}


def report_html(report: Report) -> str:
    """The whole page."""
    items = [("From", report.before), ("To", report.after), ("Deployer", report.deployer)]
    body = ["<h1>Upgrade check</h1>\n"]
    if report.source is not None:
        from aicr.upgrade.source import doubt_lines, source_lines

        read = [*source_lines(report.source), *doubt_lines(report.source)]
        items += [(name.capitalize(), value) for name, value in read]
    body.append(about(items))
    for failure in report.source.failures if report.source is not None else ():
        body.append(f'<p class="note">{text(failure)}</p>\n')
    rows = _ordered(report)
    body.append(_verdict(report, rows))
    if report.note:
        body.append(f"<p>{text(report.note)}</p>\n")
    places = {row.component: f"row-{number}" for number, row in enumerate(rows, 1)}
    if rows:
        body += ["<h2>What to do, in this order</h2>\n", todo(rows, places)]
        body.append(f'<h2>What changes</h2>\n<main class="rows">\n{_HEAD}')
        body += [_row(row, report.deployer, places[row.component]) for row in rows]
        body.append("</main>\n")
    if report.names_skipped:
        said = f"Object names were not compared: {report.names_skipped}"
        body.append(f'<p class="quiet">{text(said)}</p>\n')
    if report.recipe is not None:
        words = {row.component: row.verdict or row.change for row in rows}
        drawn = picture(report.recipe, words, places)
        body.append(f"<h2>What waits for what</h2>\n{drawn}" if drawn else "")
    body += _at_risk(report)
    body.append(_files(report))
    return page(f"Upgrade check: {report.before}", body, style=STYLE, script=SCRIPT)


_HEAD = (
    '<div class="head" aria-hidden="true"><span></span><span>Component</span><span>Verdict</span>'
    "<span>From and to</span><span>Notes</span></div>\n"
)


def _ordered(report: Report) -> list[Row]:
    """The rows: what stops first, each kind in deployment order."""
    order = report.recipe.deployment_order if report.recipe is not None else ()
    places = {name: index for index, name in enumerate(order)}
    return sorted(
        report.rows,
        key=lambda row: (
            _RANKS[row.verdict],
            places.get(row.component, len(places)),
            row.component,
        ),
    )


def _verdict(report: Report, rows: Sequence[Row]) -> str:
    """The answer in a sentence."""
    stops = len(stopping(report.rows))
    works = report.failing - stops
    if stops:
        kind = "stops"
        said = f"Do not apply this yet: {stops} of {len(report.rows)} changes cannot go ahead"
        said += f", and {works} {'needs' if works == 1 else 'need'} steps." if works else "."
    elif works:
        kind = "works"
        said = f"It can go ahead, with work by hand for {works} of {len(report.rows)} changes."
    elif report.rows:
        kind, said = "clear", "Nothing needs attention: apply the new bundle."
    else:
        kind, said = "clear", "Nothing changes."
    return (
        f'<div class="verdict {kind}"><p>{text(said)}</p>'
        f'<span class="quiet">{text(counted(report))}</span>{_tally(rows)}</div>\n'
    )


def _tally(rows: Sequence[Row]) -> str:
    """How many rows there are of each kind, the worst first."""
    many: dict[str, int] = {}
    for row in rows:
        word = row.verdict or row.change
        many[word] = many.get(word, 0) + 1
    if len(many) < 2:
        return ""
    shown = "".join(f"<li>{badge(word, count)}</li>\n" for word, count in many.items())
    return f'\n<ul class="tally">\n{shown}</ul>\n'


def _row(row: Row, deployer: str, place: str) -> str:
    name = row.component
    if row.change == "replaced":
        name = f"{row.component} (replaces {row.replaces})"
    head = (
        f"<strong>{text(name)}</strong><span>{badge(row.verdict or row.change)}</span>"
        f'<span>{move_text(row)}</span><span class="quiet">{text(row.notes)}</span>'
    )
    inside = row_details(row, deployer) or "<p>Nothing to do.</p>\n"
    # The id stands inside, so that a link to it opens the row.
    return (
        f'<details class="row"><summary>{head}</summary>\n<div id="{place}">\n{inside}</div>'
        "</details>\n"
    )


def _at_risk(report: Report) -> list[str]:
    body = ["<h2>At risk (advisory)</h2>\n"]
    at_risk = report.at_risk
    if not at_risk.scanned:
        return [*body, f"<p>not scanned: {text(at_risk.reason)}</p>\n"]
    found = [
        f"<li>{text(' '.join(f'{key}={value}' for key, value in finding.items()))}</li>\n"
        for finding in at_risk.findings
    ]
    body.append(f"<p>{len(found)} found {text(at_risk.reason)}</p>\n")
    return [*body, f"<ul>\n{''.join(found)}</ul>\n" if found else ""]


def _files(report: Report) -> str:
    """The report in other forms, inside this file: it needs nothing beside itself."""
    from aicr.upgrade.formats import report_text

    links = [
        _download(f"report.{ending}", media, report_text(report, form), said)
        for form, ending, media, said in (
            ("json", "json", "application/json", "Report as JSON"),
            ("markdown", "md", "text/markdown", "Report as Markdown"),
        )
    ]
    return f'<p class="files">{"".join(links)}</p>\n'


def _download(name: str, media: str, content: str, said: str) -> str:
    from base64 import b64encode

    data = b64encode(content.encode("utf-8")).decode("ascii")
    return f'<a download="{name}" href="data:{media};base64,{data}">{said}</a>\n'
