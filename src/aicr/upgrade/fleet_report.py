"""A fleet's answer as JSON-ready values, and as CSV.

Each cluster's report is, by itself, what ``aicr upgrade-check`` says for that cluster alone.
"""

from __future__ import annotations

from aicr.documents.safe import cell
from aicr.upgrade.report import change_values, report_values, row_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from aicr.upgrade.fleet import ClusterReport, Fleet, Move
    from aicr.upgrade.rows import Row

# What a spreadsheet would take for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "|", "%")

CSV_HEAD = ("cluster", "deployer", "component", "change", "from", "to", "verdict", "reason",
            "notes", "failsRun", "error")  # fmt: skip


def fleet_values(fleet: Fleet) -> dict[str, object]:
    """The whole answer."""
    values: dict[str, object] = {}
    if fleet.to:
        values["to"] = fleet.to
    known: dict[int, dict[str, object]] = {}

    def shared(row: Row) -> dict[str, object]:
        # Equal rows are one object, and stay one here: a fleet has few distinct moves.
        found = known.get(id(row))
        if found is None:
            found = known[id(row)] = row_values(row)
        return found

    values["clusters"] = [_cluster(one, shared) for one in fleet.shown]
    values["moves"] = [_move(move) for move in fleet.moves()]
    if fleet.group_by:
        values["groups"] = [
            {
                "label": fleet.group_by,
                "value": value,
                "clusters": [one.name for one in group],
                "failing": sum(one.failing for one in group),
                "unreadable": sum(one.error is not None for one in group),
            }
            for value, group in fleet.groups()
        ]
    values["summary"] = {
        "clusters": len(fleet.clusters),
        "failing": fleet.failing,
        "unreadable": len(fleet.unread),
    }
    return values


def _cluster(one: ClusterReport, shared: Callable[[Row], dict[str, object]]) -> dict[str, object]:
    values: dict[str, object] = {"name": one.name, "from": one.entry.before}
    if one.entry.after:
        values["to"] = one.entry.after
    if one.deployer:
        values["deployer"] = one.deployer
    if one.entry.labels:
        values["labels"] = dict(one.entry.labels)
    if one.report is not None:
        values["report"] = report_values(one.report, shared)
    if one.error is not None:
        error: dict[str, object] = {"code": one.error.code, "message": one.error.message}
        if one.error.hint:
            error["hint"] = one.error.hint
        values["error"] = error
    return values


def _move(move: Move) -> dict[str, object]:
    row = move.row
    fields: dict[str, object] = {
        "component": row.component,
        "change": row.change,
        "from": row.before,
        "to": row.after,
        "replaces": row.replaces if row.change == "replaced" else "",
        "identityChanges": [change_values(change) for change in row.identity_changes],
        "deployer": move.deployer,
        "verdict": row.verdict,
        "reason": row.reason,
        "clusters": list(move.clusters),
    }
    return {name: value for name, value in fields.items() if value not in ("", [])}


def fleet_csv(fleet: Fleet) -> str:
    """One line for each changed component of each cluster, and for what could not be read."""
    import csv
    import io

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    for one in fleet.shown:
        if one.error is not None:
            writer.writerow(_safe((one.name, one.deployer, *[""] * 8, one.unread_because)))
        elif not one.rows:
            writer.writerow(_safe((one.name, one.deployer, *[""] * 9)))
        for row in one.rows:
            writer.writerow(
                _safe(
                    (
                        one.name, one.deployer, row.component, row.change, row.before, row.after,
                        row.verdict, row.reason, row.notes, "true" if row.fails_run else "false",
                        "",
                    )
                )
            )  # fmt: skip
    return out.getvalue()


def _safe(texts: Iterable[str]) -> list[str]:
    """Cells that a spreadsheet shows as they are; one that it would run begins with a quote."""
    shown = [cell(text) for text in texts]
    return [f"'{text}" if text.lstrip().startswith(_FORMULA) else text for text in shown]
