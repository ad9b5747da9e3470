"""What is left to install time: out of what the bundle fixes, and where each deployer reads it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from aicr.artifact.read import open_artifact
from aicr.artifact.values import bundle_values
from aicr.bundle.build import Bundle
from aicr.bundle.dynamic import fixed_values, open_values
from aicr.bundle.kept import kept_values
from aicr.bundle.plan import PlannedRelease
from aicr.bundle.writers.local import is_written_to
from aicr.catalog.layers import Catalog
from aicr.errors import AicrError
from aicr.recipe.model import Recipe
from bundles import build, parsed, write_out
from crds import check
from kustomize import built
from tools import tool

# A value of the recipe, one that it has none of, one in a chart that is generated too.
DYNAMIC = ["oci:replicas", "oci:driver.version", "thechart:size"]
FIXED = {"names": ["on", "1:30"], "x": None}
AT_INSTALL = ["helm", "helmfile", "argocd-helm", "flux"]


def document(bundle: Bundle, path: str) -> object:
    return parsed(bundle.files[path][0])


@pytest.mark.parametrize("deployer", ["helm", "helmfile"])
def test_helm_reads_them_from_cluster_values(
    recipe: Recipe, catalog: Catalog, deployer: str
) -> None:
    bundle = build(recipe, catalog, deployer, dynamic=DYNAMIC)
    assert document(bundle, "001-oci/values.yaml") == {}
    assert document(bundle, "001-oci/cluster-values.yaml") == {"replicas": 2}
    text = bundle.files["001-oci/cluster-values.yaml"][0].decode()
    assert "# No value so far, so the chart's own holds: driver.version\n" in text
    assert document(bundle, "003-chart/values.yaml") == FIXED
    assert document(bundle, "003-chart/cluster-values.yaml") == {"size": 3}
    for folder in ("002-chart-pre", "004-chart-post"):
        assert document(bundle, f"{folder}/values.yaml") == {"chart": FIXED}
        assert document(bundle, f"{folder}/cluster-values.yaml") == {"chart": {"size": 3}}
    assert document(bundle, "005-plain/cluster-values.yaml") is None


def test_helm_renders_the_value_until_somebody_says_otherwise(
    recipe: Recipe, catalog: Catalog, tmp_path: Path
) -> None:
    helm = tool("helm", "HELM_BIN")
    root = write_out(build(recipe, catalog, dynamic=["chart:size"]), tmp_path / "b")
    chart = root / "004-chart-post"

    def size() -> object:
        files = ["--values", chart / "values.yaml", "--values", chart / "cluster-values.yaml"]
        command = [helm, "template", "r", chart, *files]
        done = subprocess.run(list(map(str, command)), capture_output=True, encoding="utf-8")
        return yaml.safe_load(done.stdout)["data"]["size"]

    assert size() == "3"
    (chart / "cluster-values.yaml").write_text("chart: {size: 9}\n")
    assert size() == "9"


def test_flux_reads_them_from_objects_of_the_cluster(recipe: Recipe, catalog: Catalog) -> None:
    bundle = build(recipe, catalog, "flux", dynamic=DYNAMIC)
    index = document(bundle, "kustomization.yaml")
    assert isinstance(index, dict)
    for name, fixed, default in (
        ("oci", {}, {"replicas": 2}),
        ("chart", FIXED, {"size": 3}),
        ("chart-post", {"chart": FIXED}, {"chart": {"size": 3}}),
    ):
        release = document(bundle, f"{name}/helmrelease.yaml")
        check(release)
        assert isinstance(release, dict)
        assert release["spec"]["values"] == fixed
        key = {"valuesKey": "values.yaml"}
        assert release["spec"]["valuesFrom"] == [
            {"kind": "ConfigMap", "name": f"{name}.defaults", **key},
            {"kind": "ConfigMap", "name": f"{name}-values", **key, "optional": True},
            {"kind": "Secret", "name": f"{name}-values", **key, "optional": True},
        ]
        defaults = document(bundle, f"{name}/defaults.yaml")
        assert isinstance(defaults, dict)
        assert f"{name}/defaults.yaml" in index["resources"]
        assert (defaults["kind"], defaults["metadata"]) == (
            "ConfigMap", {"name": f"{name}.defaults", "namespace": "flux-system"},
        )  # fmt: skip
        assert yaml.safe_load(defaults["data"]["values.yaml"]) == default
    plain = document(bundle, "plain/helmrelease.yaml")
    assert isinstance(plain, dict)
    assert "valuesFrom" not in plain["spec"]
    readme = bundle.files["README.md"][0].decode()
    assert "kubectl create configmap oci-values --namespace flux-system" in readme


def test_kustomize_builds_it(recipe: Recipe, catalog: Catalog, tmp_path: Path) -> None:
    root = write_out(build(recipe, catalog, "flux", dynamic=DYNAMIC), tmp_path / "b")
    maps = [one for one in built(root) if one["kind"] == "ConfigMap"]
    assert [one["metadata"]["name"] for one in maps] == [
        "chart-post.defaults", "chart-pre.defaults", "chart.defaults", "oci.defaults",
    ]  # fmt: skip


def test_flux_has_no_defaults_where_the_recipe_has_none(recipe: Recipe, catalog: Catalog) -> None:
    bundle = build(recipe, catalog, "flux", dynamic=["oci:driver.version"])
    assert "oci/defaults.yaml" not in bundle.files
    release = document(bundle, "oci/helmrelease.yaml")
    assert isinstance(release, dict)
    assert [one["kind"] for one in release["spec"]["valuesFrom"]] == ["ConfigMap", "Secret"]


def test_argocd_helm_takes_them_with_its_values(
    recipe: Recipe, catalog: Catalog, tmp_path: Path
) -> None:
    bundle = build(recipe, catalog, "argocd-helm", dynamic=DYNAMIC)
    root = write_out(bundle, tmp_path / "b")
    mine = tmp_path / "mine.yaml"
    mine.write_text(json.dumps({"oci": {"driver": {"version": "9"}}, "chart": {"size": 8}}))
    command = [
        tool("helm", "HELM_BIN"), "template", "x", str(root), "--values", str(mine),
        "--set", "repoURL=https://git.example/b.git",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    applications = {one["metadata"]["name"]: one for one in yaml.safe_load_all(done.stdout)}

    def values(name: str) -> object:
        return yaml.safe_load(applications[name]["spec"]["source"]["helm"]["values"])

    assert values("oci") == {"replicas": 2, "driver": {"version": "9"}}
    assert values("chart") == {**FIXED, "size": 8}


def test_argocd_has_no_install_time(recipe: Recipe, catalog: Catalog) -> None:
    with pytest.raises(AicrError, match="nothing is left to install time") as caught:
        build(recipe, catalog, "argocd", dynamic=["oci:replicas"])
    assert "argocd-helm" in caught.value.hint


@pytest.mark.parametrize(
    ("deployer", "place"),
    [
        ("helm", "001-oci/cluster-values.yaml"),
        ("helmfile", "001-oci/cluster-values.yaml"),
        ("argocd-helm", "under oci: in a file for --values"),
        ("flux", "ConfigMap or Secret oci-values"),
    ],
)
def test_the_readme_says_where(recipe: Recipe, catalog: Catalog, deployer: str, place: str) -> None:
    text = build(recipe, catalog, deployer, dynamic=DYNAMIC).files["README.md"][0].decode()
    assert "## Before you deploy: values of this cluster" in text
    assert f"| oci | replicas | the recipe's | {place} |" in text
    assert f"| oci | driver.version | none | {place} |" in text
    assert (
        "values of this cluster"
        not in build(recipe, catalog, deployer).files["README.md"][0].decode().split("## Deploy")[0]
    )


@pytest.mark.parametrize("deployer", AT_INSTALL)
def test_the_values_are_read_back_whole(
    recipe: Recipe, catalog: Catalog, tmp_path: Path, deployer: str
) -> None:
    def read(name: str, dynamic: list[str]) -> dict[str, object] | None:
        root = write_out(build(recipe, catalog, deployer, dynamic=dynamic), tmp_path / name)
        return bundle_values(open_artifact(str(root), "--from"))[0]

    whole = read("whole", [])
    assert whole is not None
    open_ones = read("open", [*DYNAMIC, "plain:size"])
    assert open_ones == {**whole, "chart": {**FIXED, "size": 3}}


def test_what_the_operator_wrote_counts(recipe: Recipe, catalog: Catalog, tmp_path: Path) -> None:
    root = write_out(build(recipe, catalog, dynamic=["oci:replicas"]), tmp_path / "b")
    (root / "001-oci" / "cluster-values.yaml").write_text("fullnameOverride: mine\nreplicas: 3\n")
    (root / "005-plain" / "cluster-values.yaml").write_text(
        "plain: {nameOverride: x, size: null}\n"
    )
    values, why = bundle_values(open_artifact(str(root), "--from"))
    assert why == ""
    assert values is not None
    assert values["oci"] == {"fullnameOverride": "mine", "replicas": 3}
    assert values["plain"] == {"nameOverride": "x"}


class TestKept:
    """A file as the bundle wrote it is no operator's; a changed one is, and loses no value."""

    def test_as_written(self, recipe: Recipe, catalog: Catalog, tmp_path: Path) -> None:
        bundle = build(recipe, catalog, dynamic=DYNAMIC)
        root = write_out(bundle, tmp_path / "b")
        assert kept_values(str(root)) == {}
        file = root / "001-oci" / "cluster-values.yaml"
        file.write_bytes(file.read_bytes().replace(b"replicas: 2", b"replicas: 3"))
        assert list(kept_values(str(root))) == ["oci"]

    @pytest.mark.parametrize("where", ["before", "after"])
    def test_written_to(self, recipe: Recipe, catalog: Catalog, where: str) -> None:
        data = build(recipe, catalog, dynamic=DYNAMIC).files["001-oci/cluster-values.yaml"][0]
        assert not is_written_to(data)
        mine = b"mine: 1\n"
        assert is_written_to(mine + data if where == "before" else data + mine)

    def test_a_value_that_the_operators_file_lacks_stays_fixed(
        self, recipe: Recipe, catalog: Catalog
    ) -> None:
        kept = {"oci": b"driver: {version: '9'}\n", "chart": b"size: 7\n"}
        bundle = build(recipe, catalog, dynamic=DYNAMIC, kept=kept)
        assert bundle.files["001-oci/cluster-values.yaml"][0] == kept["oci"]
        assert document(bundle, "001-oci/values.yaml") == {"replicas": 2}
        assert document(bundle, "003-chart/values.yaml") == FIXED


def test_a_path_inside_a_list(recipe: Recipe, catalog: Catalog) -> None:
    with pytest.raises(AicrError, match='"names" is a list, which is left open as a whole'):
        build(recipe, catalog, dynamic=["chart:names.x"])


def test_a_null_is_left_open_too(recipe: Recipe, catalog: Catalog) -> None:
    bundle = build(recipe, catalog, dynamic=["chart:x"])
    assert document(bundle, "003-chart/cluster-values.yaml") == {"x": None}
    assert document(bundle, "003-chart/values.yaml") == {"size": 3, "names": ["on", "1:30"]}


def test_no_empty_maps_are_left() -> None:
    release = PlannedRelease(
        "x", index=1, component="x", kind="main", namespace="n", version="1", chart=None,
        manifests=(), needs=(), level=0, owns_crds=False,
        values={"a": {"b": {"c": 1}, "d": 2}, "e": {"f": {"g": 3}}},
        dynamic=[("a", "b", "c"), ("a", "x"), ("e", "f", "g")],
    )  # fmt: skip
    assert fixed_values(release) == {"a": {"d": 2}}
    assert open_values(release) == {"a": {"b": {"c": 1}}, "e": {"f": {"g": 3}}}
    assert fixed_values(release, {"e": {"f": {"g": 0}}}) == {"a": {"b": {"c": 1}, "d": 2}}
    assert release.values["e"] == {"f": {"g": 3}}
