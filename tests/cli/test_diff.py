from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from aicr.cli.main import main
from bundles import stack
from small_catalog import simple
from tools import tool

EKS = ["--service", "eks"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def recipe(name: str, version: str, **overrides: object) -> str:
    simple({"name": "a", "version": version, "overrides": overrides}, {"name": "b"}).write(
        Path(f"catalog-{name}")
    )
    assert main(["recipe", *EKS, "--catalog", f"catalog-{name}", "-o", f"{name}.yaml"]) == 0
    return f"{name}.yaml"


def test_table_json_patch_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    old, new = recipe("old", "1.0", x=1), recipe("new", "1.1", x=True)
    words = ["diff", old, new, "--catalog", "catalog-new"]
    assert main(words) == 0
    done = capsys.readouterr()
    lines = [line.split() for line in done.out.splitlines()]
    assert ["components.a.version", "changed", "1.0", "1.1"] in lines
    assert ["components.a.values.x", "changed", "1", "true"] in lines
    assert lines[-1] == ["2", "differences"]
    assert "old.yaml is of another catalog" in done.err
    assert "new.yaml" not in done.err
    assert main([*words, "--exit-code"]) == 1
    assert main(["diff", old, old, "--catalog", "catalog-old", "--exit-code"]) == 0
    capsys.readouterr()
    assert main([*words, "-t", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["summary"] == {"added": 0, "removed": 0, "changed": 2}
    assert found["differences"][0] == {
        "field": "components.a.version", "change": "changed", "from": "1.0", "to": "1.1",
    }  # fmt: skip
    assert main([*words, "-t", "patch"]) == 0
    patch = capsys.readouterr().out
    assert patch.startswith("--- old.yaml\n+++ new.yaml\n@@ ")
    assert '-      x: 1\n-    version: "1.0"\n+      x: true\n+    version: "1.1"\n' in patch


def test_long_values_are_cut_to_where_they_part(capsys: pytest.CaptureFixture[str]) -> None:
    same = "same " * 20
    old, new = recipe("old", "1.0", x=f"{same}old"), recipe("new", "1.0", x=f"{same}new and more")
    capsys.readouterr()
    assert main(["diff", old, new, "--catalog", "catalog-new"]) == 0
    line = next(one for one in capsys.readouterr().out.splitlines() if "values.x" in one)
    assert "..same same same same old " in line
    assert line.endswith("..same same same same new and more")


def test_the_patch_applies(capsys: pytest.CaptureFixture[str]) -> None:
    program = tool("patch")
    old, new = recipe("old", "1.0", x=1, y="z"), recipe("new", "1.1")
    capsys.readouterr()
    from aicr.cli.diff import _sorted
    from aicr.documents.emit import yaml_text
    from aicr.documents.reader import read_yaml
    from aicr.recipe.difference import side_tree
    from aicr.recipe.document import recipe_from

    def text(name: str, x: dict[str, object]) -> str:
        document = recipe_from(read_yaml(Path(name).read_text(), name), name)
        return yaml_text(_sorted(side_tree(document, {"a": x, "b": {}})))

    before, after = text(old, {"x": 1, "y": "z"}), text(new, {})
    main(["diff", old, new, "--catalog", "catalog-new", "-t", "patch"])
    patch = capsys.readouterr().out
    Path("tree").write_text(before)
    subprocess.run([program, "-s", "tree"], input=patch, text=True, check=True)
    assert Path("tree").read_text() == after


def test_bundles_are_compared_by_the_values_on_disk(capsys: pytest.CaptureFixture[str]) -> None:
    stack().write(Path("catalog"))
    main(["recipe", *EKS, "--catalog", "catalog", "-o", "r.yaml"])
    words = ["bundle", "-r", "r.yaml", "--deployer", "helm", "--catalog", "catalog", "-o"]
    assert main([*words, "one"]) == 0
    assert main([*words, "two", "--set", "chart:size=9"]) == 0
    capsys.readouterr()
    assert main(["diff", "one", "two", "--catalog", "catalog", "-t", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["differences"]
    assert found == [
        {"field": "components.chart.values.size", "change": "changed", "from": 3, "to": 9}
    ]
    assert main(["diff", "r.yaml", "one", "--catalog", "catalog", "--exit-code"]) == 0
    Path("one/bundle-info.yaml").unlink()
    assert main(["diff", "one", "two", "--catalog", "catalog", "--exit-code"]) == 0
    assert "values are not compared: one" in capsys.readouterr().err


def test_a_values_file_that_the_catalog_lacks_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    catalog = simple({"name": "a", "valuesFile": "components/a/values.yaml"}, {"name": "b"})
    catalog.add("components/a/values.yaml", {"x": 1}).write(Path("full"))
    main(["recipe", *EKS, "--catalog", "full", "-o", "r.yaml"])
    simple({"name": "a"}).write(Path("bare"))
    assert main(["diff", "r.yaml", "r.yaml", "--catalog", "bare", "--exit-code"]) == 0
    assert "its values are compared by file and overrides" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [(["nowhere", "x"], "A nowhere: there is no such file"), (["a"], "required: B")],
)
def test_a_bad_invocation_exits_2(
    capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["diff", *words]) == 2
    assert said in capsys.readouterr().err
