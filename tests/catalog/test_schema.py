"""Reading catalog files: each wrong thing is named with file, line and field."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from aicr.catalog.schema import (
    API_VERSIONS,
    normal_criterion,
    read_mixin,
    read_overlay,
    read_registry,
    read_releases,
    registry_values,
)
from aicr.documents.fields import Problems
from aicr.documents.nodes import Node
from aicr.documents.reader import read_yaml

Reader = Callable[[Node, str, Problems], object]

OVERLAY = "kind: RecipeMetadata\nmetadata: {name: x}\nspec:\n"
MIXIN = "kind: RecipeMixin\nmetadata: {name: x}\nspec:\n"
REGISTRY = "kind: ComponentRegistry\ncomponents:\n"
RELEASES = "kind: ReleaseHistory\nreleases:\n"


def problems_of(reader: Reader, text: str, *, allow_unknown: bool = False) -> list[str]:
    problems = Problems(allow_unknown=allow_unknown)
    reader(read_yaml(text, "f.yaml"), "f.yaml", problems)
    return [str(problem) for problem in problems.errors]


OVERLAY_PROBLEMS = {
    "  profile: {a: 1}": "f.yaml:4: spec.profile: profiles are of a newer edition than this "
    "version reads",
    "  bases: y": 'f.yaml:4: spec: unknown key "bases", did you mean "base"?',
    "  base: [y]": "f.yaml:4: spec.base: expected text, found a list",
    "  mixins: m": "f.yaml:4: spec.mixins: expected a list, found text",
    "  mixins: [m, n, m]": 'f.yaml:4: spec.mixins: the mixin "m" is there twice',
    "  criteria: [eks]": "f.yaml:4: spec.criteria: expected a map, found a list",
    "  criteria: {service: [eks]}": "f.yaml:4: spec.criteria.service: expected text, found a list",
    "  criteria: {region: x}": 'f.yaml:4: spec.criteria: unknown key "region"',
    "  criteria: {nodes: -1}": "f.yaml:4: spec.criteria.nodes: expected 0 or more, found -1",
    "  criteria: {nodes: many}": "f.yaml:4: spec.criteria.nodes: expected a whole number, found "
    'the text "many"',
    "  criteria: {gpu: a, accelerator: b}": "f.yaml:4: spec.criteria.gpu: accelerator and its "
    "alias gpu are both stated",
    "  constraints:\n  - {name: a, value: 1}\n  - {name: a, value: 2}": "f.yaml:6: "
    'spec.constraints[1].name: the constraint "a" is there twice',
    "  constraints: [{name: a}]": "f.yaml:4: spec.constraints[0].value: is missing",
    "  constraints: [{value: 1}]": "f.yaml:4: spec.constraints[0].name: is missing",
    "  constraints: [{name: a, value: b, level: c}]": "f.yaml:4: spec.constraints[0]: unknown key "
    '"level"',
    "  componentRefs:\n  - name: a\n  - name: a": "f.yaml:6: spec.componentRefs[1].name: the "
    'component "a" is there twice (first on line 5)',
    "  componentRefs: [{version: 1}]": "f.yaml:4: spec.componentRefs[0].name: is missing",
    "  componentRefs: {a: {}}": "f.yaml:4: spec.componentRefs: expected a list, found a map",
    "  componentRefs: [a]": "f.yaml:4: spec.componentRefs[0]: expected a map, found text",
    "  componentRefs: [{name: a, type: Docker}]": "f.yaml:4: spec.componentRefs[0].type: expected "
    'Helm or Kustomize, found "Docker"',
    "  componentRefs:\n  - name: a\n    verson: 1": "f.yaml:6: spec.componentRefs[0]: unknown key "
    '"verson", did you mean "version"?',
    "  componentRefs:\n  - name: a\n    version: [1]": "f.yaml:6: spec.componentRefs[0].version: "
    "expected text, found a list",
    "  componentRefs: [{name: a, overrides: x}]": "f.yaml:4: spec.componentRefs[0].overrides: "
    "expected a map, found text",
    "  componentRefs:\n  - name: a\n    overrides: {enabled: 'false'}": "f.yaml:6: "
    "spec.componentRefs[0].overrides: enabled: expected true or false, found the text "
    '"false"',
    "  componentRefs: [{name: a, cleanup: 'yes'}]": "f.yaml:4: spec.componentRefs[0].cleanup: "
    'expected true or false, found the text "yes"',
    "  componentRefs: [{name: a, dependencyRefs: b}]": "f.yaml:4: "
    "spec.componentRefs[0].dependencyRefs: expected a list, found text",
    "  componentRefs: [{name: a, expectedResources: [{kind: Pod}]}]": "f.yaml:4: "
    "spec.componentRefs[0].expectedResources[0].name: is missing",
    "  validation: {readyness: {}}": 'f.yaml:4: spec.validation: unknown key "readyness", did you '
    'mean "readiness"?',
    "  validation: {deployment: {checks: x}}": "f.yaml:4: spec.validation.deployment.checks: "
    "expected a list, found text",
}


@pytest.mark.parametrize(("body", "expected"), OVERLAY_PROBLEMS.items())
def test_a_wrong_overlay(body: str, expected: str) -> None:
    assert problems_of(read_overlay, OVERLAY + body) == [expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("  base: y", 'f.yaml:4: spec: unknown key "base"'),
        ("  criteria: {}", 'f.yaml:4: spec: unknown key "criteria"'),
        ("  mixins: []", 'f.yaml:4: spec: unknown key "mixins"'),
        ("  validation: {}", 'f.yaml:4: spec: unknown key "validation"'),
        ("  constraints: [{name: a, value: 1}, {name: a, value: 1}]",
         'f.yaml:4: spec.constraints[1].name: the constraint "a" is there twice'),
    ],
)  # fmt: skip
def test_a_mixin_holds_constraints_and_components_only(body: str, expected: str) -> None:
    assert problems_of(read_mixin, MIXIN + body) == [expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("  - name: a\n  - name: a\n",
         'f.yaml:4: components[1].name: the component "a" is there twice'),
        ("  - helm: {}\n", "f.yaml:3: components[0].name: is missing"),
        ("  - name: a\n    helm: x\n", "f.yaml:4: components[0].helm: expected a map, found text"),
        ("  - name: a\n    helm: {defaultVersion: {}}\n",
         "f.yaml:4: components[0].helm.defaultVersion: expected text, found a map"),
        ("  - name: a\n    helm: {defaultChart: x}\n    kustomize: {defaultSource: y}\n",
         "f.yaml:3: components[0]: helm and kustomize are both stated; a component is one of them"),
        ("  - name: a\n    valueOverrideKeys: x\n",
         "f.yaml:4: components[0].valueOverrideKeys: expected a list, found text"),
        ("  - name: a\n    ownsCRDs: yes\n",
         'f.yaml:4: components[0].ownsCRDs: expected true or false, found the text "yes"'),
        ("  a: {}\n", "f.yaml:2: components: expected a list, found a map"),
    ],
)  # fmt: skip
def test_a_wrong_registry(body: str, expected: str) -> None:
    assert problems_of(read_registry, REGISTRY + body) == [expected]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("  - name: r1\n  - name: r1\n",
         'f.yaml:4: releases[1].name: the release "r1" is there twice'),
        ("  - pins: {}\n", "f.yaml:3: releases[0].name: is missing"),
        ("  - name: r1\n    pins: {a: {}}\n",
         "f.yaml:4: releases[0].pins.a: expected text, found a map"),
        ("  - name: r1\n    pins: {a: ~}\n", "f.yaml:4: releases[0].pins.a: is missing"),
        ("  - name: r1\n    pin: {}\n",
         'f.yaml:4: releases[0]: unknown key "pin", did you mean "pins"?'),
    ],
)  # fmt: skip
def test_a_wrong_release_history(body: str, expected: str) -> None:
    assert problems_of(read_releases, RELEASES + body) == [expected]


@pytest.mark.parametrize(
    ("reader", "kind"),
    [(read_overlay, "RecipeMetadata"), (read_mixin, "RecipeMixin"),
     (read_registry, "ComponentRegistry"), (read_releases, "ReleaseHistory")],
)  # fmt: skip
def test_kind_and_api_version(reader: Reader, kind: str) -> None:
    body = "metadata: {name: x}\nspec: {}\n" if "Recipe" in kind else ""
    for version in API_VERSIONS:
        assert problems_of(reader, f"kind: {kind}\napiVersion: {version}\n{body}") == []
    assert problems_of(reader, f"kind: {kind}\n{body}") == []
    (found,) = problems_of(reader, f"kind: {kind}\napiVersion: aicr.run/v2\n{body}")
    assert found.startswith(
        'f.yaml:2: apiVersion: "aicr.run/v2" is not read by this version (it reads aicr.nvidia.com/'
    )
    (found,) = problems_of(reader, f"kind: Pod\n{body}")
    assert found == f'f.yaml:1: kind: expected {kind}, found "Pod"'
    assert f"f.yaml:1: kind: expected {kind}, found none" in problems_of(reader, body or "a: {}")


def test_a_file_that_is_no_map() -> None:
    for reader in (read_overlay, read_mixin, read_registry, read_releases):
        assert "f.yaml:1: expected a map, found a list" in problems_of(reader, "- a")


def test_what_must_be_there() -> None:
    assert problems_of(read_overlay, "kind: RecipeMetadata") == [
        "f.yaml:1: metadata: is missing",
        "f.yaml:1: spec: is missing",
    ]
    assert problems_of(read_mixin, "kind: RecipeMixin\nmetadata: {}\nspec: {}") == [
        "f.yaml:2: metadata.name: is missing"
    ]


def test_every_problem_is_found_in_one_pass() -> None:
    text = OVERLAY + "  a: 1\n  componentRefs: [{nam: x}, {name: y, b: 1}]\n  mixins: x\n"
    found = problems_of(read_overlay, text)
    assert len(found) == 5
    assert len(problems_of(read_overlay, text, allow_unknown=True)) == 2


def test_text_stays_as_written() -> None:
    problems = Problems()
    overlay = read_overlay(
        read_yaml(
            OVERLAY
            + "  constraints: [{name: a, value: 1.30}]\n"
            + "  componentRefs:\n    - name: 010\n      version: 1.20\n      tag: 26.10\n"
            + "      namespace: on\n      source: ~\n      manifestFiles: [1.10, x, 1.10]\n"
            + "      overrides: {a: 010, b: 1.20, c: on, d: 0o10, e: '1'}\n",
            "f.yaml",
        ),
        "f.yaml",
        problems,
    )
    problems.raise_any()
    (ref,) = overlay.components
    assert (ref.name, ref.version, ref.tag, ref.namespace, ref.source) == (
        "010", "1.20", "26.10", "on", "",
    )  # fmt: skip
    assert ref.manifest_files == ["1.10", "x"]
    assert overlay.constraints[0].value == "1.30"
    assert ref.overrides == {"a": 8, "b": 1.2, "c": "on", "d": 8, "e": "1"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("  base: y", None),
        ("  criteria:", None),
        ("  criteria: ~", None),
        ("  criteria: {}", {}),
        ("  criteria: {service: any, os: ''}", {}),
        ("  criteria: {service: EKS, gpu: H100, nodes: 0}", {"service": "eks",
                                                             "accelerator": "h100"}),
        ("  criteria: {os: AL2, service: self-managed, nodes: 4}", {"os": "amazonlinux",
                                                                    "nodes": "4"}),
    ],
)  # fmt: skip
def test_criteria_of_an_overlay(body: str, expected: dict[str, str] | None) -> None:
    problems = Problems()
    overlay = read_overlay(read_yaml(OVERLAY + body, "f"), "f", problems)
    problems.raise_any()
    assert overlay.criteria == expected


def test_aliases_hold_for_their_own_dimension() -> None:
    assert normal_criterion("os", " AL2023 ") == "amazonlinux"
    assert normal_criterion("service", "al2") == "al2"
    assert [normal_criterion("service", word) for word in ("Self", "vanilla", "ANY")] == [""] * 3
    assert normal_criterion("os", "self") == "self"


def test_unknown_keys_of_a_registry_entry_are_kept_and_ignored() -> None:
    problems = Problems()
    (entry,) = read_registry(
        read_yaml(REGISTRY + "  - name: a\n    newThing: {x: 010}\n", "f"), "f", problems
    )
    problems.raise_any()
    assert registry_values(entry) == {"name": "a", "newThing": {"x": 8}}
    assert entry.where == "f:3"


def test_registry_kinds_and_versions() -> None:
    problems = Problems()
    entries = read_registry(
        read_yaml(
            REGISTRY
            + "  - name: a\n    helm: {defaultVersion: 1.20}\n"
            + "  - name: b\n    kustomize: {defaultSource: s, defaultTag: 010}\n"
            + "  - name: c\n    kustomize: {defaultPath: p}\n",
            "f",
        ),
        "f",
        problems,
    )
    problems.raise_any()
    assert [entry.is_kustomize for entry in entries] == [False, True, False]
    assert (entries[0].version, entries[1].tag) == ("1.20", "010")


def test_releases_keep_their_order_and_versions_as_written() -> None:
    problems = Problems()
    releases = read_releases(
        read_yaml(RELEASES + "  - {name: v2, pins: {a: 1.20}}\n"
                  "  - {name: v1, pins: {a: [1.10, x]}}\n  - {name: v3}\n", "f"),
        "f",
        problems,
    )  # fmt: skip
    problems.raise_any()
    assert [(one.name, one.pins) for one in releases] == [
        ("v2", {"a": ["1.20"]}),
        ("v1", {"a": ["1.10", "x"]}),
        ("v3", {}),
    ]
