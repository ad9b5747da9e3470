"""Which line of a chart a version belongs to, where a project's numbers began anew.

A record file may declare ``lines``, oldest first, each with the versions that it published.
Versions are then ordered by (line, SemVer): with ``>=2.2.0 <2.3.0`` before ``>=1.0.0 <2.0.0``,
2.2.1 comes before 1.3.1. A version that is in no line can be compared with nothing, and a range
whose bound is in no line is an error: a line that nobody described is never guessed.
"""

from __future__ import annotations

from aicr.documents.fields import Fields
from aicr.versions.intervals import Interval
from aicr.versions.ranges import Range, RangeError, parse_range
from aicr.versions.semver import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.versions.semver import Version


class Line:
    """One line of versions; ``versions`` is the range that it published."""

    __slots__ = ("name", "versions")

    def __init__(self, name: str, versions: Range) -> None:
        self.name = name
        self.versions = versions

    def __str__(self) -> str:
        return f"{self.name} ({self.versions})"


class Lines:
    """The lines of one component, oldest first. They share no version."""

    __slots__ = ("lines", "spans")

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        # What each line holds, in the order of all of them.
        self.spans = [
            _in_line(line.versions.interval, number) for number, line in enumerate(lines, 1)
        ]

    def place(self, version: Version) -> Version | None:
        """The version as one of its line; None where it is in none."""
        for number, line in enumerate(self.lines, 1):
            if line.versions.contains(version):
                return version.in_line(number)
        return None

    def version(self, text: str) -> Version | None:
        """The version that ``text`` spells; None where it spells none, or one of no line."""
        found = parse(text)
        return self.place(found) if found is not None else None

    def range(self, text: str) -> Range:
        """The range that ``text`` writes; RangeError where a bound is in no line.

        Without a lower bound it begins with the oldest line. Its interval ends where versions do,
        so that what lies between two lines is not taken for a version.
        """
        written = parse_range(text)
        bounds = [(op, self._bound(text, op, version)) for op, version in written.bounds]
        interval = Interval(
            *next(((v, op != ">") for op, v in bounds if op not in ("<", "<=")), (None, True)),
            *next(((v, op != "<") for op, v in bounds if op not in (">", ">=")), (None, True)),
        )
        return Range(text, self._clipped(interval), bounds)

    def within(self, interval: Interval) -> list[Interval]:
        """The parts of an interval that hold versions, line by line."""
        parts = [interval.intersection(span) for span in self.spans]
        return [part for part in parts if not part.is_empty()]

    def __str__(self) -> str:
        return ", then ".join(map(str, self.lines))

    def _bound(self, text: str, operator: str, version: Version) -> Version:
        placed = self.place(version)
        if placed is None and operator == "<":
            # Where a line ends is the natural end of a range in it.
            ends = (span.high for span in self.spans if not span.high_inclusive)
            placed = next(
                (high for high in ends if high is not None and _same(high, version)), None
            )
        if placed is None:
            raise RangeError(
                f"{text!r}: {version} is in none of the lines: {self}; "
                "write a bound that is a version of one, or extend the line"
            )
        return placed

    def _clipped(self, interval: Interval) -> Interval:
        low, low_inclusive = interval.low, interval.low_inclusive
        high, high_inclusive = interval.high, interval.high_inclusive
        if low is None:
            low, low_inclusive = self.spans[0].low, self.spans[0].low_inclusive
        elif not low_inclusive and low.line < len(self.spans) and self._is_last(low):
            following = self.spans[low.line]
            low, low_inclusive = following.low, following.low_inclusive
        if high is not None and not high_inclusive and high.line > 1 and self._is_first(high):
            before = self.spans[high.line - 2]
            high, high_inclusive = before.high, before.high_inclusive
        return Interval(low, low_inclusive, high, high_inclusive)

    def _is_first(self, version: Version) -> bool:
        return version.key == self.spans[version.line - 1].first.key

    def _is_last(self, version: Version) -> bool:
        return not self.spans[version.line - 1].contains(version.successor)


def read_lines(fields: Fields) -> Lines | None:
    """What a record file's ``lines`` says; None where it says nothing, or has problems."""
    items = list(fields.items("lines"))
    if not fields.has("lines"):
        return None
    before = len(fields.problems.errors)
    found: list[Line] = []
    for index, item in enumerate(items):
        line = _read_line(item, oldest=index == 0, newest=index == len(items) - 1)
        if line is None:
            continue
        if any(line.name == other.name for other in found):
            item.problem(f'"{line.name}" is there twice', "name")
        for other in found:
            if line.versions.interval.intersects(other.versions.interval):
                item.problem(
                    f'"{line.versions}" shares versions with the line {other}; '
                    "a version belongs to exactly one line",
                    "versions",
                )
        found.append(line)
    if len(items) < 2:
        fields.problem(
            "expected two or more, oldest first; leave the key out where numbers only rise", "lines"
        )
    return Lines(found) if len(fields.problems.errors) == before else None


def _read_line(item: Fields, *, oldest: bool, newest: bool) -> Line | None:
    name = item.required("name")
    text = item.required("versions")
    item.done()
    if not text:
        return None
    try:
        versions = parse_range(text)
    except RangeError as error:
        item.problem(str(error), "versions")
        return None
    interval = versions.interval
    if interval.is_empty():
        item.problem(f'"{text}": no version is inside', "versions")
        return None
    if interval.low is None and not oldest:
        item.problem(f'"{text}" has no lower bound; only the oldest line may lack it', "versions")
    if interval.high is None and not newest:
        item.problem(f'"{text}" has no upper bound; only the newest line may lack it', "versions")
    return Line(name, versions)


def _same(placed: Version, version: Version) -> bool:
    return placed.key[1:] == version.key[1:]


def _in_line(interval: Interval, number: int) -> Interval:
    low, high = interval.low, interval.high
    return Interval(
        low.in_line(number) if low is not None else None,
        interval.low_inclusive,
        high.in_line(number) if high is not None else None,
        interval.high_inclusive,
    )
