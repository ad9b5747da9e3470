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
