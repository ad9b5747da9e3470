"""The linter's rules about ranges, told once more and slowly, over single versions.

Every region that bounds cut out of the order of versions holds a bound, the successor of one, or
the least version: so each rule is tried on those, with no algebra of intervals.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from aicr.versions.semver import Version, parse
from upgrade_oracle import Bound, Record, bounds, ceiling, floor


@lru_cache(maxsize=4096)
def _read(text: str) -> list[Bound]:
    return bounds(text)


def inside(text: str, version: Version) -> bool:
    """Whether a version satisfies every comparator of a range."""
    for operator, bound in _read(text):
        if operator in ("", "=") and version != bound:
            return False
        if (operator == ">" and version <= bound) or (operator == ">=" and version < bound):
            return False
        if (operator == "<" and version >= bound) or (operator == "<=" and version > bound):
            return False
    return True


def probes(*ranges: str) -> list[Version]:
    """Versions of which at least one is in every region between the bounds of these ranges."""
    found = [Version(0, 0, 0, (0,))]
    for text in ranges:
        for _, bound in _read(text):
            found += [bound, bound.successor]
    return found


def past(record: Record, version: Version) -> bool:
    """Whether a version lies at or beyond the record's boundary."""
    at, inclusive = floor(record)
    return version >= at if inclusive else version > at


def broken(
    records: list[Record], pins: list[str], allowed: list[str]
) -> set[tuple[str, tuple[str, bool] | int]]:
    """What these records break: (rule, the record's index, or the boundary it is about)."""
    every = probes(*(text for r in records for text in r[:2]), *allowed, *pins)
    known = [v for text in pins if (v := parse(text)) is not None]
    pin = max(known) if known else None
    found: set[tuple[str, tuple[str, bool] | int]] = set()
    for index, record in enumerate(records):
        origin, to, verdict = record
        if any(not any(inside(text, v) for v in every) for text in (origin, to)):
            found.add(("unsatisfiable", index))
        if any(inside(origin, v) and past(record, v) for v in every):
            found.add(("forward-only", index))
        if verdict == "safe" and pin is not None and ceiling(record)[0] > pin:
            found.add(("ceiling", index))
        for other in records[:index]:
            if floor(other) == floor(record) and any(
                inside(origin, v) and inside(other[0], v) for v in every
            ):
                found.add(("same-floor", name(record)))
    floors = sorted({floor(r) for r in records}, key=lambda f: (f[0], not f[1]))
    for before, after in pairwise(floors):
        first = next(r for r in records if floor(r) == before)
        second = next(r for r in records if floor(r) == after)
        if pin is not None and not past(second, pin):
            continue
        starts = [r[0] for r in records if floor(r) == after]
        if any(
            past(first, v)
            and not past(second, v)
            and not any(inside(text, v) for text in starts + allowed)
            for v in every
        ):
            found.add(("hole", name(second)))
    return found


def uncovered(records: list[Record], pins: list[str], allowed: list[str]) -> set[str]:
    """The pins that neither a record nor the allowlist speaks of."""
    return {
        pin
        for pin in pins
        if (version := parse(pin)) is not None
        and not any(inside(text, version) for text in [r[1] for r in records] + allowed)
    }


def name(record: Record) -> tuple[str, bool]:
    """A boundary, so that two spellings of one are the same."""
    at, inclusive = floor(record)
    return repr(at.key), inclusive
