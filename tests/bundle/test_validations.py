"""The registry's own checks run before a bundle is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from aicr.bundle.build import Bundle
from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.resolve import resolve
from bundles import build
from small_catalog import SmallCatalog, helm


def bundle(root: Path, *sets: str, **check: object) -> Bundle:
    validation = {"function": "CheckWorkloadSelectorMissing", "severity": "info", **check}
    entry = helm(
        "a",
        podScheduling={"workload": {"workloadSelectorPaths": ["workloadSelector", "x.sel"]}},
        nodeScheduling={"accelerated": {"nodeSelectorPaths": ["nodeSelector"]}},
        validations=[validation],
    )
    catalog = SmallCatalog().registry(entry)
    catalog.overlay("base", componentRefs=[{"name": "a"}])
    catalog.overlay("train", criteria={"intent": "training", "service": "eks"})
    opened = catalog.open(root)
    recipe = resolve(opened, Criteria(intent="training", service="eks"))
    return build(recipe, opened, sets=sets)


def notices(found: Bundle) -> list[tuple[str, str]]:
    return [(one.severity, one.message) for one in found.notices]


@pytest.mark.parametrize("severity", ["info", "warning"])
def test_a_missing_selector_is_pointed_out(tmp_path: Path, severity: str) -> None:
    found = bundle(tmp_path, severity=severity, message="Jobs may be evicted.")
    assert notices(found) == [(severity, "a: Jobs may be evicted.")]


def test_an_error_stops(tmp_path: Path) -> None:
    with pytest.raises(AicrError, match="a: Jobs may be evicted"):
        bundle(tmp_path, severity="error", message="Jobs may be evicted.")


@pytest.mark.parametrize("path", ["workloadSelector.team", "x.sel.team"])
def test_a_selector_that_is_there(tmp_path: Path, path: str) -> None:
    assert notices(bundle(tmp_path, f"a:{path}=b")) == []


def test_the_accelerated_selector(tmp_path: Path) -> None:
    function = "CheckAcceleratedSelectorMissing"
    assert len(notices(bundle(tmp_path, function=function))) == 1
    assert notices(bundle(tmp_path, "a:nodeSelector.gpu=true", function=function)) == []


@pytest.mark.parametrize(
    ("conditions", "count"),
    [
        ({"intent": ["training"]}, 1),
        ({"intent": ["inference"]}, 0),
        ({"intent": ["inference", "training"], "service": ["eks"]}, 1),
        ({"intent": ["training"], "service": ["gke"]}, 0),
        ({"os": ["ubuntu"]}, 0),
        ({}, 1),
    ],
)
def test_conditions(tmp_path: Path, conditions: dict[str, object], count: int) -> None:
    assert len(notices(bundle(tmp_path, conditions=conditions))) == count


@pytest.mark.parametrize(
    ("check", "says"),
    [
        ({"function": "CheckMoon"}, 'the function "CheckMoon" is not known'),
        ({"severity": "fatal"}, 'the severity "fatal" is not one of info, warning, error'),
        ({"conditions": {"moon": ["full"]}}, "conditions: expected a map of"),
    ],
)
def test_what_is_not_known_is_an_error(tmp_path: Path, check: dict[str, object], says: str) -> None:
    with pytest.raises(AicrError) as caught:
        bundle(tmp_path, **check)
    assert says in caught.value.message
    assert "a.validations[0]" in caught.value.message


def test_a_component_that_is_left_out_is_not_checked(tmp_path: Path) -> None:
    with pytest.raises(AicrError, match="nothing to bundle"):
        bundle(tmp_path, "a:enabled=false", severity="error")
