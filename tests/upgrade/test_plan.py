"""Plans over random stacks: every promise of a plan, told once more without its code."""

from __future__ import annotations

from random import Random

import pytest

from aicr.catalog.model import ComponentRef, Release
from aicr.upgrade.check import Rules, compare
from aicr.upgrade.formats import plan_text
from aicr.upgrade.inventory import inventory_of
from aicr.upgrade.plan import HOPS, RELEASES, Plan
from aicr.upgrade.plan_report import plan_values
from aicr.upgrade.rows import Row
from aicr.versions.semver import parse, without_v
from plan_cases import Case, at_stage, case
from upgrade_oracle import answer, ways
from upgrade_records import records, side, transition


def facts(row: Row) -> tuple[object, ...]:
    moved = tuple((c.field, c.before, c.after) for c in row.identity_changes)
    return (row.component, row.change, row.before, row.after, row.verdict, row.reason, moved)


def by_name(refs: object) -> dict[str, ComponentRef]:
    return {ref.name: ref for ref in refs}  # type: ignore[attr-defined]


def hold_to_the_rules(one: Case, plan: Plan) -> None:
    """What must hold of any plan, whatever its mode."""
    rules = Rules(one.loaded, one.releases)
    held = {h.change.component: h for h in plan.held}
    replaced_by_held = {h.change.replaces for h in plan.held if h.change.change == "replaced"}
    old = by_name(one.old.recipe.components)
    new = by_name(one.new.recipe.components)
    before = old
    moved: dict[str, str] = {}
    for stage in plan.stages:
        after = by_name(stage.components)
        last = stage.n == len(plan.stages)
        # Given to the check by itself, the stage has exactly the plan's verdicts.
        rows = compare(
            inventory_of(before.values()), inventory_of(after.values()), rules, deployer="helm"
        )
        assert sorted(map(facts, rows)) == sorted(facts(hop.row) for hop in stage.hops)
        for hop in stage.hops:
            row = hop.row
            assert row.verdict in ("safe", "manual", "")
            if row.change == "version":
                said = answer(one.texts.get(row.component, []), row.before, row.after)
                assert said[:2] == (row.verdict, "recorded")
                start, end = parse(row.before), parse(row.after)
                assert start is not None
                assert end is not None
                assert end > start
                moved[row.component] = row.after
            assert row.change != "identity"
        # Nothing is dropped before the last stage but what is replaced, and that by its heir.
        gone = before.keys() - after.keys()
        heirs = {hop.row.replaces: hop.row.component for hop in stage.hops if hop.row.replaces}
        for name in gone:
            assert (last and name not in new) or heirs.get(name) in after
        # Nothing waits for what is not there.
        assert all(need in after for ref in after.values() for need in ref.dependency_refs)
        for name in held.keys() - {h for h in held if held[h].change.change == "replaced"}:
            assert after[name].pin == moved.get(name, old[name].pin)
            assert after[name].namespace == old[name].namespace
        before = after
    for name, h in held.items():
        if h.change.change != "replaced":
            assert moved.get(name, "") == h.reached
    assert not plan.stages or replaced_by_held <= before.keys()
    if plan.stages:
        left = compare(
            inventory_of(before.values()), inventory_of(new.values()), rules, deployer="helm"
        )
        assert {row.component for row in left} == held.keys()
        for name in new.keys() - held.keys():
            kept = before[name]
            assert kept.pin == new[name].pin
            assert kept.namespace == new[name].namespace


def rest_of(plan: Plan, n: int) -> list[list[tuple[object, ...]]]:
    return [sorted(facts(hop.row) for hop in stage.hops) for stage in plan.stages[n:]]


def stuck_of(plan: Plan) -> dict[str, tuple[object, ...]]:
    return {h.change.component: (h.stuck.verdict, h.stuck.reason, h.stuck.stopped_at,
                                 h.stuck.after) for h in plan.held}  # fmt: skip


def test_ten_thousand_record_sets() -> None:
    random = Random(20)
    seen = {"plans": 0, "stages": 0, "held": 0, "reached": 0, "sets": 0, "pulled": 0}
    while seen["sets"] < 10_000:
        one = case(random)
        plan = one.plan()
        hold_to_the_rules(one, plan)
        for i, stage in enumerate(plan.stages, 1):
            again = one.moved_from(at_stage(list(stage.components))).plan()
            assert rest_of(again, 0) == rest_of(plan, i)
            assert stuck_of(again) == stuck_of(plan)
        seen["sets"] += len(one.texts)
        seen["plans"] += 1
        seen["stages"] += len(plan.stages)
        seen["held"] += len(plan.held)
        seen["reached"] += sum(bool(h.reached) for h in plan.held)
        seen["pulled"] += any(
            hop.row.change == "added" for stage in plan.stages[:-1] for hop in stage.hops
        )
    assert min(seen.values()) > 20, seen
    assert seen["stages"] > seen["plans"], seen


def test_hops_are_the_path_of_the_oracle() -> None:
    random = Random(21)
    chains = furthest = 0
    for _ in range(400):
        one = case(random)
        plan = one.plan()
        for row in one.report().rows:
            if row.change != "version":
                continue
            pins = [(r.name, list(r.pins.get(row.component, ()))) for r in one.releases]
            path, _, far = ways(one.texts.get(row.component, []), pins, row.before, row.after)
            hops = [hop.row.after for hop in plan.hops if hop.row.component == row.component]
            held = next((h for h in plan.held if h.change.component == row.component), None)
            if path and held is not None:
                assert held.stuck.reason == "identity-changed"
                assert list(map(without_v, hops)) == list(map(without_v, path[:-1]))
            elif path:
                assert list(map(without_v, hops)) == list(map(without_v, path))
                chains += 1
            elif far:
                assert without_v(hops[-1]) == without_v(far)
                furthest += 1
    assert chains > 30
    assert furthest > 10


def test_walks_through_releases() -> None:
    random = Random(22)
    walks = several = closed = 0
    for _ in range(1500):
        one = case(random)
        plan = one.plan(RELEASES)
        assert not (plan.stages and plan.closed)
        hold_to_the_rules(one, plan)
        names = [release.name for release in one.releases]
        for i, stage in enumerate(plan.stages, 1):
            again = one.moved_from(at_stage(list(stage.components))).plan(RELEASES)
            assert rest_of(again, 0) == rest_of(plan, i)
        walks += bool(plan.stages)
        several += len(plan.stages) > 1
        closed += bool(plan.closed)
        if plan.closed:
            later = names[names.index(plan.reached) + 1 :] if plan.reached else names
            assert [name for name, _ in plan.closed] == [*later, ""]
    assert walks > 100
    assert several > 10
    assert closed > 100


CLIMB = (
    transition(">=1.0.0 <2.0.0", ">=2.0.0 <=2.5.0", "manual", reversible=True,
               reversible_notes="Put it back."),
    transition(">=2.0.0 <3.0.0", ">=3.0.0 <=3.5.0", "safe"),
    transition(">=3.0.0 <4.0.0", ">=4.0.0 <=4.5.0", "manual"),
)  # fmt: skip


def ref(name: str, version: str, *needs: str, namespace: str = "") -> ComponentRef:
    return ComponentRef(name, version=version, namespace=namespace or name, type="Helm",
                        dependency_refs=needs)  # fmt: skip


def planned(
    old: list[ComponentRef],
    new: list[ComponentRef],
    *climbing: str,
    releases: tuple[Release, ...] = (),
    mode: str = HOPS,
    unplanned: bool = False,
) -> Plan:
    loaded = {name: records(*CLIMB) for name in climbing}
    one = Case(side("old", *old), side("new", *new), {}, loaded, list(releases))
    return one.plan(mode, unplanned=unplanned)


def shape(plan: Plan) -> list[list[str]]:
    return [
        [f"{hop.row.component} {hop.row.before or '-'}>{hop.row.after or '-'}" for hop in s.hops]
        for s in plan.stages
    ]


def test_a_component_moves_in_the_last_stages() -> None:
    old = [ref("a", "1.0.0"), ref("b", "2.0.0"), ref("gone", "1.0.0")]
    plan = planned(old, [ref("a", "4.0.0"), ref("b", "3.0.0"), ref("new", "1.0.0")], "a", "b")
    assert shape(plan) == [
        ["a 1.0.0>2.5.0"],
        ["a 2.5.0>3.5.0"],
        ["a 3.5.0>4.0.0", "b 2.0.0>3.0.0", "new ->1.0.0", "gone 1.0.0>-"],
    ]
    assert plan.stages[0].reversible
    assert not plan.stages[1].reversible
    assert plan.reversible_to == 1
    assert plan.needs_attention


def test_what_it_needs_first_is_pulled_forward() -> None:
    old = [ref("a", "1.0.0"), ref("a-crds", "3.0.0"), ref("z", "1.0.0")]
    new = [ref("a", "4.0.0", "dep"), ref("a-crds", "4.0.0"), ref("dep", "7", "deeper"),
           ref("deeper", "9"), ref("late", "1"), ref("z", "1.0.0")]  # fmt: skip
    plan = planned(old, new, "a", "a-crds")
    assert shape(plan)[0] == ["a-crds 3.0.0>4.0.0", "deeper ->9", "dep ->7", "a 1.0.0>2.5.0"]
    assert shape(plan)[2] == ["a 3.5.0>4.0.0", "late ->1"]
    assert {one.name for one in plan.stages[0].components} == {"a", "a-crds", "dep", "deeper", "z"}


def test_several_hops_of_crds_begin_no_later_than_their_owner() -> None:
    plan = planned([ref("a", "1.0.0"), ref("a-crds", "2.0.0")],
                   [ref("a", "4.0.0"), ref("a-crds", "4.0.0")], "a", "a-crds")  # fmt: skip
    assert shape(plan) == [
        ["a 1.0.0>2.5.0", "a-crds 2.0.0>3.5.0"],
        ["a 2.5.0>3.5.0", "a-crds 3.5.0>4.0.0"],
        ["a 3.5.0>4.0.0"],
    ]


def test_what_is_held_says_why_and_stays() -> None:
    old = [ref("a", "1.0.0"), ref("b", "1.0.0"), ref("c", "3.0.0"), ref("d", "1.0.0")]
    new = [ref("a", "3.0.0", namespace="elsewhere"), ref("b", "2.0.0"), ref("c", "2.0.0"),
           ref("d", "9.0.0")]  # fmt: skip
    plan = planned(old, new, "a", "c", "d")
    stuck = {h.change.component: (h.reached, h.stuck.reason) for h in plan.held}
    assert stuck == {
        "a": ("2.5.0", "identity-changed"),
        "b": ("", "no-record"),
        "c": ("", "downgrade"),
        "d": ("4.5.0", "beyond-record-ceiling"),
    }
    last = {one.name: one for one in plan.stages[-1].components}
    assert {name: one.pin for name, one in last.items()} == {
        "a": "2.5.0", "b": "1.0.0", "c": "3.0.0", "d": "4.5.0",
    }  # fmt: skip
    assert last["a"].namespace == "a"


def test_the_last_stage_can_be_the_target_as_it_is() -> None:
    old = [ref("a", "1.0.0"), ref("d", "1.0.0")]
    new = [ref("a", "2.0.0"), ref("d", "9.0.0")]
    plan = planned(old, new, "a", "d", unplanned=True)
    assert [one.pin for one in plan.stages[-1].components] == ["2.0.0", "9.0.0"]
    assert shape(plan)[-1] == ["a 1.0.0>2.0.0"]
    assert shape(plan)[-2] == ["d 3.5.0>4.5.0"]
    assert [h.change.component for h in plan.held] == ["d"]
    only = planned([ref("d", "1.0.0")], [ref("d", "1.0.0", namespace="x")], unplanned=True)
    assert shape(only) == [[]]


def test_nothing_to_do_is_no_stage() -> None:
    plan = planned([ref("a", "1.0.0")], [ref("a", "v1.0.0")])
    assert (plan.stages, plan.held, plan.needs_attention) == ([], [], False)
    safe = planned([ref("a", "2.0.0")], [ref("a", "3.0.0"), ref("b", "1")], "a")
    assert not safe.needs_attention


HISTORY = (
    Release("r1", {"a": ["1.0.0"], "b": ["1.0.0"]}),
    Release("r2", {"a": ["2.0.0"], "b": ["2.0.0"]}),
    Release("r3", {"a": ["2.5.0"], "b": ["2.1.0"]}),
    Release("r4", {"a": ["3.0.0"], "b": ["3.0.0"]}),
)


def test_the_newer_release_wins_among_the_fewest_stages() -> None:
    plan = planned([ref("a", "1.0.0"), ref("b", "1.0.0"), ref("own", "5")],
                   [ref("a", "3.1.0"), ref("b", "3.1.0"), ref("own", "5")],
                   "a", "b", releases=HISTORY, mode=RELEASES)  # fmt: skip
    assert shape(plan) == [
        ["a 1.0.0>2.5.0", "b 1.0.0>2.1.0"],
        ["a 2.5.0>3.1.0", "b 2.1.0>3.1.0"],
    ]
    assert [stage.release for stage in plan.stages] == ["r3", ""]


def test_where_no_walk_is_the_first_that_closes_is_named() -> None:
    history = (*HISTORY[:2], Release("r3", {"a": ["2.5.0"], "b": ["2.0.0-rc.1"]}))
    plan = planned([ref("a", "1.0.0"), ref("b", "1.0.0")], [ref("a", "4.0.0"), ref("b", "4.0.0")],
                   "a", "b", releases=history, mode=RELEASES)  # fmt: skip
    assert plan.reached == "r2"
    assert list(plan.closed) == [("r3", "a"), ("", "a")]
    assert plan.needs_attention


def test_a_held_component_closes_no_walk() -> None:
    plan = planned([ref("a", "1.0.0"), ref("b", "9.0.0")], [ref("a", "3.0.0"), ref("b", "1.0.0")],
                   "a", "b", releases=HISTORY, mode=RELEASES)  # fmt: skip
    assert shape(plan) == [["a 1.0.0>2.5.0"], ["a 2.5.0>3.0.0"]]
    assert [h.change.component for h in plan.held] == ["b"]
    assert all(one.pin == "9.0.0" for s in plan.stages for one in s.components if one.name == "b")


@pytest.mark.parametrize("mode", [HOPS, RELEASES])
def test_forty_components_over_thirty_releases_are_quick(mode: str) -> None:
    import time

    names = [f"c{i:02}" for i in range(40)]
    ladder = [transition(f">=1.{r - 5}.0 <1.{r}.0", f">=1.{r}.0 <=1.{r + 4}.9", "manual")
              for r in range(5, 31, 5)]  # fmt: skip
    history = [Release(f"r{r}", {n: [f"1.{r}.0"] for n in names}) for r in range(1, 31)]
    one = Case(
        side("old", *(ref(n, "1.0.0") for n in names)),
        side("new", *(ref(n, "1.30.0") for n in names)),
        {},
        {n: records(*ladder) for n in names},
        history,
    )
    report = one.report()
    assert report.rows
    start = time.process_time()
    plan = one.plan(mode)
    assert len(plan.stages) > 3
    # The check's own part included, on a machine that does other things too.
    assert time.process_time() - start < 1.0


def test_who_moves_while_its_crds_are_held_is_said() -> None:
    old = [ref("a", "1.0.0"), ref("a-crds", "main"), ref("b", "1.0.0"), ref("b-crds", "3.0.0")]
    new = [ref("a", "2.0.0"), ref("a-crds", "2.0.0"), ref("b", "2.0.0"), ref("b-crds", "4.0.0")]
    plan = planned(old, new, "a", "a-crds", "b", "b-crds")
    assert [one.change.component for one in plan.held] == ["a-crds"]
    said = [one for one in plan.cautions if "CRDs" in one]
    assert len(said) == 1
    assert said[0].startswith("without its CRDs: a moves, and a-crds is held at main")
    assert plan_values(plan)["cautions"] == plan.cautions
    for form in ("table", "markdown", "html"):
        assert "a moves, and a-crds is held at main" in " ".join(plan_text(plan, form).split())


def test_names_that_were_not_compared_are_said() -> None:
    plan = planned([ref("a", "1.0.0")], [ref("a", "2.0.0")], "a")
    assert plan.cautions == []
    assert "cautions" not in plan_values(plan)
    plan.report.names_skipped = "old is a recipe"
    assert plan.cautions == ["object names were not compared: old is a recipe"]


def test_what_has_no_version_closes_no_walk() -> None:
    """Only manifests, and in the releases without a pin: they say nothing of it."""
    history = tuple(Release(one.name, {**one.pins, "m": ("",)}) for one in HISTORY)
    bare = ComponentRef("m", type="Helm", manifest_files=["m.yaml"])
    pair = (
        [ref("a", "1.0.0"), ref("b", "1.0.0"), bare],
        [ref("a", "4.0.0"), ref("b", "4.0.0"), bare],
    )
    known = planned(pair[0][:2], pair[1][:2], "a", "b", releases=HISTORY, mode=RELEASES)
    plan = planned(*pair, "a", "b", releases=history, mode=RELEASES)
    assert (shape(plan), plan.closed) == (shape(known), known.closed)
