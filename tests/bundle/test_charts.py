"""Generated charts carry the payload's version, and manifests as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.bundle.charts import chart_version, literal, manifest_names
from aicr.catalog.layers import Catalog
from aicr.recipe.model import Recipe
from bundles import build, parsed


@pytest.mark.parametrize(
    ("version", "chart"),
    [
        ("1.2.3", "1.2.3"),
        ("1.2.3-rc.1+x", "1.2.3-rc.1+x"),
        ("1.2.3+a-b", "1.2.3+a-b"),
        ("0.1.0.dev3", "0.0.0-dev"),
        ("1.2", "0.0.0-dev"),
        ("v1.2.3", "0.0.0-dev"),
        ("1.2.3rc1", "0.0.0-dev"),
        ("1-rc.1.2", "0.0.0-dev"),
        ("", "0.0.0-dev"),
    ],
)
def test_the_version_is_always_semver(version: str, chart: str) -> None:
    assert chart_version(version) == chart


def test_chart_yaml(recipe: Recipe, catalog: Catalog) -> None:
    files = build(recipe, catalog).files
    version = chart_version()
    charts = {
        path.split("/")[0]: parsed(data)
        for path, (data, _) in files.items()
        if path.endswith("/Chart.yaml")
    }
    assert list(charts) == ["002-chart-pre", "004-chart-post", "005-plain"]
    post = charts["004-chart-post"]
    assert isinstance(post, dict)
    assert post["name"] == "chart-post"
    assert (post["apiVersion"], post["version"], post["appVersion"]) == ("v2", version, "v1.2.3")
    assert post["annotations"] == {
        "aicr.run/component-version": "v1.2.3",
        "aicr.run/generated-by": f"aicr {version}",
    }
    plain = charts["005-plain"]
    assert isinstance(plain, dict)
    assert plain["appVersion"] == version
    assert plain["annotations"]["aicr.run/component-version"] == version


def test_manifests_are_copied_as_they_are(recipe: Recipe, catalog: Catalog) -> None:
    files = build(recipe, catalog).files
    path = "components/plain/manifests/only.yaml"
    assert files["005-plain/templates/only.yaml"][0] == catalog.file(path)


def test_manifests_of_one_name() -> None:
    assert manifest_names(["a/x.yaml", "b/x.yaml", "b/y.yaml"]) == [
        "a-x.yaml", "b-x.yaml", "y.yaml",
    ]  # fmt: skip


@given(st.lists(st.sampled_from([b"{{", b"}}", b"{", b"}", b"x", b'"', b"`", b"\n"])))
def test_literal_text_has_no_action_of_its_own(parts: list[bytes]) -> None:
    data = b"".join(parts)
    escaped = literal(data)
    assert (
        escaped.replace(b'{{"{{"}}', b"\1")
        .replace(b'{{"}}"}}', b"\2")
        .replace(b"\1", b"{{")
        .replace(b"\2", b"}}")
        == data
    )
