"""Nothing from a recipe reaches a path, a script or a template unchecked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.bundle.names import (
    check_recipe,
    check_releases,
    is_chart_source,
    is_git_source,
    is_label,
    is_relative,
    is_version,
)
from aicr.catalog.model import ComponentRef
from aicr.recipe.criteria import Criteria
from bundles import recipe_of

HOSTILE = [
    "../../etc/passwd",
    "/etc/passwd",
    "..",
    ".",
    "a/../b",
    "$(reboot)",
    "`reboot`",
    "${HOME}",
    "a\nb",
    "a\n",
    "a'b",
    'a"b',
    "a b",
    "a;b",
    "a|b",
    "a&b",
    "a\0b",
    "a\\b",
    "{{ .Values.x }}",
    "-rf",
    "--post-renderer=x",
    "pr\u043ed",
    "v1.2.\u0663",
    "1.0.0\u2028",
    "\u212aube",
    "a\u200bb",
    "#x",
    "*",
    "~root",
]
FIELDS = ["name", "namespace", "chart", "version", "tag", "source", "path", "values_file"]
LISTS = ["manifest_files", "pre_manifest_files", "patches", "dependency_refs"]


def sound(**fields: object) -> ComponentRef:
    ref = ComponentRef(
        "good", type="Helm", source="https://charts.example/x", version="v1.2.3", namespace="ns"
    )
    return ref.replace(**fields)


def test_a_sound_component() -> None:
    assert check_recipe(recipe_of(sound(), order=["good"]), "r.yaml") == []


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_named_by_its_field(field: str, text: str) -> None:
    (problem,) = check_recipe(recipe_of(sound(**{field: text})), "r.yaml")
    assert problem.field.endswith(field if field != "values_file" else "valuesFile")
    assert problem.message.isascii()
    assert "\n" not in problem.message


def test_a_kustomization_has_one_pin() -> None:
    git = sound(type="Kustomize", source="https://git.example/x.git", version="v1", tag="v2")
    (problem,) = check_recipe(recipe_of(git), "r.yaml")
    assert (problem.field, problem.message) == (
        "componentRefs[good].tag",
        "states 'v2' beside the version 'v1': leave one",
    )
    assert check_recipe(recipe_of(git.replace(tag="v1")), "r.yaml") == []


@pytest.mark.parametrize("version", ["1.x", "x", "v1.2.x", "latest", "main", "01.2.3"])
def test_a_chart_has_one_exact_version(version: str) -> None:
    (problem,) = check_recipe(recipe_of(sound(version=version)), "r.yaml")
    assert problem.message == f"found '{version}', expected the exact version of a chart (SemVer)"
    git = sound(type="Kustomize", source="https://git.example/x.git", version="", tag=version)
    assert check_recipe(recipe_of(git), "r.yaml") == []
    assert check_recipe(recipe_of(sound(source="", version=version)), "r.yaml") == []


@pytest.mark.parametrize("field", LISTS)
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_items_are_named(field: str, text: str) -> None:
    (problem,) = check_recipe(recipe_of(sound(**{field: ["x", text]})), "r.yaml")
    assert problem.field.endswith("[1]")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_criteria_and_orders(text: str) -> None:
    recipe = recipe_of(sound(), order=["good", text]).replace(criteria=Criteria(os=text))
    assert [problem.field for problem in check_recipe(recipe, "r.yaml")] == [
        "criteria.os",
        "deploymentOrder[1]",
    ]


def test_everything_is_reported_at_once() -> None:
    ref = sound(name="Bad", namespace="Bad", version="$(x)", manifest_files=["../x", "ok.yaml"])
    fields = [problem.field for problem in check_recipe(recipe_of(ref), "r.yaml")]
    assert fields == [
        "componentRefs['Bad'].name",
        "componentRefs['Bad'].namespace",
        "componentRefs['Bad'].version",
        "componentRefs['Bad'].manifestFiles[0]",
    ]


@given(st.text(max_size=70))
def test_a_label_is_what_kubernetes_says(text: str) -> None:
    expected = (
        0 < len(text) <= 63
        and set(text) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        and text[0] != "-"
        and text[-1] != "-"
    )
    assert is_label(text) is expected


SAFE = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~%+-/:@")
MIXED = st.one_of(
    st.text(max_size=30),
    st.text(alphabet="a1.-/+_~:@%$'\" \n\\", max_size=30),
    st.sampled_from(["https://", "oci://", "git@h:", "file:///", "h.io/"]).flatmap(
        lambda head: st.text(alphabet="a1.-/+_~:@%$' ", max_size=20).map(lambda rest: head + rest)
    ),
)


@given(MIXED)
def test_whatever_passes_is_harmless(text: str) -> None:
    for check in (is_version, is_chart_source, is_git_source, is_relative):
        if check(text):
            assert set(text) <= SAFE
            assert not text.startswith("-")
            assert ".." not in text.split("/")
    if is_relative(text):
        assert not text.startswith("/")
        assert not set(text.split("/")) & {"", ".", ".."}


@pytest.mark.parametrize(
    "text",
    ["1.2.3", "v1.20.2", "26.10", "0.1.0-alpha.12+x.1", "main", "release-1.4", "refs/heads/x",
     "0123abc", "feature/a_b"],
)  # fmt: skip
def test_versions(text: str) -> None:
    assert is_version(text)


@pytest.mark.parametrize("text", ["", "a..b", "a//b", "a/", "a.lock", "a.", "a/.b", "@", "a@{1}"])
def test_no_versions(text: str) -> None:
    assert not is_version(text)


@pytest.mark.parametrize(
    "text",
    ["https://charts.jetstack.io", "oci://ghcr.io/nvidia", "http://10.0.0.1:8080/charts/",
     "https://h/a%20b"],
)  # fmt: skip
def test_chart_sources(text: str) -> None:
    assert is_chart_source(text)


@pytest.mark.parametrize(
    "text",
    ["https://github.com/a/b", "git@github.com:a/b.git", "ssh://git@h/a/b", "file:///srv/repo",
     "github.com/a/b"],
)  # fmt: skip
def test_git_sources(text: str) -> None:
    assert is_git_source(text)


@pytest.mark.parametrize("text", ["ext::sh -c x", "https://", "file://h/../x", "h", "ftp://h/x"])
def test_no_git_sources(text: str) -> None:
    assert not is_git_source(text)


def test_credentials_are_not_shown() -> None:
    ref = sound(source="https://user:hunter2@charts.example/x")
    (problem,) = check_recipe(recipe_of(ref), "r.yaml")
    assert "credentials" in problem.message
    assert "hunter2" not in str(problem)


def test_releases_that_are_too_long_or_collide() -> None:
    long = "x" * 50
    problems = check_releases(
        [("a-pre", "a"), ("a", "a"), ("a-pre", "a-pre"), (f"{long}-post", long)], "r.yaml"
    )
    assert [problem.message for problem in problems] == [
        'its release "a-pre" has the name of one of "a"',
        f'its release "{long}-post" has 55 characters, Helm takes at most 53',
    ]
