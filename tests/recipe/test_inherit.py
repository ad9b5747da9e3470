from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.catalog.layers import Catalog
from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.document import write_recipe
from aicr.recipe.inherit import Inherited, Prior, inherit
from aicr.recipe.model import Recipe
from aicr.recipe.resolve import resolve
from aicr.recipe.values import component_values
from aicr.upgrade.inventory import identity_changes, inventory_of
from small_catalog import SmallCatalog, helm, simple

EKS = Criteria(service="eks")


def recipe_of(catalog: Catalog, criteria: Criteria = EKS) -> Recipe:
    return resolve(catalog, criteria)


def values_of(catalog: Catalog, recipe: Recipe) -> dict[str, object]:
    return {ref.name: component_values(catalog, ref) for ref in recipe.components}


def from_recipe(new: Catalog, old: Catalog) -> Inherited:
    return inherit(new, recipe_of(new), Prior("old.yaml", recipe_of(old)))


def from_bundle(new: Catalog, old: Catalog, values: dict[str, Any] | None = None) -> Inherited:
    before = recipe_of(old)
    deployed = values_of(old, before) if values is None else values
    return inherit(new, recipe_of(new), Prior("./bundles", before, is_bundle=True, values=deployed))


def moved(**entry: object) -> SmallCatalog:
    """The catalog of ``simple`` with another registry entry of ``a``."""
    catalog = simple({"name": "a"}, {"name": "b"})
    new = helm("a", "2.0.0")
    new["helm"] = {**new["helm"], **entry}  # type: ignore[dict-item]
    return catalog.registry(new, helm("b", "2.0.0"))


OLD = simple({"name": "a"}, {"name": "b"}).in_memory()


def test_the_namespace_stays_and_the_version_moves() -> None:
    new = moved(defaultNamespace="nvidia-a-system").in_memory()
    found = from_recipe(new, OLD)
    ref = found.recipe.component("a")
    assert ref is not None
    assert (ref.namespace, ref.version) == ("a-system", "2.0.0")
    assert found.notes == []
    assert recipe_of(new).component("a").namespace == "nvidia-a-system"  # type: ignore[union-attr]


def test_an_inherited_chart_or_source_is_warned_about() -> None:
    new = moved(defaultRepository="oci://new.example/charts", defaultChart="renamed").in_memory()
    found = from_recipe(new, OLD)
    ref = found.recipe.component("a")
    assert ref is not None
    assert (ref.source, ref.chart) == ("https://charts.example/a", "a")
    said = [one for one in found.warnings if "nothing checks" in one]
    assert len(said) == 2
    assert all("version 2.0.0" in one for one in said)


def test_manifests_stay_where_the_prior_lists_any() -> None:
    old = simple({"name": "a", "manifestFiles": ["m1"], "preManifestFiles": ["p"]}, {"name": "b"})
    new = simple({"name": "a", "manifestFiles": ["m2"]}, {"name": "b", "manifestFiles": ["m3"]})
    new.add("components/a/manifests/x.yaml", "")
    found = from_recipe(new.in_memory(), old.in_memory())
    a, b = found.recipe.component("a"), found.recipe.component("b")
    assert a is not None
    assert b is not None
    assert (a.manifest_files, a.pre_manifest_files) == (["m1"], ["p"])
    assert b.manifest_files == ["m3"]
    assert any('manifestFiles keeps "m1", which the catalog no longer has' in one
               for one in found.warnings)  # fmt: skip


def test_a_type_that_flipped_keeps_only_the_namespace() -> None:
    new = simple({"name": "a", "namespace": "elsewhere"}, {"name": "b"}).registry(
        {"name": "a", "kustomize": {"defaultSource": "https://git.example/a", "defaultTag": "v2"}},
        helm("b"),
    )
    found = from_bundle(new.in_memory(), OLD, {"a": {"fullnameOverride": "x"}, "b": {}})
    ref = found.recipe.component("a")
    assert ref is not None
    assert (ref.namespace, ref.source, ref.chart) == ("a-system", "https://git.example/a", "")
    assert ref.overrides is None
    assert any("was Helm and is Kustomize now" in one for one in found.warnings)


def test_a_chart_is_not_put_on_manifests_alone() -> None:
    new = simple({"name": "a", "manifestFiles": ["m"]}, {"name": "b"}).registry(
        {"name": "a", "helm": {"defaultNamespace": "new-system"}}, helm("b")
    )
    ref = from_recipe(new.in_memory(), OLD).recipe.component("a")
    assert ref is not None
    assert (ref.namespace, ref.source, ref.chart) == ("a-system", "", "")


def test_what_the_prior_does_not_name_takes_the_defaults_and_is_said() -> None:
    old = simple({"name": "b"}).in_memory()
    new = moved().in_memory()
    found = from_recipe(new, old)
    assert found.recipe.component("a").namespace == "a-system"  # type: ignore[union-attr]
    assert found.notes == ["a: not in old.yaml, so the catalog's defaults hold"]
    (note,) = from_bundle(new, old).notes
    assert "--set NAME:enabled=false looks the same" in note


def test_from_a_recipe_the_object_names_are_left_alone() -> None:
    new = simple({"name": "a", "overrides": {"fullnameOverride": "new"}}, {"name": "b"})
    found = from_recipe(new.in_memory(), OLD)
    assert found.recipe.component("a").overrides == {"fullnameOverride": "new"}  # type: ignore[union-attr]
    assert any("object names (fullnameOverride, nameOverride) are left alone" in one
               for one in found.warnings)  # fmt: skip


def test_object_names_are_written_only_where_they_differ() -> None:
    new = (
        simple(
            {"name": "a", "valuesFile": "components/a/values.yaml", "overrides": {"x": 1}},
            {"name": "b", "valuesFile": "components/b/values.yaml"},
        )
        .add(
            "components/a/values.yaml",
            {"fullnameOverride": "new", "nameOverride": "same", "sub": {"nameOverride": "added"}},
        )
        .add("components/b/values.yaml", {"fullnameOverride": "b"})
        .in_memory()
    )
    deployed = {
        "a": {"fullnameOverride": "old", "nameOverride": "same", "g": {"fullnameOverride": "g"}},
        "b": {"fullnameOverride": "b"},
    }
    found = from_bundle(new, OLD, deployed)
    assert found.recipe.component("a").overrides == {  # type: ignore[union-attr]
        "x": 1,
        "fullnameOverride": "old",
        "g": {"fullnameOverride": "g"},
        "sub": {"nameOverride": None},
    }
    assert found.recipe.component("b").overrides is None  # type: ignore[union-attr]
    assert found.warnings == []
    values = component_values(new, found.recipe.component("a"))  # type: ignore[arg-type]
    assert values == {
        "fullnameOverride": "old", "nameOverride": "same", "sub": {}, "x": 1,
        "g": {"fullnameOverride": "g"},
    }  # fmt: skip


def test_a_name_that_only_the_overrides_add_goes_away_without_leaving_a_null() -> None:
    new = simple(
        {"name": "a", "overrides": {"sub": {"nameOverride": "added", "y": 1}}}, {"name": "b"}
    ).in_memory()
    found = from_bundle(new, OLD, {"a": {}, "b": {}})
    values = component_values(new, found.recipe.component("a"))  # type: ignore[arg-type]
    assert values == {"sub": {"y": 1}}


def test_a_name_that_cannot_be_kept_is_said() -> None:
    new = simple({"name": "a", "overrides": {"sub": "off"}}, {"name": "b"}).in_memory()
    found = from_bundle(new, OLD, {"a": {"sub": {"nameOverride": "x"}}, "b": {}})
    assert found.recipe.component("a").overrides == {"sub": "off"}  # type: ignore[union-attr]
    assert any('sub.nameOverride could not be kept as it is deployed ("x")' in one
               for one in found.warnings)  # fmt: skip


@pytest.mark.parametrize("dimension", ["service", "accelerator", "intent", "os"])
def test_another_cluster_is_refused(dimension: str) -> None:
    catalog = OLD
    criteria = {"service": "eks", dimension: "one"}
    old = recipe_of(catalog).replace(criteria=Criteria.of({**criteria, dimension: "other"}))
    new = recipe_of(catalog).replace(criteria=Criteria.of(criteria))
    with pytest.raises(AicrError, match=f"{dimension}=other") as caught:
        inherit(catalog, new, Prior("old.yaml", old))
    assert caught.value.code == "INVALID_REQUEST"


def test_a_dimension_that_one_side_leaves_open_is_no_difference() -> None:
    old = recipe_of(OLD).replace(criteria=Criteria(service="eks", os="ubuntu", platform="nim"))
    new = recipe_of(OLD).replace(criteria=Criteria(service="eks", platform="slurm"))
    assert inherit(OLD, new, Prior("old.yaml", old)).recipe.components


names = st.sampled_from(["x", "y", ""])
name_maps = st.recursive(
    st.fixed_dictionaries({}, optional={"fullnameOverride": names, "nameOverride": names}),
    lambda inner: st.fixed_dictionaries(
        {}, optional={"fullnameOverride": names, "sub": inner, "grafana": inner, "y": st.just(1)}
    ),
    max_leaves=4,
)
identities = st.fixed_dictionaries(
    {
        "namespace": st.sampled_from(["n1", "n2"]),
        "version": st.sampled_from(["1.0.0", "2.0.0"]),
        "chart": st.sampled_from(["c1", "c2"]),
        "source": st.sampled_from(["https://s1", "oci://s2"]),
        "manifestFiles": st.lists(st.sampled_from(["m1", "m2"]), min_size=1, unique=True),
        "overrides": name_maps,
    }
)


@st.composite
def catalogs(draw: st.DrawFn) -> SmallCatalog:
    components = [
        {"name": name, "valuesFile": f"components/{name}/values.yaml", **draw(identities)}
        for name in draw(st.lists(st.sampled_from(["a", "b"]), unique=True, min_size=1))
    ]
    catalog = simple(*components)
    for one in components:
        catalog.add(str(one["valuesFile"]), draw(name_maps))
    return catalog


@given(catalogs(), catalogs())
def test_after_inheriting_from_a_bundle_nothing_moves(
    before: SmallCatalog, after: SmallCatalog
) -> None:
    old, new = before.in_memory(), after.in_memory()
    deployed = recipe_of(old)
    old_values = values_of(old, deployed)
    wanted = recipe_of(new)
    untouched = write_recipe(wanted)
    found = inherit(
        new, wanted, Prior("./bundles", deployed, is_bundle=True, values=old_values)
    ).recipe
    left = inventory_of(deployed.components, old_values)
    right = inventory_of(found.components, values_of(new, found))
    for name in left.keys() & right.keys():
        assert identity_changes(left[name], right[name], with_names=True) == []
    # All but identity comes from the new catalog.
    for ref in found.components:
        plain = wanted.component(ref.name)
        assert plain is not None
        assert (ref.version, ref.values_file) == (plain.version, plain.values_file)
        if ref.name not in left:
            assert (ref.namespace, ref.overrides) == (plain.namespace, plain.overrides)
    assert found.deployment_order == wanted.deployment_order
    assert write_recipe(wanted) == untouched
    assert write_recipe(recipe_of(new)) == untouched
