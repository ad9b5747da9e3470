"""The coverage gate: pins, the allowlist, and what a change since a base revision lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aicr.catalog.open import open_catalog
from aicr.upgrade.allowlist import Allowed, read_allowlist
from aicr.upgrade.gate import unassessed, unneeded, vanished
from aicr.upgrade.holes import holes
from aicr.upgrade.lint import lint
from aicr.upgrade.model import Records
from aicr.upgrade.pins import Pin, current_pins
from aicr.upgrade.violations import Violation
from aicr.versions.ranges import parse_range
from lint_oracle import broken, uncovered
from record_catalog import HEAD, allowlist, put, record, records_file, write_catalog
from upgrade_oracle import Record
from upgrade_records import records, replacement, transition
from upgrade_strategies import record_lists, rungs


def pins(*texts: str) -> list[Pin]:
    return [Pin("alpha", text, "registry.yaml", line) for line, text in enumerate(texts, 1)]


def allowed(*ranges: str) -> list[Allowed]:
    return [
        Allowed(
            "alpha",
            text,
            parse_range(text).interval,
            reason="why",
            file="records-allowlist.yaml",
            line=line,
            own=True,
        )
        for line, text in enumerate(ranges, 1)
    ]


def built(found: list[Record]) -> Records:
    return records(*(transition(*r, line=line) for line, r in enumerate(found, 1)))


@settings(max_examples=300, deadline=None)
@given(record_lists(), st.lists(rungs, max_size=3, unique=True), st.lists(rungs, max_size=3))
def test_coverage_agrees_with_a_slow_reading(
    found: list[Record], pinned: list[str], excused: list[str]
) -> None:
    known = built(found)
    got = unassessed(pins(*pinned), known, allowed(*excused), None)
    assert {pinned[v.line - 1] for v in got} == uncovered(found, pinned, excused)
    assert all(v.rule == "coverage" for v in got)


@settings(max_examples=300, deadline=None)
@given(record_lists(), st.lists(rungs, max_size=2, unique=True), rungs)
def test_an_entry_is_needed_where_taking_it_away_breaks_something(
    found: list[Record], pinned: list[str], excused: str
) -> None:
    known = built(found)
    here = pins(*pinned)
    pin = max(
        (v for p in pinned if (v := known.version(p)) is not None),
        key=lambda v: v.key,
        default=None,
    )
    got = unneeded(allowed(excused), here, known, holes(known, pin))
    with_it = (uncovered(found, pinned, [excused]), _holes(found, pinned, [excused]))
    without = (uncovered(found, pinned, []), _holes(found, pinned, []))
    if with_it != without:
        assert got == []
    if got:
        assert with_it == without
        assert got[0].rule == "allowlist"


def _holes(found: list[Record], pinned: list[str], excused: list[str]) -> set[object]:
    return {item for item in broken(found, pinned, excused) if item[0] == "hole"}


def test_pins_are_those_of_registry_overlays_and_mixins(tmp_path: Path) -> None:
    refs = """\
metadata: {name: %s}
spec:
  componentRefs:
    - name: alpha
      version: "%s"
    - {name: beta, tag: main}
    - name: alpha-2
      version: null
      tag: ~
"""
    overlay = HEAD + "kind: RecipeMetadata\n" + refs % ("base", "1.1.0")
    mixin = HEAD + "kind: RecipeMixin\n" + refs % ("m", "1.0.0")
    folder = write_catalog(
        tmp_path, {"alpha": "1.0.0", "beta": ""}, overlays__base=overlay, mixins__m=mixin
    )
    found = current_pins(open_catalog(str(folder)))
    assert {name: [(p.text, p.line) for p in of] for name, of in found.items()} == {
        "alpha": [("1.0.0", 8), ("1.1.0", 7)],
        "beta": [("main", 8)],
    }
    assert found["alpha"][1].file.endswith("overlays/base.yaml")


def test_a_pin_outside_the_registry_can_have_no_record(tmp_path: Path) -> None:
    overlay = f"""\
{HEAD}kind: RecipeMetadata
metadata: {{name: base}}
spec:
  componentRefs:
    - {{name: stranger, version: "1.0.0"}}
"""
    folder = write_catalog(tmp_path, {"alpha": ""}, overlays__base=overlay)
    (found,) = lint(open_catalog(str(folder)))
    assert (found.rule, found.line) == ("coverage", 6)
    assert "not in the registry" in found.message


def test_a_branch_is_allowed_as_it_is_written(tmp_path: Path) -> None:
    folder = write_catalog(
        tmp_path,
        {"alpha": "main"},
        records_allowlist=allowlist(("alpha", "main", "follows a branch")),
    )
    assert lint(open_catalog(str(folder))) == []
    put(folder, "records-allowlist.yaml", allowlist(("alpha", "master", "wrong branch")))
    assert [v.rule for v in lint(open_catalog(str(folder)))] == ["allowlist", "coverage"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (allowlist(("nobody", "1.0.0", "x")), '"nobody" is not in the registry'),
        (allowlist(("alpha", "^1.0.0", "x")), "'^' is not part"),
        (allowlist(("alpha", "1.0", "x")), "write all three parts"),
        (allowlist(("alpha", ">2.0.0 <1.0.0", "x")), "holds no version"),
        (allowlist(("alpha", "1.0.0", " ")), "is blank"),
        (allowlist(("alpha", "1.0.0", "")), "reason: is missing"),
        (allowlist().replace("RecordAllowlist", "Allowlist"), "expected RecordAllowlist"),
        (f"{HEAD}kind: RecordAllowlist\nentries: [7]\n", "expected a map"),
        (f"{HEAD}kind: RecordAllowlist\nentry: []\n", 'did you mean "entries"?'),
        ("[", "records-allowlist.yaml"),
        ("- x", "expected a map"),
    ],
)
def test_an_allowlist_that_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    folder = write_catalog(tmp_path, {"alpha": ""}, records_allowlist=text)
    found = lint(open_catalog(str(folder)))
    assert {v.rule for v in found} == {"allowlist"}
    assert any(said in str(v) for v in found), [str(v) for v in found]


def test_the_allowlists_of_all_folders_count(tmp_path: Path) -> None:
    folder = write_catalog(
        tmp_path, {"alpha": "1.0.0"}, records_allowlist=allowlist(("alpha", "1.0.0", "mine"))
    )
    catalog = open_catalog(data=str(folder))
    found, wrong = read_allowlist(catalog, {})
    assert wrong == []
    assert {entry.own for entry in found.entries} == {True, False}
    assert lint(catalog) == []


BASE_PIN = {"alpha": "2.0.0", "beta": "1.0.0"}
ALPHA = record("<2.0.0", ">=2.0.0 <=2.0.0")
BETA = record("<1.0.0", ">=1.0.0 <=1.0.0")
BASE_FILES = {"alpha": records_file("alpha", ALPHA), "beta": records_file("beta", BETA)}


def compared(
    tmp_path: Path,
    pinned: dict[str, str],
    files: dict[str, str],
    *,
    before: dict[str, str] | None = None,
    **more: str,
) -> list[Violation]:
    """What is wrong with a catalog that was ``BASE_PIN`` and these files before."""
    old = write_catalog(tmp_path / "old", BASE_PIN, before or BASE_FILES)
    new = write_catalog(tmp_path / "new", pinned, files, **more)
    return lint(open_catalog(str(new)), open_catalog(str(old)))


def test_nothing_changed(tmp_path: Path) -> None:
    assert compared(tmp_path, BASE_PIN, BASE_FILES) == []


def test_a_pin_that_moved_needs_a_record_and_cannot_be_excused(tmp_path: Path) -> None:
    moved = {**BASE_PIN, "alpha": "2.1.0"}
    (found,) = compared(tmp_path, moved, BASE_FILES)
    assert found.rule == "moved-pin"
    assert "moved from 2.0.0 to 2.1.0" in found.message
    assert found.instead == "author one (aicr records new alpha --from 2.0.0 --to 2.1.0)"
    (again,) = compared(
        tmp_path / "b",
        moved,
        BASE_FILES,
        records_allowlist=allowlist(("alpha", "2.1.0", "no time")),
    )
    assert again.rule == "moved-pin"
    wider = record("<2.0.0", ">=2.0.0 <=2.1.0")
    files = {**BASE_FILES, "alpha": records_file("alpha", wider)}
    assert compared(tmp_path / "c", moved, files) == []


def test_a_new_component_may_be_excused(tmp_path: Path) -> None:
    assert (
        compared(
            tmp_path,
            {**BASE_PIN, "gamma": "7.0.0"},
            BASE_FILES,
            records_allowlist=allowlist(("gamma", "7.0.0", "new")),
        )
        == []
    )


def test_a_v_more_is_no_move(tmp_path: Path) -> None:
    assert compared(tmp_path, {**BASE_PIN, "alpha": "v2.0.0"}, BASE_FILES) == []


def test_a_record_may_not_vanish_while_its_component_stays(tmp_path: Path) -> None:
    files = {"alpha": BASE_FILES["alpha"]}
    excused = allowlist(("beta", "1.0.0", "x"))
    (found,) = compared(tmp_path, BASE_PIN, files, records_allowlist=excused)
    assert found.rule == "vanished-record"
    assert 'record of beta from "<1.0.0" to ">=1.0.0 <=1.0.0" (safe)' in found.message
    assert compared(tmp_path / "b", {"alpha": "2.0.0"}, files) == []


def test_a_record_may_become_truer(tmp_path: Path) -> None:
    for name, text in (
        ("ceiling", record("<2.0.0", ">=2.0.0 <=2.0.9", "manual")),
        ("floor", record("<2.0.0", ">=1.9.0 <=2.0.0", "manual")),
        ("from", record(">=1.0.0 <2.0.0", ">=2.0.0 <=2.0.0", "blocked")),
        ("split", record("<1.0.0", "2.0.0") + record(">=1.0.0 <2.0.0", "2.0.0")),
    ):
        files = {**BASE_FILES, "alpha": records_file("alpha", text)}
        found = compared(tmp_path / name, BASE_PIN, files)
        assert "vanished-record" not in {v.rule for v in found}, name


def test_one_of_two_records_of_a_boundary_may_not_vanish() -> None:
    before = records(transition("<1.0.0", "2.0.0"), transition(">=1.0.0 <2.0.0", "2.0.0"))
    after = records(transition("<1.0.0", "2.0.0"))
    (found,) = vanished("alpha", before, after, ("registry.yaml", 3))
    assert '">=1.0.0 <2.0.0"' in found.message
    joined = records(transition("<2.0.0", "2.0.0"))
    assert vanished("alpha", before, joined, ("registry.yaml", 3)) == []


def test_what_is_said_of_replacing_may_not_vanish() -> None:
    before = records(replaces=replacement("beta"))
    (found,) = vanished("alpha", before, records(), ("registry.yaml", 3))
    assert "replacing beta" in found.message
    assert len(vanished("alpha", before, records(replaces=replacement("gamma")), ("r", 1))) == 1
    assert vanished("alpha", before, records(replaces=replacement("beta", "safe")), ("r", 1)) == []


def test_lines_that_are_declared_later_lose_no_record(tmp_path: Path) -> None:
    lines = 'lines: [{name: a, versions: ">=20.0.0 <30.0.0"}, {name: b, versions: "1.0.0"}]\n'
    lines = lines.replace('"1.0.0"', '">=0.1.0 <9.0.0"')
    files = {**BASE_FILES, "alpha": records_file("alpha", ALPHA, lines=lines)}
    assert compared(tmp_path, BASE_PIN, files) == []


def test_a_record_that_cannot_be_read_now_is_told_as_that(tmp_path: Path) -> None:
    files = {**BASE_FILES, "beta": "["}
    assert [v.rule for v in compared(tmp_path, BASE_PIN, files)] == ["document"]
