"""A catalog of 155 components, two recipes, and the rows that come out, field by field."""

from __future__ import annotations

import json
import os

import pytest

from aicr.catalog.open import open_catalog
from aicr.recipe.document import read_recipe
from aicr.upgrade.check import Report, check
from aicr.upgrade.report import report_values
from aicr.upgrade.sides import Side

CASES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "upgrade-check")
FIELDS = (
    "component", "change", "replaces", "verdict", "reason", "stoppedAt", "path", "landAt",
    "furthest", "failsRun",
)  # fmt: skip


def side(name: str) -> Side:
    with open(os.path.join(CASES, name), "rb") as file:
        return Side(name, read_recipe(file.read(), name))


@pytest.fixture(scope="module")
def report() -> Report:
    catalog = open_catalog(catalog=os.path.join(CASES, "catalog"))
    return check(side("from.yaml"), side("to.yaml"), catalog, deployer="helm")


@pytest.fixture(scope="module")
def expected() -> dict[str, object]:
    with open(os.path.join(CASES, "expected.json"), encoding="utf-8") as file:
        found: dict[str, object] = json.load(file)
    return found


def test_rows(report: Report, expected: dict[str, object]) -> None:
    got = []
    components = report_values(report)["components"]
    assert isinstance(components, list)
    for row in components:
        fields = {name: row[name] for name in FIELDS if name in row}
        if "identityChanges" in row:
            fields["fields"] = [change["field"] for change in row["identityChanges"]]
        got.append(fields)
    rows = expected["rows"]
    assert isinstance(rows, list)
    wanted = [{k: value for k, value in row.items() if value is not None} for row in rows]
    assert got == wanted


def test_summary(report: Report, expected: dict[str, object]) -> None:
    assert report.failing == expected["failing"]
    assert isinstance(expected["rows"], list)
    assert len(report.rows) == len(expected["rows"])


def test_every_row_that_fails_says_what_to_do(report: Report) -> None:
    for row in report.rows:
        assert row.notes
        if row.fails_run:
            assert row.explanation.endswith((".", "?"))
