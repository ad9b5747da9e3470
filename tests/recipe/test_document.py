"""Recipe documents: read as they are, refused with everything that is wrong, written the same."""

from __future__ import annotations

import json

import pytest
import yaml

from aicr.documents.fields import Problem
from aicr.errors import INVALID_REQUEST, AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.document import read_recipe, recipe_values, write_recipe
from aicr.recipe.model import ConstraintWarning, Recipe
from aicr.recipe.resolve import resolve
from small_catalog import simple

HEAD = "kind: RecipeResult\napiVersion: aicr.run/v1beta1\n"
GOOD = HEAD + "componentRefs:\n  - name: a\n    version: 1.20\n"


def problems(text: str | bytes) -> str:
    with pytest.raises(AicrError) as caught:
        read_recipe(text, "r.yaml")
    assert caught.value.code == INVALID_REQUEST
    return caught.value.message


def component(line: str) -> str:
    return HEAD + f"componentRefs:\n  - name: a\n    {line}\n"


def test_a_version_is_text_as_written() -> None:
    for written in ("1.20", "26.10", "010", "1e3", "0x10", "1_0", "on", "'1.20'", "true"):
        recipe = read_recipe(component(f"version: {written}"), "r.yaml")
        assert recipe.components[0].version == written.strip("'")
        again = read_recipe(write_recipe(recipe), "r.yaml")
        assert again.components[0].version == written.strip("'")
        native = yaml.safe_load(write_recipe(recipe))
        assert native["componentRefs"][0]["version"] == written.strip("'")
    for nothing in ("version:", "version: ~", "version: null", "tag: x"):
        assert read_recipe(component(nothing), "r.yaml").components[0].version == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (component("version: [1]"), ("r.yaml:5: componentRefs[0].version: expected text, found a "
         "list")),
        (component("version: {a: 1}"), ("r.yaml:5: componentRefs[0].version: expected text, found "
         "a map")),
        (component("overrides: {enabled: 'false'}"), ("r.yaml:5: componentRefs[0].overrides: "
         'enabled: expected true or false, found the text "false"')),
        (component("overrides: {enabled: 0}"), ("r.yaml:5: componentRefs[0].overrides: enabled: "
         "expected true or false, found the number 0")),
        (component("overrides: [1]"), ("r.yaml:5: componentRefs[0].overrides: expected a map, "
         "found a list")),
        (component("type: Docker"), ('r.yaml:5: componentRefs[0].type: expected Helm or Kustomize, '
         'found "Docker"')),
        (component("install: maybe"), ("r.yaml:5: componentRefs[0].install: expected true or "
         'false, found the text "maybe"')),
        (HEAD + "componentRefs:\n  - name: a\n  - name: b\n  - name: a\n", ("r.yaml:6: "
         'componentRefs[2].name: the component "a" is there twice (first on line 4)')),
        (HEAD + "componentRefs:\n  - version: 1\n", "r.yaml:4: componentRefs[0].name: is missing"),
        (HEAD, "r.yaml:1: componentRefs: the recipe has no components"),
        (HEAD + "componentRefs: []", "r.yaml:3: componentRefs: the recipe has no components"),
        (HEAD + "componentRefs: a", "r.yaml:3: componentRefs: expected a list, found text"),
        (GOOD + "criteria: {nodes: -1}", "r.yaml:6: criteria.nodes: expected 0 or more, found -1"),
        (GOOD + "criteria: [eks]", "r.yaml:6: criteria: expected a map, found a list"),
        (GOOD + "metadata: x", "r.yaml:6: metadata: expected a map, found text"),
        (GOOD + "deploymentOrder: a", "r.yaml:6: deploymentOrder: expected a list, found text"),
        ("- a", "r.yaml:1: expected a map, found a list"),
        ("text", "r.yaml:1: expected a map, found text"),
        ("kind: Pod", 'r.yaml:1: kind: expected RecipeResult, found "Pod"'),
        ("a: 1", "r.yaml:1: kind: expected RecipeResult, found none"),
        ("", "r.yaml: the file is empty"),
        ("{", "r.yaml:2: did not find expected node content"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(text: str, expected: str) -> None:
    assert problems(text) == expected


def test_an_unknown_api_version_is_refused() -> None:
    found = problems("kind: RecipeResult\napiVersion: aicr.run/v9\ncomponentRefs: [{name: a}]")
    assert found.startswith('r.yaml:2: apiVersion: "aicr.run/v9" is not read by this version')


def test_older_editions_and_none_are_read() -> None:
    for line in ("", "apiVersion: aicr.nvidia.com/v1alpha1\n", "apiVersion: aicr.run/v1\n"):
        recipe = read_recipe(f"kind: RecipeResult\n{line}componentRefs: [{{name: a}}]", "r.yaml")
        assert recipe.components[0].name == "a"


def test_an_accelerator_by_both_of_its_names() -> None:
    found = problems(GOOD + "criteria: {accelerator: h100, gpu: gb200}")
    assert found.endswith("criteria.gpu: accelerator and its alias gpu are both stated")


def test_all_problems_come_at_once() -> None:
    found = problems(HEAD + "criteria: {nodes: x}\ncomponentRefs:\n  - version: {}\n  - name: []\n")
    assert found.startswith("4 problems:\n  r.yaml:3: criteria.nodes: ")


def test_hostile_documents_are_refused() -> None:
    deep = HEAD + "componentRefs: [{name: a, overrides: " + '{"a": ' * 100 + "1" + "}" * 102 + "]"
    assert problems(deep) == "r.yaml:3: nested deeper than 64 levels"
    bomb = HEAD + "x0: &x0 [1,1,1,1,1,1,1,1,1,1]\n"
    bomb += "".join(f"x{n}: &x{n} [{','.join([f'*x{n - 1}'] * 10)}]\n" for n in range(1, 9))
    assert "aliases expand to more than" in problems(bomb)


def test_what_another_edition_writes_besides_is_a_warning() -> None:
    warnings: list[Problem] = []
    recipe = read_recipe(
        GOOD
        + "    newField: 1\nmetadata: {newer: 1}\nextra: 2\ncriteria: {service: new, region: x}",
        "r.yaml",
        on_warning=warnings.append,
    )
    assert recipe.criteria == Criteria(service="new")
    assert sorted(map(str, warnings)) == [
        'r.yaml:6: componentRefs[0]: unknown key "newField"',
        'r.yaml:7: metadata: unknown key "newer"',
        'r.yaml:8: unknown key "extra"',
        'r.yaml:9: criteria: unknown key "region"',
    ]


def test_criteria_that_are_spelled_out_as_any_are_not_stated() -> None:
    recipe = read_recipe(
        GOOD + "criteria: {service: EKS, gpu: h100, os: any, intent: '', platform: ~, nodes: 0}",
        "r.yaml",
    )
    assert recipe.criteria.values() == {"service": "eks", "accelerator": "h100"}


def test_excluded_overlays_with_or_without_a_reason() -> None:
    text = GOOD + "metadata:\n  excludedOverlays: [x, {name: y, reason: old}]\n"
    assert read_recipe(text, "r.yaml").excluded_overlays == ["x", "y"]
    assert "metadata.excludedOverlays" in problems(GOOD + "metadata: {excludedOverlays: [[x]]}")


def test_components_come_by_name() -> None:
    recipe = read_recipe(HEAD + "componentRefs: [{name: b}, {name: a}]", "r.yaml")
    assert [ref.name for ref in recipe.components] == ["a", "b"]
    assert recipe.component("b") is recipe.components[1]
    assert recipe.component("c") is None


def full() -> Recipe:
    files = simple({
        "name": "a", "version": "1.20", "tag": "010", "path": "p", "patches": ["x"],
        "valuesFile": "components/a/values.yaml", "manifestFiles": ["m"],
        "preManifestFiles": ["n"], "cleanup": True, "install": True,
        "healthCheckAsserts": "line\nline\n", "dependencyRefs": ["b"],
        "expectedResources": [{"kind": "Pod", "name": "1", "namespace": "y"}],
        "overrides": {"a": None, "b": {"c": ["1.20", 1.2, True, "on"]}, "enabled": True},
    }, {"name": "b", "overrides": {"enabled": False}})  # fmt: skip
    files.overlay(
        "more", criteria={"service": "eks"},
        constraints=[{"name": "k", "value": ">= 1.30", "severity": "error", "unit": "u",
                      "remediation": "do"}],
        validation={"readiness": {"timeout": "5m", "checks": ["x"], "infrastructure": "i",
                                  "constraints": [{"name": "k", "value": "1.10"}],
                                  "nodeSelection": {"n": 1}}},
    )  # fmt: skip
    warning = ConstraintWarning(
        overlay="o", constraint="k", expected=">= 1.30", actual="1.20", reason="too old"
    )
    return resolve(files.in_memory(), Criteria(service="eks", nodes=3)).replace(
        excluded_overlays=["o"], constraint_warnings=[warning]
    )


def test_everything_survives_a_round_trip() -> None:
    recipe = full()
    values = recipe_values(recipe)
    text = write_recipe(recipe)
    assert recipe_values(read_recipe(text, "r.yaml")) == values
    assert recipe_values(read_recipe(json.dumps(values), "r.json")) == values
    assert yaml.safe_load(text) == values
    assert write_recipe(read_recipe(text, "r.yaml")) == text


def test_the_written_form() -> None:
    values = recipe_values(full())
    assert list(values) == ["kind", "apiVersion", "metadata", "criteria", "constraints",
                            "componentRefs", "deploymentOrder", "validation"]  # fmt: skip
    assert values["apiVersion"] == "aicr.run/v1beta1"
    assert values["deploymentOrder"] == ["a"]
    assert values["metadata"]["constraintWarnings"] == [  # type: ignore[index]
        {"overlay": "o", "constraint": "k", "expected": ">= 1.30", "actual": "1.20",
         "reason": "too old"}
    ]  # fmt: skip


def test_empty_fields_are_absent() -> None:
    text = write_recipe(read_recipe(HEAD + "componentRefs: [{name: a}]", "r.yaml"))
    assert text == HEAD + "componentRefs:\n  - name: a\ndeploymentOrder: []\n"
