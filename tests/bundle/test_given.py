"""What --set-json, --set-file and --dynamic say, and what they cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given as given_by
from hypothesis import strategies as st

from aicr.bundle.given import parse_dynamic, parse_files, parse_json, read_files
from aicr.bundle.overrides import Settled, apply, parse_set, settle
from aicr.catalog.model import ComponentRef, RegistryEntry
from aicr.errors import AicrError
from bundles import recipe_of

REGISTRY = {"one": RegistryEntry("one", where="", raw={}, override_keys=["first"])}


def settled(
    *, sets: list[str] | None = None, js: list[str] | None = None, dynamic: list[str] | None = None
) -> Settled:
    asked = [*parse_set(sets or []), *parse_json(js or []), *parse_dynamic(dynamic or [])]
    return settle(asked, recipe_of(ComponentRef("one")), REGISTRY)


def values(
    *js: str, start: dict[str, object] | None = None, sets: list[str] | None = None
) -> object:
    found = settled(js=list(js), sets=sets).values.get("one", ())
    changed, problems = apply("one", start or {}, found)
    assert problems == []
    return changed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('one:a={"b": 1, "c": [1, {"d": null}]}', {"a": {"b": 1, "c": [1, {"d": None}]}}),
        ("one:a=[]", {"a": []}),
        ("one:a={}", {"a": {}}),
        ('first:a.b="007"', {"a": {"b": "007"}}),
        ("one:a=1.5", {"a": 1.5}),
        ("one:a=true", {"a": True}),
        (r'one:a\.b/c="x=y,z"', {"a.b/c": "x=y,z"}),
        ('one:l[0].a={"x": 1}', {"l": [{"a": {"x": 1}}]}),
        ('one:m={"off": null, "on": 1}', {"m": {"off": None, "on": 1}}),
        ('one:m={"a": {"off": null}, "b": null}', {"m": {"a": {"off": None}, "b": None}}),
    ],
)
def test_json(text: str, expected: dict[str, object]) -> None:
    assert values(text) == expected


def test_a_map_changes_the_keys_that_it_names() -> None:
    start: dict[str, object] = {"m": {"x": 1, "y": 2, "l": [1, 2]}}
    text = 'one:m={"x": 9, "y": null, "l": [3], "new": {"z": null}}'
    assert values(text, start=start) == {"m": {"x": 9, "l": [3], "new": {"z": None}}}


def test_json_beside_set() -> None:
    assert values('one:m={"x": 1}', sets=["one:m.y=2"]) == {"m": {"x": 1, "y": 2}}
    assert values('one:m={"x": 1}', sets=["one:m.x=1"]) == {"m": {"x": 1}}
    assert values("one:m={}", sets=["one:m.y=2"]) == {"m": {"y": 2}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("one:a", "has no =value"),
        ("a=1", "expected component:path=<json>"),
        ("one:a=", 'text stands in double quotes, as in path="text"'),
        ("one:a=text", "not JSON"),
        ("one:a={'b': 1}", "not JSON"),
        ("one:a=[1,]", "not JSON"),
        ("one:a=1 2", "Extra data at character 3"),
        ('one:a={"b": 1, "b": 2}', 'the key "b" is there twice'),
        ("one:a=NaN", "NaN is no JSON"),
        ("one:a=-Infinity", "-Infinity is no JSON"),
        ("one:a=1e999", "the number 1e999 is too large"),
        (r'one:a="\ud800"', "surrogate"),
        ("one:a=" + "[" * 100_000, "nested too deeply"),
        ('one:a={"": 1}', 'a key is empty after "a"'),
        ("one:enabled=false", "leave the component out with --set one:enabled=false"),
        ('one:enabled={"x": 1}', "enabled is no value of the chart"),
        ("one:a=\udcff", "not UTF-8 text"),
    ],
)
def test_what_is_no_json_override(text: str, says: str) -> None:
    with pytest.raises(AicrError) as caught:
        parse_json([text])
    assert says in caught.value.message
    assert caught.value.exit_code == 2
    assert len(caught.value.message) < 400


def test_json_never_toggles() -> None:
    assert settled(js=["one:sub.enabled=false"]).removed == frozenset()


TREE = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text("ab", max_size=2)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)


@given_by(TREE)
def test_new_json_arrives_as_it_is(tree: object) -> None:
    assert values(f"one:new.m={json.dumps(tree)}") == {"new": {"m": tree}}


@pytest.mark.parametrize(
    ("sets", "js", "dynamic"),
    [
        (["one:a.b=2"], ['one:a={"b": 1}'], []),
        (["one:a.b=1"], ['one:a={"b": true}'], []),
        (["one:a=1"], ['one:a={"b": 1}'], []),
        (["one:a.b.c=1"], ['one:a={"b": [1]}'], []),
        (["one:a.b[0]=1"], ['one:a={"b": [1]}'], []),
        ([], ['one:a={"b": 1}', 'one:a={"b": 2}'], []),
        ([], ["one:a=[true]", "one:a=[1]"], []),
        ([], ['one:a=[{"x": 1}]', 'one:a=[{"x": 1.0}]'], []),
        (["one:a.b=1"], [], ["one:a.b"]),
        (["first:a.b=1"], [], ["one:a"]),
        (["one:a=1"], [], ["one:a.b"]),
        ([], ['one:a={"c": 1, "b": 2}'], ["one:a.b"]),
        (["one:a.c=1"], [], ["one:a.b", "one:a"]),
    ],
)
def test_contradictions(sets: list[str], js: list[str], dynamic: list[str]) -> None:
    for order in (1, -1):
        with pytest.raises(AicrError, match="contradict each other") as caught:
            settled(sets=sets[::order], js=js[::order], dynamic=dynamic[::order])
        assert '"one"' in caught.value.message


def test_what_does_not_contradict() -> None:
    found = settled(
        sets=["one:a.c=1"], js=['one:b={"x": [1]}', 'one:b={"x": [1]}'],
        dynamic=["one:a.b", "first:a.b", "one:d.e", "one:d"],
    )  # fmt: skip
    assert [one.path for one in found.dynamic["one"]] == [("a", "b"), ("d",)]


def test_a_null_or_an_empty_map_without_effect() -> None:
    asked = settled(js=['one:m={"gone": null}', "one:n={}"]).values["one"]
    _, problems = apply("one", {"m": {"x": 1}, "n": {"x": 1}}, asked)
    assert "null has nothing to remove" in problems[0]
    assert "set its keys to null" in problems[1]


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "x=y.conf"
    file.write_bytes(b"a: {{ b }}\n\n")
    (override,) = parse_files(read_files([rf"one:sub.conf\.d={file}"]))
    assert (override.component, override.path) == ("one", ("sub", "conf.d"))
    assert override.value == "a: {{ b }}\n\n"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "b"
    binary.write_bytes(b"ab\xff")
    for text, says in (
        (f"one:a={tmp_path}/gone", "there is no such file"),
        (f"one:a={tmp_path}", "not a regular file"),
        (f"one:a={binary}", "is not UTF-8 (byte 2), and values are text"),
        (f"one:enabled={binary}", "enabled is no value of the chart"),
        ("one", "expected component:path=<file>"),
    ):
        with pytest.raises(AicrError) as caught:
            read_files([text])
        assert says in caught.value.message


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_text("12345")
    monkeypatch.setattr("aicr.documents.reader.MAX_BYTES", 4)
    with pytest.raises(AicrError, match="has more than 4 bytes"):
        read_files([f"one:a={tmp_path}/f"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a.b", "expected component:path"),
        ("one:", "a key is empty"),
        ("one:a=1", "a path alone is expected, without =value"),
        ("one:a[0]", 'a list is left open as a whole: write "a" without [0]'),
        ("one:enabled", "decided when a bundle is written"),
        ("one:a\nb", "cannot be printed"),
    ],
)
def test_what_cannot_be_left_open(text: str, says: str) -> None:
    with pytest.raises(AicrError) as caught:
        parse_dynamic([text])
    assert says in caught.value.message


def test_a_key_with_an_equals_sign() -> None:
    (override,) = parse_dynamic([r"one:a\=1.b"])
    assert override.path == ("a=1", "b")


def test_an_unknown_component() -> None:
    with pytest.raises(AicrError, match="there is no component 'two'"):
        settled(dynamic=["two:a"])
    with pytest.raises(AicrError, match="there is no component 'two'"):
        settled(js=["two:a=1"])
