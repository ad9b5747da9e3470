"""Intervals: the algebra against brute force over a grid of versions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aicr.versions.intervals import Interval
from aicr.versions.ranges import parse_range
from aicr.versions.semver import LOWEST, Version
from version_strategies import bounds, version

intervals = st.builds(
    Interval,
    st.one_of(st.none(), bounds),
    st.booleans(),
    st.one_of(st.none(), bounds),
    st.booleans(),
)


def inside(interval: Interval, v: Version) -> bool:
    """Containment, said as comparisons."""
    low, high = interval.low, interval.high
    above = low is None or (v >= low if interval.low_inclusive else v > low)
    below = high is None or (v <= high if interval.high_inclusive else v < high)
    return above and below


def probes(*some: Interval) -> list[Version]:
    """Versions that tell any two intervals with these bounds apart: each bound, its successor,
    the lowest of all, and one above everything."""
    found = [LOWEST, Version(1000, 0, 0)]
    for interval in some:
        for bound in (interval.low, interval.high):
            if bound is not None:
                found += [bound, bound.successor]
    return found


@given(intervals, bounds)
def test_contains(a: Interval, v: Version) -> None:
    assert a.contains(v) is inside(a, v)
    assert (a.is_above(v), a.is_below(v)) == (
        a.low is not None and not inside(Interval(a.low, a.low_inclusive), v),
        a.high is not None
        and not inside(Interval(high=a.high, high_inclusive=a.high_inclusive), v),
    )


@given(intervals)
def test_is_empty(a: Interval) -> None:
    assert a.is_empty() is not any(inside(a, v) for v in probes(a))


@given(intervals, intervals, bounds)
def test_intersection(a: Interval, b: Interval, v: Version) -> None:
    both = a.intersection(b)
    for probe in [v, *probes(a, b)]:
        assert inside(both, probe) is (inside(a, probe) and inside(b, probe))
    assert a.intersects(b) is any(inside(a, p) and inside(b, p) for p in probes(a, b))
    assert a.intersects(b) is b.intersects(a)


@given(intervals, st.lists(intervals, max_size=4), bounds)
def test_holes(a: Interval, covers: list[Interval], v: Version) -> None:
    holes = a.holes(covers)
    for probe in [v, *probes(a, *covers)]:
        uncovered = inside(a, probe) and not any(inside(c, probe) for c in covers)
        assert sum(inside(hole, probe) for hole in holes) == uncovered
    assert not any(hole.is_empty() for hole in holes)
    firsts = [hole.first for hole in holes]
    assert firsts == sorted(firsts)


@given(intervals)
def test_text_reads_back(a: Interval) -> None:
    if str(a) != "any version":
        assert parse_range(str(a)).interval == a
        assert hash(parse_range(str(a)).interval) == hash(a)


def test_the_spots_where_emptiness_is_easily_wrong() -> None:
    for text, empty in (
        (">1.0.0 <1.0.1", False),
        (">1.0.0 <1.0.0", True),
        (">=1.0.0 <1.0.0", True),
        (">1.0.0 <=1.0.0", True),
        (">=1.0.0 <=1.0.0", False),
        (">2.0.0 <1.0.0", True),
        (">1.0.0 <1.0.1-0", True),
        (">1.0.0-a <1.0.0-a.0", True),
        (">1.0.0-a <1.0.0-a.1", False),
        ("<0.0.0-0", True),
        ("<0.0.0", False),
    ):
        assert parse_range(text).interval.is_empty() is empty, text


def test_a_boundary_that_is_left_out_is_a_hole() -> None:
    between = Interval(version("0.18.0"), True, version("0.20.0"), False)
    assert between.holes([parse_range(">0.18.0 <0.20.0").interval]) == [
        Interval(version("0.18.0"), True, version("0.18.0"), True)
    ]
    assert str(between.holes([])[0]) == ">=0.18.0 <0.20.0"
