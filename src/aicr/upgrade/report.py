"""The report as JSON-ready values, with the stable field names that pipelines read.

Fields that do not apply are left out; ``notes``, ``breaking``, ``downgrade`` and ``failsRun`` are
always there.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from aicr.upgrade.check import AtRisk, Report
    from aicr.upgrade.inventory import IdentityChange
    from aicr.upgrade.model import Step
    from aicr.upgrade.rows import Row


def report_values(
    report: Report, one_row: Callable[[Row], dict[str, object]] | None = None
) -> dict[str, object]:
    """The whole report; ``one_row`` gives the values of a row where many reports share them."""
    values: dict[str, object] = {"from": report.before, "to": report.after}
    if report.deployer:
        values["deployer"] = report.deployer
    if report.source is not None:
        from aicr.upgrade.source import source_values

        values["source"] = source_values(report.source)
    values["objectNamesCompared"] = report.names_compared
    if report.names_skipped:
        values["objectNamesSkipped"] = report.names_skipped
    values["components"] = [(one_row or row_values)(row) for row in report.rows]
    values["atRisk"] = _at_risk(report.at_risk)
    values["summary"] = {"components": len(report.rows), "failing": report.failing}
    return values


def row_values(row: Row) -> dict[str, object]:
    """One row."""
    ways = row.ways
    fields: dict[str, object] = {
        "component": row.component,
        "change": row.change,
        "from": row.before,
        "to": row.after,
        "replaces": row.replaces if row.change == "replaced" else "",
        "verdict": row.verdict,
        "notes": row.notes,
        "reason": row.reason,
        "explanation": row.explanation,
        "jump": row.jump,
        "covers": row.covers,
        "breaking": row.breaking,
        "downgrade": row.downgrade,
        "stoppedAt": row.stopped_at,
        "startAt": row.start_at,
        "landAt": ways.land_at,
        "path": [hop.to for hop in ways.path],
        "furthest": ways.furthest,
        "summary": row.summary,
        "precondition": row.precondition,
        "reversible": row.reversible,
        "reversibleNotes": row.reversible_notes,
        "verifiedBy": row.verified_by,
        "steps": [_step(step) for step in row.steps],
        "references": list(row.references),
        "identityChanges": [change_values(change) for change in row.identity_changes],
        "failsRun": row.fails_run,
    }
    return {
        name: value
        for name, value in fields.items()
        if name == "notes" or value not in ("", None, [])
    }


def _step(step: Step) -> dict[str, object]:
    values: dict[str, object] = {"id": step.id, "description": step.description}
    if step.reason:
        values["reason"] = step.reason
    return values


def change_values(change: IdentityChange) -> dict[str, object]:
    values: dict[str, object] = {"field": change.field}
    if change.before is not None:
        values["from"] = change.before
    if change.after is not None:
        values["to"] = change.after
    return values


def _at_risk(at_risk: AtRisk) -> dict[str, object]:
    values: dict[str, object] = {"scanned": at_risk.scanned}
    if at_risk.reason:
        values["reason"] = at_risk.reason
    values["kinds"] = list(at_risk.kinds)
    values["findings"] = [dict(finding) for finding in at_risk.findings]
    return values
