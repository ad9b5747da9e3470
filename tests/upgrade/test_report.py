"""The stable field names of the report, which fields are always there, and their types."""

from __future__ import annotations

import jsonschema
import pytest

from aicr.documents.emit import json_text, yaml_text
from aicr.documents.reader import read_yaml
from aicr.documents.scalars import plain
from aicr.upgrade.check import Report, Rules, compare
from aicr.upgrade.inventory import Identity, IdentityChange
from aicr.upgrade.report import report_values, row_values
from aicr.upgrade.rows import Row
from upgrade_records import records, replacement, row, transition

TEXT = {"type": "string", "minLength": 1}
TEXTS = {"type": "array", "items": TEXT, "minItems": 1}
ROW = {
    "type": "object",
    "additionalProperties": False,
    "required": ["component", "change", "notes", "breaking", "downgrade", "failsRun"],
    "properties": {
        "component": TEXT,
        "change": {"enum": ["version", "identity", "added", "removed", "replaced"]},
        "from": TEXT,
        "to": TEXT,
        "replaces": TEXT,
        "verdict": {"enum": ["safe", "manual", "blocked", "unknown", "unversioned"]},
        "notes": {"type": "string"},
        "reason": TEXT,
        "explanation": TEXT,
        "jump": TEXT,
        "covers": TEXT,
        "breaking": {"type": "boolean"},
        "downgrade": {"type": "boolean"},
        "stoppedAt": TEXT,
        "startAt": TEXT,
        "landAt": TEXT,
        "path": TEXTS,
        "furthest": TEXT,
        "summary": TEXT,
        "precondition": TEXT,
        "reversible": {"type": "boolean"},
        "reversibleNotes": TEXT,
        "verifiedBy": TEXT,
        "steps": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["id", "description"],
                "properties": {"id": TEXT, "description": TEXT, "reason": TEXT},
            },
        },
        "references": TEXTS,
        "identityChanges": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["field"],
                "properties": {
                    "field": TEXT,
                    "from": {"type": "string"},
                    "to": {"type": "string"},
                },
            },
        },
        "failsRun": {"type": "boolean"},
    },
}
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["from", "to", "objectNamesCompared", "components", "atRisk", "summary"],
    "properties": {
        "from": TEXT,
        "to": TEXT,
        "deployer": TEXT,
        "source": {"type": "object"},
        "objectNamesCompared": {"type": "boolean"},
        "objectNamesSkipped": TEXT,
        "components": {"type": "array", "items": ROW},
        "atRisk": {
            "type": "object",
            "additionalProperties": False,
            "required": ["scanned", "kinds", "findings"],
            "properties": {
                "scanned": {"type": "boolean"},
                "reason": TEXT,
                "kinds": {"type": "array"},
                "findings": {"type": "array"},
            },
        },
        "summary": {
            "type": "object",
            "additionalProperties": False,
            "required": ["components", "failing"],
            "properties": {"components": {"type": "integer"}, "failing": {"type": "integer"}},
        },
    },
}

MANUAL = transition(
    "<2.0.0", ">=2.0.0 <=2.5.0", "manual", precondition="Drain.", reversible=True,
    reversible_notes="Back.", references=("https://example.com",),
)  # fmt: skip


def a_report() -> Report:
    before = {
        "manual": Identity("1.0.0", namespace="a"),
        "old": Identity("1.0.0"),
        "path": Identity("1.0.0"),
        "same": Identity("1.0.0", namespace="a", manifest_files=frozenset({"x", "y"})),
        "gone": Identity(""),
    }
    after = {
        "manual": Identity("2.0.0", namespace="b"),
        "arrives": Identity("1.0.0"),
        "path": Identity("3.0.0"),
        "same": Identity("1.0.0", namespace="a", manifest_files=frozenset()),
        "new": Identity("1.0.0"),
    }
    known = {
        "manual": records(MANUAL),
        "path": records(MANUAL, transition(">=2.0.0 <3.0.0", "3.0.0")),
        "arrives": records(replaces=replacement("old")),
    }
    return Report(
        "old.yaml",
        "new.yaml",
        compare(before, after, Rules(known), deployer="helm"),
        deployer="helm",
        names_skipped="not a bundle",
    )


def test_the_report_has_the_stable_fields_and_no_other() -> None:
    values = report_values(a_report())
    jsonschema.validate(values, SCHEMA)
    assert list(values) == [
        "from", "to", "deployer", "objectNamesCompared", "objectNamesSkipped", "components",
        "atRisk", "summary",
    ]  # fmt: skip
    assert values["summary"] == {"components": 6, "failing": 4}
    assert values["atRisk"] == {
        "scanned": False,
        "reason": "no cluster access was requested",
        "kinds": [],
        "findings": [],
    }


def test_an_empty_report() -> None:
    values = report_values(Report("a", "a", ()))
    jsonschema.validate(values, SCHEMA)
    assert values["components"] == []


def test_a_row_with_steps_whole() -> None:
    values = row_values(
        row("1.0.0", "2.0.0", MANUAL, old_identity=Identity("1.0.0", namespace="a"),
            new_identity=Identity("2.0.0", namespace="b"))
    )  # fmt: skip
    explanation = values.pop("explanation")
    assert isinstance(explanation, str)
    assert values == {
        "component": "alpha",
        "change": "version",
        "from": "1.0.0",
        "to": "2.0.0",
        "verdict": "manual",
        "notes": "1 major, 2 steps, has a precondition, namespace moved",
        "reason": "recorded",
        "jump": "1 major",
        "covers": "1 major",
        "breaking": True,
        "downgrade": False,
        "summary": "A boundary.",
        "precondition": "Drain.",
        "reversible": True,
        "reversibleNotes": "Back.",
        "steps": [
            {"id": "apply-crds", "description": "Apply the CRDs."},
            {"id": "upgrade", "description": "Upgrade."},
        ],
        "references": ["https://example.com"],
        "identityChanges": [{"field": "namespace", "from": "a", "to": "b"}],
        "failsRun": True,
    }


@pytest.mark.parametrize(
    ("found", "fields"),
    [
        (Row("a", "added", after="1"), {"to": "1", "failsRun": False}),
        (Row("a", "removed", before="1"), {"from": "1", "failsRun": False}),
        (row("main", "2.0.0"), {"reason": "not-comparable", "breaking": False}),
        (row("2.0.0", "1.0.0"), {"downgrade": True, "breaking": False, "jump": "1 major"}),
    ],
)
def test_fields_that_do_not_apply_are_left_out(found: Row, fields: dict[str, object]) -> None:
    values = row_values(found)
    assert fields.items() <= values.items()
    assert not [name for name, value in values.items() if value in ("", None, [])]
    assert ("jump" in values) == (found.verdict not in ("", "unversioned"))


def test_a_name_that_one_side_lacks_has_no_value_there() -> None:
    found = Row(
        "a", "identity", before="1", after="1", verdict="unknown", reason="identity-changed",
        identity_changes=[IdentityChange("nameOverride", None, "x"),
                          IdentityChange("manifestFiles", "", "m")],
    )  # fmt: skip
    assert row_values(found)["identityChanges"] == [
        {"field": "nameOverride", "to": "x"},
        {"field": "manifestFiles", "from": "", "to": "m"},
    ]


def test_yaml_and_json_say_the_same() -> None:
    values = report_values(a_report())
    assert plain(read_yaml(yaml_text(values), "report.yaml")) == values
    assert plain(read_yaml(json_text(values), "report.json")) == values
