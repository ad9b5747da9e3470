"""Which rules a component's loaded records break, beyond what loading itself demands.

The upgrade check runs on records that break them; only the linter refuses them.
"""

from __future__ import annotations

from aicr.upgrade.holes import boundaries
from aicr.upgrade.model import SAFE
from aicr.upgrade.violations import Violation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from aicr.upgrade.holes import Hole
    from aicr.upgrade.model import Records, Transition
    from aicr.versions.intervals import Interval
    from aicr.versions.semver import Version


def unsatisfiable(records: Records) -> list[Violation]:
    """Ranges that no version can satisfy."""
    return [
        Violation(
            t.file,
            t.line_of(key),
            "unsatisfiable",
            f'{key} "{written.text}" holds no version',
            "write the lower bound below the upper one",
        )
        for t in records.transitions
        for key, written in (("from", t.origin), ("to", t.to))
        if written.interval.is_empty()
    ]


def backward(records: Records) -> list[Violation]:
    """Records whose ``from`` reaches their own boundary or lies past it."""
    found = []
    for boundary in boundaries(records.transitions):
        for t in boundary.records:
            if t.origin.interval.intersects(boundary.beyond):
                found.append(
                    Violation(
                        t.file,
                        t.line_of("from"),
                        "forward-only",
                        f'from "{t.origin}" has versions at or past the boundary of "{t.to}", '
                        "so it describes a move that does not cross it",
                        f'end it with "{"<" if boundary.inclusive else "<="}{boundary.floor}"',
                    )
                )
    return found


def overlapping(records: Records) -> list[Violation]:
    """Records of one boundary that judge the same starting point."""
    found = []
    for boundary in boundaries(records.transitions):
        widest: Transition | None = None
        for t in sorted(boundary.records, key=lambda t: t.origin.interval.first.key):
            if t.origin.interval.is_empty():
                continue
            if widest is not None and t.origin.interval.intersects(widest.origin.interval):
                first, second = sorted((widest, t), key=lambda t: t.line)
                found.append(
                    Violation(
                        second.file,
                        second.line_of("from"),
                        "same-floor",
                        f'from "{second.origin}" overlaps "{first.origin}" on line '
                        f"{first.line_of('from')}, and both lead over the boundary of "
                        f'"{first.to}"',
                        "write from ranges that share no version, or make it one record",
                    )
                )
            if widest is None or _ends_higher(t.origin.interval, widest.origin.interval):
                widest = t
    return found


def high_ceilings(records: Records, pin: Version | None) -> list[Violation]:
    """Safe records that claim more than the catalog runs; without a pin nothing can be said."""
    if pin is None:
        return []
    found = []
    for t in records.transitions:
        if t.verdict != SAFE or t.ceiling.key <= pin.key:
            continue
        low = (">=" if t.floor_inclusive else ">") + str(t.floor)
        reachable = t.floor.key <= pin.key if t.floor_inclusive else t.floor.key < pin.key
        found.append(
            Violation(
                t.file,
                t.line_of("to"),
                "ceiling",
                f'"{t.to}" is safe up to {t.ceiling}, above {pin}, the highest version that the '
                "catalog pins: nobody has run it",
                f'write "{low} <={pin}"' if reachable else "record it when the pin gets there",
            )
        )
    return found


def holes_open(found: Iterable[Hole], allowed: Iterable[Interval]) -> list[Violation]:
    """What of these holes the allowlist leaves open."""
    excused = list(allowed)
    violations = []
    for hole in found:
        for rest in hole.versions.holes(excused):
            at = hole.boundary.records[0]
            violations.append(
                Violation(
                    at.file,
                    at.line_of("from"),
                    "hole",
                    f'nothing starts from {rest}: the boundary of "{at.to}" has records for '
                    f"{' and for '.join(repr(t.origin.text) for t in hole.boundary.records)} only",
                    "widen a from, add a record that starts there, or allow the range with a "
                    "reason in records-allowlist.yaml",
                )
            )
    return violations


def _ends_higher(one: Interval, other: Interval) -> bool:
    if one.high is None or other.high is None:
        return one.high is None
    return (one.high.key, one.high_inclusive) > (other.high.key, other.high_inclusive)
