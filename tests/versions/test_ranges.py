"""The range grammar: what it means, and every refused form with what to write instead."""

from __future__ import annotations

import operator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.versions.ranges import RangeError, parse_range
from aicr.versions.semver import Version
from version_strategies import bounds, texts, version

OPERATORS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "=": operator.eq, "": operator.eq,
}  # fmt: skip
separators = st.text(alphabet=" \t,", min_size=1, max_size=3)
edges = st.text(alphabet=" \t,", max_size=2)


@given(
    st.sampled_from(["", "<", "<="]),
    texts(build=False),
    st.sampled_from(["", ">", ">="]),
    texts(build=False),
    separators,
    edges,
    edges,
    st.booleans(),
    bounds,
)
def test_a_range_means_all_of_its_comparators(
    upper_op: str,
    upper: str,
    lower_op: str,
    lower: str,
    separator: str,
    before: str,
    after: str,
    swap: bool,
    probe: Version,
) -> None:
    written = [op + text for op, text in ((lower_op, lower), (upper_op, upper)) if op] or [upper]
    if swap:
        written.reverse()
    text = before + separator.join(written) + after
    found = parse_range(text)
    for v in (probe, version(upper), version(lower)):
        expected = all(
            OPERATORS[w[: len(w) - len(w.lstrip("<>="))]](v, version(w.lstrip("<>=")))
            for w in written
        )
        assert found.contains(v) is expected
    assert found.text == str(found) == text
    assert [op + b.text for op, b in found.bounds] == written


@pytest.mark.parametrize("text", ["1.2.3", "=1.2.3", "v1.2.3", "=v1.2.3", ", 1.2.3\t"])
def test_an_exact_version_is_both_bounds(text: str) -> None:
    interval = parse_range(text).interval
    assert interval.low == interval.high == version("1.2.3")
    assert interval.low_inclusive
    assert interval.high_inclusive


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<1.0.0 || >2.0.0", "'||' (or) is not part of the grammar; write one transition for each"),
        ("<1.0.0||>2.0.0", "write one transition for each alternative"),
        ("1.0.0 - 2.0.0", "hyphen ranges are not part of the grammar; write '>=1.0.0 <=2.0.0'"),
        ("1.0.0 -", "write '>=1.0.0 <=2.0.0'"),
        ("^1.2.3", "'^' is not part of the grammar; write '>=1.2.3 <2.0.0'"),
        ("^0.2.3", "write '>=0.2.3 <0.3.0'"),
        ("^0.0.3", "write '>=0.0.3 <0.0.4'"),
        ("^0", "write '>=0.0.0 <1.0.0'"),
        ("^0.0", "write '>=0.0.0 <0.1.0'"),
        ("^ 1.2.3", "write '>=1.2.3 <2.0.0'"),
        ("~1.2.3", "'~' is not part of the grammar; write '>=1.2.3 <1.3.0'"),
        ("~>1.2", "write '>=1.2.0 <1.3.0'"),
        ("~1", "write '>=1.0.0 <2.0.0'"),
        ("~what", "write bounds such as"),
        ("!=1.2.3", "'!=' is not part of the grammar; write bounds that leave the version out"),
        ("==1.2.3", "'==' is not part of the grammar; write '1.2.3'"),
        ("=>1.2.3", "'=>' is not part of the grammar; write '>=1.2.3'"),
        ("=<1.2.3", "'=<' is not part of the grammar; write '<=1.2.3'"),
        ("*", "wildcards are not part of the grammar; write bounds such as '>=1.2.0 <2.0.0'"),
        ("x", "wildcards are not part of the grammar"),
        ("1.x", "wildcards are not part of the grammar; write '>=1.0.0 <2.0.0'"),
        ("v1.2.*", "write '>=1.2.0 <1.3.0'"),
        (">=1.2.X", "write '>=1.2.0 <1.3.0'"),
        (">=1.2", "partial version; write all three parts: '>=1.2.0'"),
        ("v1", "partial version; write all three parts: 'v1.0.0'"),
        ("<1.2-rc.1", "partial version; write all three parts: '<1.2.0-rc.1'"),
        (">=1.2.3+build.7", ("build metadata does not order, so no range may carry it; "
                            "write '>=1.2.3'")),
        (">=1.0.0 >1.1.0", ("two lower bounds (>=1.0.0 and >1.1.0); write one of them, where all "
                           "must hold that is '>1.1.0'")),
        (">=1.0.0 >1.0.0 <2.0.0", "that is '>1.0.0'"),
        ("<1.0.0 <=1.0.0", ("two upper bounds (<1.0.0 and <=1.0.0); write one of them, where all "
                           "must hold that is '<1.0.0'")),
        ("<=1.0.0, <2.0.0", "that is '<=1.0.0'"),
        ("1.0.0 <2.0.0", ("the exact version 1.0.0 stands beside another comparator; write '1.0.0' "
                         "alone")),
        ("=1.0.0 1.0.0", "stands beside another comparator"),
        (">= 1.0.0", "no version right after the operator; write them together: '>=1.0.0'"),
        ("<", "write them together: '<1.2.3'"),
        (">=1.0.0<2.0.0", "comparators that touch each other; write them with a space between"),
        ("V1.0.0", "a capital V is not accepted; write 'v1.0.0'"),
        ("01.0.0", "not a version; write MAJOR.MINOR.PATCH without leading zeros"),
        ("main", "not a version"),
        ("1.2.3.4", "not a version"),
        ("<1.0.0\n>2.0.0", "comparators that touch each other"),
        ("<1.0.0\u00a0", "not a version"),
        ("<1.0.0;", "not a version"),
        ("", "the range is empty; write one such as '>=1.2.0 <2.0.0'"),
        (" , \t", "the range is empty"),
    ],
)  # fmt: skip
def test_refused(text: str, says: str) -> None:
    with pytest.raises(RangeError) as refused:
        parse_range(text)
    assert says in str(refused.value)


@pytest.mark.parametrize("text", ["^1.2.3", "^0.2.3", "~1.2", "1.x", "=>1.2.3", "==1.2.3", ">=1.2"])
def test_what_the_message_says_to_write_is_a_range(text: str) -> None:
    with pytest.raises(RangeError) as refused:
        parse_range(text)
    advised = str(refused.value).rsplit("'", 2)[1]
    assert parse_range(advised).text == advised


@given(st.text(alphabet="<>=v1.0-+ax*, |^~!", max_size=14))
def test_any_text_is_a_range_or_refused(text: str) -> None:
    try:
        found = parse_range(text)
    except RangeError:
        return
    assert found.bounds
    assert len(found.bounds) <= 2
    assert all(not v.build for _, v in found.bounds)


def test_equal_texts_are_equal_ranges() -> None:
    assert parse_range(">=1.0.0") == parse_range(">=1.0.0")
    assert len({parse_range(">=1.0.0"), parse_range(">=1.0.0"), parse_range(">1.0.0")}) == 2
    assert repr(parse_range("1.0.0")) == "Range('1.0.0')"
