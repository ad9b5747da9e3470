"""A component that is read in one go is the one that is read field by field."""

from __future__ import annotations

import pytest

from aicr.catalog import schema
from aicr.catalog.model import ComponentRef
from aicr.catalog.open import open_catalog
from aicr.documents.fields import Fields, Problems
from aicr.documents.reader import read_yaml
from aicr.recipe.document import recipe_from, write_recipe
from aicr.recipe.listing import resolvable
from aicr.recipe.resolve import resolve

ODD = [
    "{name: a, version: 1.20}",
    "{name: a, version: '1.20', tag: ''}",
    "{name: 1, type: helm}",
    "{name: '', type: Helm}",
    "{name: a, type: Ansible}",
    "{name: a, type: KUSTOMIZE, path: p, patches: [a, a]}",
    "{name: a, manifestFiles: [a, b, a], dependencyRefs: [a, a], preManifestFiles: []}",
    "{name: a, patches: [1, null, {}]}",
    "{name: a, dependencyRefs: a}",
    "{name: a, overrides: {a: 010, b: [true, {c: null}]}}",
    "{name: a, overrides: {enabled: false}}",
    "{name: a, overrides: {enabled: 'false'}}",
    "{name: a, overrides: {}}",
    "{name: a, overrides: null, version: ~}",
    "{name: a, overrides: []}",
    "{name: a, cleanup: true, install: false}",
    "{name: a, expectedResources: [{kind: Pod, name: x}]}",
    "{name: a, helthCheckAsserts: x}",
    "{name: a, namespace: [n]}",
    "{}",
]


def read(text: str) -> tuple[dict[str, object], list[str]]:
    problems = Problems()
    ref = schema.read_component(Fields(read_yaml(text, "x"), "x", "here", problems))
    values = {slot: getattr(ref, slot) for slot in ComponentRef.__slots__}
    return values, [str(one) for one in problems.errors]


@pytest.mark.parametrize("text", ODD)
def test_whatever_it_says(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(text)
    monkeypatch.setattr(schema, "_sound_component", lambda node: None)
    assert found == read(text)


def test_those_of_shipped_recipes(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = open_catalog()
    for criteria, _ in resolvable(catalog)[::40]:
        text = write_recipe(resolve(catalog, criteria))
        fast = recipe_from(read_yaml(text, "x"), "x")
        with monkeypatch.context() as patch:
            patch.setattr(schema, "_sound_component", lambda node: None)
            slow = recipe_from(read_yaml(text, "x"), "x")
        assert write_recipe(fast) == write_recipe(slow) == text
