"""The sequence of "When a component moves namespace", and what the flag refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aicr.cli.main import main
from small_catalog import SmallCatalog, helm

CRITERIA = ["--service", "eks", "--intent", "training"]


def stack(*, namespace: str, version: str, full_name: str) -> SmallCatalog:
    moved = helm("phi", version)
    moved["helm"] = {**moved["helm"], "defaultNamespace": namespace}  # type: ignore[dict-item]
    return (
        SmallCatalog()
        .registry(moved, helm("still"), helm("fresh"))
        .add("components/phi/values.yaml", {"fullnameOverride": full_name, "size": 1})
        .overlay(
            "base",
            componentRefs=[
                {"name": "phi", "valuesFile": "components/phi/values.yaml"}, {"name": "still"},
            ],
        )
        .overlay(
            "eks-training",
            criteria={"service": "eks", "intent": "training"},
            componentRefs=[{"name": "fresh"}] if version != "1.0.0" else [],
        )
    )  # fmt: skip


@pytest.fixture
def catalogs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """``old`` and ``new`` catalogs; in ``new`` the namespace and the name of phi moved."""
    monkeypatch.chdir(tmp_path)
    stack(namespace="phi-system", version="1.0.0", full_name="phi").write(tmp_path / "old")
    stack(namespace="nvidia-phi-system", version="1.1.0", full_name="nvidia-phi").write(
        tmp_path / "new"
    )
    assert main(["recipe", *CRITERIA, "--catalog", "old", "-o", "old-recipe.yaml"]) == 0
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], before: str, after: str) -> dict[str, Any]:
    capsys.readouterr()
    main(["upgrade-check", "--from", before, "--to", after, "--catalog", "new", "--format", "json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return {row["component"]: row for row in found["components"]}


def test_without_the_flag_the_row_is_there_with_it_the_version_is_assessed_alone(
    catalogs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = ["recipe", *CRITERIA, "--catalog", "new", "-o", "new-recipe.yaml"]
    assert main(new) == 0
    row = check(capsys, "old-recipe.yaml", "new-recipe.yaml")["phi"]
    assert row["identityChanges"] == [
        {"field": "namespace", "from": "phi-system", "to": "nvidia-phi-system"}
    ]
    assert main([*new, "--inherit-from", "old-recipe.yaml"]) == 0
    said = capsys.readouterr().err
    (left,) = (line for line in said.splitlines() if "(fullnameOverride, nameOverride)" in line)
    assert "are left alone" in left
    assert left.count("old-recipe.yaml") == 1
    assert "fresh: not in old-recipe.yaml, so the catalog's defaults hold" in said
    row = check(capsys, "old-recipe.yaml", "new-recipe.yaml")["phi"]
    assert row["change"] == "version"
    assert not row.get("identityChanges")


def test_an_identity_row_of_a_component_that_held_its_version_goes_away(
    catalogs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stack(namespace="elsewhere", version="1.0.0", full_name="phi").write(catalogs / "new")
    new = ["recipe", *CRITERIA, "--catalog", "new", "-o", "new-recipe.yaml"]
    main(new)
    assert check(capsys, "old-recipe.yaml", "new-recipe.yaml")["phi"]["change"] == "identity"
    main([*new, "--inherit-from", "old-recipe.yaml"])
    assert check(capsys, "old-recipe.yaml", "new-recipe.yaml") == {}


def test_from_a_bundle_the_object_names_stay_too(
    catalogs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = ["bundle", "-r", "old-recipe.yaml", "--deployer", "helm", "--catalog", "old"]
    assert main([*bundle, "--set", "phi:size=2"]) == 0
    new = ["recipe", *CRITERIA, "--catalog", "new", "-o", "new-recipe.yaml"]
    assert main(new) == 0
    changes = check(capsys, "bundles", "new-recipe.yaml")["phi"]["identityChanges"]
    assert {one["field"] for one in changes} == {"namespace", "fullnameOverride"}
    assert main([*new, "--inherit-from", "./bundles"]) == 0
    assert not check(capsys, "bundles", "new-recipe.yaml")["phi"].get("identityChanges")
    selector = ["--selector", "components.phi", "-t", "json"]
    assert (
        main(["query", *CRITERIA, "--catalog", "new", "--inherit-from", "bundles", *selector]) == 0
    )
    phi = json.loads(capsys.readouterr().out)
    assert phi["namespace"] == "phi-system"
    assert phi["version"] == "1.1.0"
    assert phi["overrides"] == {"fullnameOverride": "phi"}
    assert phi["values"] == {"fullnameOverride": "phi", "size": 1}


def test_a_component_left_out_at_bundle_time_takes_the_defaults_and_is_named(
    catalogs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = ["bundle", "-r", "old-recipe.yaml", "--deployer", "helm", "--catalog", "old"]
    assert main([*bundle, "--set", "phi:enabled=false"]) == 0
    capsys.readouterr()
    query = ["query", *CRITERIA, "--catalog", "new", "--inherit-from", "bundles"]
    assert main([*query, "-s", "components.phi.namespace"]) == 0
    done = capsys.readouterr()
    assert done.out == "nvidia-phi-system\n"
    assert "fresh, phi: not in bundles" in done.err
    assert "--set NAME:enabled=false looks the same" in done.err


def test_a_bundle_of_an_older_tool_keeps_its_namespaces(
    catalogs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (catalogs / "older").mkdir()
    (catalogs / "older" / "recipe.yaml").write_bytes(Path("old-recipe.yaml").read_bytes())
    query = ["query", *CRITERIA, "--catalog", "new", "--inherit-from", "older"]
    assert main([*query, "-s", "components.phi.namespace"]) == 0
    done = capsys.readouterr()
    assert done.out == "phi-system\n"
    assert "has no bundle-info.yaml" in done.err


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("nowhere.yaml", "there is no such file"),
        ("empty", "a folder without recipe.yaml"),
        ("cm://namespace/name", "a ConfigMap is not inherited from yet"),
        ("other.yaml", "service=gke"),
    ],
)
@pytest.mark.parametrize(
    "verb", [["recipe"], ["query", "-s", "."], ["recipe", "explain", "-s", "."]]
)
def test_what_is_refused(
    catalogs: Path, capsys: pytest.CaptureFixture[str], verb: list[str], location: str, said: str
) -> None:
    (catalogs / "empty").mkdir()
    text = Path("old-recipe.yaml").read_text().replace("service: eks", "service: gke")
    Path("other.yaml").write_text(text)
    capsys.readouterr()
    assert main([*verb, *CRITERIA, "--catalog", "new", "--inherit-from", location]) == 2
    done = capsys.readouterr()
    assert done.out == ""
    assert said in done.err
    assert "--inherit-from" in done.err
