"""A bundle is as good a FROM as its recipe: the same rows, and the object names beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from aicr.bundle.writers import WRITERS
from aicr.cli.main import main
from bundles import stack

Report = Mapping[str, object]
EKS = ["--service", "eks", "--catalog"]
SETS = [
    "--set", "chart:fullnameOverride=the-chart", "--set", "oci:sub.nameOverride=o",
    "--set", "plain:nameOverride=p",
]  # fmt: skip
DYNAMIC = {
    "fixed": [],
    "left open": ["--dynamic", "chart:size", "--dynamic", "oci:names", "--dynamic", "plain:none"],
}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The catalog of a first release, and one of a second with other versions."""
    monkeypatch.chdir(tmp_path)
    old, new = stack(), stack()
    text = new.files["registry.yaml"].decode().replace("v1.2.3", "v2.0.0").replace("26.10", "27.1")
    new.add("registry.yaml", text)
    for name, catalog in (("old", old), ("new", new)):
        catalog.write(Path(name))
        assert main(["recipe", *EKS, name, "-o", f"{name}.yaml"]) == 0
    return tmp_path


def bundle(name: str, deployer: str, output: str, *words: str) -> None:
    common = ["bundle", "-r", f"{name}.yaml", "--catalog", name, "--deployer", deployer]
    assert main([*common, "-o", output, *words]) == 0


def report(capsys: pytest.CaptureFixture[str], before: str, after: str, deployer: str) -> Report:
    capsys.readouterr()
    words = ["upgrade-check", "--from", before, "--to", after, "--deployer", deployer]
    code = main([*words, "--catalog", "new", "--format", "json", "--fail-on-error=false"])
    assert code == 0
    found: Report = json.loads(capsys.readouterr().out)
    return found


def rows(found: Report) -> list[dict[str, object]]:
    rows = found["components"]
    assert isinstance(rows, list)
    return rows


@pytest.mark.parametrize("left_open", DYNAMIC)
@pytest.mark.parametrize("deployer", WRITERS)
def test_a_bundle_and_its_recipe(
    work: Path, capsys: pytest.CaptureFixture[str], deployer: str, left_open: str
) -> None:
    words = DYNAMIC[left_open] if deployer != "argocd" else []
    bundle("old", deployer, "b", *words)
    of_bundle = report(capsys, "b", "new.yaml", deployer)
    of_recipe = report(capsys, "b/recipe.yaml", "new.yaml", deployer)
    assert rows(of_bundle) == rows(of_recipe)
    assert {row["component"] for row in rows(of_bundle)} == {"chart", "oci"}
    assert of_bundle["summary"] == of_recipe["summary"]


@pytest.mark.parametrize("left_open", DYNAMIC)
@pytest.mark.parametrize("deployer", WRITERS)
def test_object_names_of_every_deployer(
    work: Path, capsys: pytest.CaptureFixture[str], deployer: str, left_open: str
) -> None:
    words = DYNAMIC[left_open] if deployer != "argocd" else []
    bundle("old", deployer, "named", *SETS, *words)
    moved = {
        str(row["component"]): row["identityChanges"]
        for row in rows(report(capsys, "named", "new.yaml", deployer))
    }
    assert moved == {
        "chart": [{"field": "fullnameOverride", "from": "the-chart"}],
        "oci": [{"field": "sub.nameOverride", "from": "o"}],
        "plain": [{"field": "nameOverride", "from": "p"}],
    }
    bundle("old", deployer, "same", *SETS, *words)
    assert rows(report(capsys, "named", "same", deployer)) == []


@pytest.mark.parametrize("deployer", ["helm", "helmfile", "argocd-helm", "flux"])
def test_a_name_that_is_left_to_install_time(
    work: Path, capsys: pytest.CaptureFixture[str], deployer: str
) -> None:
    """What the recipe says counts until the bundle itself says otherwise."""
    overlay = Path("old/overlays/eks.yaml")
    text = overlay.read_text().replace(
        '"criteria"',
        '"componentRefs": [{"name": "oci", "overrides": {"nameOverride": "mine"}}], "criteria"',
    )
    overlay.write_text(text)
    assert main(["recipe", *EKS, "old", "-o", "old.yaml"]) == 0
    bundle("old", deployer, "b", "--dynamic", "oci:nameOverride")
    bundle("new", deployer, "after")
    moved = rows(report(capsys, "b", "after", deployer))
    changes = {str(row["component"]): row.get("identityChanges") for row in moved}
    assert changes["oci"] == [{"field": "nameOverride", "from": "mine"}]
    if deployer in ("helm", "helmfile"):
        Path("b/001-oci/cluster-values.yaml").write_text("nameOverride: theirs\n")
        moved = rows(report(capsys, "b", "after", deployer))
        changes = {str(row["component"]): row.get("identityChanges") for row in moved}
        assert changes["oci"] == [{"field": "nameOverride", "from": "theirs"}]


@pytest.mark.parametrize("deployer", WRITERS)
def test_the_recipe_inside_is_what_is_in_the_bundle(work: Path, deployer: str) -> None:
    bundle("old", deployer, "b", "--set", "plain:enabled=false")
    recipe = yaml.safe_load(Path("b/recipe.yaml").read_text())
    info = yaml.safe_load(Path("b/bundle-info.yaml").read_text())
    listed = {release["component"] for release in info["layout"]["releases"]}
    assert listed == {ref["name"] for ref in recipe["componentRefs"]} == {"chart", "oci"}
