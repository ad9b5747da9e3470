"""The verdict of a version move: every rule by example, and all of them against a slow oracle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.upgrade.match import Judge, judge
from aicr.upgrade.model import Records, Transition
from aicr.versions.semver import parse
from upgrade_oracle import Record, answer
from upgrade_records import records, transition, version
from upgrade_strategies import built, record_lists, rungs

moves = st.one_of(rungs, st.sampled_from(["1.0.0+a", "1.0", "2", "main", "", "3.1.0", "0.1.0"]))


@given(record_lists(), moves, moves)
def test_judge_follows_the_rules(found: list[Record], old: str, new: str) -> None:
    got = judge(built(found), parse(old), parse(new))
    assert (got.verdict, got.reason, got.stopped_at, got.start_at) == answer(found, old, new)


@given(record_lists(), st.lists(st.tuples(moves, moves), max_size=12))
def test_what_a_judge_remembers_is_what_it_would_say(
    found: list[Record], pairs: list[tuple[str, str]]
) -> None:
    kept = Judge(built(found))
    for old, new in pairs:
        once = judge(built(found), parse(old), parse(new))
        again = kept.judge(parse(old), parse(new))
        assert (again.verdict, again.reason, again.rule) == (once.verdict, once.reason, once.rule)
        assert again.stopped_at == once.stopped_at


@given(record_lists(), moves, moves)
def test_safe_needs_a_record_that_says_so(found: list[Record], old: str, new: str) -> None:
    got = judge(built(found), parse(old), parse(new))
    if got.verdict == "safe":
        assert got.reason == "recorded"
        assert all(t.verdict == "safe" for t in got.crossed)
        assert version(old) < version(new)


@given(record_lists(), moves, moves)
def test_every_blocked_move_names_its_boundary(found: list[Record], old: str, new: str) -> None:
    got = judge(built(found), parse(old), parse(new))
    assert bool(got.stopped_at) == (got.verdict == "blocked")


UP_TO_2 = transition("<2.0.0", ">=2.0.0 <=2.5.0")
UP_TO_3 = transition(">=2.0.0 <3.0.0", ">=3.0.0 <=3.2.0")


@pytest.mark.parametrize(
    ("old", "new", "some", "expected"),
    [
        ("main", "1.0.0", [UP_TO_2], ("unversioned", "not-comparable", 1)),
        ("1.0.0", "release-1.4", [UP_TO_2], ("unversioned", "not-comparable", 1)),
        ("", "1.0.0", [], ("unversioned", "not-comparable", 1)),
        ("1.0.0", "2.0.0", [], ("unknown", "no-record", 3)),
        ("2.0.0", "1.0.0", [], ("unknown", "downgrade", 3)),
        ("2.0.0", "1.0.0", [UP_TO_2], ("unknown", "downgrade", 3)),
        ("1.0.0", "1.5.0", [UP_TO_2], ("unknown", "no-boundary-crossed", 3)),
        ("2.0.0", "2.5.0", [UP_TO_2], ("unknown", "no-boundary-crossed", 3)),
        ("2.0.0+a", "2.0.0+b", [UP_TO_2], ("unknown", "no-boundary-crossed", 3)),
        ("2.1.0", "2.5.1", [UP_TO_2], ("blocked", "beyond-record-ceiling", 3)),
        ("1.0.0", "2.0.0", [UP_TO_2], ("safe", "recorded", 4)),
        ("1.0.0", "2.6.0", [UP_TO_2], ("blocked", "beyond-record-ceiling", 4)),
        ("1.0.0", "3.0.0", [UP_TO_2, UP_TO_3], ("safe", "recorded", 6)),
        ("1.0.0", "3.3.0", [UP_TO_2, UP_TO_3], ("blocked", "multiple-boundaries", 6)),
    ],
)  # fmt: skip
def test_rules_by_example(
    old: str, new: str, some: list[Transition], expected: tuple[str, str, int]
) -> None:
    got = judge(Records("alpha", some) if some else None, parse(old), parse(new))
    assert (got.verdict, got.reason, got.rule) == expected


def test_an_exclusive_floor_is_crossed_from_it_upwards() -> None:
    some = records(transition("<=2.0.0", ">2.0.0 <=2.1.0"))
    assert judge(some, version("2.0.0"), version("2.0.1")).verdict == "safe"
    assert judge(some, version("1.0.0"), version("2.0.0")).reason == "no-boundary-crossed"


def test_a_record_for_this_start_displaces_its_neighbour_of_the_same_floor() -> None:
    blocked = transition("<1.0.0", ">=2.0.0 <=2.5.0", "blocked")
    manual = transition(">=1.0.0 <2.0.0", ">=2.0.0 <=2.5.0", "manual")
    got = judge(records(blocked, manual), version("1.0.0"), version("2.0.0"))
    assert (got.verdict, got.record, list(got.displaced)) == ("manual", manual, [blocked])
    # Another inclusivity is another floor.
    other = transition("<1.0.0", ">2.0.0 <=2.5.0", "blocked")
    got = judge(records(other, manual), version("1.0.0"), version("2.1.0"))
    assert got.reason == "record-blocks"


def test_a_replaces_block_alone_is_no_record() -> None:
    assert judge(records(), version("1.0.0"), version("2.0.0")).reason == "no-record"


def test_of_equal_highest_ceilings_the_inclusive_one_counts() -> None:
    some = records(transition("<1.0.0", ">=1.0.0 <2.5.0"), transition("<2.0.0", ">=2.0.0 <=2.5.0"))
    got = judge(some, version("2.1.0"), version("2.5.1"))
    assert got.stopped_at == ">=2.0.0 <=2.5.0"
    assert judge(some, version("2.1.0"), version("2.5.0")).reason == "no-boundary-crossed"
