"""The version of a chart that is not whole: what Helm makes of it, and that a bundle says so."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from aicr.bundle.build import Request, build_bundle
from aicr.catalog.model import ComponentRef
from aicr.charts.source import Charts
from aicr.errors import AicrError
from bundles import recipe_of
from small_catalog import SmallCatalog
from small_charts import chart, helm_repository, registry
from tools import tool


def pulled(tmp_path: Path, *command: str) -> list[str]:
    """The archives that a real Helm takes."""
    out = tmp_path / "out"
    out.mkdir()
    done = subprocess.run(
        [tool("helm", "HELM_BIN"), "pull", *command, "--destination", str(out)],
        capture_output=True, encoding="utf-8", timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [path.name for path in out.iterdir()]


@pytest.mark.parametrize(
    ("there", "taken"),
    [(("1.2.0", "1.2.7", "1.3.0"), "app-1.2.7.tgz"), (("1.2", "1.2.7"), "app-1.2.tgz")],
)
def test_helm_takes_the_newest_unless_one_is_just_that(
    tmp_path: Path, there: tuple[str, ...], taken: str
) -> None:
    archives = {f"app-{one}.tgz": chart("app", one) for one in reversed(there)}
    with helm_repository(tmp_path / "repo", archives) as url:
        assert pulled(tmp_path, "app", "--repo", url, "--version", "1.2") == [taken]


def test_in_a_registry_it_is_a_tag(tmp_path: Path) -> None:
    helm = tool("helm", "HELM_BIN")
    (tmp_path / "app-1.2.7.tgz").write_bytes(chart("app", "1.2.7"))
    with registry(tmp_path / "registry") as host:
        where = f"oci://{host}/charts"
        subprocess.run(
            [helm, "push", str(tmp_path / "app-1.2.7.tgz"), where, "--plain-http"],
            check=True, capture_output=True,
        )  # fmt: skip
        command = [helm, "pull", f"{where}/app", "--version", "1.2", "--plain-http"]
        done = subprocess.run(command, capture_output=True, encoding="utf-8")
        assert done.returncode != 0
        assert "1.2: not found" in done.stderr


def notices(tmp_path: Path, source: str, version: str, **request: object) -> list[str]:
    ref = ComponentRef("app", source=source, chart="app", version=version)
    catalog = SmallCatalog().registry({"name": "app"}).overlay("base", componentRefs=[])
    charts = request.get("charts")
    found = build_bundle(
        recipe_of(ref, order=["app"]),
        catalog.open(tmp_path / "c"),
        Request("helm", charts=charts if isinstance(charts, Charts) else None,
                vendor_charts=charts is not None),
        where="r.yaml",
    )  # fmt: skip
    return [one.message for one in found.notices if "is not whole" in one.message]


@pytest.mark.parametrize("version", ["1.2", "v1.2", "26", "1.2-rc.1"])
def test_a_bundle_says_so(tmp_path: Path, version: str) -> None:
    (message,) = notices(tmp_path, "https://charts.example", version)
    assert f'the version {version} of "app" is not whole' in message


@pytest.mark.parametrize("version", ["1.2.0", "v1.2.0-rc.1", "1.2.3+build.7"])
def test_a_whole_one_is_nothing_to_say(tmp_path: Path, version: str) -> None:
    assert notices(tmp_path, "https://charts.example", version) == []


def test_a_tag_of_a_registry_is_exact(tmp_path: Path) -> None:
    assert notices(tmp_path, "oci://registry.example/charts", "1.2") == []


def test_a_vendored_chart_is_just_that_version(tmp_path: Path) -> None:
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts" / "app-1.2.7.tgz").write_bytes(chart("app", "1.2.7"))
    with pytest.raises(AicrError, match=r"it has app 1\.2\.7"):
        notices(tmp_path, "https://charts.example", "1.2", charts=Charts(str(tmp_path / "charts")))
    (tmp_path / "charts" / "app-1.2.tgz").write_bytes(chart("app", "1.2"))
    charts = Charts(str(tmp_path / "charts"))
    assert notices(tmp_path, "https://charts.example", "1.2", charts=charts) == []
