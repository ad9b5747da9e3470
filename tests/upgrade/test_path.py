"""path, landAt and furthest against every chain there is; and what a stop is called."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aicr.catalog.model import Release
from aicr.upgrade.chains import best_chains
from aicr.upgrade.match import Judge
from aicr.upgrade.path import Walks, Ways, pins_of
from upgrade_oracle import Record, ways
from upgrade_records import records, transition, version
from upgrade_strategies import LADDER, built, record_lists

ENDS = ["0.1.0", *LADDER, "1.0.0+a", "v0.9.1", "3.1.0"]
releases = st.lists(
    st.tuples(
        st.sampled_from(["r1", "r2", "r3"]),
        st.lists(
            st.sampled_from(["1.0.0", "v1.0.0", "1.0.5", "1.1.0", "v2.0.0", "2.0", "main"]),
            max_size=2,
        ),
    ),
    max_size=3,
)


def found_ways(some: list[Record], pins: list[tuple[str, list[str]]], old: str, new: str) -> Ways:
    history = [Release(name, {"alpha": versions}) for name, versions in pins]
    walks = Walks(Judge(built(some)), pins_of(history, "alpha"))
    return walks.ways(version(old), version(new))


@settings(max_examples=200)
@given(record_lists(), releases, st.sampled_from(ENDS), st.sampled_from(ENDS))
def test_ways_are_the_best_of_all_chains(
    some: list[Record], pins: list[tuple[str, list[str]]], old: str, new: str
) -> None:
    got = found_ways(some, pins, old, new)
    assert (tuple(h.to for h in got.path), got.land_at, got.furthest) == ways(some, pins, old, new)


@given(record_lists(), releases, st.lists(st.tuples(st.sampled_from(ENDS), st.sampled_from(ENDS))))
def test_what_walks_remember_is_what_they_would_say(
    some: list[Record], pins: list[tuple[str, list[str]]], pairs: list[tuple[str, str]]
) -> None:
    history = [Release(name, {"alpha": versions}) for name, versions in pins]
    walks = Walks(Judge(built(some)), pins_of(history, "alpha"))
    for old, new in pairs:
        again, once = walks.ways(version(old), version(new)), found_ways(some, pins, old, new)
        assert [h.to for h in again.path] == [h.to for h in once.path]
        assert (again.land_at, again.furthest) == (once.land_at, once.furthest)
        assert (again.by_hand, [h.to for h in again.to_furthest]) == (
            once.by_hand,
            [h.to for h in once.to_furthest],
        )


@given(record_lists(), releases, st.sampled_from(ENDS), st.sampled_from(ENDS))
def test_what_is_suggested_can_be_walked(
    some: list[Record], pins: list[tuple[str, list[str]]], old: str, new: str
) -> None:
    got = found_ways(some, pins, old, new)
    assert all(hop.judgement.walkable for hop in [*got.path, *got.to_furthest])
    if got.land_at:
        assert version(got.land_at) > version(old)
        assert Judge(built(some)).judge(version(old), version(got.land_at)).walkable
    assert bool(got.to_furthest) == bool(got.furthest)
    assert not (got.path and got.furthest)


CHAIN = [("<2.0.0", ">=2.0.0 <=2.5.0", "manual"), (">=2.0.0 <3.0.0", ">=3.0.0 <=3.0.0", "manual")]


@pytest.mark.parametrize(
    ("pins", "old", "path"),
    [
        ([], "1.0.0", ["2.5.0", "3.0.0"]),
        ([], "v1.0.0", ["v2.5.0", "3.0.0"]),
        ([("r1", ["v2.1.0"])], "1.0.0", ["v2.1.0", "3.0.0"]),
        ([("r1", ["2.5.0"]), ("r2", ["v2.5.0"])], "1.0.0", ["v2.5.0", "3.0.0"]),
        ([("r1", ["v2.5.0"]), ("r2", ["2.5.0"])], "v1.0.0", ["2.5.0", "3.0.0"]),
        ([("r1", ["2.5"])], "1.0.0", ["2.5", "3.0.0"]),
        ([("r1", ["2.1.0", "2.3.0"])], "1.0.0", ["2.3.0", "3.0.0"]),
    ],
)
def test_how_a_stop_is_chosen_and_spelled(
    pins: list[tuple[str, list[str]]], old: str, path: list[str]
) -> None:
    assert [hop.to for hop in found_ways(CHAIN, pins, old, "3.0.0").path] == path


def test_a_move_that_needs_no_way_has_none() -> None:
    blocked = [("<2.0.0", ">=2.0.0 <=2.5.0", "blocked")]
    for some, old, new in ((CHAIN, "1.0.0", "2.1.0"), (blocked, "1.0.0", "2.0.0"),
                           (CHAIN, "3.0.0", "1.0.0"), (CHAIN, "1.0.0", "1.1.0")):  # fmt: skip
        got = found_ways(some, [("r1", ["1.5.0"])], old, new)
        assert (list(got.path), got.land_at, got.furthest, got.by_hand) == ([], "", "", "")


def test_a_blocked_first_boundary_names_the_stop_that_has_steps() -> None:
    some = [("<2.0.0", ">=2.0.0 <=2.5.0", "blocked"), (">=2.0.0 <3.0.0", "3.0.0", "safe")]
    got = found_ways(some, [], "1.0.0", "3.0.0")
    assert (got.furthest, got.land_at, got.by_hand) == ("", "", "2.5.0")


def test_best_chains_without_any_hop() -> None:
    assert best_chains(3, lambda i: [0] * (3 - i)) == ([-1, -1, -1, -1], [0, 0, 0, 0])


def test_ten_thousand_distinct_moves_take_less_than_a_second() -> None:
    some = [
        transition(f">={n - 1}.2.0 <{n}.0.0", f">={n}.0.0 <={n}.5.0", ["safe", "manual"][n % 2])
        for n in range(1, 13)
    ]
    pins = [(f"r{n}.{m}", f"{n}.{m}.1") for n in range(13) for m in range(3)]
    texts = [f"{n}.{m}.{p}" for n in range(13) for m in range(8) for p in range(1, 2)]
    moves = [(version(a), version(b)) for a in texts for b in texts][:10000]
    start = time.process_time()
    walks = Walks(Judge(records(*some)), pins)
    found = sum(bool(walks.ways(a, b).path) for a, b in moves)
    assert found > 100
    assert time.process_time() - start < 1.0
