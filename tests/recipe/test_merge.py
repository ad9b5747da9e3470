"""Merging, mixins and registry defaults: what lands on what, and who is named in a conflict."""

from __future__ import annotations

from typing import Any

import pytest

from aicr.catalog.layers import Catalog
from aicr.errors import INVALID_REQUEST, AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.document import recipe_values
from aicr.recipe.resolve import resolve
from small_catalog import SmallCatalog, helm

EKS = Criteria(service="eks")


def layered(*refs: dict[str, Any], entry: dict[str, Any] | None = None) -> Catalog:
    """The component ``a`` as each of ``refs`` in turn states it, from the root overlay up."""
    files = SmallCatalog().registry(helm("a") if entry is None else {"name": "a", **entry})
    for index, ref in enumerate(refs):
        spec: dict[str, Any] = {"componentRefs": [{"name": "a", **ref}]}
        if index:
            spec["base"] = "base" if index == 1 else f"o{index - 1}"
            spec["criteria"] = {"service": "eks"}
        files.overlay(f"o{index}" if index else "base", **spec)
    if len(refs) == 1:
        files.overlay("eks", criteria={"service": "eks"})
    return files.in_memory()


def merged(*refs: dict[str, Any], entry: dict[str, Any] | None = None) -> dict[str, Any]:
    values: Any = recipe_values(resolve(layered(*refs, entry=entry), EKS))
    (ref,) = values["componentRefs"]
    return dict(ref)


def refusal(catalog: Catalog) -> AicrError:
    with pytest.raises(AicrError) as caught:
        resolve(catalog, EKS)
    assert caught.value.code == INVALID_REQUEST
    return caught.value


@pytest.mark.parametrize(
    "field",
    ["namespace", "chart", "source", "version", "tag", "path", "valuesFile", "healthCheckAsserts"],
)
def test_a_set_scalar_replaces_and_an_empty_one_never_clears(field: str) -> None:
    assert merged({field: "old"}, {field: "new"})[field] == "new"
    for empty in ("", None):
        assert merged({field: "old"}, {field: empty})[field] == "old"


@pytest.mark.parametrize("field", ["manifestFiles", "preManifestFiles"])
def test_manifests_unite_in_order_without_repeats(field: str) -> None:
    assert merged({field: ["x", "y"]}, {field: ["z", "x"]}, {field: ["w"]})[field] == list("xyzw")
    assert merged({field: ["x", "x"]}, {})[field] == ["x"]
    assert merged({field: ["x"]}, {field: []})[field] == ["x"]


def test_other_lists_replace_when_they_are_not_empty() -> None:
    resources = [{"kind": "Pod", "name": "p"}]
    assert merged({"patches": ["x", "y"]}, {"patches": ["z"]})["patches"] == ["z"]
    assert merged({"patches": ["x"]}, {"patches": []})["patches"] == ["x"]
    assert (
        merged({"expectedResources": resources}, {"expectedResources": []})["expectedResources"]
        == resources
    )


def test_cleanup_is_never_cleared() -> None:
    assert merged({"cleanup": True}, {"cleanup": False})["cleanup"] is True
    assert "cleanup" not in merged({"cleanup": False}, {})


@pytest.mark.parametrize(
    ("lower", "upper", "expected"),
    [
        ({"m": {"a": 1, "b": 2}}, {"m": {"b": 3, "c": 4}}, {"m": {"a": 1, "b": 3, "c": 4}}),
        ({"l": [1, 2]}, {"l": [3]}, {"l": [3]}),
        ({"m": {"a": 1}}, {"m": None}, {"m": None}),
        ({"m": None}, {"m": {"a": 1}}, {"m": {"a": 1}}),
        ({"m": {"a": None}}, {"m": {"b": 1}}, {"m": {"a": None, "b": 1}}),
        ({"m": {"a": 1}}, {"m": "x"}, {"m": "x"}),
        ({"m": "x"}, {"m": {"a": 1}}, {"m": {"a": 1}}),
        ({"n": 1}, {}, {"n": 1}),
        ({"n": 1}, {"n": 0, "s": "", "e": []}, {"n": 0, "s": "", "e": []}),
    ],
)
def test_overrides_merge_deeply_and_a_null_stays(
    lower: dict[str, object], upper: dict[str, object], expected: object
) -> None:
    assert merged({"overrides": lower}, {"overrides": upper})["overrides"] == expected


def test_a_constraint_of_the_same_name_replaces_and_they_come_sorted() -> None:
    files = SmallCatalog().registry(helm("a"))
    files.overlay(
        "base",
        componentRefs=[{"name": "a"}],
        constraints=[
            {"name": "z", "value": "1.20", "severity": "error"},
            {"name": "b", "value": "1"},
        ],
    )
    files.overlay("x", criteria={"service": "eks"}, constraints=[{"name": "z", "value": "2"}])
    values: Any = recipe_values(resolve(files.in_memory(), EKS))
    assert values["constraints"] == [{"name": "b", "value": "1"}, {"name": "z", "value": "2"}]


def test_a_validation_phase_replaces_whole() -> None:
    files = SmallCatalog().registry(helm("a"))
    files.overlay(
        "base",
        componentRefs=[{"name": "a"}],
        validation={
            "readiness": {"timeout": "5m", "checks": ["x"]},
            "performance": {"checks": ["p"]},
        },
    )
    files.overlay("x", criteria={"service": "eks"}, validation={"readiness": {"checks": ["y"]}})
    values: Any = recipe_values(resolve(files.in_memory(), EKS))
    assert values["validation"] == {
        "readiness": {"checks": ["y"]},
        "performance": {"checks": ["p"]},
    }


def test_defaults_fill_what_is_empty() -> None:
    assert merged({}) == {
        "name": "a", "namespace": "a-system", "chart": "a", "type": "Helm",
        "source": "https://charts.example/a", "version": "1.0.0",
    }  # fmt: skip
    own = {"namespace": "n", "chart": "r/c", "source": "s", "version": "v"}
    assert merged(own) == {"name": "a", "type": "Helm", **own}
    assert merged({}, entry={"manifestFiles": ["x"]})["manifestFiles"] == ["x"]
    assert merged({"manifestFiles": ["y"]}, entry={"manifestFiles": ["x"]})["manifestFiles"] == [
        "y"
    ]


def test_the_repository_prefix_ends_at_the_last_slash() -> None:
    for chart in ("jetstack/cert-manager", "a/b/cert-manager", "cert-manager"):
        entry = {"helm": {"defaultChart": chart, "defaultVersion": "1"}}
        assert merged({}, entry=entry)["chart"] == "cert-manager"


def test_kustomize_defaults_have_no_namespace() -> None:
    entry = {"kustomize": {"defaultSource": "git", "defaultPath": "p", "defaultTag": "t"}}
    assert merged({}, entry=entry) == {
        "name": "a", "type": "Kustomize", "source": "git", "tag": "t", "path": "p",
    }  # fmt: skip


def test_an_overlay_may_state_the_other_type() -> None:
    entry = {"kustomize": {"defaultSource": "git", "defaultTag": "t"}}
    assert merged({"type": "helm", "version": "1"}, entry=entry) == {
        "name": "a", "type": "Helm", "version": "1",
    }  # fmt: skip


def test_a_chart_without_a_version_is_refused() -> None:
    error = refusal(layered({}, entry={"helm": {"defaultRepository": "s"}}))
    assert error.message == (
        'overlays/base.yaml: the component "a" has a source and no version, and would install '
        "whatever is latest"
    )
    assert merged({}, entry={"helm": {}}) == {"name": "a", "type": "Helm"}


@pytest.mark.parametrize(
    ("ref", "missing"),
    [
        ({}, "type, source, version"),
        ({"type": "Helm", "version": "1"}, "source"),
        ({"type": "Kustomize", "source": "s", "version": "1"}, "tag"),
    ],
)
def test_a_component_unknown_to_the_registry_states_everything(
    ref: dict[str, str], missing: str
) -> None:
    files = SmallCatalog().registry(helm("a"))
    files.overlay("base", componentRefs=[{"name": "new", **ref}])
    files.overlay("eks", criteria={"service": "eks"})
    assert refusal(files.in_memory()).message == (
        'overlays/base.yaml: the component "new" is not in the registry and does not state its '
        + missing
    )


def with_mixins(**mixins: dict[str, Any]) -> Catalog:
    files = SmallCatalog().registry(helm("a"), helm("b"))
    files.overlay("base", componentRefs=[{"name": "a"}], constraints=[{"name": "k", "value": "1"}])
    files.overlay("x", criteria={"service": "eks"}, mixins=list(mixins))
    files.overlay("y", criteria={"service": "eks"}, mixins=list(mixins)[:1])
    for name, spec in mixins.items():
        files.mixin(name, **spec)
    return files.in_memory()


def test_a_mixin_that_several_overlays_name_merges_once() -> None:
    recipe = resolve(with_mixins(m={"componentRefs": [{"name": "b"}]}), EKS)
    assert recipe.deployment_order == ["a", "b"]


@pytest.mark.parametrize(
    ("mixins", "expected"),
    [
        ({"m": {"componentRefs": [{"name": "a"}]}},
         ('mixins/m.yaml: the mixin "m" brings the component "a", which overlays/base.yaml brings '
         "already")),
        ({"m": {"constraints": [{"name": "k", "value": "1"}]}},
         ('mixins/m.yaml: the mixin "m" brings the constraint "k", which overlays/base.yaml brings '
         "already")),
        ({"m": {"componentRefs": [{"name": "b"}]}, "n": {"componentRefs": [{"name": "b"}]}},
         ('mixins/n.yaml: the mixin "n" brings the component "b", which mixins/m.yaml brings '
         "already")),
    ],
)  # fmt: skip
def test_a_conflict_names_both_files(mixins: dict[str, Any], expected: str) -> None:
    assert refusal(with_mixins(**mixins)).message == expected


def test_an_unknown_mixin_names_who_wants_it() -> None:
    files = SmallCatalog().registry(helm("a")).mixin("m").overlay("base", componentRefs=[])
    files.overlay("x", criteria={"service": "eks"}, mixins=["mm"])
    assert refusal(files.in_memory()).message == (
        'overlays/x.yaml: the mixin "mm" does not exist (there are: m)'
    )
