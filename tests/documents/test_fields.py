"""Reading a mapping of a schema: every problem is collected, with line and path."""

from __future__ import annotations

import pytest

from aicr.documents.fields import Fields, Problem, Problems
from aicr.documents.reader import read_yaml
from aicr.errors import INVALID_REQUEST, AicrError


def fields(text: str, problems: Problems | None = None, at: str = "") -> Fields:
    return Fields(read_yaml(text, "f.yaml"), "f.yaml", at, problems or Problems())


def found(read: Fields) -> list[str]:
    return [str(problem) for problem in read.problems.errors]


def test_each_kind_of_field() -> None:
    read = fields(
        "text: x\nversion: 1.20\nyes: true\ncount: 3\nnames: [a, 1.30]\nmap: {k: v}\n"
        "items: [{k: 1}]\nfree: {a: 010}\nnothing: ~\n"
    )
    assert read.text("text") == "x"
    assert read.text("version") == "1.20"
    assert read.required("version") == "1.20"
    assert read.boolean("yes") is True
    assert read.integer("count") == 3
    assert read.texts("names") == ["a", "1.30"]
    inner = read.mapping("map")
    assert inner is not None
    assert inner.text("k") == "v"
    assert [item.text("k") for item in read.items("items")] == ["1"]
    assert read.free("free") == {"a": 8}
    assert read.free_map("free") == {"a": 8}
    assert not read.has("nothing")
    read.done()
    assert found(read) == []


@pytest.mark.parametrize("text", ["other: 1", "x: ~", "x: null", "x:"])
def test_absent_and_null_are_the_same(text: str) -> None:
    read = fields(text)
    assert read.text("x") == ""
    assert read.boolean("x") is None
    assert read.integer("x") is None
    assert read.texts("x") == []
    assert read.mapping("x") is None
    assert list(read.items("x")) == []
    assert read.free("x") is None
    assert read.free_map("x") is None
    assert found(read) == []


def test_wrong_kinds_are_named_with_line_path_and_what_was_found() -> None:
    read = fields(
        "a: [1]\nb: {x: 1}\nc: 'true'\nd: 1.5\ne: x\nf: [{x: 1}, ~]\ng: [x]\nh: []\ni: ''\n",
        at="spec",
    )
    read.text("a")
    read.text("b")
    read.boolean("c")
    read.boolean("d")
    read.integer("d")
    read.integer("e")
    read.texts("e")
    read.texts("f")
    list(read.items("g"))
    read.mapping("h")
    read.required("i")
    read.required("j")
    assert found(read) == [
        "f.yaml:1: spec.a: expected text, found a list",
        "f.yaml:2: spec.b: expected text, found a map",
        'f.yaml:3: spec.c: expected true or false, found the text "true"',
        "f.yaml:4: spec.d: expected true or false, found the number 1.5",
        "f.yaml:4: spec.d: expected a whole number, found the number 1.5",
        'f.yaml:5: spec.e: expected a whole number, found the text "x"',
        "f.yaml:5: spec.e: expected a list, found text",
        "f.yaml:6: spec.f[0]: expected text, found a map",
        "f.yaml:6: spec.f[1]: expected text, found null",
        "f.yaml:7: spec.g[0]: expected a map, found text",
        "f.yaml:8: spec.h: expected a map, found a list",
        "f.yaml:9: spec.i: is missing",
        "f.yaml:1: spec.j: is missing",
    ]


def test_what_is_no_map_is_a_problem_and_null_is_an_empty_one() -> None:
    assert found(fields("- a")) == ["f.yaml:1: expected a map, found a list"]
    assert found(fields("text")) == ["f.yaml:1: expected a map, found text"]
    assert found(fields("~")) == []


def test_nested_problems_share_the_collector() -> None:
    read = fields("a:\n  - b:\n      c: []\n  - b: 1\n")
    for item in read.items("a"):
        inner = item.mapping("b")
        if inner is not None:
            inner.text("c")
    assert found(read) == [
        "f.yaml:3: a[0].b.c: expected text, found a list",
        "f.yaml:4: a[1].b: expected a map, found the number 1",
    ]


def test_unknown_keys_come_with_the_nearest_known_one() -> None:
    read = fields("name: x\nverson: 1\nzzz: 2\n", at="components[0]")
    read.text("name")
    read.text("version")
    read.done()
    assert found(read) == [
        'f.yaml:2: components[0]: unknown key "verson", did you mean "version"?',
        'f.yaml:3: components[0]: unknown key "zzz"',
    ]


def test_allowed_unknown_keys_are_warnings_and_all_else_stays_an_error() -> None:
    problems = Problems(allow_unknown=True)
    read = fields("name: []\nnew: 1\n", problems)
    read.text("name")
    read.done()
    assert [str(problem) for problem in problems.warnings] == ['f.yaml:2: unknown key "new"']
    assert found(read) == ["f.yaml:1: name: expected text, found a list"]


def test_a_problem_is_one_line_whatever_the_document_says() -> None:
    problem = Problem("a\n.yaml", 2, "kind", 'found "x\r\n::add-mask::y\x1b[2J"')
    assert str(problem) == 'a .yaml:2: kind: found "x ::add-mask::y\\x1b[2J"'
    assert str(Problem("", 0, "", "said elsewhere")) == "said elsewhere"


def test_one_error_lists_every_problem() -> None:
    problems = Problems()
    problems.raise_any()
    problems.errors.append(Problem("f.yaml", 3, "spec.a", "is missing"))
    with pytest.raises(AicrError) as one:
        problems.raise_any()
    assert one.value.message == "f.yaml:3: spec.a: is missing"
    problems.errors.append(Problem("g.yaml", 0, "", "is odd"))
    with pytest.raises(AicrError) as two:
        problems.raise_any()
    assert two.value.code == INVALID_REQUEST
    assert two.value.message == "2 problems:\n  f.yaml:3: spec.a: is missing\n  g.yaml: is odd"
    assert two.value.details == {
        "problems": [
            {"file": "f.yaml", "line": 3, "field": "spec.a", "message": "is missing"},
            {"file": "g.yaml", "line": 0, "field": "", "message": "is odd"},
        ]
    }
