"""Lines: versions in the order (line, SemVer), and nothing that is in no line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aicr.documents.fields import Fields, Problems
from aicr.documents.reader import read_yaml
from aicr.upgrade.check import Rules, compare
from aicr.upgrade.holes import holes
from aicr.upgrade.inventory import Identity
from aicr.upgrade.lines import Line, Lines, read_lines
from aicr.upgrade.match import Judge
from aicr.upgrade.model import Records, Transition
from aicr.upgrade.path import Walks
from aicr.upgrade.wellformed import backward, high_ceilings, overlapping, unsatisfiable
from aicr.upgrade.why import why
from aicr.versions.ranges import Range, RangeError, parse_range
from aicr.versions.semver import breaking, jump, parse
from upgrade_oracle import Record, answer, bounds, ways
from upgrade_records import STEPS, version
from upgrade_strategies import record_lists, rungs

# Whatever is below 2.0.0 was once published with 50 added to its major: the same order, told in
# two lines.
CUT = version("2.0.0-0")
SHIFTED = Lines(
    [
        Line("old", parse_range(">=50.0.0-0 <52.0.0-0")),
        Line("new", parse_range(">=2.0.0-0 <50.0.0-0")),
    ]
)


def shifted(text: str) -> str:
    """The version as the two lines spell it."""
    found = version(text)
    if found >= CUT:
        return text
    v = "v" if text.startswith("v") else ""
    major, dot, rest = text.removeprefix("v").partition(".")
    return f"{v}{int(major) + 50}{dot}{rest}"


def shifted_range(text: str) -> str:
    return " ".join(op + shifted(bound.text) for op, bound in bounds(text))


def plain(found: list[Record]) -> Records:
    return Records("alpha", [_built(parse_range(r[0]), parse_range(r[1]), r[2]) for r in found])


def lined(found: list[Record]) -> Records:
    return Records(
        "alpha",
        [
            _built(SHIFTED.range(shifted_range(r[0])), SHIFTED.range(shifted_range(r[1])), r[2])
            for r in found
        ],
        lines=SHIFTED,
    )


def _built(origin: Range, to: Range, verdict: str) -> Transition:
    return Transition(
        origin,
        to,
        verdict,
        summary="A boundary.",
        verified_by="lane-7" if verdict == "safe" else "",
        step_groups=() if verdict == "safe" else STEPS,
    )


@settings(max_examples=300, deadline=None)
@given(record_lists(), rungs, rungs)
def test_verdicts_are_those_of_the_order(found: list[Record], old: str, new: str) -> None:
    known = lined(found)
    judge = Judge(known)
    got = judge.judge(judge.version(shifted(old)), judge.version(shifted(new)))
    verdict, reason, stopped_at, start_at = answer(found, old, new)
    if not found:
        verdict, reason = ("unknown", "downgrade" if version(new) < version(old) else "no-record")
    assert (got.verdict, got.reason) == (verdict, reason)
    assert got.stopped_at == (shifted_range(stopped_at) if stopped_at else "")
    assert got.start_at == (shifted_range(start_at) if start_at else "")


@settings(max_examples=150, deadline=None)
@given(record_lists(), st.lists(rungs, max_size=3), rungs, rungs)
def test_ways_are_those_of_the_order(
    found: list[Record], pins: list[str], old: str, new: str
) -> None:
    judge = Judge(lined(found))
    walks = Walks(judge, [(f"r{n}", shifted(pin)) for n, pin in enumerate(pins)])
    source, target = judge.version(shifted(old)), judge.version(shifted(new))
    assert source is not None
    assert target is not None
    got = walks.ways(source, target)
    path, land_at, furthest = ways(found, [(f"r{n}", [p]) for n, p in enumerate(pins)], old, new)
    assert tuple(hop.to for hop in got.path) == tuple(map(shifted, path))
    assert got.land_at == (shifted(land_at) if land_at else "")
    assert got.furthest == (shifted(furthest) if furthest else "")


@settings(max_examples=200, deadline=None)
@given(record_lists(), st.one_of(st.none(), rungs))
def test_the_linter_s_rules_are_those_of_the_order(found: list[Record], pin: str | None) -> None:
    one, two = plain(found), lined(found)
    first = version(pin) if pin is not None else None
    second = two.version(shifted(pin)) if pin is not None else None
    for rule in (unsatisfiable, backward, overlapping):
        assert len(rule(one)) == len(rule(two))
    assert len(high_ceilings(one, first)) == len(high_ceilings(two, second))
    at = {str(shifted(str(hole.boundary.floor))) for hole in holes(one, first)}
    assert {str(hole.boundary.floor) for hole in holes(two, second)} == at


PARTED = Lines(
    [
        Line("before", parse_range(">=2.2.0 <2.3.0")),
        Line("after", parse_range(">=1.0.0 <2.0.0")),
    ]
)


def place(text: str) -> tuple[int, str]:
    found = PARTED.version(text)
    return (found.line, found.text) if found is not None else (0, "")


def test_a_version_belongs_to_one_line_or_to_none() -> None:
    assert place("v2.2.1") == (1, "v2.2.1")
    assert place("1.3.1") == (2, "1.3.1")
    assert place("2.3.0") == (0, "")
    assert place("0.9.0") == (0, "")
    assert place("main") == (0, "")
    old, new = PARTED.version("2.2.1"), PARTED.version("1.3.1")
    assert old is not None
    assert new is not None
    assert old < new
    assert old != parse("2.2.1")
    assert jump(old, new) == "another line"
    assert breaking(old, new)
    assert not breaking(new, old)
    assert jump(new, new.in_line(2)) == ""


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("<1.3.0", ["2.2.0", "2.2.9", "1.0.0", "1.2.9"], ["1.3.0", "2.3.0", "3.0.0"]),
        (">=2.2.0 <2.3.0", ["2.2.0", "2.2.9"], ["1.0.0", "1.3.0"]),
        (">2.2.1 <=1.0.0", ["2.2.2", "1.0.0"], ["2.2.1", "1.0.1"]),
        ("1.3.1", ["1.3.1"], ["2.2.1"]),
    ],
)
def test_ranges_are_read_in_the_order(text: str, inside: list[str], outside: list[str]) -> None:
    found = PARTED.range(text)
    assert found.text == text
    assert all(v is not None and found.contains(v) for v in map(PARTED.version, inside))
    assert not any(v is not None and found.contains(v) for v in map(PARTED.version, outside))


def test_a_range_holds_no_version_between_two_lines() -> None:
    apart = Lines(
        [Line("a", parse_range(">=5.0.0 <=5.0.9")), Line("b", parse_range(">=1.0.0 <2.0.0"))]
    )
    assert apart.range(">5.0.9 <1.0.0").interval.is_empty()
    assert apart.range("<5.0.0").interval.is_empty()
    assert not apart.range(">5.0.9 <=1.0.0").interval.is_empty()
    assert not apart.range(">=5.0.9 <1.0.0").interval.is_empty()
    assert apart.range(">5.0.8 <1.0.1").interval.intersects(apart.range("5.0.9").interval)


@pytest.mark.parametrize("text", ["<3.0.0", ">=0.1.0 <1.3.0", "2.3.0", ">2.3.0 <=1.0.0"])
def test_a_bound_in_no_line_is_an_error(text: str) -> None:
    with pytest.raises(RangeError, match="in none of the lines: before") as caught:
        PARTED.range(text)
    assert "write a bound that is a version of one" in str(caught.value)


def read(text: str) -> tuple[Lines | None, list[str]]:
    problems = Problems()
    found = read_lines(Fields(read_yaml(text, "u.yaml"), "u.yaml", "", problems))
    return found, [str(p) for p in problems.errors]


def test_lines_are_read() -> None:
    found, problems = read(
        'lines:\n- {name: a, versions: "<3.0.0"}\n- {name: b, versions: ">=7.0.0"}\n'
    )
    assert problems == []
    assert str(found) == "a (<3.0.0), then b (>=7.0.0)"
    assert read("transitions: []\n") == (None, [])


@pytest.mark.parametrize(
    ("items", "said"),
    [
        ('{name: a, versions: "<3.0.0"}', "expected two or more"),
        ('{name: a, versions: ">=1.0.0 <3.0.0"}, {name: a, versions: ">=4.0.0"}', "there twice"),
        ('{name: a, versions: "<3.0.0"}, {name: b, versions: ">=2.0.0"}', "shares versions"),
        ('{name: a, versions: ">=2.0.0"}, {name: b, versions: ">=0.1.0 <1.0.0"}', "no upper"),
        ('{name: a, versions: ">=2.0.0 <3.0.0"}, {name: b, versions: "<1.0.0"}', "no lower"),
        ('{name: a, versions: ">3.0.0 <3.0.0"}, {name: b, versions: ">=4.0.0"}', "no version is"),
        ('{name: a, versions: "^2"}, {name: b, versions: ">=4.0.0"}', "'^' is not part"),
        ('{name: a}, {name: b, versions: ">=4.0.0"}', "versions: is missing"),
        ('{name: "", versions: "<3.0.0"}, {name: b, versions: ">=4.0.0"}', "name: is missing"),
        ('{name: a, versions: "<3.0.0", x: 1}, {name: b, versions: ">=4.0.0"}', "unknown key"),
    ],
)
def test_lines_that_do_not_load(items: str, said: str) -> None:
    found, problems = read(f"lines: [{items}]\n")
    assert found is None
    assert any(said in problem and problem.startswith("u.yaml:1: ") for problem in problems)


def test_a_version_that_was_not_placed_is_never_judged() -> None:
    known = Records("alpha", [_built(SHIFTED.range("<2.0.0"), SHIFTED.range("2.0.0"), "safe")],
                    lines=SHIFTED)  # fmt: skip
    judge = Judge(known)
    assert judge.judge(version("51.0.0"), version("2.0.0")).verdict == "unversioned"
    assert judge.judge(judge.version("51.0.0"), judge.version("2.0.0")).verdict == "safe"


def test_a_version_of_no_line_is_unversioned_and_says_why() -> None:
    known = Records(
        "alpha",
        [_built(PARTED.range("<1.0.0"), PARTED.range(">=1.0.0 <=1.3.1"), "safe")],
        lines=PARTED,
    )
    rules = Rules({"alpha": known})
    (row,) = compare({"alpha": Identity("2.2.1")}, {"alpha": Identity("3.0.0")}, rules)
    assert (row.verdict, row.reason, row.jump) == ("unversioned", "not-comparable", "")
    assert row.fails_run
    assert "one of these is in none" in row.explanation
    assert '"3.0.0"' in why(row, known).decided
    (row,) = compare({"alpha": Identity("2.2.1")}, {"alpha": Identity("1.3.1")}, rules)
    assert (row.verdict, row.jump, row.breaking, row.downgrade) == (
        "safe",
        "another line",
        True,
        False,
    )
    (row,) = compare({"alpha": Identity("1.3.1")}, {"alpha": Identity("2.2.1")}, rules)
    assert (row.verdict, row.reason, row.downgrade) == ("unknown", "downgrade", True)
