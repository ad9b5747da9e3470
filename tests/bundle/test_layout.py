"""What every bundle has, whatever its deployer."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
import yaml

from aicr.artifact.bundle_info import read_bundle_info
from aicr.bundle.writers import WRITERS
from aicr.catalog.layers import Catalog
from aicr.catalog.model import ComponentRef
from aicr.documents.reader import read_documents
from aicr.documents.scalars import plain
from aicr.errors import AicrError
from aicr.recipe.document import read_recipe
from aicr.recipe.model import Recipe
from bundles import STACK_RELEASES, build, recipe_of, stack, stack_recipe, write_out
from small_catalog import SmallCatalog

DEPLOYERS = list(WRITERS)


@pytest.mark.parametrize("deployer", DEPLOYERS)
class TestEveryDeployer:
    def test_the_root_files(self, recipe: Recipe, catalog: Catalog, deployer: str) -> None:
        bundle = build(recipe, catalog, deployer)
        for name in ("recipe.yaml", "bundle-info.yaml", "checksums.txt", "README.md"):
            assert name in bundle.files
        assert bundle.entrypoint in bundle.files
        assert list(bundle.files) == sorted(bundle.files)

    def test_checksums_cover_every_other_file(
        self, recipe: Recipe, catalog: Catalog, deployer: str
    ) -> None:
        files = build(recipe, catalog, deployer).files
        lines = files["checksums.txt"][0].decode().splitlines()
        found = {line[66:]: line[:64] for line in lines}
        assert found == {
            path: hashlib.sha256(data).hexdigest()
            for path, (data, _) in files.items()
            if path != "checksums.txt"
        }

    def test_bundle_info(self, recipe: Recipe, catalog: Catalog, deployer: str) -> None:
        bundle = build(recipe, catalog, deployer, sets=["chart:size=4"])
        info = read_bundle_info(bundle.files["bundle-info.yaml"][0], "bundle-info.yaml")
        assert info.deployer == deployer
        assert info.entrypoint == bundle.entrypoint
        assert [release.name for release in info.releases] == STACK_RELEASES
        assert [release.component for release in info.releases] == [
            "oci", "chart", "chart", "chart", "plain",
        ]  # fmt: skip
        assert [release.manifest for release in info.releases] == [0, 1, 0, 1, 1]
        for release in info.releases:
            inside = [
                path for path in bundle.files
                if path == release.path or path.startswith(release.path + "/")
            ]  # fmt: skip
            assert inside
        digest = hashlib.sha256(bundle.files[info.recipe_path][0]).hexdigest()
        assert info.recipe_digest == f"sha256:{digest}"
        assert info.settings["set"] == ["chart:size=4"]

    def test_the_same_bytes_twice(self, tmp_path: Path, deployer: str) -> None:
        found = []
        for turn in ("one", "two"):
            opened = stack().open(tmp_path / turn)
            found.append(build(stack_recipe(opened), opened, deployer, sets=["plain:a.b=1"]).files)
        assert found[0] == found[1]

    def test_every_yaml_file_is_read_again_and_alike(
        self, recipe: Recipe, catalog: Catalog, deployer: str
    ) -> None:
        for path, (data, _) in build(recipe, catalog, deployer).files.items():
            if path.endswith((".yaml", ".yml")) and "templates/" not in path:
                theirs = [d for d in yaml.safe_load_all(data) if d is not None]
                assert theirs == [plain(node) for node in read_documents(data, path)]

    def test_a_component_that_is_left_out_is_nowhere(
        self, recipe: Recipe, catalog: Catalog, deployer: str
    ) -> None:
        bundle = build(recipe, catalog, deployer, sets=["thechart:enabled=false"])
        assert [release.name for release in bundle.plan.releases] == ["oci", "plain"]
        written = read_recipe(bundle.files["recipe.yaml"][0], "recipe.yaml")
        assert [ref.name for ref in written.components] == ["oci", "plain"]
        assert written.deployment_order == ["oci", "plain"]
        for path, (data, _) in bundle.files.items():
            if path != "bundle-info.yaml":
                assert b"chart-pre" not in data
                assert b"charts.example/chart" not in data

    def test_no_override_changes_the_recipe(
        self, recipe: Recipe, catalog: Catalog, deployer: str
    ) -> None:
        same = build(recipe, catalog, deployer).files["recipe.yaml"]
        assert build(recipe, catalog, deployer, sets=["oci:a=1"]).files["recipe.yaml"] == same

    def test_hostile_recipes_give_nothing(self, catalog: Catalog, deployer: str) -> None:
        ref = ComponentRef("x", type="Helm", source="oci://h/y", version="1$(reboot)")
        with pytest.raises(AicrError, match=r"componentRefs\[x\]\.version"):
            build(recipe_of(ref), catalog, deployer)

    def test_hostile_values_stay_values(
        self, recipe: Recipe, catalog: Catalog, tmp_path: Path, deployer: str
    ) -> None:
        word = '$(reboot) `x` {{ fail "y" }} \'" \\'
        given = "oci:nasty=" + word.replace("\\", "\\\\")
        bundle = build(recipe, catalog, deployer, sets=[given])
        assert bundle.plan.values("oci") == {"replicas": 2, "nasty": word}
        root = write_out(bundle, tmp_path / "b")
        files = [path for path in root.rglob("*") if path.is_file()]
        holders = [path for path in files if b"reboot" in path.read_bytes()]
        # bundle-info.yaml has the flag as it was given.
        assert "bundle-info.yaml" in [path.name for path in holders]
        assert len(holders) == 2
        for path in holders:
            if path.name != "bundle-info.yaml":
                assert word in strings(yaml.safe_load(path.read_bytes()))


def strings(node: object) -> list[str]:
    """Every text in a document."""
    if isinstance(node, dict):
        return [text for item in node.values() for text in strings(item)]
    if isinstance(node, list):
        return [text for item in node for text in strings(item)]
    return [node] if isinstance(node, str) else []


def test_a_recipe_of_another_catalog_is_pointed_out(recipe: Recipe, catalog: Catalog) -> None:
    def messages(digest: str) -> list[str]:
        found = build(recipe.replace(catalog_digest=digest), catalog)
        return [one.message for one in found.notices]

    assert messages(catalog.digest) == []
    assert "another catalog" in messages("sha256:00")[0]
    assert "does not say which catalog" in messages("")[0]


def test_a_missing_values_file_is_named(catalog: Catalog) -> None:
    ref = ComponentRef(
        "x", type="Helm", source="oci://h/y", version="1.0.0", values_file="components/x/v.yaml"
    )
    with pytest.raises(AicrError, match=r"components/x/v\.yaml"):
        build(recipe_of(ref), catalog)


def test_overrides_without_effect_come_in_one_error(recipe: Recipe, catalog: Catalog) -> None:
    with pytest.raises(AicrError) as caught:
        build(recipe, catalog, sets=["oci:gone=null", "chart:names.a=1"])
    assert caught.value.message.startswith("2 overrides are wrong:")


def test_no_criteria_no_claim(tmp_path: Path) -> None:
    opened = SmallCatalog().registry({"name": "x"}).overlay("base", componentRefs=[]).open(tmp_path)
    ref = ComponentRef("x", type="Helm", source="oci://h/y", version="1.0.0")
    text = build(recipe_of(ref), opened).files["README.md"][0].decode()
    assert "1 release.\n" in text
