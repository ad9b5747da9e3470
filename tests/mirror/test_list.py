"""``aicr mirror list``, as its users run it, with a real Helm."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from command import assert_fails, run_aicr
from mirrored import CRD, mirrored
from small_catalog import SmallCatalog, helm
from small_charts import chart, chart_files, helm_repository, write_chart
from tools import tool


@pytest.fixture
def work(tmp_path: Path) -> Path:
    return mirrored(tmp_path)


def mirror(
    work: Path, *arguments: str | Path, charts: str = "charts"
) -> subprocess.CompletedProcess[str]:
    given = ["--service", "eks"] if "--recipe" not in arguments else []
    given += ["--charts-dir", charts] if charts else []
    path = os.path.dirname(tool("helm", "HELM_BIN")) + os.pathsep + os.environ["PATH"]
    return run_aicr(
        "mirror", "list", "--catalog", "catalog", *given, *arguments, cwd=work, env={"PATH": path}
    )


# 26.10 is no version that a chart can have.
NO_OCI = ("--set", "oci:enabled=false")


def test_the_list(work: Path) -> None:
    done = mirror(work, *NO_OCI)
    assert done.returncode == 0, done.stderr
    found = yaml.safe_load(done.stdout)
    assert found["images"] == [
        "docker.io/library/busybox:latest",
        "quay.example/team/app:9.8.7",
        "quay.example/team/reloader:9.8.7",
        "r.example/large:1",
    ]
    assert found["charts"] == [
        {
            "chart": "chart", "name": "chart", "namespace": "chart-system",
            "repository": "https://charts.example/chart", "version": "v1.2.3",
        }
    ]  # fmt: skip
    assert [one["component"] for one in found["components"]] == ["chart", "plain"]
    assert found["components"][1]["images"] == ["r.example/large:1"]
    assert found["metadata"]["complete"] is True
    assert list(found) == sorted(found)
    assert mirror(work, *NO_OCI).stdout == done.stdout
    as_json = mirror(work, *NO_OCI, "--format", "json")
    assert json.loads(as_json.stdout) == found


def test_a_value_decides_what_is_listed(work: Path) -> None:
    more = ("--set", "chart:exporter.enabled=true", "--set", "plain:size=small")
    found = yaml.safe_load(mirror(work, *NO_OCI, *more).stdout)["images"]
    assert "quay.example/team/exporter:1.0" in found
    assert "r.example/small:1" in found


def test_from_a_recipe_file(work: Path) -> None:
    made = run_aicr("recipe", "--service", "eks", "--catalog", "catalog", "-o", "r.yaml", cwd=work)
    assert made.returncode == 0
    done = mirror(work, "--recipe", "r.yaml", *NO_OCI)
    assert done.returncode == 0, done.stderr
    assert done.stdout == mirror(work, *NO_OCI).stdout
    both = mirror(work, "--recipe", "r.yaml", "--service", "eks")
    assert_fails(both, 2, "--recipe and --service: a recipe is given or resolved, not both")


def test_inheriting(work: Path) -> None:
    made = run_aicr("recipe", "--service", "eks", "--catalog", "catalog", "-o", "r.yaml", cwd=work)
    assert made.returncode == 0
    text = (work / "r.yaml").read_text().replace("chart-system", "where-it-is")
    (work / "old.yaml").write_text(text)
    done = mirror(work, *NO_OCI, "--inherit-from", "old.yaml")
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(done.stdout)["charts"][0]["namespace"] == "where-it-is"


def test_incomplete_is_an_error(work: Path) -> None:
    (work / "charts" / "chart-1.2.3.tgz").unlink()
    done = mirror(work, *NO_OCI)
    assert_fails(done, 2, "the images of chart could not all be found", "chart v1.2.3 is not in")


@pytest.mark.parametrize("form", ["yaml", "json", "hauler", "zarf"])
def test_incomplete_is_said_in_every_format(work: Path, form: str) -> None:
    (work / "charts" / "chart-1.2.3.tgz").unlink()
    done = mirror(work, *NO_OCI, "--allow-incomplete", "--format", form)
    assert done.returncode == 0, done.stderr
    assert "warning: incomplete: chart: chart: chart v1.2.3 is not in" in done.stderr
    assert "chart v1.2.3 is not in the charts folder" in done.stdout
    assert "r.example/large:1" in done.stdout
    if form == "json":
        assert json.loads(done.stdout)["metadata"]["complete"] is False


@pytest.mark.parametrize(
    "image",
    ["registry.example/app:", "registry.example/Team/app:1", "https://registry.example/app:1",
     "$(REG)/app:1", "good.example/x:1@sha256:0123", ""],
)  # fmt: skip
def test_an_image_that_is_no_reference_is_not_passed_over(work: Path, image: str) -> None:
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
    pod += f"spec: {{containers: [{{image: '{image}'}}]}}\n"
    write_chart(work / "charts", "chart", "1.2.3", {"templates/pod.yaml": pod})
    done = mirror(work, *NO_OCI)
    assert_fails(done, 2, "image is no reference", image)
    done = mirror(work, *NO_OCI, "--allow-incomplete")
    assert yaml.safe_load(done.stdout)["metadata"]["complete"] is False


def test_a_chart_that_does_not_render(work: Path) -> None:
    broken = {"templates/deployment.yaml": '{{ fail "needs a licence" }}'}
    write_chart(work / "charts", "chart", "1.2.3", broken)
    assert_fails(mirror(work, *NO_OCI), 2, "the images of chart", "needs a licence")


def test_custom_resources_without_an_image_are_incomplete(work: Path) -> None:
    hidden = {
        "templates/deployment.yaml": "apiVersion: nvidia.com/v1\nkind: Policy\nmetadata: {name: x}",
        "values.yaml": "",
    }
    write_chart(work / "charts", "chart", "1.2.3", hidden)
    assert_fails(mirror(work, *NO_OCI), 2, "Policy (nvidia.com) may make a controller run some")


def test_hauler(work: Path) -> None:
    done = mirror(work, *NO_OCI, "--format", "hauler")
    assert done.returncode == 0, done.stderr
    images, charts = yaml.safe_load_all(done.stdout)
    for document, kind in ((images, "Images"), (charts, "Charts")):
        assert document["apiVersion"] == "content.hauler.cattle.io/v1"
        assert document["kind"] == kind
    assert {"name": "r.example/large:1"} in images["spec"]["images"]
    assert charts["spec"]["charts"] == [
        {"name": "chart", "repoURL": "https://charts.example/chart", "version": "v1.2.3"}
    ]


def test_zarf(work: Path) -> None:
    done = mirror(work, *NO_OCI, "--format", "zarf")
    assert done.returncode == 0, done.stderr
    package = yaml.safe_load(done.stdout)
    assert package["apiVersion"] == "zarf.dev/v1alpha1"
    assert package["kind"] == "ZarfPackageConfig"
    chart_component, plain = package["components"]
    assert chart_component["charts"] == [
        {
            "name": "chart", "namespace": "chart-system", "version": "v1.2.3",
            "url": "https://charts.example/chart",
        }
    ]  # fmt: skip
    assert plain == {"images": ["r.example/large:1"], "name": "plain", "required": True}


def test_platforms(work: Path) -> None:
    def run(form: str, platforms: str) -> str:
        done = mirror(work, *NO_OCI, "--format", form, "--platform", platforms)
        assert done.returncode == 0, done.stderr
        return done.stdout

    one, two = "linux/arm64", "linux/amd64,linux/arm64"
    assert yaml.safe_load(run("yaml", two))["platforms"] == ["linux/amd64", "linux/arm64"]
    images = next(iter(yaml.safe_load_all(run("hauler", one))))["spec"]["images"]
    assert {image["platform"] for image in images} == {"linux/arm64"}
    both = run("hauler", two)
    assert "platform:" not in both
    assert "# Wanted are linux/amd64, linux/arm64" in both
    assert yaml.safe_load(run("zarf", one))["metadata"]["architecture"] == "arm64"
    assert "#   zarf package create --architecture arm64" in run("zarf", two)
    assert_fails(mirror(work, "--image-platform", "arm"), 2, '"arm" is no platform')
    assert_fails(mirror(work, "--platform", "linux/"), 2, '"linux/" is no platform')


def test_one_flag_for_two_platforms(work: Path) -> None:
    """``--platform`` is a criterion too: with a slash in it, it is not."""
    done = mirror(work, "--platform", "nosuch", "--platform", "linux/amd64")
    assert_fails(done, 2, "nosuch")
    hides = run_aicr(
        "mirror", "list", "--service", "eks", "--platform", "linux/amd64", cwd=work,
        env={"AICR_PLATFORM": "kubeflow"},
    )  # fmt: skip
    assert_fails(hides, 2, "write --image-platform linux/amd64")
    clear = mirror(work, *NO_OCI, "--image-platform", "linux/amd64")
    assert clear.returncode == 0, clear.stderr


def test_charts_are_fetched(tmp_path: Path) -> None:
    archive = chart("app")
    with helm_repository(tmp_path / "repo", {"app-1.0.0.tgz": archive}) as address:
        entry = helm("app")
        entry["helm"] = {
            "defaultRepository": address,
            "defaultChart": "app",
            "defaultVersion": "1.0.0",
        }
        catalog = SmallCatalog().registry(entry).overlay("base", componentRefs=[])
        catalog.overlay("eks", criteria={"service": "eks"}, componentRefs=[{"name": "app"}])
        catalog.write(tmp_path / "catalog")
        done = mirror(tmp_path, charts="")
    assert done.returncode == 0, done.stderr
    assert "quay.example/team/app:9.8.7" in yaml.safe_load(done.stdout)["images"]


def test_a_crd_chart_has_no_images_and_is_complete(tmp_path: Path) -> None:
    catalog = SmallCatalog().registry(helm("crds")).overlay("base", componentRefs=[])
    catalog.overlay("eks", criteria={"service": "eks"}, componentRefs=[{"name": "crds"}])
    catalog.write(tmp_path / "catalog")
    files = chart_files("crds", files={"values.yaml": "", "templates/deployment.yaml": CRD})
    for path, data in files.items():
        file = tmp_path / "charts" / "crds" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    done = mirror(tmp_path)
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(done.stdout)["images"] == []


def test_help_has_examples() -> None:
    done = run_aicr("mirror", "list", "--help")
    assert done.returncode == 0
    assert "--format hauler" in done.stdout
