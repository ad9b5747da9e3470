"""The plan has each release once, in order, with its final values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from aicr.bundle.overrides import Override
from aicr.bundle.plan import DeploymentPlan, PlannedRelease, make_plan
from aicr.catalog.layers import Catalog
from aicr.catalog.model import ComponentRef
from aicr.errors import AicrError
from aicr.recipe.model import Recipe
from bundles import STACK_RELEASES, recipe_of


def plan_of(
    recipe: Recipe, catalog: Catalog, overrides: Mapping[str, Sequence[Override]] | None = None
) -> DeploymentPlan:
    return make_plan(recipe, catalog, overrides=overrides or {}, built={}, where="r.yaml")


def planned(recipe: Recipe, catalog: Catalog) -> dict[str, PlannedRelease]:
    return {release.name: release for release in plan_of(recipe, catalog).releases}


def ordered(*components: ComponentRef) -> Recipe:
    return recipe_of(*components, order=[ref.name for ref in components])


def test_order_kinds_and_folders(recipe: Recipe, catalog: Catalog) -> None:
    plan = plan_of(recipe, catalog)
    assert [release.name for release in plan.releases] == STACK_RELEASES
    assert [release.kind for release in plan.releases] == ["main", "pre", "main", "post", "main"]
    assert [release.folder for release in plan.releases][1:3] == ["002-chart-pre", "003-chart"]
    assert plan.components == ["oci", "chart", "plain"]


def test_what_waits_for_what(recipe: Recipe, catalog: Catalog) -> None:
    releases = planned(recipe, catalog)
    needs = {name: release.needs for name, release in releases.items()}
    assert needs == {
        "oci": [],
        "chart-pre": ["oci"],
        "chart": ["chart-pre"],
        "chart-post": ["chart"],
        "plain": ["chart-post"],
    }
    assert [release.level for release in releases.values()] == [0, 1, 1, 1, 2]


def test_charts(recipe: Recipe, catalog: Catalog) -> None:
    releases = planned(recipe, catalog)
    chart = releases["chart"].chart
    assert chart is not None
    assert (chart.repository, chart.name, chart.version, chart.is_oci) == (
        "https://charts.example/chart", "chart", "v1.2.3", False,
    )  # fmt: skip
    oci = releases["oci"].chart
    assert oci is not None
    assert (oci.repository, oci.name, oci.version, oci.is_oci) == (
        "oci://registry.example/charts", "oci-chart", "26.10", True,
    )  # fmt: skip
    assert [name for name, one in releases.items() if one.chart is None] == [
        "chart-pre", "chart-post", "plain",
    ]  # fmt: skip
    assert [name for name, one in releases.items() if one.owns_crds] == ["chart"]


def test_values_stand_under_the_component_in_generated_charts(
    recipe: Recipe, catalog: Catalog
) -> None:
    releases = planned(recipe, catalog)
    own = {"size": 3, "names": ["on", "1:30"], "x": None}
    assert releases["chart"].values == own
    assert releases["chart-pre"].values == {"chart": own}
    assert releases["plain"].values == {"plain": {"size": "large"}}
    assert releases["oci"].values == {"replicas": 2}


def test_a_repository_prefix_is_no_part_of_a_charts_name(catalog: Catalog) -> None:
    def name(source: str) -> str:
        ref = ComponentRef("x", type="Helm", source=source, chart="jetstack/x", version="1.0.0")
        chart = plan_of(ordered(ref), catalog).releases[0].chart
        assert chart is not None
        return chart.name

    assert name("https://charts.example") == "x"
    assert name("oci://charts.example") == "jetstack/x"


def test_a_chart_without_a_name_has_the_components(catalog: Catalog) -> None:
    ref = ComponentRef("x", type="Helm", source="oci://h/y", version="1.0.0")
    chart = plan_of(ordered(ref), catalog).releases[0].chart
    assert chart is not None
    assert chart.name == "x"


def test_a_type_that_is_not_stated_is_a_chart(catalog: Catalog) -> None:
    ref = ComponentRef("x", source="oci://h/y", version="1.0.0")
    assert plan_of(ordered(ref), catalog).releases[0].chart is not None


def test_a_chart_without_a_version(catalog: Catalog) -> None:
    with pytest.raises(AicrError, match="would install whatever is latest"):
        plan_of(ordered(ComponentRef("x", type="Helm", source="oci://h/y")), catalog)


def test_a_namespace_is_always_stated(catalog: Catalog) -> None:
    ref = ComponentRef("x", type="Helm", source="oci://h/y", version="1.0.0")
    assert plan_of(ordered(ref), catalog).releases[0].namespace == "default"


def test_every_missing_manifest_is_named(catalog: Catalog) -> None:
    first = ComponentRef("a", manifest_files=["components/a/x.yaml", "components/a/y.yaml"])
    second = ComponentRef("b", pre_manifest_files=["components/b/z.yaml"])
    with pytest.raises(AicrError) as caught:
        plan_of(ordered(first, second), catalog)
    for path in ("components/a/x.yaml", "components/a/y.yaml", "components/b/z.yaml"):
        assert f'"{path}" is not in the catalog' in caught.value.message
    assert caught.value.exit_code == 2


def test_nothing_to_deploy_is_an_error(catalog: Catalog) -> None:
    with pytest.raises(AicrError, match="there is nothing to deploy"):
        plan_of(ordered(ComponentRef("a", type="Helm")), catalog)


def test_names_that_collide(catalog: Catalog) -> None:
    manifest = ["components/plain/manifests/only.yaml"]
    one = ComponentRef("a", type="Helm", source="oci://h/y", tag="v1", manifest_files=manifest)
    other = ComponentRef("a-post", type="Helm", manifest_files=manifest)
    with pytest.raises(AicrError, match='its release "a-post" has the name of one of "a"'):
        plan_of(ordered(one, other), catalog)


def test_a_dependency_is_its_last_release(catalog: Catalog) -> None:
    manifest = ["components/plain/manifests/only.yaml"]
    one = ComponentRef("a", type="Helm", source="oci://h/y", tag="v1", manifest_files=manifest)
    other = ComponentRef("b", manifest_files=manifest, dependency_refs=["a", "a"])
    assert plan_of(ordered(one, other), catalog).releases[-1].needs == ["a-post"]
