"""A report as JSON has the same bytes by the fast writer and by the one of the command."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aicr.documents.emit import json_text
from aicr.server.json_bytes import json_bytes

texts = st.text(st.characters(codec="utf-8"))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=12,
)


@given(st.dictionaries(texts, values))
def test_as_the_command_writes_it(value: dict[str, object]) -> None:
    assert json_bytes(value) == json_text(value).encode("utf-8")


def test_what_hides_or_reorders_text() -> None:
    value: dict[str, object] = {"a\u202eb": ["\x7f \u2028", {}, [], '\x00\x1f/\\"']}
    assert json_bytes(value) == json_text(value).encode("utf-8")
    assert b"\\u202e" in json_bytes(value)
