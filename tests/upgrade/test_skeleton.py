"""Skeletons: the right move, every question, and nothing that could pass for a record."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.catalog.open import open_catalog
from aicr.documents.reader import read_yaml
from aicr.errors import AicrError
from aicr.upgrade.lines import Line, Lines
from aicr.upgrade.lint import lint
from aicr.upgrade.model import Records
from aicr.upgrade.records import load_records
from aicr.upgrade.skeleton import added_to, new_file, skeleton
from aicr.versions.ranges import parse_range
from aicr.versions.semver import parse
from record_catalog import record, records_file, write_catalog
from version_strategies import texts


def test_a_new_file_has_every_question_and_does_not_load(tmp_path: Path) -> None:
    text = new_file("alpha", skeleton("alpha", None, "1.2.0", "2.0.0"))
    for word in ("CRDs", "defaults", "API groups", "immutable", "RBAC", "images"):
        assert f"# {word}" in text
    assert 'from: ">=1.2.0 <2.0.0"' in text
    assert 'to: ">=2.0.0 <=2.0.0"' in text
    folder = write_catalog(tmp_path, {"alpha": "2.0.0"}, {"alpha": text})
    catalog = open_catalog(str(folder))
    assert {v.rule for v in lint(catalog)} == {"verdict", "prose", "resources"}
    with pytest.raises(AicrError):
        load_records(catalog, ["alpha"])


@given(texts(), texts())
def test_its_ranges_hold_the_move(before: str, after: str) -> None:
    source, target = parse(before), parse(after)
    assert source is not None
    assert target is not None
    if not source < target:
        with pytest.raises(AicrError, match="does not go forward"):
            skeleton("alpha", None, before, after)
        return
    item = skeleton("alpha", None, before, after)
    origin, to = (line.split('"')[1] for line in item.splitlines()[:2])
    assert parse_range(origin).contains(source)
    assert parse_range(to).contains(target)
    assert not parse_range(origin).contains(target)


@pytest.mark.parametrize(("before", "after"), [("main", "2.0.0"), ("1.0.0", ""), ("1", "V2")])
def test_what_is_no_version(before: str, after: str) -> None:
    with pytest.raises(AicrError, match="not a version"):
        skeleton("alpha", None, before, after)


def test_lines_say_what_goes_forward() -> None:
    lines = Lines([Line("a", parse_range("2.2.1")), Line("b", parse_range(">=1.0.0 <2.0.0"))])
    known = Records("alpha", lines=lines)
    assert '">=2.2.1 <1.3.1"' in skeleton("alpha", known, "2.2.1", "1.3.1")
    with pytest.raises(AicrError, match="in none of the lines"):
        skeleton("alpha", known, "2.2.1", "5.0.0")


@pytest.mark.parametrize("indent", ["", "  ", "    "])
@pytest.mark.parametrize("tail", ["", "# about what follows\nreplaces: {component: b}\n", "x: 1"])
def test_it_goes_behind_the_records_that_are_there(indent: str, tail: str) -> None:
    text = records_file("alpha", record(), record(">=2.0.0 <3.0.0", "3.0.0"), tail=tail)
    lines = [
        indent + line.removeprefix("  ") if line.startswith("  ") else line
        for line in text.splitlines(keepends=True)
    ]
    text = "".join(lines)
    item = skeleton("alpha", None, "3.0.0", "4.0.0")
    whole = added_to(text, read_yaml(text, "u.yaml"), item)
    assert whole is not None
    node = read_yaml(whole, "u.yaml")
    assert isinstance(node, dict)
    assert [t["from"] for t in node["transitions"]] == [  # type: ignore[index, union-attr, call-overload]
        "<2.0.0",
        ">=2.0.0 <3.0.0",
        ">=3.0.0 <4.0.0",
    ]
    assert whole.endswith(tail) or not tail
    assert node.keys() == read_yaml(text, "u.yaml").keys()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text", ["transitions: [{from: x}]\n", "transitions: []\n", "replaces: {}\n", "[]"]
)
def test_files_that_leave_no_place(text: str) -> None:
    assert added_to(text, read_yaml(text, "u.yaml"), "- x\n") is None


@given(st.text(max_size=20))
def test_no_argument_breaks_it(text: str) -> None:
    with pytest.raises(AicrError):
        skeleton("alpha", None, text, "0.0.0-0")
