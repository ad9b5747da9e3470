"""A bundle says what the records say of its versions, for its own deployer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from aicr.bundle.build import Bundle
from aicr.bundle.writers import WRITERS
from aicr.recipe.criteria import Criteria
from aicr.recipe.resolve import resolve
from bundles import build
from small_catalog import SmallCatalog, helm


def transition(verdict: str, to: str = ">=1.0.0 <=2.0.0", **rest: object) -> dict[str, object]:
    values: dict[str, object] = {
        "from": "<1.0.0", "to": to, "verdict": verdict, "summary": "Things | moved.\n# loud"
    }  # fmt: skip
    if verdict == "safe":
        return values | {"verifiedBy": "lane", **rest}
    groups = [
        {"deployers": ["helm"], "steps": [{"id": "by-helm", "description": "helm it\n  a --b"}]},
        {"steps": [{"id": "by-others", "description": "sync it", "reason": "```\nbecause"}]},
    ]
    return values | {"stepsByDeployer": groups, **rest}


def bundle(
    root: Path,
    *transitions: object,
    version: str = "1.5.0",
    deployer: str = "helm",
    **rest: object,
) -> Bundle:
    entry = helm("a", version, upgrades={"file": "components/a/upgrades.yaml"})
    catalog = SmallCatalog().registry(entry).overlay("base", componentRefs=[{"name": "a"}])
    catalog.overlay("eks", criteria={"service": "eks"})
    record = {
        "apiVersion": "aicr.run/v1beta1", "kind": "ComponentUpgrades", "component": "a",
        "transitions": list(transitions), **rest,
    }  # fmt: skip
    catalog.add("components/a/upgrades.yaml", record)
    opened = catalog.open(root)
    return build(resolve(opened, Criteria(service="eks")), opened, deployer)


def text(found: Bundle, path: str) -> str:
    return found.files[path][0].decode() if path in found.files else ""


def test_a_manual_record_gives_steps_a_table_and_a_warning(tmp_path: Path) -> None:
    found = bundle(tmp_path, transition("manual", precondition="be calm"))
    upgrading = text(found, "UPGRADING.md")
    assert "helm it\n  a --b" in upgrading
    assert "by-helm" in upgrading
    assert "by-others" not in upgrading
    assert "be calm" in upgrading
    assert "## Before you upgrade" in text(found, "README.md")
    (notice,) = found.notices
    assert notice.severity == "warning"
    assert notice.message.endswith("it has steps for a")
    assert "UPGRADING.md" in notice.message
    assert "UPGRADING.md" in text(found, "checksums.txt")


@pytest.mark.parametrize("deployer", WRITERS)
def test_every_deployer_has_its_own_steps_only(tmp_path: Path, deployer: str) -> None:
    groups: list[object] = [
        {"deployers": [name], "steps": [{"id": f"by-{name}", "description": f"as {name} does"}]}
        for name in WRITERS
    ]
    found = bundle(tmp_path, transition("manual", stepsByDeployer=groups), deployer=deployer)
    upgrading = text(found, "UPGRADING.md")
    assert upgrading.startswith(f"# Upgrading with {deployer}\n")
    assert re.findall(r"^\d+\. by-(.+)$", upgrading, re.M) == [deployer]
    assert re.findall(r"as (\S+) does", upgrading) == [deployer]
    warnings = [one for one in found.notices if one.severity == "warning"]
    assert any("it has steps for a" in one.message for one in warnings)
    assert "## Before you upgrade" in text(found, "README.md")


@pytest.mark.parametrize("deployer", WRITERS)
def test_a_deployer_without_steps_of_its_own_has_those_of_all(
    tmp_path: Path, deployer: str
) -> None:
    found = bundle(tmp_path, transition("manual"), deployer=deployer)
    expected = "by-helm" if deployer == "helm" else "by-others"
    assert re.findall(r"^\d+\. (.+)$", text(found, "UPGRADING.md"), re.M) == [expected]


def test_a_blocked_record(tmp_path: Path) -> None:
    assert "(blocked)" in text(bundle(tmp_path, transition("blocked")), "UPGRADING.md")


def test_prose_is_no_markup(tmp_path: Path) -> None:
    step = {"id": "x|<b>", "description": "````\nopen", "reason": "``` bash"}
    groups = [{"steps": [step]}]
    upgrading = text(bundle(tmp_path, transition("manual", stepsByDeployer=groups)), "UPGRADING.md")
    assert "x\\|\\<b\\>" in upgrading
    assert "`````text\n````\nopen\n`````\n" in upgrading


def test_safe_and_other_versions_give_nothing(tmp_path: Path) -> None:
    for number, (record, version) in enumerate(
        [
            (transition("safe"), "1.5.0"),
            (transition("manual"), "0.9.0"),
            (transition("manual"), "2.0.1"),
        ]
    ):
        found = bundle(tmp_path / str(number), record, version=version)
        assert "UPGRADING.md" not in found.files
        assert "Before you upgrade" not in text(found, "README.md")
        assert found.notices == []


def test_a_record_that_cannot_be_read_is_a_warning(tmp_path: Path) -> None:
    found = bundle(tmp_path, transition("maybe"))
    assert "UPGRADING.md" not in found.files
    (notice,) = found.notices
    assert notice.severity == "warning"
    assert "cannot be read" in notice.message
    assert "verdict" in notice.message
