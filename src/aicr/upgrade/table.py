"""The report for people at a terminal: the table, and a block of details for each row that needs
attention."""

from __future__ import annotations

from aicr.documents.safe import cell
from aicr.upgrade.step_lines import step_lines
from aicr.upgrade.wrap import wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.check import Report
    from aicr.upgrade.inventory import IdentityChange
    from aicr.upgrade.path import Hop
    from aicr.upgrade.rows import Row

HEADERS = ("COMPONENT", "FROM", "TO", "VERDICT", "NOTES")


def table_text(report: Report) -> str:
    """The whole report as text."""
    lines = ["UPGRADE CHECK"]
    about = [("from", report.before), ("to", report.after), ("deployer", report.deployer)]
    lines += [f"  {name:<10}{cell(value)}" for name, value in about if value]
    if report.source is not None:
        from aicr.upgrade.source import doubt_lines, source_lines

        lines += ["", "READ FROM THE CLUSTER"]
        said = [*source_lines(report.source), *doubt_lines(report.source)]
        lines += [f"  {name:<12}{cell(value)}" for name, value in said]
        for failure in report.source.failures:
            lines += wrapped(failure, "    ", first="  ! ")
    if report.note:
        lines += ["", *wrapped(report.note, "  ")]
    if report.rows:
        lines += ["", *_table(report.rows)]
    for row in report.rows:
        if row.fails_run or row.precondition:
            lines += ["", *_details(row, report.deployer)]
    if report.names_skipped:
        skipped = cell(report.names_skipped)
        lines += ["", *wrapped(f"object names were not compared: {skipped}", "  ")]
    lines += ["", "AT RISK (advisory)", *_at_risk(report)]
    lines += ["", counted(report)]
    return "\n".join(lines) + "\n"


def counted(report: Report) -> str:
    """The last line: how much changed and how much of it needs attention."""
    changes, failing = len(report.rows), report.failing
    if not changes:
        return "no component changes"
    many = "component change" if changes == 1 else "component changes"
    return f"{changes} {many}, {failing} {'needs' if failing == 1 else 'need'} attention"


def row_cells(row: Row) -> tuple[str, str, str, str, str]:
    """What the table shows of a row."""
    before, after = row.before, row.after
    if row.change == "identity":
        before = ", ".join(f"{c.field}={_value(c.before)}" for c in row.identity_changes)
        after = ", ".join(f"{c.field}={_value(c.after)}" for c in row.identity_changes)
    return (
        cell(row.component),
        cell(before) or "-",
        cell(after) or "-",
        row.verdict or "-",
        cell(row.notes),
    )


def heading(row: Row) -> str:
    """The first line of a row's details."""
    name = f"{row.component} (replaces {row.replaces})" if row.replaces else row.component
    move = f"{row.before or '-'} -> {row.after or '-'}"
    if row.change == "identity":
        move = f"{row.after or '-'}, moved"
    return cell(f"{name} {move}  ({row.verdict})")


def change_text(change: IdentityChange) -> str:
    return f"{change.field}: {_value(change.before)} -> {_value(change.after)}"


def hop_text(hop: Hop) -> str:
    """One hop of a path: where to land, and what it takes."""
    verdict = hop.judgement.verdict
    pinned = f", pinned by {hop.release}" if hop.release else ""
    return f"{hop.to} ({verdict}{pinned})"


def _table(rows: Sequence[Row]) -> list[str]:
    cells = [HEADERS, tuple("-" * len(name) for name in HEADERS), *map(row_cells, rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEADERS))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]


def _details(row: Row, deployer: str) -> list[str]:
    blocks: list[list[str]] = []
    for text in (row.summary, row.explanation):
        if text:
            blocks.append(wrapped(text, "  "))
    if row.identity_changes:
        moved = [line for c in row.identity_changes for line in wrapped(change_text(c), "    ")]
        blocks.append(["  MOVED", *moved])
    ways = row.ways
    for title, hops in (("PATH", ways.path), ("RECORDED WAY", ways.to_furthest)):
        if hops:
            blocks.append([f"  {title}", *(f"    {cell(hop_text(hop))}" for hop in hops)])
    if row.precondition:
        blocks.append(["  PRECONDITION", *wrapped(row.precondition, "    ")])
    if row.steps:
        blocks.append(step_lines(row.steps, deployer))
    if row.reversible is not None:
        said = "yes" if row.reversible else "no"
        if row.reversible_notes:
            said += f": {row.reversible_notes}"
        blocks.append(["  REVERSIBLE", *wrapped(said, "    ")])
    if row.references:
        blocks.append(["  REFERENCES", *(f"    {cell(ref)}" for ref in row.references)])
    lines = [heading(row)]
    for index, block in enumerate(blocks):
        lines += [""] * (index > 0) + block
    return lines


def _at_risk(report: Report) -> list[str]:
    at_risk = report.at_risk
    if not at_risk.scanned:
        return wrapped(f"not scanned: {at_risk.reason}", "  ")
    found = [
        "    " + cell(" ".join(f"{key}={value}" for key, value in finding.items()))
        for finding in at_risk.findings
    ]
    if not found:
        return wrapped(at_risk.reason or "nothing found", "  ")
    return [f"  {len(found)} found", *found]


def _value(text: str | None) -> str:
    if text is None:
        return "(none)"
    return text or "(empty)"
