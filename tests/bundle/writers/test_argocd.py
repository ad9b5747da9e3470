"""The argocd bundle: valid Applications in waves that follow the plan."""

from __future__ import annotations

import pytest

from aicr.bundle.build import Bundle, Request, build_bundle
from aicr.bundle.writers import NO_REPO
from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from bundles import STACK_RELEASES, parsed
from crds import check

REPO = "https://git.example/bundles.git"


def bundle(recipe: Recipe, catalog: Catalog, repo: str = REPO, revision: str = "v7") -> Bundle:
    request = Request("argocd", repo=repo, target_revision=revision)
    return build_bundle(recipe, catalog, request, where="recipe.yaml")


def applications(found: Bundle) -> dict[str, dict[str, dict[str, object]]]:
    documents = [
        parsed(data)
        for path, (data, _) in found.files.items()
        if path.endswith("/application.yaml")
    ]
    return {one["metadata"]["name"]: one for one in documents if isinstance(one, dict)}


def test_the_layout(recipe: Recipe, catalog: Catalog) -> None:
    files = set(bundle(recipe, catalog).files)
    expected = {"app-of-apps.yaml", "recipe.yaml", "bundle-info.yaml", "checksums.txt", "README.md"}
    for index, name in enumerate(STACK_RELEASES, start=1):
        expected |= {f"{index:03d}-{name}/{file}" for file in ("application.yaml", "values.yaml")}
    for chart, manifest in (("002-chart-pre", "before"), ("004-chart-post", "after"),
                            ("005-plain", "only")):  # fmt: skip
        expected |= {f"{chart}/Chart.yaml", f"{chart}/templates/{manifest}.yaml"}
    assert files == expected


def test_every_application_is_valid(recipe: Recipe, catalog: Catalog) -> None:
    found = bundle(recipe, catalog)
    check(parsed(found.files["app-of-apps.yaml"][0]))
    for document in applications(found).values():
        check(document)


def test_waves_follow_the_plan(recipe: Recipe, catalog: Catalog) -> None:
    found = applications(bundle(recipe, catalog))
    waves: dict[str, int] = {}
    for name, document in found.items():
        annotations = document["metadata"]["annotations"]
        assert isinstance(annotations, dict)
        waves[name] = int(annotations["argocd.argoproj.io/sync-wave"])
    assert sorted(waves, key=lambda name: waves[name]) == STACK_RELEASES
    assert len(set(waves.values())) == len(waves)


def test_the_root_reads_the_applications_and_nothing_else(recipe: Recipe, catalog: Catalog) -> None:
    """In Argo CD's patterns "*" takes "/" too, and with it templates of this name."""
    found = bundle(recipe, catalog)
    root = parsed(found.files["app-of-apps.yaml"][0])
    assert isinstance(root, dict)
    listed = [path for path in found.files if path.endswith("/application.yaml")]
    assert root["spec"]["source"]["directory"] == {
        "recurse": True,
        "include": "{" + ",".join(sorted(listed)) + "}",
    }


def test_sources(recipe: Recipe, catalog: Catalog) -> None:
    found = applications(bundle(recipe, catalog))
    git = {"repoURL": REPO, "targetRevision": "v7"}
    assert found["chart"]["spec"]["sources"] == [
        {
            "repoURL": "https://charts.example/chart",
            "chart": "chart",
            "targetRevision": "v1.2.3",
            "helm": {"releaseName": "chart", "valueFiles": ["$values/003-chart/values.yaml"]},
        },
        {**git, "ref": "values"},
    ]
    sources = found["oci"]["spec"]["sources"]
    assert isinstance(sources, list)
    assert sources[0]["repoURL"] == "registry.example/charts"
    assert found["plain"]["spec"]["source"] == {
        **git,
        "path": "005-plain",
        "helm": {"releaseName": "plain", "valueFiles": ["values.yaml"]},
    }
    assert found["plain"]["spec"]["destination"] == {
        "server": "https://kubernetes.default.svc",
        "namespace": "plain-system",
    }


def test_values(recipe: Recipe, catalog: Catalog) -> None:
    found = bundle(recipe, catalog)
    for release in found.plan.releases:
        assert parsed(found.files[f"{release.folder}/values.yaml"][0]) == release.values


def test_without_a_repository_nothing_can_be_applied_by_accident(
    recipe: Recipe, catalog: Catalog
) -> None:
    found = bundle(recipe, catalog, repo="", revision="")
    assert NO_REPO in found.files["app-of-apps.yaml"][0].decode()
    (notice,) = found.notices
    assert "--repo" in notice.message


@pytest.mark.parametrize(
    ("repo", "revision", "says"),
    [
        ("oci://h/x", "", "--repo"),
        ("https://u:p@h/x", "", "credentials"),
        ("https://h/$(x)", "", "--repo"),
        (REPO, "a b", "--target-revision"),
        (REPO, "../x", "--target-revision"),
    ],
)
def test_a_repository_is_checked(
    recipe: Recipe, catalog: Catalog, repo: str, revision: str, says: str
) -> None:
    with pytest.raises(AicrError, match=says):
        bundle(recipe, catalog, repo=repo, revision=revision)


def test_elsewhere_a_repository_has_no_effect(recipe: Recipe, catalog: Catalog) -> None:
    request = Request("helm", repo=REPO, target_revision="x")
    found = build_bundle(recipe, catalog, request, where="r")
    assert [one.message for one in found.notices] == [
        "--repo has no effect on --deployer helm",
        "--target-revision has no effect on --deployer helm",
    ]


def test_the_shipped_stack() -> None:
    catalog = open_catalog()
    recipe = resolve(catalog, Criteria(service="eks", accelerator="h100", intent="training"))
    found = bundle(recipe, catalog)
    documents = applications(found)
    assert set(documents) == {release.name for release in found.plan.releases}
    for document in documents.values():
        check(document)


@pytest.mark.parametrize(
    "change", [{"sources": "x"}, {"syncPolicy": {"automatd": {}}}, {"destination": None}]
)
def test_the_schema_finds_what_is_wrong(
    recipe: Recipe, catalog: Catalog, change: dict[str, object]
) -> None:
    document = applications(bundle(recipe, catalog))["oci"]
    with pytest.raises(AssertionError):
        check({**document, "spec": {**document["spec"], **change}})
