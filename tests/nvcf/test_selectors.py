from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.errors import AicrError
from aicr.nvcf.selectors import Selector
from kube_double_selectors import labels_match

LABELS = {"a": "1", "example.com/b": "x-y", "empty": ""}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1", True), ("a==1", True), ("a=2", False), ("a!=2", True), ("a!=1", False),
        ("missing!=1", True), ("a", True), ("missing", False), ("!missing", True), ("!a", False),
        ("a in (1,2)", True), ("a in (2)", False), ("a notin (2)", True), ("a notin (1, 2)", False),
        ("missing notin (1)", True), ("missing in (1)", False), ("example.com/b=x-y", True),
        ("a=1,example.com/b=x-y", True), ("a=1, b in (1,2)", False),
        ("empty=", True), ("a=", False),
    ],
)  # fmt: skip
def test_what_a_selector_says(text: str, expected: bool) -> None:
    assert Selector(text).matches(LABELS) is expected


@pytest.mark.parametrize(
    "text", ["", "=1", "a=1,", "a=b=c", "!a=1", "a in 1", "a b", "-a=1", "a>1"]
)
def test_what_is_no_selector(text: str) -> None:
    with pytest.raises(AicrError, match="no label selector"):
        Selector(text)


_KEYS = st.sampled_from(["a", "b", "c"])
_VALUES = st.sampled_from(["1", "2", "3"])
_PARTS = st.one_of(
    _KEYS,
    _KEYS.map("!{}".format),
    st.tuples(_KEYS, st.sampled_from(["=", "==", "!="]), _VALUES).map("".join),
    st.tuples(_KEYS, st.sampled_from([" in ", " notin "]), st.lists(_VALUES, min_size=1)).map(
        lambda one: f"{one[0]}{one[1]}({','.join(one[2])})"
    ),
)


@given(st.lists(_PARTS, min_size=1, max_size=3), st.dictionaries(_KEYS, _VALUES))
def test_it_agrees_with_the_double(parts: list[str], labels: dict[str, str]) -> None:
    text = ",".join(parts)
    assert Selector(text).matches(labels) == labels_match(text, labels)
