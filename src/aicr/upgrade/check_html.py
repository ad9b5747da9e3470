"""A check as one HTML page: the table, each row opening to its details."""

from __future__ import annotations

from aicr.upgrade.page import about, badge, move_text, page, row_details, text
from aicr.upgrade.table import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.upgrade.check import Report
    from aicr.upgrade.rows import Row

_STYLE = """\
.row summary { display: grid; grid-template-columns: 1rem 15rem 7rem 14rem 1fr; gap: .2rem 1rem;
  align-items: baseline; overflow-wrap: anywhere; }
.row summary::before { content: "\\25b8"; } .row[open] summary::before { content: "\\25be"; }
@media (max-width: 50rem) { .row summary { grid-template-columns: 1rem 1fr; }
  .row summary > * { grid-column: 2; } .row summary::before { grid-row: 1; } }
"""


def report_html(report: Report) -> str:
    """The whole page."""
    items = [("From", report.before), ("To", report.after), ("Deployer", report.deployer)]
    body = ["<h1>Upgrade check</h1>\n"]
    if report.source is not None:
        from aicr.upgrade.source import source_lines

        items += [(name.capitalize(), value) for name, value in source_lines(report.source)]
    body.append(about(items))
    for failure in report.source.failures if report.source is not None else ():
        body.append(f'<p class="note">{text(failure)}</p>\n')
    body.append(f'<p class="sum">{text(counted(report))}</p>\n')
    if report.note:
        body.append(f"<p>{text(report.note)}</p>\n")
    body.append("<main>\n")
    body += [_row(row, report.deployer) for row in report.rows]
    body.append("</main>\n")
    if report.names_skipped and report.rows:
        said = f"Object names were not compared: {report.names_skipped}"
        body.append(f'<p class="quiet">{text(said)}</p>\n')
    body.append("<h2>At risk (advisory)</h2>\n")
    at_risk = report.at_risk
    if not at_risk.scanned:
        body.append(f"<p>not scanned: {text(at_risk.reason)}</p>\n")
    else:
        found = [
            f"<li>{text(' '.join(f'{key}={value}' for key, value in finding.items()))}</li>\n"
            for finding in at_risk.findings
        ]
        body.append(f"<p>{len(found)} found {text(at_risk.reason)}</p>\n")
        body.append(f"<ul>\n{''.join(found)}</ul>\n" if found else "")
    return page(f"Upgrade check: {report.before}", body, style=_STYLE)


def _row(row: Row, deployer: str) -> str:
    name = (
        f"{row.component} (replaces {row.replaces})"
        if row.change == "replaced"
        else (row.component)
    )
    head = (
        f"<strong>{text(name)}</strong><span>{badge(row.verdict or row.change)}</span>"
        f'<span>{move_text(row)}</span><span class="quiet">{text(row.notes)}</span>'
    )
    inside = row_details(row, deployer) or "<p>Nothing to do.</p>\n"
    return f'<details class="row"><summary>{head}</summary>\n<div>\n{inside}</div></details>\n'
