"""The linter's rules about ranges, held against a reading of them that knows no intervals."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from aicr.upgrade.holes import boundaries, holes
from aicr.upgrade.model import Records
from aicr.upgrade.violations import Violation
from aicr.upgrade.wellformed import (
    backward,
    high_ceilings,
    holes_open,
    overlapping,
    unsatisfiable,
)
from aicr.versions.intervals import Interval
from aicr.versions.ranges import parse_range
from lint_oracle import broken, name
from upgrade_oracle import Record
from upgrade_records import records, transition, version
from upgrade_strategies import record_lists, rungs

ranges = st.one_of(
    rungs, st.tuples(rungs, rungs).map(lambda p: f">={min(p, key=version)} <{max(p, key=version)}")
)


def built(found: list[Record]) -> Records:
    """Each record on a line of its own, counted from 1."""
    return records(*(transition(*r, line=line) for line, r in enumerate(found, 1)))


def violations(found: list[Record], pins: list[str], allowed: list[str]) -> list[Violation]:
    known = built(found)
    pin = max((version(p) for p in pins), default=None)
    open_to = [parse_range(text).interval for text in allowed]
    return [
        *unsatisfiable(known),
        *backward(known),
        *overlapping(known),
        *high_ceilings(known, pin),
        *holes_open(holes(known, pin), open_to),
    ]


@settings(max_examples=1000, deadline=None)
@given(record_lists(), st.lists(rungs, max_size=2), st.lists(ranges, max_size=2))
@example([("<1.0.0", ">=1.0.0 <=1.1.0", "safe"), (">1.0.0 <2.0.0", "2.0.0", "safe")], ["2.0.0"], [])
@example([("<2.0.0", ">2.0.0 <=3.0.0", "safe"), ("<=2.0.0", ">2.0.0 <=3.0.0", "manual")], [], [])
def test_the_rules_agree_with_a_slow_reading(
    found: list[Record], pins: list[str], allowed: list[str]
) -> None:
    got = {
        (v.rule, name(found[v.line - 1]) if v.rule in ("hole", "same-floor") else v.line - 1)
        for v in violations(found, pins, allowed)
    }
    assert got == broken(found, pins, allowed)


@given(record_lists(), st.lists(rungs, max_size=2))
def test_what_a_hole_names_is_a_hole(found: list[Record], pins: list[str]) -> None:
    known = built(found)
    pin = max((version(p) for p in pins), default=None)
    for hole in holes(known, pin):
        inside = hole.versions.first
        assert hole.versions.contains(inside)
        assert not hole.boundary.beyond.contains(inside)
        assert not any(t.origin.contains(inside) for t in hole.boundary.records)


def test_boundaries_are_in_order_and_tell_inclusivity_apart() -> None:
    found = boundaries(
        records(
            transition("<1.0.0", ">1.0.0 <=2.0.0"),
            transition("<1.0.0", ">=1.0.0 <=2.0.0"),
            transition("<0.9.0", "v1.0.0"),
            transition("<0.5.0", ">=0.5.0 <=0.6.0"),
        ).transitions
    )
    assert [(str(b.floor), b.inclusive, len(b.records)) for b in found] == [
        ("0.5.0", True, 1),
        ("1.0.0", True, 2),
        ("1.0.0", False, 1),
    ]


def test_each_violation_says_what_to_write() -> None:
    found = violations(
        [("<=1.0.0", ">=1.0.0 <=3.0.0", "safe"), (">1.0.0 <2.0.0", ">=2.0.0 <=2.5.0", "safe")],
        ["2.0.0"],
        [],
    )
    said = {v.rule: v.text for v in found if v.line == 1} | {
        v.rule: v.text for v in found if v.line == 2
    }
    assert said["forward-only"].endswith('end it with "<1.0.0"')
    assert 'write ">=2.0.0 <=2.0.0"' in said["ceiling"]
    assert said["hole"].startswith("nothing starts from 1.0.0: ")


def test_a_safe_ceiling_that_the_pin_does_not_reach_yet() -> None:
    found = violations([("<3.0.0", ">=3.0.0 <4.0.0", "safe")], ["2.0.0"], [])
    assert [v.rule for v in found] == ["ceiling"]
    assert found[0].instead == "record it when the pin gets there"
    assert violations([("<3.0.0", ">=3.0.0 <4.0.0", "manual")], ["2.0.0"], []) == []


def test_the_allowlist_closes_only_what_it_covers() -> None:
    pair = [("<1.0.0", ">=1.0.0 <=1.1.0", "manual"), (">=1.5.0 <2.0.0", "2.0.0", "manual")]
    assert "1.0.0 <1.5.0" in violations(pair, [], [])[0].message
    (rest,) = violations(pair, [], [">=1.0.0 <1.2.0"])
    assert ">=1.2.0 <1.5.0" in rest.message
    assert violations(pair, [], [">=1.0.0 <1.5.0"]) == []


def test_holes_beyond_the_pin_are_nobody_s_concern_yet() -> None:
    pair = [("<1.0.0", ">=1.0.0 <=1.1.0", "manual"), (">=1.5.0 <2.0.0", ">2.0.0 <=3.0.0", "manual")]
    assert [v.rule for v in violations(pair, ["2.0.1"], [])] == ["hole", "hole"]
    assert violations(pair, ["2.0.0"], []) == []


def test_many_records_of_one_boundary_are_compared_in_order() -> None:
    found = [(f">={n}.0.0 <{n + 1}.0.0", ">=9000.0.0 <=9000.0.1", "manual") for n in range(3000)]
    found.append((">=10.5.0 <10.6.0", ">=9000.0.0 <=9000.0.1", "manual"))
    (only,) = overlapping(built(found))
    assert only.line == 3001
    assert isinstance(built(found).transitions[0].origin.interval, Interval)
