"""The helmfile bundle: levels and needs give the plan's order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from aicr.bundle.build import Bundle, Request, build_bundle
from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.charts.source import Charts
from aicr.recipe.criteria import Criteria
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from bundles import STACK_RELEASES, build, write_out
from small_charts import write_chart
from tools import tool

State = Mapping[str, object]


def states(bundle: Bundle) -> list[dict[str, list[dict[str, object]]]]:
    """The state files in the order in which Helmfile takes them."""
    root = yaml.safe_load(bundle.files["helmfile.yaml"][0])
    if "helmfiles" not in root:
        return [root]
    assert set(root) == {"helmfiles"}
    return [yaml.safe_load(bundle.files[item["path"]][0]) for item in root["helmfiles"]]


def assert_order(bundle: Bundle) -> None:
    """Each release comes after what it waits for, by its file or by its needs."""
    file_of: dict[str, int] = {}
    needs: dict[str, list[str]] = {}
    for number, state in enumerate(states(bundle)):
        for entry in state["releases"]:
            name = str(entry["name"])
            assert name not in file_of
            file_of[name] = number
            found = entry.get("needs", [])
            assert isinstance(found, list)
            needs[name] = [need.rpartition("/")[2] for need in found]
            assert all(file_of.get(need) in (None, number) for need in needs[name])
    assert set(file_of) == {release.name for release in bundle.plan.releases}
    for release in bundle.plan.releases:
        for need in release.needs:
            assert file_of[need] < file_of[release.name] or need in needs[release.name]


@pytest.fixture(scope="module")
def shipped() -> Bundle:
    catalog = open_catalog()
    recipe = resolve(catalog, Criteria(service="eks", accelerator="h100", intent="training"))
    return build(recipe, catalog, "helmfile")


def test_levels(recipe: Recipe, catalog: Catalog) -> None:
    bundle = build(recipe, catalog, "helmfile")
    names = [[entry["name"] for entry in state["releases"]] for state in states(bundle)]
    assert names == [["oci"], ["chart-pre", "chart", "chart-post"], ["plain"]]
    assert_order(bundle)


def test_one_file_where_nothing_depends_on_anything(recipe: Recipe, catalog: Catalog) -> None:
    sets = ["chart:enabled=false", "plain:enabled=false"]
    bundle = build(recipe, catalog, "helmfile", sets=sets)
    assert not [path for path in bundle.files if path.startswith("level-")]
    assert_order(bundle)


def test_the_releases(recipe: Recipe, catalog: Catalog) -> None:
    bundle = build(recipe, catalog, "helmfile")
    first, second, _ = states(bundle)
    (oci,) = first["releases"]
    assert oci["chart"] == "oci://registry.example/charts/oci-chart"
    assert oci["version"] == "26.10"
    pre, chart, post = second["releases"]
    assert second["repositories"] == [{"name": "aicr-chart", "url": "https://charts.example/chart"}]
    assert chart["chart"] == "aicr-chart/chart"
    assert chart["needs"] == ["chart-system/chart-pre"]
    assert post["needs"] == ["chart-system/chart"]
    assert pre["chart"] == "./002-chart-pre"
    for state in states(bundle):
        for entry in state["releases"]:
            values = entry["values"]
            assert isinstance(values, list)
            assert all(path in bundle.files for path in values)
            assert str(entry["chart"]).startswith(("./", "oci://", "aicr-"))


def test_folders_are_those_of_helm(recipe: Recipe, catalog: Catalog) -> None:
    def folders(deployer: str) -> dict[str, tuple[bytes, bool]]:
        files = build(recipe, catalog, deployer).files
        return {path: file for path, file in files.items() if path[0].isdigit()}

    assert folders("helmfile") == folders("helm")


def test_the_shipped_stack(shipped: Bundle) -> None:
    assert len(states(shipped)) > 1
    assert_order(shipped)


# Answers as Helm with the diff plugin does where everything is installed and has changed.
HELM = """\
#!{python}
import json, sys
words = sys.argv[1:]
values = [open(words[at + 1]).read() for at, word in enumerate(words) if word == "--values"]
with open({log!r}, "a") as file:
    file.write(json.dumps([words, values]) + "\\n")
if words[0] == "version":
    print("v3.22.0+g0000000")
if words[0] == "list":
    print("NAME\\tREVISION\\n" + words[words.index("--filter") + 1].strip("^$") + "\\t1")
sys.exit(2 if words[0] == "diff" else 0)
"""


class Helmfile:
    """The real program over a bundle with its charts in it, and a Helm that only records."""

    def __init__(self, bundle: Bundle, folder: Path) -> None:
        self.program = tool("helmfile", "HELMFILE_BIN")
        self.root = write_out(bundle, folder / "b")
        self.home = folder
        self.helm = folder / "helm"
        self.log = folder / "log"
        self.helm.write_text(HELM.format(python=sys.executable, log=str(self.log)))
        self.helm.chmod(0o755)

    def run(self, *words: str, helm: str = "") -> str:
        """What it prints. ``helm`` is a real one."""
        self.log.write_text("")
        done = subprocess.run(
            [self.program, "--no-color", "--helm-binary", helm or str(self.helm), *words],
            cwd=self.root, env={**os.environ, "HOME": str(self.home)},
            capture_output=True, encoding="utf-8", timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def calls(self, verb: str) -> list[tuple[list[str], list[str]]]:
        logged = map(json.loads, self.log.read_text().splitlines())
        return [(words, values) for words, values in logged if words[0] == verb]


@pytest.fixture
def vendored(recipe: Recipe, catalog: Catalog, tmp_path: Path) -> Bundle:
    for name, version in (("chart", "1.2.3"), ("oci-chart", "26.10")):
        write_chart(tmp_path / "charts", name, version)
    charts = Charts(str(tmp_path / "charts"))
    request = Request("helmfile", charts=charts, vendor_charts=True)
    return build_bundle(recipe, catalog, request, where="r.yaml")


class TestRealHelmfile:
    @pytest.mark.parametrize("verb", ["sync", "apply"])
    def test_it_installs_in_the_plans_order(
        self, vendored: Bundle, tmp_path: Path, verb: str
    ) -> None:
        helmfile = Helmfile(vendored, tmp_path)
        helmfile.run(verb)
        calls = helmfile.calls("upgrade")
        assert [words[2] for words, _ in calls] == STACK_RELEASES
        for (words, files), release in zip(calls, vendored.plan.releases, strict=True):
            assert words[:2] == ["upgrade", "--install"]
            assert words[words.index("--namespace") + 1] == release.namespace
            assert {"--wait", "--create-namespace", "--reset-values"} <= set(words)
            where = release.folder if release.chart is None else release.chart.archive
            assert words[3] == where
            assert [yaml.safe_load(text) or {} for text in files] == [release.values, {}]

    def test_apply_compares_without_the_kinds_that_are_still_to_come(
        self, vendored: Bundle, tmp_path: Path
    ) -> None:
        helmfile = Helmfile(vendored, tmp_path)
        helmfile.run("apply")
        compared = {words[3]: words for words, _ in helmfile.calls("diff")}
        assert set(compared) == set(STACK_RELEASES)
        for name in ("chart-pre", "chart-post", "plain"):
            assert "--disable-validation" in compared[name]

    def test_a_selector_takes_one_release(self, vendored: Bundle, tmp_path: Path) -> None:
        helmfile = Helmfile(vendored, tmp_path)
        for name in STACK_RELEASES:
            helmfile.run("--selector", f"name={name}", "apply")
            assert [words[2] for words, _ in helmfile.calls("upgrade")] == [name]

    def test_destroy_is_the_other_way_round(self, vendored: Bundle, tmp_path: Path) -> None:
        helmfile = Helmfile(vendored, tmp_path)
        helmfile.run("destroy")
        gone = [words[1] for words, _ in helmfile.calls("delete")]
        assert gone == STACK_RELEASES[::-1]

    def test_a_real_helm_renders_it(self, vendored: Bundle, tmp_path: Path) -> None:
        found = Helmfile(vendored, tmp_path).run("template", helm=tool("helm", "HELM_BIN"))
        objects = {one["metadata"]["name"]: one for one in yaml.safe_load_all(found) if one}
        assert objects["plain-only"]["data"] == {"size": "large"}
        assert objects["chart-before"]["metadata"]["namespace"] == "chart-system"
        assert {"oci", "chart", "chart-after"} <= set(objects)

    def test_a_real_helm_lints_what_was_generated(self, vendored: Bundle, tmp_path: Path) -> None:
        helmfile = Helmfile(vendored, tmp_path)
        for release in vendored.plan.releases:
            if release.chart is None:
                only = ("--selector", f"name={release.name}")
                done = helmfile.run(*only, "lint", helm=tool("helm", "HELM_BIN"))
                assert "0 chart(s) failed" in done

    def test_it_builds_the_state(self, vendored: Bundle, tmp_path: Path) -> None:
        found = Helmfile(vendored, tmp_path).run("build", helm=tool("helm", "HELM_BIN"))
        documents = list(yaml.safe_load_all(found))
        listed = [one["name"] for document in documents for one in document.get("releases", ())]
        assert listed == STACK_RELEASES

    def test_it_loads_the_shipped_stack(self, shipped: Bundle, tmp_path: Path) -> None:
        helm = tool("helm", "HELM_BIN")
        found = json.loads(Helmfile(shipped, tmp_path).run("list", "--output", "json", helm=helm))
        listed = {one["name"]: (one["namespace"], one["version"]) for one in found}
        assert listed == {
            one.name: (one.namespace, one.chart.version if one.chart else "")
            for one in shipped.plan.releases
        }
