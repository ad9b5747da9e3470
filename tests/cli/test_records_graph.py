"""``aicr records graph`` from end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aicr.cli.main import main
from command import assert_fails, run_aicr

CATALOG = str(Path(__file__).parents[2] / "examples" / "three-hops" / "catalog")


@pytest.mark.parametrize(
    ("form", "begins"),
    [("text", "RECORDED WAYS OF"), ("dot", "digraph"), ("mermaid", "flowchart"), ("json", "{")],
)
def test_every_format(capsys: pytest.CaptureFixture[str], form: str, begins: str) -> None:
    run = ["records", "graph", "alpha-operator", "--catalog", CATALOG, "--format", form]
    assert main(run) == 0
    assert capsys.readouterr().out.startswith(begins)


def test_values(capsys: pytest.CaptureFixture[str]) -> None:
    main(["records", "graph", "alpha-operator", "--catalog", CATALOG, "--format", "json"])
    found = json.loads(capsys.readouterr().out)
    assert {"from": "1.0.0", "to": "2.4.0", "verdict": "manual", "reason": "recorded"} in (
        found["edges"]
    )
    assert {"version": "2.4.0", "release": "stack-2"} in found["nodes"]
    assert len(found["holes"]) == found["summary"]["holes"] > 0


def test_an_unknown_component() -> None:
    done = run_aicr("records", "graph", "alpha-operatr", "--catalog", CATALOG)
    assert_fails(done, 3, '"alpha-operatr"', "did you mean alpha-operator?")
