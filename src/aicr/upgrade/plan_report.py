"""A plan as JSON-ready values, with the stable field names that pipelines read.

Fields that do not apply are left out.
"""

from __future__ import annotations

from aicr.upgrade.match import DOWNGRADE, IDENTITY_CHANGED, NOT_COMPARABLE, RECORDED
from aicr.upgrade.model import BLOCKED
from aicr.upgrade.report import row_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.upgrade.courses import Held, PlannedHop
    from aicr.upgrade.plan import Plan, Stage

# No record can ever help here: what is missing is something else.
_NO_RECORD_HELPS = (DOWNGRADE, IDENTITY_CHANGED, NOT_COMPARABLE, RECORDED)

# What the author of a record that is missing has to find out.
QUESTIONS = (
    "Which CRDs, API versions or kinds are renamed, and who converts the objects that exist?",
    "Which defaults flip, and which of the values that are set now mean something else?",
    "Is a field changed that cannot be changed in place (a selector, a name, a storage size)?",
    "What must hold before, which steps are needed for each deployer, and how is it verified?",
    "Is there a way back, and by which steps?",
)


def plan_values(plan: Plan, recipes: Mapping[int, str] | None = None) -> dict[str, object]:
    """The whole plan; ``recipes`` are the files of the stages, by number."""
    report = plan.report
    hops = plan.hops
    values: dict[str, object] = {"from": report.before, "to": report.after}
    if report.deployer:
        values["deployer"] = report.deployer
    values["mode"] = plan.mode
    values["stages"] = [_stage(stage, (recipes or {}).get(stage.n, "")) for stage in plan.stages]
    values["held"] = [_held(one, unplanned=plan.unplanned) for one in plan.held]
    if plan.closed:
        values["noWalk"] = {
            **({"reached": plan.reached} if plan.reached else {}),
            "closed": [
                {"release": name, "component": component}
                if name
                else {"to": report.after, "component": component}
                for name, component in plan.closed
            ],
        }
    if plan.cautions:
        values["cautions"] = plan.cautions
    values["summary"] = {
        "components": len(report.rows),
        "stages": len(plan.stages),
        "hops": len(hops),
        "manual": plan.manual,
        "held": len(plan.held),
    }
    return values


def missing_record(held: Held) -> tuple[str, str] | None:
    """The move that no record describes, where one could: from which version, to which."""
    row = held.stuck
    if row.change != "version" or row.reason in _NO_RECORD_HELPS:
        return None
    return held.reached or held.change.before, held.change.after


def by_hand(held: Held) -> bool:
    """Whether the record for exactly this move blocks it and says how to make it."""
    return held.stuck.verdict == BLOCKED and held.stuck.reason == RECORDED


def _stage(stage: Stage, recipe: str) -> dict[str, object]:
    values: dict[str, object] = {"n": stage.n}
    if recipe:
        values["recipe"] = recipe
    if stage.release:
        values["release"] = stage.release
    values["reversible"] = stage.reversible
    values["shippedCombination"] = bool(stage.release)
    values["hops"] = [hop_values(hop) for hop in stage.hops]
    return values


_HOP_FIELDS = ("component", "from", "to", "change", "replaces", "verdict", "precondition", "steps",
               "reversible", "identityChanges")  # fmt: skip


def hop_values(hop: PlannedHop) -> dict[str, object]:
    """One hop, in the words of the check."""
    row = row_values(hop.row)
    values = {name: row[name] for name in _HOP_FIELDS if name in row}
    if hop.pinned_by:
        values["pinnedBy"] = hop.pinned_by
    return values


def _held(held: Held, *, unplanned: bool) -> dict[str, object]:
    stuck = row_values(held.stuck)
    missing = missing_record(held)
    fields: dict[str, object] = {
        "component": held.change.component,
        "change": held.change.change,
        "from": held.change.before,
        "to": held.change.after,
        "replaces": held.change.replaces,
        "reached": held.reached,
        "verdict": held.stuck.verdict,
        "reason": held.stuck.reason,
        "stoppedAt": held.stuck.stopped_at,
        "missingRecord": {"from": missing[0], "to": missing[1]} if missing is not None else None,
        "precondition": held.stuck.precondition if by_hand(held) else "",
        "steps": stuck.get("steps"),
        "identityChanges": stuck.get("identityChanges"),
        "explanation": held.stuck.explanation,
        "inLastStage": unplanned or None,
    }
    return {
        name: value
        for name, value in fields.items()
        if name in ("from", "to", "reason") or value not in ("", None)
    }
