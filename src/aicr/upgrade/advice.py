"""What a verdict means for the person who has to act on it: a short text for each reason.

Fixed text in our words; it decides nothing.
"""

from __future__ import annotations

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
from aicr.upgrade.model import MANUAL, SAFE
from aicr.versions.semver import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.rows import Row

_MOVE_DELIBERATELY = (
    "No record assesses such a move, and applied as it is a second copy may be installed beside "
    "the running one. Move the release deliberately, or resolve the new recipe with "
    "--inherit-from so that it keeps what is deployed. Then run the check again."
)
_WALK_THE_STEPS = (
    "Run the steps in order; apply the new bundle where they say so, or else at the end."
)


def explain(row: Row) -> str:
    """What the row's verdict rests on and what to do, in whole sentences; "" where there is
    nothing to do."""
    if row.change == "identity":
        return f"The version is the same, but {moved_fields(row)} moved. {_MOVE_DELIBERATELY}"
    if row.change == "replaced":
        return _replaced(row)
    if row.change != "version":
        return ""
    said = _REASONS[row.reason](row)
    if row.identity_changes and row.reason != IDENTITY_CHANGED:
        said += (
            f" All of this speaks of the version; {moved_fields(row)} moved as well. "
            + _MOVE_DELIBERATELY
        )
    return said


def _recorded(row: Row) -> str:
    crossed = len(row.judgement.crossed) if row.judgement is not None else 1
    held = " Make sure that the precondition holds first; nothing checks it." * bool(
        row.precondition
    )
    if row.verdict == SAFE:
        basis = (
            "One record covers this move"
            if crossed == 1
            else f"The move crosses {crossed} recorded boundaries, all safe, each within reach of "
            "the next"
        )
        return f"{basis}, verified by {row.verified_by}.{held} Apply the new bundle."
    if row.verdict == MANUAL:
        basis = (
            "One record covers this move."
            if crossed == 1
            else f"Of the {crossed} recorded boundaries that the move crosses, one needs work by "
            "hand."
        )
        return f"{basis}{held} {_WALK_THE_STEPS}"
    return (
        f"Do not make this move in one go: the record for exactly this move blocks it at "
        f"{row.stopped_at}.{held} Its steps say what to do instead; do them, then run the check "
        "again."
    )


def _replaced(row: Row) -> str:
    place = f"{row.component} takes the place of {row.replaces}"
    if row.verdict == SAFE:
        return f"{place}; recorded as safe, verified by {row.verified_by}. Apply the new bundle."
    if row.verdict == MANUAL:
        return f"{place}. {_WALK_THE_STEPS}"
    return (
        f"{place}, and its record blocks doing that in one go. Its steps say what to do instead; "
        "do them, then run the check again."
    )


def _beyond_ceiling(row: Row) -> str:
    judgement = row.judgement
    if judgement is not None and judgement.rule == 3:
        basis = (
            f"{row.before} is past every recorded boundary, and {row.after} lies above "
            f"{row.stopped_at}, the furthest that a record was assessed."
        )
    else:
        basis = f"The record for this move was assessed for {row.stopped_at}; {row.after} is above."
    return (
        f"{basis} Go no further than that, or widen the record with evidence for {row.after}."
        + _go_on(row, otherwise="")
    )


def _record_blocks(row: Row) -> str:
    judgement = row.judgement
    others = len(judgement.crossed) - 1 if judgement is not None else 0
    if others:
        why = f"but this move crosses {counted(others, 'more boundary', 'more boundaries')}"
    else:
        record = judgement.record if judgement is not None else None
        start = record.origin.text if record is not None else ""
        why = f"but for moves that start inside {start}, not from {row.before}"
    return (
        f"A record blocks at {row.stopped_at}, {why}. Its steps belong to another move and are not "
        "shown." + _go_on(row)
    )


def _multiple(row: Row) -> str:
    crossed = row.judgement.crossed if row.judgement is not None else ()
    listed = ", ".join(t.to.text for t in crossed)
    return (
        f"The move crosses {len(crossed)} recorded boundaries at once ({listed}), and no single "
        "record describes it, so no steps are shown." + _go_on(row)
    )


def _undefined_origin(row: Row) -> str:
    record = row.judgement.record if row.judgement is not None else None
    start = record.origin.text if record is not None else ""
    basis = (
        f"The boundary {row.stopped_at} is in the way; its record is for moves that start inside "
        f"{start}, and {row.before} is outside. Its steps belong to another move and are not shown."
    )
    if row.start_at:
        return basis + _go_on(
            row,
            otherwise=f" Records begin at {row.start_at}, and none judges the way there: read the "
            "release notes for it, upgrade to a version inside it, then run the check again.",
        )
    return basis + _go_on(
        row, otherwise=f" A record must be authored for moves that start at {row.before}."
    )


def _go_on(row: Row, otherwise: str | None = None) -> str:
    """Where to go first, or how far the records lead and what is missing."""
    ways = row.ways
    if ways.path:
        then = "".join(f", then on {hop.to}" for hop in ways.path[1:-1])
        return (
            f" Land on {ways.land_at} first{then}, then go on to {row.after}; run the check again "
            "after each. aicr upgrade-plan lays out the way."
            + _unpinned([(hop.to, hop.release) for hop in ways.path[:-1]])
        )
    stops = [(hop.to, hop.release) for hop in ways.to_furthest]
    if ways.land_at:
        then = "".join(f", then on {hop.to}" for hop in ways.to_furthest[1:])
        return (
            f" Land on {ways.land_at} first{then}; from {ways.furthest} a record's steps say how "
            f"to go on to {row.after} by hand. Run the check again after each." + _unpinned(stops)
        )
    if ways.furthest:
        return (
            f" Records lead no further than {ways.furthest}. Missing is a record whose from "
            f"contains {ways.furthest} and whose to leads on towards {row.after}."
            + _unpinned(stops)
        )
    if ways.by_hand:
        return (
            f" The move to {ways.by_hand} is blocked by a record that has steps for it: run the "
            f"check for a recipe that pins {ways.by_hand} to read them."
        )
    if otherwise is not None:
        return otherwise
    return (
        f" Nothing recorded leads on from {row.before}. Missing is a record whose from contains "
        f"{row.before} and whose to ends before the next boundary."
    )


def _unpinned(stops: Sequence[tuple[str, str]]) -> str:
    unknown = [stop for stop, release in stops if not release]
    if not unknown:
        return ""
    listed = " and ".join([", ".join(unknown[:-1]), unknown[-1]] if unknown[1:] else unknown)
    those = ("they were", "them") if unknown[1:] else ("it was", "it")
    return (
        f" No release pins {listed}: check that {those[0]} published before you plan with "
        f"{those[1]}."
    )


def _not_comparable(row: Row) -> str:
    odd = [f'"{v}"' if v else "no version" for v in (row.before, row.after) if parse(v) is None]
    if not odd:
        return (
            f"{row.before} and {row.after} cannot be compared: the component's records declare "
            "which lines its versions belong to, and one of these is in none. Pin a version of a "
            "line, or describe the line that is missing; until then read the release notes."
        )
    verb = "is" if len(odd) == 1 else "are"
    if not row.before:
        return (
            f"{' and '.join(odd)} {verb} not comparable. A version that is not there is, in a "
            "cluster, a release that is pending, failed or unreadable: finish it or roll it back. "
            "In a recipe, pin something comparable. Then run the check again; until then read the "
            "release notes."
        )
    return (
        f"{' and '.join(odd)} {verb} not comparable: a version such as 1.2.3 was expected. Pin "
        "something comparable on both sides and run the check again; until then read the release "
        "notes."
    )


def _no_record(row: Row) -> str:
    return (
        "No record assesses this component, which does not mean that the move is safe. Read its "
        f"release notes from {row.before} to {row.after} and decide; author the first record, so "
        "that the next operator need not repeat the work."
    )


def _no_boundary(row: Row) -> str:
    if row.jump in ("", "build"):
        return (
            f"{row.before} and {row.after} are different builds or spellings of one version, which "
            "records cannot tell apart. Find out what changed, or pin the version that is deployed."
        )
    return (
        f"This component has records, but no boundary between {row.before} and {row.after}. Read "
        "the release notes and decide whether a boundary belongs there; if so, record it."
    )


def _downgrade(row: Row) -> str:
    return (
        f"This goes back from {row.before} to {row.after}. Records describe the way up only, so no "
        "record can ever make it known. Read the component's own guidance for downgrades: undoing "
        "a migration is rarely the same work as doing it. --fail-on-error=false reports without "
        "failing, where the risk is accepted on purpose."
    )


def _identity_changed(row: Row) -> str:
    crossed = row.judgement.crossed if row.judgement is not None else ()
    by = "; ".join(dict.fromkeys(t.verified_by for t in crossed))
    return (
        f"The version move alone is recorded as safe (verified by {by}), but "
        f"{moved_fields(row)} moved as well. {_MOVE_DELIBERATELY}"
    )


_REASONS = {
    RECORDED: _recorded,
    BEYOND_RECORD_CEILING: _beyond_ceiling,
    RECORD_BLOCKS: _record_blocks,
    MULTIPLE_BOUNDARIES: _multiple,
    UNDEFINED_ORIGIN: _undefined_origin,
    NOT_COMPARABLE: _not_comparable,
    NO_RECORD: _no_record,
    NO_BOUNDARY_CROSSED: _no_boundary,
    DOWNGRADE: _downgrade,
    IDENTITY_CHANGED: _identity_changed,
}


def moved_fields(row: Row) -> str:
    """The identity fields that moved, as a list."""
    return ", ".join(change.field for change in row.identity_changes)


def counted(number: int, one: str, many: str) -> str:
    """A number and what it counts."""
    return f"{number} {one if number == 1 else many}"
