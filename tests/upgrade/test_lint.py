"""The linter on catalog folders: every rule by example, all in one run, and hostile input."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aicr.catalog.open import open_catalog
from aicr.upgrade.lint import lint
from aicr.upgrade.violations import RULES, Violation, rule_of
from record_catalog import (
    HEAD,
    STEPS,
    allowlist,
    put,
    record,
    records_file,
    releases,
    write_catalog,
)


def linted(folder: Path, data: Path | None = None) -> list[Violation]:
    if data is not None:
        return lint(open_catalog(data=str(data)))
    return lint(open_catalog(str(folder)))


def rules(found: list[Violation]) -> list[str]:
    return [violation.rule for violation in found]


def one(tmp_path: Path, text: str, pin: str = "2.0.0", **files: str) -> list[Violation]:
    """What is wrong with the records of a single component."""
    return linted(write_catalog(tmp_path / "c", {"alpha": pin}, {"alpha": text}, **files))


UPPER = record("<2.0.0", ">=2.0.0 <=2.0.0")


def test_nothing_wrong(tmp_path: Path) -> None:
    assert one(tmp_path, records_file("alpha", UPPER)) == []


@pytest.mark.parametrize(
    ("text", "rule", "line", "said"),
    [
        (record(to=">=2.0.0"), "range", 6, "lacks an upper bound"),
        (record(origin=">=1.0.0"), "range", 5, "has no upper bound"),
        (record(origin="^1.0.0"), "range", 5, "write '>=1.0.0 <2.0.0'"),
        (record(verdict="fine"), "verdict", 7, 'found "fine"'),
        (UPPER.replace("    verifiedBy: lane-7\n", ""), "verdict", 5, "verifiedBy: is missing"),
        (UPPER.replace("A boundary.", '" "'), "prose", 8, "summary: is blank"),
        (record(verdict="manual").replace(STEPS, ""), "steps", 5, "manual and blocked have steps"),
        (record(verdict="manual").replace("{steps: [", "{deployers: [helm], steps: ["), "steps", 9,
         "no group is for helmfile"),
        (record(verdict="manual").replace("description", "descripton"), "prose", 9, "is missing"),
        (UPPER + "    reversible: true\n", "reversible", 5, "reversible: true needs it"),
        (UPPER + "    affectedResources: [{group: x}]\n", "resources", 10, "at least one kind"),
        (UPPER + "    hooks: [x]\n", "hooks", 10, "is reserved"),
        (UPPER + "    hazard: x\n", "field", 10, 'unknown key "hazard"'),
        (UPPER + "    reversible: 1\n", "reversible", 10, "expected true or false"),
        (record(to=">2.0.0 <2.0.1-0", verdict="manual"), "unsatisfiable", 6, "holds no version"),
        (record(origin="<=2.0.0", to=">=2.0.0 <=2.0.0"), "forward-only", 5, '"<2.0.0"'),
        (record(), "ceiling", 6, 'write ">=2.0.0 <=2.0.0"'),
        (UPPER + record(">=1.0.0 <1.1.0", "2.0.0", "manual"), "same-floor", 10, "on line 5"),
        (record("<1.0.0", ">=1.0.0 <=1.1.0") + record(">1.0.0 <2.0.0", "2.0.0"), "hole", 10,
         "nothing starts from 1.0.0:"),
    ],
)  # fmt: skip
def test_each_rule(tmp_path: Path, text: str, rule: str, line: int, said: str) -> None:
    found = one(tmp_path, records_file("alpha", text))
    assert rule in rules(found), [str(v) for v in found]
    match = next(v for v in found if v.rule == rule)
    assert (match.file, match.line) == (f"{tmp_path}/c/components/alpha/upgrades.yaml", line)
    assert said in match.text
    assert match.rule in RULES


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("v1beta1", "v9", "header"),
        ("kind: ComponentUpgrades", "kind: Upgrades", "header"),
        ("component: alpha", "component: beta", "header"),
        ("transitions:", "transition:", "field"),
        ("transitions:\n", 'lines: [{name: a, versions: "<3.0.0"}]\ntransitions:\n', "lines"),
        ("component: alpha\n", "component: alpha\nhooks: {}\n", "hooks"),
        ("component: alpha\n", "component: [\n", "document"),
        ("component: alpha\n", "component: alpha\ncomponent: alpha\n", "document"),
    ],
)  # fmt: skip
def test_whole_files(tmp_path: Path, old: str, new: str, rule: str) -> None:
    found = one(tmp_path, records_file("alpha", UPPER).replace(old, new, 1))
    assert rule in rules(found)
    assert "coverage" not in rules(found), "one fault is told once"


def test_all_violations_of_all_files_come_in_one_run(tmp_path: Path) -> None:
    several = records_file(
        "alpha",
        record("<=1.0.0", ">=1.0.0 <=9.0.0"),
        record(">1.0.0 <2.0.0", ">=2.0.0", "manual"),
        record("<2.0.0", "2.0.0", "perhaps"),
    )
    folder = write_catalog(
        tmp_path / "c",
        {"alpha": "2.0.0", "beta": "1.0.0", "gamma": "3.0.0"},
        {"alpha": several, "beta": records_file("beta", record("<1.0.0", "0.9.0"), tail="x: 1\n")},
        components__delta__upgrades=records_file("delta", UPPER),
    )
    found = linted(folder)
    assert found == sorted(found, key=lambda v: v.order)
    assert {v.rule for v in found} == {
        "forward-only", "ceiling", "range", "verdict", "field", "file", "coverage",
    }  # fmt: skip
    assert {Path(v.file).parent.name for v in found} == {"alpha", "beta", "delta", "c"}


def test_a_part_that_cannot_be_read_makes_no_hole(tmp_path: Path) -> None:
    first, last = record("<1.0.0", ">=1.0.0 <=1.1.0"), record(">=1.5.0 <2.0.0", "2.0.0")
    middle = record(">=1.0.0 <1.5.0", ">=1.5.0 <=~1.6.0", "manual")
    found = one(tmp_path, records_file("alpha", first, middle, last))
    assert rules(found) == ["range"]


def test_orphans_and_files_that_are_not_there(tmp_path: Path) -> None:
    folder = write_catalog(tmp_path / "c", {"alpha": "2.0.0"}, {"alpha": "x"})
    (folder / "components/alpha/upgrades.yaml").unlink()
    put(folder, "components/alpha/other.yaml", records_file("alpha", UPPER))
    put(folder, "components/alpha/values.yaml", "note: ComponentUpgrades are elsewhere\n")
    put(folder, "components/beta/upgrades.yml", "[")
    found = linted(folder)
    assert [(v.rule, Path(v.file).name) for v in found] == [
        ("file", "other.yaml"),
        ("file", "upgrades.yml"),
        ("file", "registry.yaml"),
    ]
    assert "is not in the catalog" in found[2].message
    assert found[2].line == 4


def test_an_entry_whose_upgrades_name_no_file(tmp_path: Path) -> None:
    folder = write_catalog(
        tmp_path / "c", {"alpha": "2.0.0"}, {"alpha": records_file("alpha", UPPER)}
    )
    text = (folder / "registry.yaml").read_text().replace("{file:", "{path:")
    (folder / "registry.yaml").write_text(text)
    assert "alpha.upgrades has no file" in " ".join(v.message for v in linted(folder))


@pytest.mark.parametrize(
    ("name", "known"), [("alpha", False), ("nobody", False), ("beta", True), ("departed", True)]
)
def test_what_a_component_replaces_must_exist(tmp_path: Path, name: str, known: bool) -> None:
    text = records_file(
        "alpha", tail=f"replaces: {{component: {name}, verdict: safe, verifiedBy: x, summary: y}}\n"
    )
    folder = write_catalog(
        tmp_path / "c",
        {"alpha": "", "beta": ""},
        {"alpha": text},
        releases=releases(r1={"departed": "1.0.0"}),
    )
    assert rules(linted(folder)) == ([] if known else ["replaces"])


LINES = """\
lines:
  - {name: old, versions: ">=20.0.0 <30.0.0"}
  - {name: new, versions: ">=1.0.0 <9.0.0"}
"""


def test_lines_order_every_rule(tmp_path: Path) -> None:
    crossing = record("<1.0.0", ">=1.0.0 <=2.0.0")
    assert one(tmp_path, records_file("alpha", crossing, lines=LINES)) == []
    without = one(tmp_path / "b", records_file("alpha", record("<31.0.0", ">=1.0.0 <=2.0.0")))
    assert rules(without) == ["forward-only"]
    stray = one(tmp_path / "d", records_file("alpha", record("<31.0.0", "2.0.0"), lines=LINES))
    assert rules(stray) == ["range"]
    assert "in none of the lines: old (>=20.0.0 <30.0.0), then new" in stray[0].message


def test_holes_between_lines_are_told_line_by_line(tmp_path: Path) -> None:
    text = records_file(
        "alpha",
        record("<21.0.0", ">=21.0.0 <=22.0.0"),
        record(">=22.0.0 <30.0.0", ">=2.0.0 <=2.0.0"),
        lines=LINES,
    )
    found = one(tmp_path, text)
    assert rules(found) == ["hole", "hole"]
    said = " ".join(v.message for v in found)
    assert "nothing starts from >=21.0.0 <22.0.0" in said
    assert "nothing starts from >=1.0.0 <2.0.0" in said


def test_a_pin_of_no_line_has_no_record(tmp_path: Path) -> None:
    text = records_file("alpha", record("<1.0.0", ">=1.0.0 <=2.0.0", "manual"), lines=LINES)
    found = one(tmp_path, text, pin="10.0.0")
    assert rules(found) == ["coverage"]
    assert "pin a version that its records can compare" in found[0].instead


@pytest.mark.parametrize(
    "text",
    ["", "null", "[]", "- x", "text", "5", "{}", "\0", "\ufeff", "a: &a [*a]", "? [x]\n: y",
     "transitions: 7", "transitions: [7, [], null]", f"{HEAD}kind: [x]\ncomponent: {{}}\n",
     "x: " + "[" * 100 + "]" * 100, "transitions: {from: x}", "lines: 7", "lines: [[], 7]",
     "replaces: []", "replaces: {component: {}}", "--- a\n--- b\n", "<<: 7",
     "transitions: !!set {}"],
)  # fmt: skip
def test_odd_documents_are_violations(tmp_path: Path, text: str) -> None:
    found = one(tmp_path, text)
    assert found
    assert all(v.rule in RULES and v.text for v in found)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    folder = write_catalog(tmp_path / "c", {"alpha": "2.0.0"}, {"alpha": "x"})
    path = folder / "components/alpha/upgrades.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    (violation,) = linted(folder)
    assert violation.rule == "document"
    assert "UTF-8" in violation.message


keys = st.sampled_from(
    ["apiVersion", "kind", "component", "transitions", "from", "to", "verdict", "summary", "steps",
     "stepsByDeployer", "deployers", "lines", "name", "versions", "replaces", "hooks", "id", "x"]
)  # fmt: skip
words = st.one_of(
    st.sampled_from([">=1.0.0 <2.0.0", "<1.0.0", "safe", "manual", "alpha", "ComponentUpgrades",
                     "aicr.run/v1beta1", "helm"]),
    st.text(max_size=6), st.none(), st.booleans(), st.integers(), st.floats(),
)  # fmt: skip
documents = st.recursive(
    words, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5)
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.dictionaries(keys, documents, max_size=6))
def test_no_document_breaks_the_linter(tmp_path: Path, document: dict[str, object]) -> None:
    import json

    folder = write_catalog(tmp_path / "c", {"alpha": "2.0.0"}, {"alpha": json.dumps(document)})
    assert all(v.rule in RULES for v in linted(folder))


def test_a_folder_over_the_shipped_catalog_answers_for_itself(tmp_path: Path) -> None:
    mine = write_catalog(
        tmp_path / "mine",
        {"alpha": "2.0.0"},
        {"alpha": records_file("alpha", record())},
        records_allowlist=allowlist(("alpha", "7.0.0", "never")),
    )
    found = linted(mine, data=mine)
    assert {(v.rule, Path(v.file).name) for v in found} == {
        ("ceiling", "upgrades.yaml"),
        ("allowlist", "records-allowlist.yaml"),
    }


def test_the_rule_of_a_field() -> None:
    assert rule_of("transitions[3].stepsByDeployer[0].steps[1].description", "x") == "prose"
    assert rule_of("lines[0].name", "x") == "lines"
    assert rule_of("", 'unknown key "x"') == "field"
    assert rule_of("", "expected a map") == "field"


def test_5000_records_within_10_seconds(tmp_path: Path) -> None:
    text = STEPS.replace("Apply.", '"' + "Apply the bundle, then look at what it says. " * 10 + '"')
    pins, files = {}, {}
    for number in range(250):
        name = f"component-{number}"
        pins[name] = "20.0.0"
        files[name] = records_file(
            name,
            *(
                record(
                    f">={major - 1}.0.0 <{major}.0.0" if major > 1 else "<1.0.0",
                    f">={major}.0.0 <={major}.9.0",
                    "manual",
                ).replace(STEPS, text)
                for major in range(1, 21)
            ),
        )
    folder = write_catalog(tmp_path / "big", pins, files)
    start = time.process_time()
    assert linted(folder) == []
    assert time.process_time() - start < 10
