from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.explain import ABSENT, Explained, Past, explain, field_name
from aicr.recipe.inherit import Prior, inherit
from aicr.recipe.query import query
from aicr.recipe.resolve import resolve
from catalog_strategies import asked, written
from resolution_oracle import Described, Values
from small_catalog import SmallCatalog

EKS = Criteria(service="eks")
FILES = {
    "registry.yaml": """\
kind: ComponentRegistry
components:
  - name: a
    helm:
      defaultRepository: https://charts.example/a
      defaultChart: repo/a
      defaultVersion: 1.0.0
      defaultNamespace: a-system
  - name: m
    helm:
      defaultNamespace: m-system
""",
    "overlays/base.yaml": """\
kind: RecipeMetadata
metadata: {name: base}
spec:
  constraints:
    - name: K8s.server.version
      value: ">= 1.25"
  componentRefs:
    - name: a
      valuesFile: components/a/values-x.yaml
      overrides:
        driver: {enabled: true}
""",
    "overlays/eks.yaml": """\
kind: RecipeMetadata
metadata: {name: eks}
spec:
  criteria: {service: eks}
  mixins: [extra]
  constraints:
    - name: K8s.server.version
      value: ">= 1.30"
  componentRefs:
    - name: a
      namespace: elsewhere
      overrides:
        driver:
          enabled: false
          old: null
""",
    "mixins/extra.yaml": """\
kind: RecipeMixin
metadata: {name: extra}
spec:
  componentRefs:
    - name: m
      manifestFiles: [components/m/manifests/x.yaml]
""",
    "components/a/values.yaml": "driver:\n  version: 570\n  old: 1\n",
    "components/a/values-x.yaml": "# a comment\ndriver:\n  version: 580\n",
}


@pytest.fixture
def catalog() -> Catalog:
    return SmallCatalog(FILES).in_memory()


def past(catalog: Catalog) -> Past:
    recipe = resolve(catalog, EKS)
    return Past(catalog, recipe, resolved=recipe, origins={"service": "--service"})


def sole(catalog: Catalog, selector: str) -> Explained:
    (found,) = explain(past(catalog), selector)
    return found


def told(found: Explained) -> list[tuple[str, str, str, object]]:
    return [(step.kind, step.name, step.where, step.value) for step in found.steps]


@pytest.mark.parametrize(
    ("selector", "steps"),
    [
        ("components.a.namespace", [("overlay", "eks", "overlays/eks.yaml:11", "elsewhere")]),
        ("components.a.version", [
            ("default", "default of the registry", "registry.yaml:7", "1.0.0")]),
        ("components.a.values.driver.version", [
            ("values file", "components/a/values.yaml", "components/a/values.yaml:2", 570),
            ("values file", "components/a/values-x.yaml", "components/a/values-x.yaml:3", 580)]),
        ("components.a.values.driver.enabled", [
            ("overlay", "base", "overlays/base.yaml:11", True),
            ("overlay", "eks", "overlays/eks.yaml:14", False)]),
        ("components.a.values.driver.old", [
            ("values file", "components/a/values.yaml", "components/a/values.yaml:3", 1),
            ("overlay", "eks", "overlays/eks.yaml:15", ABSENT)]),
        ("components.m.manifestFiles", [
            ("mixin", "extra", "mixins/extra.yaml:6", ["components/m/manifests/x.yaml"])]),
        ("components.m.namespace", [
            ("default", "default of the registry", "registry.yaml:11", "m-system")]),
        ("constraints[0].value", [
            ("overlay", "base", "overlays/base.yaml:6", ">= 1.25"),
            ("overlay", "eks", "overlays/eks.yaml:8", ">= 1.30")]),
        ("criteria.service", [("given", "--service", "", "eks")]),
        ("deploymentOrder", [("computed", "computed from the dependencyRefs", "", ["a", "m"])]),
    ],
)  # fmt: skip
def test_which_layer_set_it_and_what_it_replaced(
    catalog: Catalog, selector: str, steps: list[object]
) -> None:
    assert told(sole(catalog, selector)) == steps


def test_what_is_inherited(catalog: Catalog) -> None:
    recipe = resolve(catalog, EKS)
    old = recipe.replace(components=[ref.replace(namespace="was") for ref in recipe.components])
    prior = Prior("./bundles", old, is_bundle=True, values={"a": {"fullnameOverride": "x"}})
    final = inherit(catalog, recipe, prior).recipe
    document: dict[str, object] = {"componentRefs": []}
    whole = Past(
        catalog, final, resolved=recipe, origins={},
        prior=(_node(document), "bundles/recipe.yaml", "./bundles"),
    )  # fmt: skip
    (found,) = explain(whole, "components.a.namespace")
    assert told(found) == [
        ("overlay", "eks", "overlays/eks.yaml:11", "elsewhere"),
        ("inherited", "inherited from ./bundles", "bundles/recipe.yaml", "was"),
    ]
    (found,) = explain(whole, "components.a.values.fullnameOverride")
    assert told(found) == [("inherited", "inherited from ./bundles", "./bundles", "x")]


def _node(value: object):  # type: ignore[no-untyped-def]
    import json

    from aicr.documents.reader import read_yaml

    return read_yaml(json.dumps(value), "bundles/recipe.yaml")


def test_there_never_was_such_a_field(catalog: Catalog) -> None:
    with pytest.raises(AicrError) as caught:
        explain(past(catalog), "components.a.nothing")
    assert caught.value.code == "NOT_FOUND"


def test_every_field_of_the_shipped_catalog_has_an_origin() -> None:
    catalog = open_catalog()
    criteria = Criteria(service="eks", accelerator="h100", intent="training", os="ubuntu")
    recipe = resolve(catalog, criteria)
    whole = Past(catalog, recipe, resolved=recipe, origins={})
    for found in explain(whole, "."):
        assert found.steps, field_name(found)
        last = found.steps[-1]
        assert last.value == found.value
        if last.kind in ("overlay", "mixin", "values file", "default") and found.value != {}:
            file, _, line = last.where.rpartition(":")
            assert catalog.has(file), last.where
            assert int(line) > 0


def test_a_line_is_where_the_value_stands(cases: Path) -> None:
    """Every scalar of a recipe of another's catalog is found again in the line that is named."""
    root = cases / "public-catalog"
    catalog = open_catalog(catalog=str(root))
    recipe = resolve(catalog, Criteria(service="eks", accelerator="h100", intent="training"))
    checked = 0
    for found in explain(Past(catalog, recipe, resolved=recipe, origins={}), "components"):
        last = found.steps[-1]
        if isinstance(found.value, str) and found.value and "\n" not in found.value:
            file, _, line = last.where.rpartition(":")
            text = Path(file).read_text("utf-8").splitlines()[int(line) - 1]
            if found.path[-1] != "type" and ">" not in text and "|" not in text:
                assert found.value.rpartition("/")[2] in text, (field_name(found), last.where)
                checked += 1
    assert checked > 100


@settings(max_examples=60, deadline=None)
@given(asked())
def test_the_last_step_is_the_value_of_a_query(one: tuple[Described, Values]) -> None:
    described, stated = one
    catalog = written(described).in_memory()
    try:
        recipe = resolve(catalog, Criteria.of(stated))
        query(catalog, recipe, ".")
    except AicrError:
        return
    for found in explain(Past(catalog, recipe, resolved=recipe, origins={}), "."):
        if found.path[0] == "components":
            name = field_name(found)
            assert query(catalog, recipe, name) == found.value
            if found.steps:
                assert found.steps[-1].value == found.value
