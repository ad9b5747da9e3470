"""Paths and types of --set are those of Helm."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aicr.bundle.setpath import (
    MISSING,
    PathError,
    lookup,
    parse_assignments,
    parse_path,
    place,
    spell,
    split_assignment,
    typed,
)
from tools import tool

Value = str | int | bool | None


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("true", True), ("false", False), ("True", True), ("FALSE", False), ("null", None),
        ("NULL", None), ("0", 0), ("7", 7), ("-7", -7), ("+7", 7), ("007", "007"), ("-007", -7),
        ("00", "00"), ("0x1f", "0x1f"), ("1.0", "1.0"), ("1e3", "1e3"), ("", ""), ("~", "~"),
        ("yes", "yes"), ("1_000", "1_000"), ("\u0663", "\u0663"), (" 1", " 1"), ("1 ", "1 "),
        ("9223372036854775807", 9223372036854775807),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775808", -9223372036854775808),
        ("truE", True), ("tr\u00fce", "tr\u00fce"),
    ],
)  # fmt: skip
def test_types(word: str, value: Value) -> None:
    found = typed(word)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a=1", [(("a",), 1)]),
        ("a.b.c=x", [(("a", "b", "c"), "x")]),
        (r"a\.b.c=x", [(("a.b", "c"), "x")]),
        (r"a\=b=x=y", [(("a=b",), "x=y")]),
        ("a[0].b=x", [(("a", 0, "b"), "x")]),
        ("a[1][2]=x", [(("a", 1, 2), "x")]),
        (r"a=x\,y", [(("a",), "x,y")]),
        (r"a=\{x}", [(("a",), "{x}")]),
        ("a=1,b.c=2", [(("a",), 1), (("b", "c"), 2)]),
        ("a=", [(("a",), "")]),
        (r"a=C:\\x", [(("a",), "C:\\x")]),
        ("a=x.y[0]", [(("a",), "x.y[0]")]),
        (
            r"nodeSelector.nvidia\.com/gpu\.present=true",
            [(("nodeSelector", "nvidia.com/gpu.present"), True)],
        ),
    ],
)
def test_assignments(text: str, pairs: list[tuple[tuple[str | int, ...], Value]]) -> None:
    assert parse_assignments(text) == pairs


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "a key is empty"),
        ("a", "has no =value"),
        ("=1", "a key is empty"),
        ("a..b=1", 'a key is empty after "a"'),
        ("a.=1", "a key is empty"),
        ("[0]=1", "a key is empty"),
        ("a[=1", "needs the number"),
        ("a[x]=1", "needs the number"),
        ("a[-1]=1", "needs the number"),
        ("a[99999]=1", "needs the number"),
        ("a[\u0663]=1", "needs the number"),
        ("a[0]b=1", 'followed by "b"'),
        ("a=x,y", r"a comma inside a value is written \,"),
        ("a=x,", "a key is empty"),
        ("a={x,y}", "lists are for --set-json"),
        ("a=x\\", "nothing to escape"),
    ],
)
def test_what_is_no_assignment(text: str, says: str) -> None:
    with pytest.raises(PathError) as caught:
        parse_assignments(text)
    assert says in str(caught.value)


KEYS = st.text(alphabet="ab.=,[]\\{} \u00e9:", min_size=1, max_size=5)
PATHS = st.tuples(
    KEYS, st.lists(st.one_of(KEYS, st.integers(0, 1023)), max_size=4)
).map(lambda parts: (parts[0], *parts[1]))  # fmt: skip


@given(PATHS)
def test_a_path_that_is_spelled_is_read_back(path: tuple[str | int, ...]) -> None:
    assert parse_path(spell(path)) == path


@given(st.text(alphabet="ab.=,[]0\\{}", max_size=14))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        pairs = parse_assignments(text)
    except PathError:
        return
    for path, _ in pairs:
        assert path
        assert isinstance(path[0], str)
        assert "" not in path


VALUES: dict[str, object] = {"m": {"x": 1, "n": None}, "l": [{"a": 1}, 2], "s": "text"}


class TestPlace:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("m.x=2", {"m": {"x": 2, "n": None}}),
            ("m.y.z=2", {"m": {"x": 1, "n": None, "y": {"z": 2}}}),
            ("l[0].b=2", {"l": [{"a": 1, "b": 2}, 2]}),
            ("l[1]=3", {"l": [{"a": 1}, 3]}),
            ("l[2]=3", {"l": [{"a": 1}, 2, 3]}),
            ("new[0].a=1", {"new": [{"a": 1}]}),
            ("s.a=1", {"s": {"a": 1}}),
            ("m.n.a=1", {"m": {"x": 1, "n": {"a": 1}}}),
            ("m=1", {"m": 1}),
            ("new.a=null", {"new": {"a": None}}),
            ("l[1]=null", {"l": [{"a": 1}, None]}),
        ],
    )
    def test_what_changes(self, text: str, expected: dict[str, object]) -> None:
        before = json.dumps(VALUES)
        ((path, value),) = parse_assignments(text)
        assert place(VALUES, path, value) == {**VALUES, **expected}
        assert json.dumps(VALUES) == before

    def test_null_removes(self) -> None:
        assert place(VALUES, ("m", "x"), None) == {**VALUES, "m": {"n": None}}
        assert "m" not in place(VALUES, ("m",), None)

    def test_null_is_put_where_it_is_not_to_remove(self) -> None:
        assert place(VALUES, ("m", "y"), None, removes=False)["m"] == {"x": 1, "n": None, "y": None}
        assert place(VALUES, ("m", "x"), None, removes=False)["m"] == {"x": None, "n": None}

    def test_a_map_replaces(self) -> None:
        assert place(VALUES, ("m",), {"y": 2})["m"] == {"y": 2}

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("m[0]=1", '"m" is a map; write a key'),
            ("l.a=1", '"l" is a list; write the number'),
            ("l[4]=1", '"l" has 2 items, so [4] would leave a gap; the next one is [2]'),
            ("new[1]=1", "has 0 items"),
            ("m.y=null", "null has nothing to remove"),
            ("gone=null", "null has nothing to remove"),
        ],
    )
    def test_what_cannot_take_effect(self, text: str, says: str) -> None:
        ((path, value),) = parse_assignments(text)
        with pytest.raises(PathError) as caught:
            place(VALUES, path, value)
        assert says in str(caught.value)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ((), VALUES), (("m", "x"), 1), (("m", "n"), None), (("l", 0, "a"), 1),
        (("m", "y"), MISSING), (("s", "a"), MISSING), (("l", 2), MISSING), (("m", 0), MISSING),
        (("l", "a"), MISSING),
    ],
)  # fmt: skip
def test_lookup(path: tuple[str | int, ...], found: object) -> None:
    assert lookup(VALUES, path) == found


def test_an_assignment_of_anything() -> None:
    assert split_assignment(r"a\.b[0]=x=y,z") == (("a.b", 0), "x=y,z")
    with pytest.raises(PathError, match="has no =value"):
        split_assignment("a.b")


@pytest.fixture(scope="module")
def echo_chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("echo")
    (root / "Chart.yaml").write_text("apiVersion: v2\nname: echo\nversion: 0.1.0\n")
    (root / "templates").mkdir()
    (root / "templates" / "v.yaml").write_text("v: {{ .Values | toJson | quote }}\n")
    return root


WORDS = st.one_of(
    st.sampled_from(["true", "FALSE", "null", "0", "7", "007", "-3", "1.5", "x y"]),
    # Not empty: in an item of a list Helm drops an assignment of nothing.
    st.text(alphabet="ab0+-.=[]:", min_size=1, max_size=6),
)
SIMPLE = st.text(alphabet="abc", min_size=1, max_size=2)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(SIMPLE, SIMPLE, WORDS), min_size=1, max_size=8))
def test_helm_agrees(echo_chart: Path, triples: list[tuple[str, str, str]]) -> None:
    helm = tool("helm", "HELM_BIN")
    values: dict[str, object] = {}
    arguments: list[str] = []
    for index, (outer, inner, word) in enumerate(triples):
        text = f"k{index}.{outer}\\.x[0].{inner}={word}"
        ((path, value),) = parse_assignments(text)
        values = place(values, path, value)
        arguments += ["--set", text]
    done = subprocess.run(
        [helm, "template", "r", str(echo_chart), *arguments],
        capture_output=True, encoding="utf-8", timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(yaml.safe_load(done.stdout)["v"]) == values
