"""Whether every pinned version was assessed, and whether a change since a base revision keeps that.

A pin needs a record whose ``to`` contains it, or an entry of the allowlist. Against a base
revision a pin that moved needs the record itself, and no record goes while its component stays.
"""

from __future__ import annotations

from aicr.upgrade.violations import Violation
from aicr.versions.ranges import RangeError
from aicr.versions.semver import same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aicr.upgrade.allowlist import Allowed
    from aicr.upgrade.holes import Hole
    from aicr.upgrade.model import Records, Replacement, Transition
    from aicr.upgrade.pins import Pin
    from aicr.versions.intervals import Interval


def recorded(records: Records, pin: str) -> bool:
    """Whether some record was assessed for this pin."""
    version = records.version(pin)
    return version is not None and any(t.to.contains(version) for t in records.transitions)


def unassessed(
    pins: Iterable[Pin], records: Records, allowed: Iterable[Allowed], before: Sequence[str] | None
) -> list[Violation]:
    """The pins of a component that nobody assessed.

    ``before`` are its pins in the base revision, None where there is none to compare with: a pin
    that is not among them moved, and a moved one cannot be excused.
    """
    found = []
    for pin in pins:
        if recorded(records, pin.text):
            continue
        if before and not any(same(pin.text, old) for old in before):
            found.append(
                Violation(
                    pin.file,
                    pin.line,
                    "moved-pin",
                    f"{pin.component} moved from {', '.join(before)} to {pin.text}, and none of "
                    "its records has a to that contains it",
                    _author(pin, before[-1], records),
                )
            )
        elif not any(entry.covers(pin.text, records) for entry in allowed):
            found.append(
                Violation(
                    pin.file,
                    pin.line,
                    "coverage",
                    f"{pin.component} is pinned at {pin.text}, and none of its records has a to "
                    "that contains it",
                    _author(pin, "", records)
                    + ", or allow it with a reason in records-allowlist.yaml",
                )
            )
    return found


def _author(pin: Pin, source: str, records: Records) -> str:
    if records.version(pin.text) is None:
        return f"pin a version that its records can compare (found {pin.text!r})"
    start = source or "VERSION"
    return f"author one (aicr records new {pin.component} --from {start} --to {pin.text})"


def unneeded(
    allowed: Iterable[Allowed], pins: Sequence[Pin], records: Records, holes: Sequence[Hole]
) -> list[Violation]:
    """The entries of a component that close no gap any more."""
    found = []
    for entry in allowed:
        if not entry.own:
            continue
        for_pin = any(
            entry.covers(pin.text, records) and not recorded(records, pin.text) for pin in pins
        )
        interval = entry.interval
        for_hole = interval is not None and any(h.versions.intersects(interval) for h in holes)
        if not for_pin and not for_hole:
            found.append(
                Violation(
                    entry.file,
                    entry.line,
                    "allowlist",
                    f'the entry for {entry.component} "{entry.versions}" is no longer needed: '
                    "every pin in it has a record, and no hole is in it",
                    "remove it",
                )
            )
    return found


def vanished(
    component: str, before: Records, after: Records | None, place: tuple[str, int]
) -> list[Violation]:
    """The records of the base revision that nothing took the place of.

    A record lives on in each one whose from and to meet its own: bounds may be corrected, records
    split or joined. ``place`` is where the component itself stands.
    """
    file, line = place
    if after is not None and after.file:
        file, line = after.file, 0
    found = [
        Violation(
            file,
            line,
            "vanished-record",
            f'the record of {component} from "{old.origin}" to "{old.to}" ({old.verdict}) was '
            "there in the base revision and is gone",
            "put it back, or correct it in place",
        )
        for old in before.transitions
        if after is None or not _lives_on(old, after)
    ]
    block: Replacement | None = after.replaces if after is not None else None
    if before.replaces is not None:
        name = before.replaces.component
        if block is None or block.component != name:
            found.append(
                Violation(
                    file,
                    line,
                    "vanished-record",
                    f"what {component} says of replacing {name} was there in the base revision and "
                    "is gone",
                    "put it back, or correct it in place",
                )
            )
    return found


def _lives_on(old: Transition, after: Records) -> bool:
    try:
        # Read in the order that the component has now: lines may have been declared since.
        origin, to = after.range(old.origin.text).interval, after.range(old.to.text).interval
    except RangeError:
        return False
    return any(
        _meet(new.origin.interval, origin) and _meet(new.to.interval, to)
        for new in after.transitions
    )


def _meet(new: Interval, old: Interval) -> bool:
    return new.intersects(old) or new == old
