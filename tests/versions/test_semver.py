"""SemVer: what parses, how it orders, how far apart two versions are."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given

from aicr.versions.semver import LOWEST, Version, breaking, jump, parse, same
from version_strategies import texts, version, versions


@pytest.mark.parametrize(
    ("text", "triple", "prerelease", "build"),
    [
        ("1.2.3", (1, 2, 3), (), ""),
        ("v1.2.3", (1, 2, 3), (), ""),
        ("26.10", (26, 10, 0), (), ""),
        ("7", (7, 0, 0), (), ""),
        ("v0.18", (0, 18, 0), (), ""),
        ("1.2-rc.1", (1, 2, 0), ("rc", 1), ""),
        ("1-alpha", (1, 0, 0), ("alpha",), ""),
        ("0.1.0-alpha.12", (0, 1, 0), ("alpha", 12), ""),
        ("1.0.0--", (1, 0, 0), ("-",), ""),
        ("1.0.0-x-y.0-1", (1, 0, 0), ("x-y", "0-1"), ""),
        ("1.2.3+build.7", (1, 2, 3), (), "build.7"),
        ("1.2.3-rc.1+001", (1, 2, 3), ("rc", 1), "001"),
        ("1.2.3+a-b", (1, 2, 3), (), "a-b"),
    ],
)
def test_parses(
    text: str, triple: tuple[int, int, int], prerelease: tuple[int | str, ...], build: str
) -> None:
    found = version(text)
    assert (found.major, found.minor, found.patch) == triple
    assert found.prerelease == prerelease
    assert found.build == build
    assert found.text == str(found) == text


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "v", "V1.2.3", "vv1.2.3", "main", "release-1.4", "9f8e7d6", "1.2.3.4", "01.2.3",
        "1.02.3", "1.2.03", "1..3", ".1.2", "1.2.", "1.2.3-", "1.2.3-01", "1.2.3-rc..1", "1.2.3+",
        "1.2.3+a..b", "1.2.3+a+b", "1.2.3-rc_1", " 1.2.3", "1.2.3 ", "1.2.3\n", "-1.2.3", "1.-2.3",
        "+1.2.3", "1.2.3-\u00e9", "\u0661.2.3", "1.\u00b2", "1_0.2.3", "1.2.x", "*", "latest",
        "1." + "9" * 5000,
    ],
)  # fmt: skip
def test_is_not_a_version(text: str) -> None:
    assert parse(text) is None


def test_the_precedence_examples_of_semver_org() -> None:
    chain = [
        "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
        "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "2.0.0", "2.1.0", "2.1.1",
    ]  # fmt: skip
    parsed = [version(t) for t in chain]
    for low, high in pairwise(parsed):
        assert low < high
        assert high > low
        assert low != high
    shuffled = parsed[1::2] + parsed[::2]
    assert sorted(shuffled) == parsed


def test_numeric_identifiers_are_lower_than_words_and_compare_as_numbers() -> None:
    assert version("1.0.0-9") < version("1.0.0-10") < version("1.0.0--") < version("1.0.0-A")


def precedence(a: Version, b: Version) -> int:
    """SemVer 2.0.0 paragraph 11, word for word, as an oracle."""
    for x, y in ((a.major, b.major), (a.minor, b.minor), (a.patch, b.patch)):
        if x != y:
            return -1 if x < y else 1
    if not a.prerelease or not b.prerelease:
        return bool(b.prerelease) - bool(a.prerelease)
    for p, q in zip(a.prerelease, b.prerelease, strict=False):
        if p == q:
            continue
        if isinstance(p, int) and isinstance(q, int):
            return -1 if p < q else 1
        if isinstance(p, int) or isinstance(q, int):
            return -1 if isinstance(p, int) else 1
        return -1 if p < q else 1
    return (len(a.prerelease) > len(b.prerelease)) - (len(a.prerelease) < len(b.prerelease))


@given(versions, versions)
def test_order_is_semver_precedence(a: Version, b: Version) -> None:
    order = precedence(a, b)
    assert (a < b, a == b, a > b) == (order < 0, order == 0, order > 0)
    assert (a <= b, a >= b) == (order <= 0, order >= 0)
    assert (hash(a) == hash(b)) or order != 0


@given(versions, versions, versions)
def test_order_is_total_and_transitive(a: Version, b: Version, c: Version) -> None:
    low, middle, high = sorted([a, b, c])
    assert low <= middle <= high
    assert low <= high


@given(versions)
def test_nothing_is_below_the_lowest(a: Version) -> None:
    assert a >= LOWEST


@given(versions, versions)
def test_nothing_lies_between_a_version_and_its_successor(a: Version, b: Version) -> None:
    after = a.successor
    assert after > a
    assert b <= a or b >= after
    assert parse(after.text) == after


@given(texts())
def test_a_version_spells_itself(text: str) -> None:
    found = version(text)
    spelled = Version(
        found.major, found.minor, found.patch, found.prerelease, build=found.build
    ).text
    assert version(spelled) == found
    assert same(spelled, text)


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        ("1.2.0", "v1.2.0", True),
        ("v1.2.0", "v1.2.0", True),
        ("1.2.0+a", "1.2.0+b", False),
        ("26.10", "26.10.0", False),
        ("1.10", "1.1", False),
        ("main", "main", True),
        ("vv1", "v1", False),
        ("", "", True),
    ],
)
def test_same_as_written(a: str, b: str, equal: bool) -> None:
    assert same(a, b) is equal


@pytest.mark.parametrize(
    ("a", "b", "distance", "breaks"),
    [
        ("1.2.3", "2.0.1", "1 major", True),
        ("1.0.0", "3.0.0", "2 majors", True),
        ("0.17.2", "0.18.1", "1 minor", True),
        ("1.17.2", "1.19.0", "2 minors", False),
        ("1.2.0", "1.2.3", "3 patches", False),
        ("0.0.1", "0.0.2", "1 patch", False),
        ("1.0.0-rc.1", "1.0.0", "prerelease", True),
        ("1.0.0-rc.1", "1.0.0-rc.2", "prerelease", True),
        ("1.0.0-rc.1", "1.0.1", "1 patch", False),
        ("1.2.0+a", "1.2.0+b", "build", False),
        ("26.10", "26.10.0", "", False),
        ("2.0.0", "1.0.0", "1 major", False),
        ("0.3.0", "0.1.0", "2 minors", False),
        ("1.0.0", "1.0.0-rc.1", "prerelease", False),
        ("0.9.0", "1.0.0", "1 major", True),
    ],
)
def test_jump_and_breaking(a: str, b: str, distance: str, breaks: bool) -> None:
    assert jump(version(a), version(b)) == distance
    assert breaking(version(a), version(b)) is breaks


@given(versions, versions)
def test_jump_is_symmetric_and_empty_only_for_equal_versions(a: Version, b: Version) -> None:
    assert jump(a, b) == jump(b, a)
    assert (jump(a, b) in ("", "build")) == (a == b)
    assert not (breaking(a, b) and breaking(b, a))
