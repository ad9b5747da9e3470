"""Which starting points nobody judged: versions between two boundaries that no ``from`` takes up.

From one boundary's floor to the next, every version must be inside a ``from`` of the records at
the next boundary; else an operator who runs it is told ``undefined-origin``.
"""

from __future__ import annotations

from aicr.versions.intervals import Interval

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.model import Records, Transition
    from aicr.versions.semver import Key, Version


class Boundary:
    """A place in the order of versions with the records whose floor it is."""

    __slots__ = ("floor", "inclusive", "records")

    def __init__(self, floor: Version, inclusive: bool, records: Sequence[Transition]) -> None:
        self.floor = floor
        self.inclusive = inclusive
        self.records = records

    @property
    def beyond(self) -> Interval:
        """The versions that lie at or past the boundary."""
        return Interval(low=self.floor, low_inclusive=self.inclusive)

    def until(self, following: Boundary) -> Interval:
        """The versions past this boundary that have the following one still before them."""
        return Interval(self.floor, self.inclusive, following.floor, not following.inclusive)


class Hole:
    """Versions before a boundary that none of its records starts from."""

    __slots__ = ("boundary", "versions")

    def __init__(self, boundary: Boundary, versions: Interval) -> None:
        self.boundary = boundary
        self.versions = versions


def boundaries(transitions: Sequence[Transition]) -> list[Boundary]:
    """The boundaries of these records, ascending; ``>=F`` before ``>F``."""
    at: dict[tuple[Key, bool], list[Transition]] = {}
    for transition in transitions:
        at.setdefault((transition.floor.key, not transition.floor_inclusive), []).append(transition)
    return [
        Boundary(found[0].floor, found[0].floor_inclusive, found)
        for _, found in sorted(at.items(), key=lambda item: item[0])
    ]


def holes(records: Records, pin: Version | None) -> list[Hole]:
    """The holes before each boundary up to the pin, or before every one without a pin."""
    found: list[Hole] = []
    before: Boundary | None = None
    for boundary in boundaries(records.transitions):
        if pin is not None and not boundary.beyond.contains(pin):
            break
        if before is not None:
            covers = [t.origin.interval for t in boundary.records]
            for gap in before.until(boundary).holes(covers):
                parts = records.lines.within(gap) if records.lines is not None else [gap]
                found += [Hole(boundary, part) for part in parts]
        before = boundary
    return found
