"""``aicr recipe`` and ``aicr recipe list``: what they print, and what they say when they cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from aicr.recipe.document import read_recipe
from command import assert_fails, run_aicr
from small_catalog import SmallCatalog, helm, overlay_file, simple


@pytest.fixture
def small(tmp_path: Path) -> Path:
    files = simple(
        {"name": "a", "version": "1.20", "overrides": {"text": "naïve", "on": "on"}},
        {"name": "b", "dependencyRefs": ["a"], "overrides": {"enabled": False}},
    )
    files.overlay("x", criteria={"service": "eks", "os": "rhel"},
                  constraints=[{"name": "K8s.server.version", "value": ">= 1.30"}])  # fmt: skip
    return files.write(tmp_path / "catalog")


def test_yaml_json_and_file_say_the_same(tmp_path: Path, small: Path) -> None:
    ask = ("recipe", "--service", "EKS", "--os", "rhel", "--nodes", "3", "--catalog", small)
    as_yaml = run_aicr(*ask)
    assert (as_yaml.returncode, as_yaml.stderr) == (0, "")
    as_json = run_aicr(*ask, "-t", "json")
    to_file = run_aicr(*ask, "-o", tmp_path / "r.yaml")
    assert (to_file.returncode, to_file.stdout, to_file.stderr) == (0, "", "")
    assert (tmp_path / "r.yaml").read_text("utf-8") == as_yaml.stdout
    values = yaml.safe_load(as_yaml.stdout)
    assert json.loads(as_json.stdout) == values
    assert values["criteria"] == {"service": "eks", "os": "rhel", "nodes": 3}
    assert values["metadata"]["appliedOverlays"] == ["base", "eks", "x"]
    assert values["componentRefs"][0]["version"] == "1.20"
    assert values["deploymentOrder"] == ["a"]
    assert read_recipe(as_json.stdout, "r").components[0].overrides == {"text": "naïve", "on": "on"}


def test_table(small: Path) -> None:
    done = run_aicr("recipe", "--service", "eks", "--os", "rhel", "--catalog", small, "-t", "table")
    assert done.stdout.splitlines() == [
        "RECIPE",
        "  criteria  service=eks, os=rhel",
        "  overlays  base -> eks -> x",
        "",
        "#    COMPONENT  VERSION  NAMESPACE  TYPE  SOURCE",
        "-    ---------  -------  ---------  ----  ------",
        "1    a          1.20     a-system   Helm  https://charts.example/a",
        "off  b          1.0.0    b-system   Helm  https://charts.example/b",
        "",
        "CONSTRAINTS",
        "  K8s.server.version >= 1.30",
    ]


def test_a_table_cannot_be_forged(tmp_path: Path) -> None:
    files = simple({"name": "a", "namespace": "x\n1  forged\x1b[31m\u202e"})
    root = files.write(tmp_path / "c")
    shown = run_aicr("recipe", "--service", "eks", "--catalog", root, "-t", "table").stdout
    assert "\n1  forged" not in shown
    assert "x 1  forged\\x1b[31m\\u202e" in shown


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ([], ["no criteria were given", "hint: state at least one of --service"]),
        (["--service", "any"], ["no criteria were given"]),
        (["--service", "ekss"], ['service "ekss" is not known; valid are aks, bcm, eks',
                                 'hint: did you mean "eks"?']),
        (["--service", "eks", "--nodes", "-1"], ["--nodes: expected a number from 0 to 999999999"]),
        (["--service", "eks", "--os", "cos"],
         ["no recipe for service=eks, os=cos honours os=cos", "hint: aicr recipe list shows"]),
        (["--os", "rhel"], ["honours os=rhel: it requires service (valid: eks)"]),
    ],
)  # fmt: skip
def test_criteria_that_do_not_resolve(small: Path, arguments: list[str], parts: list[str]) -> None:
    assert_fails(run_aicr("recipe", *arguments, "--catalog", small), 2, *parts)


def test_strict_criteria(tmp_path: Path) -> None:
    root = simple({"name": "a"}).overlay("own", criteria={"service": "mine"}).write(tmp_path / "c")
    ask = ("recipe", "--service", "mine", "--catalog", root)
    assert run_aicr(*ask).returncode == 0
    assert run_aicr(*ask, "--criteria-strict=false").returncode == 0
    for flag in ("--criteria-strict", "--criteria-strict=true"):
        assert_fails(run_aicr(*ask, flag), 2, 'service "mine" is not known')


def test_data_lies_over_the_shipped_catalog(tmp_path: Path) -> None:
    data = SmallCatalog().registry(helm("own", "9.10"))
    data.add("overlays/own.yaml", overlay_file(
        "own", criteria={"service": "mycloud"}, componentRefs=[{"name": "own"}]))  # fmt: skip
    root = data.write(tmp_path / "data")
    done = run_aicr("recipe", "--service", "mycloud", "--data", root)
    assert (done.returncode, done.stderr) == (0, "")
    values = yaml.safe_load(done.stdout)
    assert "own" in values["deploymentOrder"]
    assert len(values["deploymentOrder"]) > 1
    assert values["metadata"]["appliedOverlays"][-1] == "own"


def test_unknown_keys_of_a_catalog(tmp_path: Path) -> None:
    files = simple({"name": "a"}).add("overlays/x.yaml", overlay_file("x", criteria={}, newer=1))
    root = files.write(tmp_path / "c")
    problem = f'{root}/overlays/x.yaml:1: spec: unknown key "newer"'
    ask = ("recipe", "--service", "eks", "--catalog", root)
    assert_fails(run_aicr(*ask), 2, problem)
    done = run_aicr(*ask, "--allow-unknown-fields")
    assert done.returncode == 0
    assert done.stderr == f"aicr: warning: {problem}\n"
    assert yaml.safe_load(done.stdout)["kind"] == "RecipeResult"


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda path: None, "does not exist, expected a catalog folder"),
        (lambda path: path.write_text(""), "is a file, expected a catalog folder"),
        (lambda path: path.mkdir(), "holds no catalog file"),
    ],
    ids=["missing", "file", "empty"],
)
@pytest.mark.parametrize("flag", ["--catalog", "--data"])
def test_a_folder_that_is_no_catalog(tmp_path: Path, flag: str, make: object, part: str) -> None:
    assert callable(make)
    make(tmp_path / "c")
    done = run_aicr("recipe", "--service", "eks", flag, tmp_path / "c")
    assert_fails(done, 2, f"{flag} {tmp_path}/c: {part}")


def test_every_problem_of_a_catalog_in_one_message(tmp_path: Path) -> None:
    files = simple({"nam": "a"}, {"name": "b", "verson": "1"})
    done = run_aicr("recipe", "--service", "eks", "--catalog", files.write(tmp_path / "c"))
    assert_fails(done, 2, "3 problems:\n", "componentRefs[0].name: is missing",
                 'unknown key "nam"', 'unknown key "verson"')  # fmt: skip


def test_the_list_of_what_resolves(small: Path) -> None:
    done = run_aicr("recipe", "list", "--catalog", small)
    assert done.stdout.splitlines() == [
        "SERVICE  ACCELERATOR  INTENT  OS    PLATFORM  COMPONENTS",
        "-------  -----------  ------  --    --------  ----------",
        "eks      -            -       -     -         1",
        "eks      -            -       rhel  -         1",
        "2 combinations resolve",
    ]
    as_json = json.loads(run_aicr("recipe", "list", "--catalog", small, "-t", "json").stdout)
    assert as_json == {"recipes": [
        {"criteria": {"service": "eks"}, "components": 1},
        {"criteria": {"service": "eks", "os": "rhel"}, "components": 1},
    ]}  # fmt: skip


def test_filters_of_the_list(small: Path) -> None:
    def count(*arguments: str) -> str:
        return run_aicr("recipe", "list", "--catalog", small, *arguments).stdout.splitlines()[-1]

    assert count("--os", "RHEL") == "1 combinations resolve"
    assert count("--os", "any") == "1 combinations resolve"
    assert count("--service", "gke") == "0 combinations resolve"
    assert_fails(run_aicr("recipe", "list", "--service", "ekss"), 2, 'did you mean "eks"?')


def test_every_line_of_the_list_resolves(tmp_path: Path) -> None:
    """Asked one by one for a few, as a person would after reading the list."""
    listed = json.loads(run_aicr("recipe", "list", "-t", "json").stdout)["recipes"]
    assert len(listed) >= 66
    for one in listed[:: len(listed) // 4]:
        flags = [f"--{key}={value}" for key, value in one["criteria"].items()]
        done = run_aicr("recipe", *flags, "-t", "json")
        assert done.returncode == 0
        assert len(json.loads(done.stdout)["deploymentOrder"]) == one["components"]
