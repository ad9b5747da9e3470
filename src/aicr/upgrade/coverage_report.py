"""How coverage is written: a table for people, Markdown for a page, values for machines."""

from __future__ import annotations

from aicr.documents.safe import cell
from aicr.upgrade.coverage import VERDICTS, Coverage, Covered, Move, Span, counted, percentage
from aicr.upgrade.model import BLOCKED, MANUAL, SAFE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.graph import WalkShare


def headline(found: Coverage) -> str:
    """The figure in one sentence."""
    moves = found.moves
    share = percentage(moves)
    between = "every pair of releases" if found.all_pairs else "one release and the next"
    if share is None:
        return f"no move between {between}"
    counts = counted(moves)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    judged = sum(counts[verdict] for verdict in (SAFE, MANUAL, BLOCKED))
    return f"{judged} of {len(moves)} moves between {between} have a verdict ({share:g}%): {said}"


def coverage_text(found: Coverage) -> str:
    """For people."""
    rows = [_HEAD, *(_row(component) for component in found.components)]
    lines = ["RECORDS COVERAGE", "", *_aligned(rows), "", "PINS AND MOVES"]
    for component in found.components:
        lines += ["", cell(component.component)]
        lines += [f"  {_pin_line(span)}" for span in component.spans]
        lines += [f"  {line}" for line in _move_lines(component.moves)]
        lines += [f"  replaces {line}" for line in _replaces(component)]
        if component.walks.pairs:
            lines.append(f"  {_walks(component.walks)}")
    lines += ["", f"whole stack: {_walks(found.walks)}", headline(found)]
    return "\n".join(lines) + "\n"


def coverage_markdown(found: Coverage) -> str:
    """For a page."""
    rows = [_HEAD, ["---"] * len(_HEAD), *(_row(component) for component in found.components)]
    lines = [f"{headline(found)}.", "", *(_markdown_row(row) for row in rows)]
    lines += ["", f"Whole stack: {_walks(found.walks)}."]
    moves = [
        [
            component.component,
            cell(m.before),
            cell(m.after),
            f"{m.release} to {m.later}",
            m.judgement.verdict,
            m.judgement.reason,
        ]
        for component in found.components
        for m in component.moves
    ]
    if moves:
        head = ["Component", "From", "To", "Releases", "Verdict", "Reason"]
        lines += ["", *(_markdown_row(row) for row in (head, ["---"] * len(head), *moves))]
    return "\n".join(lines) + "\n"


def coverage_values(found: Coverage) -> dict[str, object]:
    """JSON-ready values with stable names."""
    return {
        "releases": list(found.releases),
        "allPairs": found.all_pairs,
        "components": [_component_values(component) for component in found.components],
        "summary": {**_summary(found.moves), "walks": _walk_values(found.walks)},
    }


def _walks(found: WalkShare) -> str:
    share = found.share
    said = f" ({100 * share:.1f}%)" if share is not None else ""
    return f"whole walks between {found.walked} of {found.pairs} pairs of releases{said}"


def _walk_values(found: WalkShare) -> dict[str, object]:
    share = found.share
    return {
        "pairs": found.pairs,
        "walked": found.walked,
        "percentage": None if share is None else round(100 * share, 1),
    }


_HEAD = ["COMPONENT", "PINNED", "GATE", "MOVES", "SAFE", "MANUAL", "BLOCKED", "UNKNOWN", "SHARE"]


def _row(component: Covered) -> list[str]:
    counts = counted(component.moves)
    share = percentage(component.moves)
    unknown = len(component.moves) - sum(counts[v] for v in (SAFE, MANUAL, BLOCKED))
    return [
        cell(component.component),
        cell(", ".join(component.assessed)) or "-",
        ", ".join(dict.fromkeys(component.assessed.values())) or "-",
        str(len(component.moves)),
        *(str(counts[verdict]) for verdict in (SAFE, MANUAL, BLOCKED)),
        str(unknown),
        "-" if share is None else f"{share:g}%",
    ]


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rule = ["-" * len(title) for title in rows[0]]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in (rows[0], rule, *rows[1:])
    ]


def _pin_line(span: Span) -> str:
    where = span.first if span.first == span.last else f"{span.first} to {span.last}"
    return cell(f"{', '.join(span.versions)}  ({where})")


def _move_lines(moves: Sequence[Move]) -> list[str]:
    return [
        cell(f"{m.before} -> {m.after}  {m.judgement.verdict}")
        + ("" if m.judgement.reason == "recorded" else f" ({m.judgement.reason})")
        for m in moves
    ]


def _replaces(component: Covered) -> list[str]:
    block = component.records.replaces if component.records is not None else None
    return [] if block is None else [cell(f"{block.component}  {block.verdict}")]


def _markdown_row(row: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in row) + " |"


def _component_values(component: Covered) -> dict[str, object]:
    values: dict[str, object] = {
        "component": component.component,
        "pins": [
            {"versions": list(span.versions), "first": span.first, "last": span.last}
            for span in component.spans
        ],
        "assessed": dict(component.assessed),
        "moves": [
            {
                "from": m.before,
                "to": m.after,
                "releases": [m.release, m.later],
                "verdict": m.judgement.verdict,
                "reason": m.judgement.reason,
            }
            for m in component.moves
        ],
        "summary": {**_summary(component.moves), "walks": _walk_values(component.walks)},
    }
    block = component.records.replaces if component.records is not None else None
    if block is not None:
        values["replaces"] = {"component": block.component, "verdict": block.verdict}
    return values


def _summary(moves: Sequence[Move]) -> dict[str, object]:
    return {
        "moves": len(moves),
        "withVerdict": sum(move.has_verdict for move in moves),
        "percentage": percentage(moves),
        **counted(moves),
    }
