"""The report as Markdown, for a comment on a change or a page of a runbook."""

from __future__ import annotations

import re

from aicr.documents.safe import escaped, prose
from aicr.upgrade.table import HEADERS, change_text, counted, heading, hop_text, row_cells

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.check import Report
    from aicr.upgrade.rows import Row


def markdown_text(report: Report) -> str:
    """The whole report."""
    lines = ["# Upgrade check", ""]
    about = [("From", report.before), ("To", report.after), ("Deployer", report.deployer)]
    lines += [f"- {name}: {escaped(value)}" for name, value in about if value]
    if report.source is not None:
        from aicr.upgrade.source import doubt_lines, source_lines

        said = [*source_lines(report.source), *doubt_lines(report.source)]
        lines += [f"- {name.capitalize()}: {escaped(value)}" for name, value in said]
        lines += ["", *(f"**{escaped(one)}**" for one in report.source.failures)]
    if report.note:
        lines += ["", escaped(report.note)]
    if report.rows:
        titles = [header.capitalize() for header in HEADERS]
        lines += ["", _line(titles), _line(["---"] * len(HEADERS))]
        lines += [_line([escaped(text) for text in row_cells(row)]) for row in report.rows]
    for row in report.rows:
        if row.fails_run or row.precondition:
            lines += ["", *_details(row, report.deployer)]
    if report.names_skipped:
        lines += ["", f"Object names were not compared: {escaped(report.names_skipped)}"]
    at_risk = report.at_risk
    if not at_risk.scanned:
        lines += ["", f"At risk (advisory): not scanned: {escaped(at_risk.reason)}"]
    else:
        lines += ["", f"At risk (advisory): {len(at_risk.findings)} found"]
        lines += [
            "- " + escaped(" ".join(f"{key}={value}" for key, value in finding.items()))
            for finding in at_risk.findings
        ]
    lines += ["", f"**{counted(report)}**"]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _details(row: Row, deployer: str) -> list[str]:
    lines = [f"## {escaped(heading(row))}"]
    for text in (row.summary, row.explanation):
        if text:
            lines += ["", *paragraphs(text, "")]
    if row.identity_changes:
        lines += ["", "**Moved**", ""]
        lines += [f"- {escaped(change_text(change))}" for change in row.identity_changes]
    for title, hops in (("Path", row.ways.path), ("Recorded way", row.ways.to_furthest)):
        if hops:
            lines += ["", f"**{title}**", "", *(f"1. {escaped(hop_text(hop))}" for hop in hops)]
    lines += work_lines(row, deployer)
    if row.reversible is not None:
        said = "yes" if row.reversible else "no"
        notes = f": {row.reversible_notes}" if row.reversible_notes else ""
        lines += ["", "**Reversible**", "", *paragraphs(said + notes, "")]
    if row.references:
        lines += ["", "**References**", "", *(f"- {escaped(ref)}" for ref in row.references)]
    return lines


def work_lines(row: Row, deployer: str) -> list[str]:
    """The precondition and the steps of a row."""
    lines: list[str] = []
    if row.precondition:
        lines += ["", "**Precondition**", "", *paragraphs(row.precondition, "")]
    if row.steps:
        lines += ["", f"**Steps** (deployer: {escaped(deployer)})", ""]
    for number, step in enumerate(row.steps, 1):
        lead = f"{number}. "
        indent = " " * len(lead)
        lines += [f"{lead}**{escaped(step.id)}**", "", *paragraphs(step.description, indent)]
        if step.reason:
            lines += ["", *paragraphs(f"Why: {step.reason}", indent)]
    return lines


def paragraphs(text: str, indent: str) -> list[str]:
    """The author's lines; a run of indented ones, which may be commands, as a code block."""
    lines: list[str] = []
    code: list[str] = []
    for line in [*prose(text).split("\n"), ""]:
        if line[:1] == " ":
            code.append(line)
            continue
        if code:
            fence = "`" * max(3, *(len(run) + 1 for run in _runs(code)))
            lines += [indent + fence, *(indent + kept for kept in code), indent + fence]
            code = []
        # Two blanks keep the author's line break.
        lines.append(f"{indent}{escaped(line)}  " if line else "")
    lines.pop()
    if lines and lines[-1].endswith("  "):
        lines[-1] = lines[-1][:-2]
    return lines


def _runs(lines: Sequence[str]) -> list[str]:
    return re.findall("`+", "\n".join(lines)) or [""]
