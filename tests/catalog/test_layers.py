"""Layers: what a folder laid over a catalog replaces, and what of the whole is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

import aicr.catalog.open
from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.errors import INVALID_REQUEST, NOT_FOUND, AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.resolve import resolve
from aicr.recipe.values import component_values
from small_catalog import SmallCatalog, helm, mixin_file, overlay_file, simple


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallCatalog:
    """A small catalog in the place of the shipped one."""
    catalog = SmallCatalog().registry(helm("a"), helm("b", extra={"k": 1}))
    catalog.overlay("base", componentRefs=[{"name": "a", "valuesFile": "components/a/values.yaml"}])
    catalog.overlay("eks", criteria={"service": "eks"}, mixins=["m"])
    catalog.mixin("m", componentRefs=[{"name": "b"}])
    catalog.add("components/a/values.yaml", "from: shipped\n")
    catalog.add("components/a/manifests/x.yaml", "{{ shipped }}")
    catalog.add(
        "releases.yaml",
        {
            "kind": "ReleaseHistory",
            "releases": [
                {"name": "v1", "pins": {"a": "1.0", "b": "1.0"}},
                {"name": "v2", "pins": {"a": "2.0"}},
            ],
        },
    )
    monkeypatch.setattr(aicr.catalog.open, "SHIPPED_DATA", str(catalog.write(tmp_path / "shipped")))
    monkeypatch.setattr(aicr.catalog.open, "SHIPPED_COMPILED", str(tmp_path / "none.bin"))
    return catalog


def over(tmp_path: Path, files: SmallCatalog) -> Catalog:
    return open_catalog(data=str(files.write(tmp_path / "data")))


def error_of(tmp_path: Path, files: SmallCatalog) -> str:
    with pytest.raises(AicrError) as caught:
        over(tmp_path, files)
    assert caught.value.code == INVALID_REQUEST
    return caught.value.message


EKS = Criteria(service="eks")


def test_a_file_of_the_same_path_replaces_whole(shipped: SmallCatalog, tmp_path: Path) -> None:
    data = SmallCatalog({"components/a/values.yaml": "own: 1\n"})
    data.add("components/a/manifests/x.yaml", "{{ own }}").add("components/a/more.yaml", "x: 1")
    catalog = over(tmp_path, data)
    (a, _) = resolve(catalog, EKS).components
    assert component_values(catalog, a) == {"own": 1}
    assert catalog.file("components/a/manifests/x.yaml") == b"{{ own }}"
    assert catalog.has("components/a/more.yaml")
    assert catalog.where("components/a/values.yaml") == f"{tmp_path}/data/components/a/values.yaml"
    assert catalog.where("overlays/base.yaml") == "overlays/base.yaml"


def test_a_registry_entry_replaces_whole_and_the_others_stay(
    shipped: SmallCatalog, tmp_path: Path
) -> None:
    entry = {"name": "b", "helm": {"defaultRepository": "oci://own", "defaultVersion": "9.10"}}
    catalog = over(tmp_path, SmallCatalog().registry(entry, helm("c")))
    assert list(catalog.registry) == ["a", "b", "c"]
    (_, b) = resolve(catalog, EKS).components
    assert (b.source, b.version, b.chart, b.namespace) == ("oci://own", "9.10", "", "")
    assert "extra" not in catalog.registry["b"].raw


def test_a_release_replaces_whole_and_new_ones_follow(
    shipped: SmallCatalog, tmp_path: Path
) -> None:
    data = SmallCatalog()
    data.add(
        "releases.yaml",
        {
            "kind": "ReleaseHistory",
            "releases": [
                {"name": "v1", "pins": {"a": "1.1"}},
                {"name": "v3", "pins": {"a": "3.0"}},
            ],
        },
    )
    catalog = over(tmp_path, data)
    assert [(one.name, dict(one.pins)) for one in catalog.releases] == [
        ("v1", {"a": ["1.1"]}),
        ("v2", {"a": ["2.0"]}),
        ("v3", {"a": ["3.0"]}),
    ]


def test_an_overlay_of_the_same_path_replaces_and_may_have_another_name(
    shipped: SmallCatalog, tmp_path: Path
) -> None:
    data = SmallCatalog({"overlays/eks.yaml": overlay_file("own-eks", criteria={"service": "eks"})})
    catalog = over(tmp_path, data)
    assert sorted(catalog.heads) == ["base", "own-eks"]
    assert resolve(catalog, EKS).applied_overlays == ["base", "own-eks"]


def test_a_mixin_of_the_same_path_replaces(shipped: SmallCatalog, tmp_path: Path) -> None:
    catalog = over(tmp_path, SmallCatalog().mixin("m", constraints=[{"name": "k", "value": "v"}]))
    recipe = resolve(catalog, EKS)
    assert [ref.name for ref in recipe.components] == ["a"]
    assert [one.name for one in recipe.constraints] == ["k"]


def test_two_overlays_of_one_name_in_two_layers(shipped: SmallCatalog, tmp_path: Path) -> None:
    data = SmallCatalog({"overlays/other.yaml": overlay_file("eks", criteria={})})
    assert error_of(tmp_path, data) == (
        f'{tmp_path}/data/overlays/other.yaml: the overlay "eks" is also in overlays/eks.yaml'
    )


def test_two_mixins_of_one_name_in_two_layers(shipped: SmallCatalog, tmp_path: Path) -> None:
    data = SmallCatalog({"mixins/deep/er.yaml": mixin_file("m")})
    assert error_of(tmp_path, data) == (
        f'{tmp_path}/data/mixins/deep/er.yaml: the mixin "m" is also in mixins/m.yaml'
    )


@pytest.mark.parametrize(("folder", "kind"), [("overlays", "overlay"), ("mixins", "mixin")])
def test_two_of_one_name_in_one_folder(tmp_path: Path, folder: str, kind: str) -> None:
    make = overlay_file if kind == "overlay" else mixin_file
    files = simple().add(f"{folder}/x.yaml", make("same")).add(f"{folder}/sub/y.yaml", make("same"))
    with pytest.raises(AicrError) as caught:
        files.open(tmp_path / "c")
    assert caught.value.message == (
        f'{tmp_path}/c/{folder}/x.yaml: the {kind} "same" is also in '
        f"{tmp_path}/c/{folder}/sub/y.yaml"
    )


def test_overlays_and_mixins_are_found_in_subfolders_by_their_own_name(tmp_path: Path) -> None:
    files = simple({"name": "a"})
    files.add(
        "overlays/deep/er/any-file.yml",
        overlay_file("gke", criteria={"service": "gke"}, mixins=["m"]),
    )
    files.add("mixins/deep/file.yaml", mixin_file("m", componentRefs=[{"name": "b"}]))
    recipe = resolve(files.open(tmp_path / "c"), Criteria(service="gke"))
    assert recipe.applied_overlays == ["base", "gke"]
    assert recipe.deployment_order == ["a", "b"]


@pytest.mark.parametrize(
    ("bases", "expected"),
    [
        ({"x": "y"}, 'the base "y" of "x" does not exist (chain: x -> y)'),
        ({"x": "y", "y": "z"}, 'the base "z" of "y" does not exist (chain: x -> y -> z)'),
        ({"x": "x"}, "overlays that are each other's base: x -> x"),
        ({"x": "y", "y": "z", "z": "y"}, "overlays that are each other's base: y -> z -> y"),
    ],
)
def test_unknown_bases_and_cycles_show_the_chain(bases: dict[str, str], expected: str) -> None:
    files = simple()
    for name, base in bases.items():
        files.overlay(name, base=base)
    with pytest.raises(AicrError) as caught:
        files.in_memory()
    assert caught.value.message.endswith(": " + expected)
    assert caught.value.message.startswith("overlays/")


def test_a_base_may_come_from_the_layer_below(shipped: SmallCatalog, tmp_path: Path) -> None:
    data = SmallCatalog().overlay("own", base="eks", criteria={"service": "eks", "os": "rhel"})
    recipe = resolve(over(tmp_path, data), Criteria(service="eks", os="rhel"))
    assert recipe.applied_overlays == ["base", "eks", "own"]
    data.overlay("own", base="missing", criteria={})
    assert 'the base "missing" of "own" does not exist' in error_of(tmp_path, data)


def test_looking_up_what_is_not_there(tmp_path: Path) -> None:
    catalog = simple().open(tmp_path / "c")
    for look_up in (catalog.file, catalog.node):
        with pytest.raises(AicrError) as caught:
            look_up("components/x.yaml")
        assert caught.value.code == NOT_FOUND
        assert caught.value.message == '"components/x.yaml" is not in the catalog'
    with pytest.raises(AicrError) as caught:
        catalog.mixin("m", "overlays/x.yaml")
    assert caught.value.message == (
        'overlays/x.yaml: the mixin "m" does not exist (there are: none)'
    )


def test_the_digest_is_of_content_and_path_only(tmp_path: Path) -> None:
    files = simple().add("components/a/values.yaml", "x: 1")
    first = files.open(tmp_path / "one")
    assert first.digest == files.open(tmp_path / "two").digest
    assert first.digest.startswith("sha256:")
    assert len(first.digest) == len("sha256:") + 64
    changed = [
        SmallCatalog(files.files).add("components/a/values.yaml", "x: 2"),
        SmallCatalog(files.files).add("components/a/values-2.yaml", "x: 1"),
        SmallCatalog({path: data for path, data in files.files.items() if "values" not in path}),
    ]
    digests = {one.open(tmp_path / str(n)).digest for n, one in enumerate(changed)}
    assert len(digests | {first.digest}) == 4


def test_paths_are_the_files_of_all_layers(shipped: SmallCatalog, tmp_path: Path) -> None:
    catalog = over(tmp_path, SmallCatalog({"components/z/values.yaml": "{}"}))
    assert catalog.paths() == sorted([*shipped.files, "components/z/values.yaml"])
