"""Rows that are shared between clusters are those of each comparison by itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import cast

from aicr.artifact.deployers import DEPLOYERS
from aicr.catalog.layers import Catalog
from aicr.errors import AicrError
from aicr.upgrade.check import Report, Rules, compare
from aicr.upgrade.fleet import ClusterReport, Entry, Fleet
from aicr.upgrade.fleet_report import fleet_values
from aicr.upgrade.inventory import inventory_of
from aicr.upgrade.judging import Judging
from aicr.upgrade.report import report_values, row_values
from plan_cases import case


def judging(loaded: object, releases: object) -> Judging:
    catalog = cast(Catalog, SimpleNamespace(releases=releases, registry={}))
    found = Judging(catalog)
    cast(dict[object, object], found.rules.records).update(cast(dict[object, object], loaded))
    return found


def refusal(judge: Callable[[], object]) -> str:
    try:
        judge()
    except AicrError as error:
        return error.message
    return ""


def test_fleet_rows_equal_single_runs() -> None:
    random = Random(5)
    compared = 0
    for _ in range(150):
        one = case(random)
        shared = judging(one.loaded, one.releases)
        after = inventory_of(one.new.recipe.components)
        clusters = []
        for n in range(6):
            other = case(random)
            before = inventory_of(other.old.recipe.components)
            deployer = random.choice(["", *DEPLOYERS])
            rules = Rules(one.loaded, one.releases)
            needed = refusal(partial(compare, before, after, rules, deployer=deployer))
            if needed:
                again = refusal(partial(shared.rows, before, after, deployer, with_names=False))
                assert again == needed
                continue
            alone = compare(before, after, rules, deployer=deployer)
            rows = shared.rows(before, after, deployer, with_names=False)
            assert list(map(row_values, rows)) == list(map(row_values, alone))
            compared += len(rows)
            report = Report(f"c{n}", "new", rows, deployer=deployer)
            clusters.append(ClusterReport(Entry(f"c{n}", f"c{n}"), report))
        fleet = Fleet(clusters)
        values = fleet_values(fleet)
        reports = {c.name: report_values(c.report) for c in fleet.clusters if c.report is not None}
        told = cast(list[dict[str, object]], values["clusters"])
        assert {c["name"]: c["report"] for c in told} == reports
        moves = fleet.moves()
        assert sum(len(m.clusters) for m in moves) == sum(len(c.rows) for c in clusters)
        keys = {(m.row.component, m.row.change, m.row.before, m.row.after, m.row.verdict,
                 m.row.reason, str(row_values(m.row).get("identityChanges")), m.deployer)
                for m in moves}  # fmt: skip
        assert len(keys) == len(moves)
        assert all(len(set(m.clusters)) == len(m.clusters) for m in moves)
    assert compared > 1000


def test_worst_first() -> None:
    random = Random(6)
    rank = ["blocked", "unknown", "unversioned", "manual", "safe", ""]
    one = case(random)
    shared = judging(one.loaded, one.releases)
    after = inventory_of(one.new.recipe.components)
    clusters = [ClusterReport(Entry("torn", "torn"), error=AicrError("INTERNAL", "x"))]
    for n in range(30):
        before = inventory_of(case(random).old.recipe.components)
        rows = shared.rows(before, after, "helm", with_names=False)
        clusters.append(ClusterReport(Entry(f"c{n}", "x"), Report("x", "y", rows, deployer="helm")))
    fleet = Fleet(clusters)
    verdicts = [rank.index(one.verdict) for one in fleet.read]
    assert verdicts == sorted(verdicts)
    assert fleet.clusters[-1].name == "torn"
    worst = [rank.index(move.row.verdict) for move in fleet.moves()]
    assert worst == sorted(worst)
