"""The helm bundle runs: its scripts, in the plan's order, from anywhere, and its charts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from aicr.bundle.writers.local import cluster_values, is_written_to
from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.recipe.criteria import Criteria
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from bundles import STACK_RELEASES, build, parsed, write_out
from stubs import Stubs
from tools import tool


@pytest.fixture
def root(recipe: Recipe, catalog: Catalog, tmp_path: Path) -> Path:
    return write_out(build(recipe, catalog), tmp_path / "a bundle's $HOME")


@pytest.fixture
def stubs(tmp_path: Path) -> Stubs:
    return Stubs(tmp_path / "stubs", "helm", "kubectl")


def test_the_layout(root: Path) -> None:
    found = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    each = {"values.yaml", "cluster-values.yaml", "install.sh"}
    local = {"Chart.yaml"}
    expected = {
        "recipe.yaml", "bundle-info.yaml", "checksums.txt", "README.md", "deploy.sh", "undeploy.sh",
    }  # fmt: skip
    for folder, own in {
        "001-oci": {"upstream.env"},
        "002-chart-pre": local | {"templates/before.yaml"},
        "003-chart": {"upstream.env"},
        "004-chart-post": local | {"templates/after.yaml"},
        "005-plain": local | {"templates/only.yaml"},
    }.items():
        expected |= {f"{folder}/{name}" for name in each | own}
    assert found == expected


def test_scripts_can_be_run_and_nothing_else(root: Path) -> None:
    programs = {path for path in root.rglob("*") if path.is_file() and os.access(path, os.X_OK)}
    assert programs == set(root.rglob("*.sh"))


def test_shellcheck(root: Path) -> None:
    shellcheck = tool("shellcheck", "SHELLCHECK_BIN")
    scripts = sorted(map(str, root.rglob("*.sh")))
    done = subprocess.run([shellcheck, *scripts], capture_output=True, encoding="utf-8")
    assert done.stdout == ""
    for path in root.rglob("*.env"):
        subprocess.run([shellcheck, "-s", "sh", "-e", "SC2034", str(path)], check=True)


def test_deploy_calls_helm_in_the_plans_order(root: Path, stubs: Stubs, tmp_path: Path) -> None:
    done = stubs.run(root / "deploy.sh", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [call[1:4] for call in stubs.calls] == [
        ["upgrade", "--install", name] for name in STACK_RELEASES
    ]
    by_name = {call[3]: call for call in stubs.calls}
    chart = by_name["chart"]
    assert chart[4:9] == ["chart", "--repo", "https://charts.example/chart", "--version", "v1.2.3"]
    assert by_name["oci"][4:7] == ["oci://registry.example/charts/oci-chart", "--version", "26.10"]
    assert "--repo" not in by_name["oci"]
    assert by_name["plain"][4] == str(root / "005-plain")
    for name, call in by_name.items():
        folder = next(root.glob(f"*-{name}"))
        files = [call[at + 1] for at, word in enumerate(call) if word == "--values"]
        assert files == [str(folder / "values.yaml"), str(folder / "cluster-values.yaml")]
        for flag in ("--create-namespace", "--reset-values", "--wait", "--timeout"):
            assert flag in call
    assert chart[chart.index("--namespace") + 1] == "chart-system"


def test_deploy_runs_from_anywhere_and_twice(root: Path, stubs: Stubs, tmp_path: Path) -> None:
    relative = os.path.relpath(root / "deploy.sh", root.parent)
    for cwd, script in (
        (root, "./deploy.sh"),
        (root.parent, relative),
        (Path("/"), root / "deploy.sh"),
    ):
        done = stubs.run("bash", script, cwd=cwd)
        assert done.returncode == 0, done.stderr
    third = len(stubs.calls) // 3
    assert stubs.calls[:third] == stubs.calls[third : 2 * third] == stubs.calls[2 * third :]


def test_deploy_stops_at_the_first_failure_and_names_it(
    root: Path, stubs: Stubs, tmp_path: Path
) -> None:
    done = stubs.run(root / "deploy.sh", cwd=tmp_path, fails="chart-pre", code=7)
    assert done.returncode == 7
    assert "the release chart-pre failed (exit code 7)" in done.stderr
    assert [call[3] for call in stubs.calls] == ["oci", "chart-pre"]


def test_arguments_are_passed_on(root: Path, stubs: Stubs, tmp_path: Path) -> None:
    words = ["--dry-run=server", "--set", "a=b c;$(touch x)"]
    assert stubs.run(root / "deploy.sh", *words, cwd=tmp_path).returncode == 0
    assert all(call[-3:] == words for call in stubs.calls)
    assert not list(tmp_path.rglob("x"))


def test_undeploy_is_the_other_way_round(root: Path, stubs: Stubs, tmp_path: Path) -> None:
    done = stubs.run(root / "undeploy.sh", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [call[2] for call in stubs.calls] == STACK_RELEASES[::-1]
    for call in stubs.calls:
        assert call[1] == "uninstall"
        assert "--ignore-not-found" in call
        assert call[-1] == "--dry-run"
    done = stubs.run(root / "undeploy.sh", cwd=tmp_path, fails="chart")
    assert done.returncode == 1
    assert "the release chart failed" in done.stderr


@pytest.mark.parametrize("script", ["deploy.sh", "undeploy.sh"])
def test_without_helm(root: Path, tmp_path: Path, script: str) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("dirname", "bash"):
        (tmp_path / "empty" / name).symlink_to(Path("/usr/bin") / name)
    env = {"PATH": str(tmp_path / "empty")}
    done = subprocess.run(
        ["/bin/bash", str(root / script)], env=env, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == 1
    assert "helm is not on PATH" in done.stderr


def test_values_are_those_of_the_plan(recipe: Recipe, catalog: Catalog) -> None:
    bundle = build(recipe, catalog, sets=["chart:size=4", "plain:size=small"])
    for release in bundle.plan.releases:
        assert parsed(bundle.files[f"{release.folder}/values.yaml"][0]) == release.values
    assert bundle.plan.values("chart")["size"] == 4


def test_the_operators_values_are_kept(recipe: Recipe, catalog: Catalog) -> None:
    bundle = build(recipe, catalog, kept={"chart": b"mine: 1\n"})
    assert bundle.files["003-chart/cluster-values.yaml"][0] == b"mine: 1\n"
    fresh = bundle.files["001-oci/cluster-values.yaml"][0]
    assert parsed(fresh) is None
    assert not is_written_to(fresh)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", False), ("# a\n\n", False), ("---\n{}\n", False), ("# a\nx: 1\n", True), ("x:", True)],
)
def test_what_counts_as_written(text: str, expected: bool) -> None:
    assert is_written_to(text.encode()) is expected


def test_fresh_cluster_values_say_where_values_stand(recipe: Recipe, catalog: Catalog) -> None:
    release = build(recipe, catalog).plan.releases[-1]
    assert b"plain: {...}" in cluster_values(release)


def test_real_helm_lints_and_renders_generated_charts(root: Path) -> None:
    helm = tool("helm", "HELM_BIN")
    charts = sorted(path.parent for path in root.glob("*/Chart.yaml"))
    assert len(charts) == 3
    for chart in charts:
        linted = subprocess.run([helm, "lint", str(chart)], capture_output=True, encoding="utf-8")
        assert linted.returncode == 0, linted.stdout
        command = [helm, "template", "r", str(chart), "--namespace", "ns"]
        command += ["--values", str(chart / "values.yaml")]
        command += ["--values", str(chart / "cluster-values.yaml")]
        done = subprocess.run(command, capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        rendered = yaml.safe_load(done.stdout)
        assert rendered["metadata"]["namespace"] == "ns"
        assert rendered["data"]["size"] == ("large" if "plain" in chart.name else "3")


def test_the_shipped_stack(tmp_path: Path, stubs: Stubs) -> None:
    catalog = open_catalog()
    recipe = resolve(catalog, Criteria(service="eks", accelerator="h100", intent="training"))
    bundle = build(recipe, catalog)
    root = write_out(bundle, tmp_path / "b")
    done = stubs.run(root / "deploy.sh", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [call[3] for call in stubs.calls] == [one.name for one in bundle.plan.releases]
    assert bundle.plan.components == list(recipe.deployment_order)
    helm = tool("helm", "HELM_BIN")
    for chart in root.glob("*/Chart.yaml"):
        command = [helm, "template", "r", str(chart.parent), "--namespace", "ns"]
        rendered = subprocess.run(command, capture_output=True, encoding="utf-8")
        assert rendered.returncode == 0, rendered.stderr
        assert list(yaml.safe_load_all(rendered.stdout))
