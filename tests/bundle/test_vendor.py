"""Upstream charts in the bundle: every deployer takes them from there."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest
import yaml

from aicr.bundle.build import Bundle, Request, build_bundle
from aicr.bundle.contents import open_contents
from aicr.bundle.verify import verify
from aicr.bundle.writers import GITOPS, WRITERS
from aicr.catalog.layers import Catalog
from aicr.catalog.model import ComponentRef
from aicr.charts.source import Charts
from aicr.errors import AicrError
from aicr.recipe.model import Recipe
from bundles import parsed, recipe_of, write_out
from crds import check
from small_charts import chart_files, write_chart
from stubs import Stubs
from tools import tool


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_chart(tmp_path / "charts", "chart", "1.2.3")
    write_chart(tmp_path / "charts", "oci-chart", "26.10")
    return tmp_path / "charts"


def vendored(recipe: Recipe, catalog: Catalog, folder: Path, deployer: str) -> Bundle:
    repo = "https://git.example/b.git" if deployer in GITOPS else ""
    request = Request(deployer, repo=repo, charts=Charts(str(folder)), vendor_charts=True)
    return build_bundle(recipe, catalog, request, where="recipe.yaml")


@pytest.mark.parametrize("deployer", WRITERS)
def test_archives_and_where_they_are_from(
    recipe: Recipe, catalog: Catalog, folder: Path, tmp_path: Path, deployer: str
) -> None:
    bundle = vendored(recipe, catalog, folder, deployer)
    listed = parsed(bundle.files["provenance.yaml"][0])
    assert isinstance(listed, dict)
    assert listed["kind"] == "ChartProvenance"
    assert [(one["name"], one["version"], one["source"]) for one in listed["charts"]] == [
        ("oci-chart", "26.10", "oci://registry.example/charts"),
        ("chart", "1.2.3", "https://charts.example/chart"),
    ]
    for one in listed["charts"]:
        data = bundle.files[one["path"]][0]
        assert data == (folder / one["path"].rpartition("/")[2]).read_bytes()
        assert one["sha256"] == hashlib.sha256(data).hexdigest()
    found = verify(open_contents(str(write_out(bundle, tmp_path / "b"))))
    assert found.intact, found.problems
    assert vendored(recipe, catalog, folder, deployer).files == bundle.files


@pytest.mark.parametrize("deployer", WRITERS)
def test_nothing_is_fetched_when_it_is_deployed(
    recipe: Recipe, catalog: Catalog, folder: Path, deployer: str
) -> None:
    bundle = vendored(recipe, catalog, folder, deployer)
    told = ("recipe.yaml", "provenance.yaml")
    for path, (data, _) in bundle.files.items():
        if path not in told and not path.startswith("vendor/"):
            assert b"charts.example" not in data, path
            assert b"registry.example" not in data, path


@pytest.mark.parametrize("deployer", ["helm", "helmfile"])
def test_the_scripts_install_the_archive(
    recipe: Recipe, catalog: Catalog, folder: Path, tmp_path: Path, deployer: str
) -> None:
    root = write_out(vendored(recipe, catalog, folder, deployer), tmp_path / "b b")
    stubs = Stubs(tmp_path, "helm")
    done = stubs.run(root / "003-chart" / "install.sh", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    call = stubs.calls[0]
    assert call[:4] == ["helm", "upgrade", "--install", "chart"]
    assert Path(call[4]).resolve() == (root / "vendor" / "chart-1.2.3.tgz").resolve()
    assert "--repo" not in call
    assert "--version" not in call
    if deployer == "helmfile":
        states = "".join(path.read_text() for path in root.glob("*.yaml"))
        assert "chart: ./vendor/chart-1.2.3.tgz" in states
        assert "repositories" not in states


@pytest.mark.parametrize("deployer", GITOPS)
def test_the_gitops_deployers_read_the_files(
    recipe: Recipe, catalog: Catalog, folder: Path, tmp_path: Path, deployer: str
) -> None:
    root = write_out(vendored(recipe, catalog, folder, deployer), tmp_path / "b")
    unpacked = root / "vendor" / "chart-1.2.3"
    expected = chart_files("chart", "1.2.3")
    found = {
        str(p.relative_to(unpacked)): p.read_bytes() for p in unpacked.rglob("*") if p.is_file()
    }
    assert found == expected
    program = tool("helm", "HELM_BIN")
    subprocess.run([program, "template", "x", str(unpacked)], check=True, capture_output=True)
    if deployer == "flux":
        release = yaml.safe_load((root / "chart" / "helmrelease.yaml").read_text())
        check(release)
        assert release["spec"]["chart"]["spec"]["chart"] == "./vendor/chart-1.2.3"
        assert release["spec"]["chart"]["spec"]["sourceRef"]["kind"] == "GitRepository"
        assert [path.name for path in (root / "sources").iterdir()] == ["aicr-bundle.yaml"]
        return
    if deployer == "argocd":
        text = (root / "003-chart" / "application.yaml").read_text()
    else:
        values = ["--set", "repoURL=https://git.example/b.git"]
        shown = ["--show-only", "templates/chart.yaml"]
        done = subprocess.run(
            [program, "template", "x", str(root), *values, *shown],
            check=True, capture_output=True, encoding="utf-8",
        )  # fmt: skip
        text = done.stdout
    application = yaml.safe_load(text)
    check(application)
    spec = application["spec"]
    source = spec["sources"][0] if "sources" in spec else spec["source"]
    assert source["path"] == "vendor/chart-1.2.3"
    assert source["repoURL"] == "https://git.example/b.git"
    assert "chart" not in source


def test_all_charts_that_are_missing_are_named(
    recipe: Recipe, catalog: Catalog, tmp_path: Path
) -> None:
    (tmp_path / "charts").mkdir()
    with pytest.raises(AicrError, match="2 charts cannot be had") as caught:
        vendored(recipe, catalog, tmp_path / "charts", "helm")
    assert caught.value.code == "NOT_FOUND"
    assert "oci-chart 26.10" in caught.value.message
    assert "chart v1.2.3" in caught.value.message


def test_different_charts_of_one_name(catalog: Catalog, tmp_path: Path) -> None:
    """Two repositories may have them; the second one gets a folder of its own."""
    from aicr.bundle.vendor import with_archives
    from aicr.charts.archive import read_archive
    from small_charts import chart

    refs = [
        ComponentRef(
            name, type="Helm", source=f"https://{name}.example", chart="x", version="1.0.0"
        )
        for name in ("a", "b")
    ]
    request = Request("helm")
    plan = build_bundle(recipe_of(*refs), catalog, request, where="r.yaml").plan
    archives = {
        name: read_archive(chart("x", files={"NOTE": name}), name, origin="") for name in ("a", "b")
    }
    moved, files = with_archives(plan, archives, unpacked=False)
    assert [one.chart.archive for one in moved.releases if one.chart] == [
        "vendor/x-1.0.0.tgz",
        "vendor/b/x-1.0.0.tgz",
    ]
    assert files["vendor/b/x-1.0.0.tgz"][0] == archives["b"].data
