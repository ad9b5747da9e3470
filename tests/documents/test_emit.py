"""Writing a document: every reader of YAML 1.1 and 1.2 gets back what was written."""

from __future__ import annotations

import json
import math
import re

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from aicr.documents.emit import json_text, yaml_text
from aicr.documents.nodes import Map
from aicr.documents.reader import read_yaml
from aicr.documents.scalars import plain

# What some reader of YAML 1.1 (Helm is one) or 1.2 takes for a number, a boolean, a date or a key.
TELLING = [
    "", "~", "null", "Null", "true", "True", "FALSE", "y", "Y", "n", "N", "yes", "No", "on", "OFF",
    "1", "-1", "+1", "010", "0o17", "0x1F", "0b1", "1_000", "0b_1", "1.5", "1.", ".5", "1e3",
    "1E3", "1e+3", "685.230_15e+03", "-.inf", ".nan", "1:30", "190:20:30", "190:20:30.15",
    "2001-01-01", "2001-12-14 21:59:43.10 -5", "2001-12-14t21:59:43.10-05:00", "=", "<<", "!", "&a",
    "*a", "- a", "-", "--- a", "---", "...", "? a", "?", ": a", ":", "a: b", "a:", "a #b", "#a",
    "@a", "`a", "%a", "|", ">", "'", '"', "[a", "{a", "]", "}", ",", " a", "a ", "\ta", "a\t", "\n",
    "a\n", "a\nb", "a\n\n", "\n\na", "a\n  b\n", "  a\nb", "a\n\tb\n", "a\r\nb", "a\rb", "\x85",
    "a\u2028b", "\ufeff", "\ufeffa\nb", "a\n\ufeffb", "\x00", "\x1b[31m", "\x7f", "\x9f", "😀",
    "é", "a\\b", 'a"b', "12e03", "1,000", "0.1.2", "v1.20", "26.10", "500m", "10.0.0.0/8",
    "https://x.example:8080/a?b=c#d", ">= 1.30", "x\n---\ny", "x\n...\n", "# a\nb", "a\n#b\n",
    "%TAG\nb", "-\na", "a\n ", "a\n \n", " \n", "\n ", "a" * 200, "a b " * 100, "1" * 80,
]  # fmt: skip

texts = st.one_of(
    st.sampled_from(TELLING),
    st.text(max_size=20).filter(lambda text: not re.search("[\ud800-\udfff]", text)),
    st.text("01289.:-+_eExXoObyYnNtTrufalse =<#'\"\\{}[]|>*&!%@`?~, \n\t\r", max_size=10),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False),
    texts,
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)


def same(left: object, right: object) -> bool:
    """Equal, and of equal types all the way down (1, 1.0 and true are three values)."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict) and isinstance(right, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right and repr(left) == repr(right)


@given(values)
@example({"k" * 1500: [{"q" * 1030: 1, "b": {'"' * 600: ""}}]})
@example([[], {}, [[]], [{}], [[[1], {"a": []}]]])
def test_our_reader_gets_back_what_was_written(value: object) -> None:
    assert same(plain(read_yaml(yaml_text(value), "f")), value)


@given(values)
@example({"k" * 1500: [{"q" * 1030: 1}]})
def test_a_yaml_1_1_reader_gets_back_what_was_written(value: object) -> None:
    assert same(yaml.safe_load(yaml_text(value)), value)


@pytest.mark.parametrize("text", TELLING)
def test_telling_text_is_text_as_value_item_and_key(text: str) -> None:
    value = {"value": text, "items": [text, [text], {"in": text}], text + "": {text: 1}}
    written = yaml_text(value)
    assert same(plain(read_yaml(written, "f")), value)
    assert same(yaml.safe_load(written), value)


@pytest.mark.parametrize(
    "text",
    ["y", "N", "on", "Off", "yes", "no", "1:30", "1_000", "0b1", "0b_1", "0o7", "1e3", "2001-01-01",
     "2001-01-01 10:00:00", "=", "<<", "1.20", "010", "0x1f", "1,000", ".5", "~", "12e03"],
)  # fmt: skip
def test_what_go_and_other_1_1_readers_would_take_for_something_else_is_quoted(text: str) -> None:
    assert yaml_text({"a": text}) == f'a: "{text}"\n'
    assert yaml_text({text: "a"}) == f'"{text}": a\n'


@pytest.mark.parametrize(
    "text",
    ["v1.20.2", "1.2.3", "10.0.0.1", "gpu-operator", "https://charts.example/a", "a b", "500m",
     "components/a/values.yaml", "oci://ghcr.io/x", "K8s.server.version"],
)  # fmt: skip
def test_ordinary_text_is_not_quoted(text: str) -> None:
    assert yaml_text({"a": text}) == f"a: {text}\n"


def test_layout() -> None:
    value = {
        "kind": "X",
        "empty": {},
        "none": [],
        "list": ["a", {"b": 1, "c": [2, [3, 4]]}, []],
        "text": "one\ntwo\n",
        "number": 1.5,
        "large": 1e16,
        "nothing": None,
        "flag": True,
    }
    assert yaml_text(value) == (
        "kind: X\nempty: {}\nnone: []\nlist:\n  - a\n  - b: 1\n    c:\n      - 2\n"
        "      - - 3\n        - 4\n  - []\ntext: |\n  one\n  two\nnumber: 1.5\n"
        "large: 1.0e+16\nnothing: null\nflag: true\n"
    )


@pytest.mark.parametrize("value", [{}, [], "x", "", None, 1, "a\nb\n"])
def test_a_root_that_is_no_filled_map(value: object) -> None:
    written = yaml_text(value)
    assert written.endswith("\n")
    assert plain(read_yaml(written, "f")) == value


def test_special_floats() -> None:
    written = yaml_text([math.inf, -math.inf, math.nan, -0.0])
    assert written == "- .inf\n- -.inf\n- .nan\n- -0.0\n"
    back = yaml.safe_load(written)
    assert back[:2] == [math.inf, -math.inf]
    assert math.isnan(back[2])


@given(values)
def test_the_same_value_gives_the_same_text(value: object) -> None:
    assert yaml_text(value) == yaml_text(json.loads(json.dumps(value)))


@given(values)
def test_what_is_written_is_printable(value: object) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]", yaml_text(value))


@pytest.mark.parametrize("char", ["\x9b", "\x85", "\u200b", "\u2028", "\u202e", "\u2066", "\ufeff"])
def test_no_text_gives_a_terminal_orders(char: str) -> None:
    value = {"a": f"x\\{char}31m\n{char}", f"k{char}": "y"}
    for written in (yaml_text(value), json_text(value)):
        assert char not in written
        assert same(plain(read_yaml(written, "f")), value)
    assert same(json.loads(json_text(value)), value)


@given(texts)
def test_text_written_twice_keeps_its_scalar_text(text: str) -> None:
    node = read_yaml(yaml_text({"a": text}), "f")
    assert isinstance(node, Map)
    assert node["a"] == text


@pytest.mark.parametrize("value", [{1: 2}, {None: 1}, object(), {"a": {1, 2}}, b"x", {"a": 1j}])
def test_what_yaml_has_no_word_for(value: object) -> None:
    with pytest.raises(TypeError):
        yaml_text(value)


def test_a_lone_surrogate_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="surrogate"):
        yaml_text({"a": "\ud800"})


@given(values)
def test_json_is_read_by_everybody(value: object) -> None:
    if any(isinstance(leaf, float) and math.isinf(leaf) for leaf in leaves(value)):
        with pytest.raises(ValueError, match="JSON"):
            json_text(value)
        return
    written = json_text(value)
    assert same(json.loads(written), value)
    assert written.endswith("\n")


def leaves(value: object) -> list[object]:
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]
