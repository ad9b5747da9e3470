"""What a person does about a check, in order: what stops the move, then the work by hand, then the
bundle. Rows that call for the same are one item, so that a hundred of them can be read at a glance.
"""

from __future__ import annotations

from aicr.upgrade.advice import moved_fields
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
from aicr.upgrade.page import badge, text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aicr.upgrade.rows import Row

_LAND = ("land on {} first, then check again", "the version named")
_BEGIN = ("records begin at {}: read the notes for the way there", "the range named")
_WAY = ("nothing recorded leads past {}: a record is missing", "the range named")
# What to do, and what to call that in which rows differ. A missing record is named in the row.
_STOPS = {
    RECORDED: ("not in one go; the steps say how", ""),
    BEYOND_RECORD_CEILING: ("go no further than {}: beyond it nobody has looked", "what is named"),
    RECORD_BLOCKS: _WAY,
    MULTIPLE_BOUNDARIES: _WAY,
    UNDEFINED_ORIGIN: ("no record for the version that runs: one has to be written", ""),
    NOT_COMPARABLE: ("pin a version that can be compared, then check again", ""),
    NO_RECORD: ("no record: read the release notes and decide", ""),
    NO_BOUNDARY_CROSSED: ("records are silent here: read the release notes and decide", ""),
    DOWNGRADE: ("a way back is in no record: review it by hand", ""),
    IDENTITY_CHANGED: (
        "{} moved: move it deliberately, or keep it with --inherit-from",
        "what is named",
    ),
}


def stopping(rows: Iterable[Row]) -> list[Row]:
    """Those that stop the move; work by hand is not one of them."""
    return [row for row in rows if row.fails_run and row.verdict != "manual"]


def todo(rows: Sequence[Row], places: Mapping[str, str]) -> str:
    """The list, from rows in their order; ``places`` are the ids of what the items lead to."""
    items = _stops(stopping(rows), places)
    if items:
        items.append("<li>Check again: only what is left then can be applied together.</li>\n")
    for row in rows:
        if row.verdict == "manual":
            first = "check its precondition, then " if row.precondition else ""
            count = len(row.steps)
            steps = f"run {'its step' if count == 1 else f'its {count} steps'}" if count else "work"
            items.append(_item(row, f"{_link(row, places)}: {text(first + steps)}"))
    items.append("<li>Apply the new bundle, where a step has not done so already.</li>\n")
    left = [row.component for row in rows if row.change == "removed"]
    if left:
        said = f"{', '.join(left)}: no longer in the recipe, and still installed"
        items.append(f"<li>{text(said)}; removing is up to you.</li>\n")
    return f'<ol class="todo">\n{"".join(items)}</ol>\n'


def _stops(rows: Iterable[Row], places: Mapping[str, str]) -> list[str]:
    alike: dict[tuple[str, str, str], list[tuple[Row, str]]] = {}
    for row in rows:
        said, each, own = _stop(row)
        alike.setdefault((row.verdict, said, each), []).append((row, own))
    items: list[str] = []
    for (_, said, each), found in alike.items():
        row, own = found[0]
        if len(found) == 1:
            more = _moved_too(row)
            one = said.format(own) + (f" ({more})" if more else "")
            items.append(_item(row, f"{_link(row, places)}: {text(one)}"))
            continue
        names = ",\n".join(_named(row, own, places) for row, own in found)
        all_of = f'{text(said.format(each))} <span class="quiet">({len(found)})</span>'
        items.append(_item(row, f'{all_of} <span class="all">{names}</span>'))
    return items


def _stop(row: Row) -> tuple[str, str, str]:
    """What is to be done about a row, what several of them call their difference, and this one's
    own, "" where there is none."""
    if row.ways.land_at:
        return *_LAND, row.ways.land_at
    if row.reason == UNDEFINED_ORIGIN and row.start_at:
        return *_BEGIN, row.start_at
    said, each = _STOPS[row.reason]
    own = moved_fields(row) if row.reason == IDENTITY_CHANGED else row.stopped_at
    return said, each, own if each else ""


def _moved_too(row: Row) -> str:
    if not row.identity_changes or row.reason == IDENTITY_CHANGED:
        return ""
    return f"{moved_fields(row)} moved as well"


def _named(row: Row, own: str, places: Mapping[str, str]) -> str:
    shown = "; ".join(one for one in (own, _moved_too(row)) if one)
    more = f' <span class="quiet">({text(shown)})</span>' if shown else ""
    return f'<span class="one">{_link(row, places)}{more}</span>'


def _link(row: Row, places: Mapping[str, str]) -> str:
    return f'<a href="#{places[row.component]}">{text(row.component)}</a>'


def _item(row: Row, markup: str) -> str:
    return f"<li>{badge(row.verdict)} {markup}</li>\n"
