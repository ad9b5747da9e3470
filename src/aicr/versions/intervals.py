"""Which versions lie between two bounds: containment, intersection, emptiness and holes.

SemVer order has a least version (``0.0.0-0``) and every version has a successor (``1.0.0`` is
followed by ``1.0.1-0``, ``1.0.0-a`` by ``1.0.0-a.0``), so whether an interval is empty can be
told exactly: ``>1.0.0 <1.0.1`` holds ``1.0.1-rc.1``, ``>1.0.0 <1.0.1-0`` holds nothing.
"""

from __future__ import annotations

from aicr.versions.semver import LOWEST, Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Interval:
    """The versions from ``low`` to ``high``; a bound that is None is not there."""

    __slots__ = ("high", "high_inclusive", "low", "low_inclusive")

    def __init__(
        self,
        low: Version | None = None,
        low_inclusive: bool = True,
        high: Version | None = None,
        high_inclusive: bool = True,
    ) -> None:
        self.low = low
        self.low_inclusive = low_inclusive
        self.high = high
        self.high_inclusive = high_inclusive

    def contains(self, version: Version) -> bool:
        return not self.is_above(version) and not self.is_below(version)

    def is_above(self, version: Version) -> bool:
        """Whether the whole interval begins above ``version``."""
        low = self.low
        if low is None:
            return False
        return version.key < low.key or (not self.low_inclusive and version.key == low.key)

    def is_below(self, version: Version) -> bool:
        """Whether the whole interval ends below ``version``."""
        high = self.high
        if high is None:
            return False
        return version.key > high.key or (not self.high_inclusive and version.key == high.key)

    def is_empty(self) -> bool:
        """Whether no version at all lies inside."""
        return self.is_below(self.first)

    @property
    def first(self) -> Version:
        """The least version that the lower bound admits."""
        if self.low is None:
            return LOWEST
        return self.low if self.low_inclusive else self.low.successor

    def intersection(self, other: Interval) -> Interval:
        low = _higher_low(self, other)
        high = _lower_high(self, other)
        return Interval(low.low, low.low_inclusive, high.high, high.high_inclusive)

    def intersects(self, other: Interval) -> bool:
        return not self.intersection(other).is_empty()

    def holes(self, covers: Iterable[Interval]) -> list[Interval]:
        """What of this interval lies in none of ``covers``, ascending."""
        found: list[Interval] = []
        rest = self
        for cover in sorted(covers, key=lambda c: c.first.key):
            if cover.is_empty():
                continue
            if cover.low is not None:
                before = Interval(high=cover.low, high_inclusive=not cover.low_inclusive)
                gap = rest.intersection(before)
                if not gap.is_empty():
                    found.append(gap)
            if cover.high is None:
                return found
            after = Interval(low=cover.high, low_inclusive=not cover.high_inclusive)
            rest = rest.intersection(after)
            if rest.is_empty():
                return found
        if not rest.is_empty():
            found.append(rest)
        return found

    def __eq__(self, other: object) -> bool:
        """Equal bounds, which is stricter than holding equal versions."""
        return isinstance(other, Interval) and self._bounds() == other._bounds()

    def __hash__(self) -> int:
        return hash(self._bounds())

    def __str__(self) -> str:
        """The range as a record would write it; "any version" without bounds."""
        low, high = self.low, self.high
        if low is not None and low == high and self.low_inclusive and self.high_inclusive:
            return low.text
        parts = []
        if low is not None:
            parts.append((">=" if self.low_inclusive else ">") + low.text)
        if high is not None:
            parts.append(("<=" if self.high_inclusive else "<") + high.text)
        return " ".join(parts) or "any version"

    def __repr__(self) -> str:
        return f"Interval({str(self)!r})"

    def _bounds(self) -> tuple[Version | None, bool, Version | None, bool]:
        # The inclusivity of a bound that is not there means nothing.
        return (
            self.low,
            self.low is None or self.low_inclusive,
            self.high,
            self.high is None or self.high_inclusive,
        )


def _higher_low(a: Interval, b: Interval) -> Interval:
    if a.low is None or b.low is None:
        return b if a.low is None else a
    if a.low.key != b.low.key:
        return a if a.low.key > b.low.key else b
    return b if a.low_inclusive else a


def _lower_high(a: Interval, b: Interval) -> Interval:
    if a.high is None or b.high is None:
        return b if a.high is None else a
    if a.high.key != b.high.key:
        return a if a.high.key < b.high.key else b
    return b if a.high_inclusive else a
