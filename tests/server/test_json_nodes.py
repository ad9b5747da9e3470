"""A JSON document reads the same by the fast reader and by the one for YAML."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.documents.nodes import Map
from aicr.documents.reader import read_yaml
from aicr.errors import AicrError
from aicr.server.json_nodes import read_json

texts = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Co", "Cn")))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | texts
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(texts.filter(lambda t: t != "<<"), inner),
    max_leaves=12,
)


@given(st.dictionaries(texts.filter(lambda text: text != "<<"), values))
def test_as_the_reader_of_yaml(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    try:
        expected = read_yaml(text, "x")
    except AicrError:  # a key of more than 1024 characters, or one that only YAML has words for
        return
    assert read_json(text.encode(), "x") == expected


def test_numbers_keep_their_text() -> None:
    found = read_json(b'{"a": 1.20, "b": 010e0}'.replace(b"010e0", b"1e5"), "x")
    assert isinstance(found, Map)
    assert repr(found["a"]) == "Scalar('1.20')"
    assert repr(found["b"]) == "Scalar('1e5')"


@pytest.mark.parametrize("text", [b"", b"{", b'{"a": 010}', b"[1,]", b'"\\x"', b"nul", b"\xff"])
def test_what_is_no_json(text: bytes) -> None:
    with pytest.raises(AicrError) as caught:
        read_json(text, "here")
    assert caught.value.message.startswith("here")


@pytest.mark.parametrize("depth", [63, 64, 65, 200])
def test_as_deep_as_the_reader_of_yaml_goes(depth: int) -> None:
    for text in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
        said = []
        for reader in (read_yaml, read_json):
            try:
                reader(text.encode(), "here")
            except AicrError as error:
                said.append("nested deeper" in error.message)
            else:
                said.append(False)
        assert said == [depth > 64] * 2


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', '"c" is there twice'),
        (b'{"a" : ["x\\":", {"b"\n: 1, "b": 1}]}', '"b" is there twice'),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"a": [["\\u0000"]]}', "NUL"),
        (b'{"\\uDFFF": 1}', "surrogate"),
    ],
)
def test_what_no_document_may_carry(text: bytes, part: str) -> None:
    with pytest.raises(AicrError, match=part):
        read_json(text, "here")


def test_escapes_that_mean_no_harm() -> None:
    found = read_json(b'{"a": "\\ud83d\\ude00 \\\\u0000 \\u00e9", "b": [null, true, [false]]}', "x")
    assert found == read_yaml(
        '{"a": "\U0001f600 \\\\u0000 \u00e9", "b": [null, true, [false]]}', "x"
    )
