"""Coverage: which moves there are, what is said of them, and how that is counted and written."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from aicr.catalog.open import open_catalog
from aicr.documents.emit import json_text
from aicr.upgrade.coverage import Coverage, counted, coverage, percentage
from aicr.upgrade.coverage_report import (
    coverage_markdown,
    coverage_text,
    coverage_values,
    headline,
)
from aicr.upgrade.match import Judge
from aicr.upgrade.records import load_records
from aicr.versions.semver import same
from record_catalog import allowlist, record, records_file, releases, write_catalog

ALPHA = records_file(
    "alpha",
    record("<2.0.0", ">=2.0.0 <=2.0.0"),
    record(">=2.0.0 <3.0.0", ">=3.0.0 <=3.0.0", "manual"),
    tail="replaces: {component: delta, verdict: safe, verifiedBy: x, summary: y}\n",
)
HISTORY = releases(
    r1={"alpha": "1.0.0", "beta": "1.0.0"},
    r2={"alpha": "2.0.0", "beta": "1.0.0", "gamma": "main"},
    r3={"alpha": "2.0.0", "beta": "1.1.0", "gamma": "5.0.0"},
)


def found_in(folder: Path, *, all_pairs: bool = False) -> Coverage:
    write_catalog(
        folder,
        {"alpha": "3.0.0", "beta": "1.1.0", "delta": ""},
        {"alpha": ALPHA},
        releases=HISTORY,
        records_allowlist=allowlist(("beta", "1.1.0", "x")),
    )
    catalog = open_catalog(str(folder))
    return coverage(catalog, load_records(catalog, catalog.registry), all_pairs=all_pairs)


def moves(found: Coverage, name: str) -> list[tuple[str, str, str]]:
    (component,) = (c for c in found.components if c.component == name)
    return [(m.before, m.after, m.judgement.verdict) for m in component.moves]


def test_moves_from_each_release_to_the_next(tmp_path: Path) -> None:
    found = found_in(tmp_path)
    assert moves(found, "alpha") == [("1.0.0", "2.0.0", "safe"), ("2.0.0", "3.0.0", "manual")]
    assert moves(found, "beta") == [("1.0.0", "1.1.0", "unknown")]
    assert moves(found, "gamma") == [("main", "5.0.0", "unversioned")]
    assert found.releases == ["r1", "r2", "r3", "catalog"]
    assert counted(found.moves) == {
        "safe": 1, "manual": 1, "blocked": 0, "unknown": 1, "unversioned": 1,
    }  # fmt: skip
    assert percentage(found.moves) == 50.0
    assert percentage([]) is None
    assert headline(found) == (
        "2 of 4 moves between one release and the next have a verdict (50%): "
        "1 safe, 1 manual, 1 unknown, 1 unversioned"
    )


def test_moves_that_skip_releases(tmp_path: Path) -> None:
    found = found_in(tmp_path, all_pairs=True)
    assert ("1.0.0", "3.0.0", "blocked") in moves(found, "alpha")
    assert len(moves(found, "beta")) == 1
    assert "every pair of releases" in headline(found)


def test_pins_release_by_release_and_the_gate(tmp_path: Path) -> None:
    found = {c.component: c for c in found_in(tmp_path).components}
    assert [(list(s.versions), s.first, s.last) for s in found["alpha"].spans] == [
        (["1.0.0"], "r1", "r1"),
        (["2.0.0"], "r2", "r3"),
        (["3.0.0"], "catalog", "catalog"),
    ]
    assert found["alpha"].assessed == {"3.0.0": "recorded"}
    assert found["beta"].assessed == {"1.1.0": "allowed"}
    assert found["gamma"].assessed == {}


def test_the_three_forms(tmp_path: Path) -> None:
    found = found_in(tmp_path)
    text = coverage_text(found)
    assert "  2.0.0  (r2 to r3)" in text
    assert "  1.0.0 -> 1.1.0  unknown (no-record)" in text
    assert "  replaces delta  safe" in text
    assert text.endswith(f"{headline(found)}\n")
    markdown = coverage_markdown(found)
    assert markdown.startswith(f"{headline(found)}.\n\n| COMPONENT |")
    assert "| alpha | 1.0.0 | 2.0.0 | r1 to r2 | safe | recorded |" in markdown
    values = json.loads(json_text(coverage_values(found)))
    assert values["summary"]["percentage"] == 50.0
    assert values["components"][0]["replaces"] == {"component": "delta", "verdict": "safe"}
    assert sum(c["summary"]["moves"] for c in values["components"]) == 4


def test_no_move_at_all(tmp_path: Path) -> None:
    write_catalog(tmp_path, {"alpha": "1.0.0"})
    catalog = open_catalog(str(tmp_path))
    found = coverage(catalog, {})
    assert headline(found) == "no move between one release and the next"
    assert found.components[0].assessed == {"1.0.0": "missing"}


versions = st.sampled_from(["1.0.0", "v1.0.0", "1.1.0", "2.0.0", "main"])


@given(st.lists(st.lists(versions, max_size=2, unique=True), max_size=4), st.booleans())
def test_a_move_leaves_one_version_for_another(history: list[list[str]], all_pairs: bool) -> None:
    from aicr.upgrade.coverage import _moves

    stated = [(f"r{n}", pins) for n, pins in enumerate(history)]
    found = _moves(stated, Judge(None), all_pairs=all_pairs)
    assert len({(m.before, m.after) for m in found}) == len(found)
    for move in found:
        old, new = dict(stated)[move.release], dict(stated)[move.later]
        assert move.before in old
        assert move.after in new
        assert not same(move.before, move.after)
        assert not any(same(move.before, pin) for pin in new), "it stayed where it was"
