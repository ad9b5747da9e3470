"""JSON as it is written here is what the standard library writes."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.documents.emit import _OBEYED, json_text

texts = st.text(st.characters(exclude_categories=()))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | texts
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(texts, inner),
    max_leaves=15,
)


@given(values)
def test_the_same_bytes_as_the_standard_library(value: object) -> None:
    written = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    assert json_text(value) == re.sub(f"[{_OBEYED}]", lambda m: f"\\u{ord(m[0]):04x}", written)


def test_what_json_cannot_say_is_an_error() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"a": float("nan")})
    with pytest.raises(TypeError):
        json_text({"a": object()})
