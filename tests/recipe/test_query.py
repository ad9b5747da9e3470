from __future__ import annotations

from pathlib import Path

import pytest

from aicr.catalog.layers import Catalog
from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.query import query
from aicr.recipe.resolve import resolve
from small_catalog import simple


@pytest.fixture
def catalog() -> Catalog:
    return (
        simple(
            {
                "name": "a",
                "version": "1.10",
                "valuesFile": "components/a/values.yaml",
                "overrides": {"driver": {"version": 570.1}},
            },
            {"name": "b", "valuesFile": "components/b/missing.yaml"},
        )
        .add("components/a/values.yaml", {"driver": {"version": 1, "on": True}, "list": [1, None]})
        .in_memory()
    )


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("components.a.version", "1.10"),
        ("components.a.values.driver.version", 570.1),
        (".components.a.values.list[1]", None),
        ("components.b.namespace", "b-system"),
        ("criteria.service", "eks"),
        ("deploymentOrder.0", "a"),
        ("metadata.appliedOverlays", ["base", "eks"]),
        ("constraints", []),
    ],
)
def test_what_is_there(catalog: Catalog, selector: str, expected: object) -> None:
    assert query(catalog, resolve(catalog, Criteria(service="eks")), selector) == expected


def test_a_component_without_values_has_an_empty_map(catalog: Catalog) -> None:
    bare = simple({"name": "a"}).in_memory()
    assert query(bare, resolve(bare, Criteria(service="eks")), "components.a.values") == {}


def test_a_missing_values_file_is_named(catalog: Catalog) -> None:
    recipe = resolve(catalog, Criteria(service="eks"))
    for selector in ("components.b", "components.b.values.x", ".", "components"):
        with pytest.raises(AicrError, match=r"components/b/missing\.yaml") as caught:
            query(catalog, recipe, selector)
        assert caught.value.code == "INVALID_REQUEST"


def test_nothing_there_lists_the_keys_of_the_deepest_level(catalog: Catalog) -> None:
    with pytest.raises(AicrError, match="available keys: driver, list") as caught:
        query(catalog, resolve(catalog, Criteria(service="eks")), "components.a.values.driverr.x")
    assert caught.value.code == "NOT_FOUND"


def test_values_agree_with_the_public_implementation(cases: Path) -> None:
    import json

    from aicr.catalog.open import open_catalog

    public = open_catalog(catalog=str(cases / "public-catalog"))
    expected = json.loads((cases / "public-catalog-expected.json").read_text())
    one = expected["recipes"][0] if "recipes" in expected else expected[0]
    criteria = Criteria.of({key: value for key, value in one["criteria"].items() if key != "nodes"})
    recipe = resolve(public, criteria)
    for name, values in one["values"].items():
        assert query(public, recipe, f'components."{name}".values') == values
