"""What the NOTES cell of a row says: the distance, and the one thing to know."""

from __future__ import annotations

from aicr.upgrade.advice import counted, moved_fields
from aicr.upgrade.match import (
    BEYOND_RECORD_CEILING,
    DOWNGRADE,
    IDENTITY_CHANGED,
    MULTIPLE_BOUNDARIES,
    NO_BOUNDARY_CROSSED,
    NO_RECORD,
    NOT_COMPARABLE,
    RECORD_BLOCKS,
    RECORDED,
    UNDEFINED_ORIGIN,
)
from aicr.upgrade.model import BLOCKED, SAFE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.upgrade.rows import Row


def notes(row: Row) -> str:
    """The NOTES cell."""
    if row.change == "added":
        if row.outdone_by:
            return f"new component; {row.outdone_by} takes the place of {row.replaces} already"
        return "new component, nothing to do"
    if row.change == "removed":
        return "no longer in the recipe, stays installed"
    if row.change == "identity":
        return f"{moved_fields(row)} moved"
    parts = [row.jump] if row.jump else []
    if row.change == "replaced":
        parts.append(f"replaces {row.replaces}")
    parts += _gist(row)
    if row.change == "version" and row.identity_changes:
        parts.append(f"{moved_fields(row)} moved")
    return ", ".join(parts)


def _gist(row: Row) -> list[str]:
    if row.reason == RECORDED:
        found = [f"verified by {row.verified_by}"] if row.verdict == SAFE else []
        if row.verdict == BLOCKED:
            found.append("not in one go")
        if row.steps:
            found.append(counted(len(row.steps), "step", "steps"))
        if row.precondition:
            found.append("has a precondition")
        return found
    if row.ways.land_at:
        return [f"land on {row.ways.land_at} first"]
    crossed = len(row.judgement.crossed) if row.judgement is not None else 0
    gist = {
        BEYOND_RECORD_CEILING: f"no further than {row.stopped_at}",
        RECORD_BLOCKS: f"a record blocks at {row.stopped_at}",
        MULTIPLE_BOUNDARIES: f"{crossed} boundaries at once",
        UNDEFINED_ORIGIN: (
            f"records begin at {row.start_at}"
            if row.start_at
            else "no record for this starting point"
        ),
        NOT_COMPARABLE: "not comparable",
        NO_RECORD: "no record",
        NO_BOUNDARY_CROSSED: "no boundary recorded here",
        DOWNGRADE: "downgrade",
        IDENTITY_CHANGED: "",
    }[row.reason]
    return [gist] if gist else []
