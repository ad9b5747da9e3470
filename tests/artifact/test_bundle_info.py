"""bundle-info.yaml is written the same each time, and read fail-closed."""

from __future__ import annotations

import pytest
import yaml

from aicr.artifact.bundle_info import (
    BundleInfo,
    BundleRelease,
    read_bundle_info,
    write_bundle_info,
)
from aicr.errors import AicrError


def info() -> BundleInfo:
    return BundleInfo(
        version="0.1.0",
        deployer="helm",
        recipe_path="recipe.yaml",
        recipe_digest="sha256:00",
        recipe_version="0.0.9",
        settings={"set": ["c:a=1"], "nodes": "3"},
        entrypoint="deploy.sh",
        releases=[
            BundleRelease("c-pre", component="c", namespace="n", path="001-c-pre", manifest=True),
            BundleRelease("c", component="c", namespace="n", path="002-c"),
        ],
    )


def test_what_is_written_is_read() -> None:
    data = write_bundle_info(info())
    again = read_bundle_info(data, "bundle-info.yaml")
    assert write_bundle_info(again) == data
    assert [one.manifest for one in again.releases] == [True, False]
    assert again.settings == {"set": ["c:a=1"], "nodes": "3"}


def test_keys_are_sorted_and_as_documented() -> None:
    document = yaml.safe_load(write_bundle_info(info()))
    assert document["apiVersion"] == "aicr.run/v1"
    assert document["kind"] == "BundleInfo"
    assert set(document) == {"apiVersion", "kind", "metadata", "build", "layout"}
    assert set(document["build"]["recipe"]) == {"path", "digest", "version"}
    text = yaml.safe_dump(document, sort_keys=True)
    assert list(yaml.safe_load(text)) == list(document)
    assert list(document["build"]) == sorted(document["build"])
    assert list(document["layout"]["releases"][0]) == sorted(document["layout"]["releases"][0])


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("aicr.run/v1", "aicr.run/v2", 'apiVersion: expected aicr.run/v1, found "aicr.run/v2"'),
        ("kind: BundleInfo", "kind: Bundle", 'expected BundleInfo, found "Bundle"'),
        ("deployer: helm", "deployer: salt", 'argocd-helm or flux, found "salt"'),
        ("entrypoint:", "entrypoints:", 'unknown key "entrypoints"'),
        ("metadata:", "extra: 1\nmetadata:", 'unknown key "extra"'),
        ("digest:", "md5: x\n    digest:", 'unknown key "md5"'),
        ("nodes:", "secret: x\n    nodes:", 'unknown key "secret"'),
        ('path: "002-c"', "path: ../../etc", "not a path inside the bundle"),
        ("path: recipe.yaml", "path: /etc/passwd", "not a path inside the bundle"),
        ('namespace: "n"', "namespace:", "namespace: is missing"),
        ("manifest: true", 'manifest: "true"', "expected true or false"),
    ],
)
def test_anything_unknown_is_an_error(old: str, new: str, says: str) -> None:
    text = write_bundle_info(info()).decode()
    assert old in text
    with pytest.raises(AicrError) as caught:
        read_bundle_info(text.replace(old, new, 1).encode(), "b/bundle-info.yaml")
    assert says in caught.value.message
    assert "b/bundle-info.yaml" in caught.value.message
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("text", ["", "[]", "text", "{}", "a: [", "layout: 3"])
def test_what_is_no_bundle_info(text: str) -> None:
    with pytest.raises(AicrError):
        read_bundle_info(text.encode(), "bundle-info.yaml")
