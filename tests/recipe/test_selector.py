from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.errors import AicrError
from aicr.recipe.selector import parse_selector, select, spelled

TREE = {
    "components": {"gpu-operator": {"version": "v1", "values": {"labels": {"a.b/c": "x"}}}},
    "order": ["nfd", {"name": "second"}],
    "0": "zero",
}


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (".", []),
        ("a.b.c", ["a", "b", "c"]),
        (".a.b", ["a", "b"]),
        ('a."b.c".d', ["a", "b.c", "d"]),
        ("a.'b.c'", ["a", "b.c"]),
        ('a["b.c"][0]', ["a", "b.c", "0"]),
        ("a[0].b", ["a", "0", "b"]),
        ("a.0", ["a", "0"]),
        ('"a.b"', ["a.b"]),
        (".[0]", ["0"]),
        ('a.""', ["a", ""]),
    ],
)
def test_steps(text: str, steps: list[str]) -> None:
    assert parse_selector(text) == steps


@pytest.mark.parametrize(
    "text", ["", "a..b", "a.", "a[", "a[x]", 'a."b', 'a["b"', "..", 'a."b"c', "a[]"]
)
def test_malformed(text: str) -> None:
    with pytest.raises(AicrError) as caught:
        parse_selector(text)
    assert caught.value.code == "INVALID_REQUEST"
    assert f'"{text}"' in caught.value.message


keys = st.text(min_size=1).filter(lambda key: not ("'" in key and '"' in key))


@given(st.lists(keys, min_size=1, max_size=4))
def test_what_is_spelled_is_read_back(steps: list[str]) -> None:
    assert parse_selector(spelled(steps)) == steps


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("components.gpu-operator.version", "v1"),
        ('components.gpu-operator.values.labels."a.b/c"', "x"),
        ("order[1].name", "second"),
        ("order.0", "nfd"),
        ("0", "zero"),
        (".", TREE),
    ],
)
def test_select(text: str, value: object) -> None:
    assert select(TREE, parse_selector(text), text) == value


@pytest.mark.parametrize(
    ("text", "available", "hint"),
    [
        ("components.gpu-operator.versio", ["values", "version"], 'did you mean "version"?'),
        ("components.x.y", ["gpu-operator"], ""),
        ("components.gpu-operator.values.labels.a.b", ["a.b/c"], "a key that contains dots"),
        ("order[2]", ["0", "1"], ""),
        ("order.first", ["0", "1"], ""),
        ("order[0].x", [], ""),
    ],
)
def test_nothing_there(text: str, available: list[str], hint: str) -> None:
    with pytest.raises(AicrError) as caught:
        select(TREE, parse_selector(text), text)
    error = caught.value
    assert error.code == "NOT_FOUND"
    assert error.details["available"] == available
    assert error.hint.startswith(hint)
