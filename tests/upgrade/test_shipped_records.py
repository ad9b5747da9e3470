"""The shipped records: their shape and how much they cover. No verdict is asserted, so that they
stay free to become truer."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from aicr.artifact.deployers import DEPLOYERS
from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.upgrade.coverage import coverage, percentage
from aicr.upgrade.lint import lint
from aicr.upgrade.model import Records, Replacement, Transition, choose_steps
from aicr.upgrade.records import load_records
from record_catalog import HEAD, put, records_file, write_catalog

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return open_catalog()


@pytest.fixture(scope="module")
def records(catalog: Catalog) -> dict[str, Records]:
    return load_records(catalog, catalog.registry)


def judgements(records: dict[str, Records]) -> list[Transition | Replacement]:
    found: list[Transition | Replacement] = []
    for one in records.values():
        found += one.transitions
        if one.replaces is not None:
            found.append(one.replaces)
    return found


def test_they_lint(catalog: Catalog) -> None:
    start = time.process_time()
    assert [str(violation) for violation in lint(catalog)] == []
    assert time.process_time() - start < 1


def test_each_says_what_happens_and_what_to_do(records: dict[str, Records]) -> None:
    for one in judgements(records):
        assert len(one.summary) > 80, one.place
        if one.verdict == "safe":
            assert len(one.verified_by) > 20, one.place
            continue
        for deployer in DEPLOYERS:
            steps = choose_steps(one.step_groups, deployer)
            assert steps, (one.place, deployer)
            for step in steps:
                assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", step.id), (one.place, step.id)
                assert step.description.strip(), (one.place, step.id)
                assert step.reason.strip(), (one.place, step.id)


def test_each_transition_can_be_checked_and_followed_up(records: dict[str, Records]) -> None:
    for one in (t for r in records.values() for t in r.transitions):
        assert one.references, one.place
        assert len(set(one.references)) == len(one.references), one.place
        assert all(re.fullmatch(r"https://[^\s<>]+", ref) for ref in one.references), one.place
        assert one.affected_resources, one.place
        if one.verdict == "manual":
            assert re.search(r"\b(kubectl|helm|aws|curl)\b", one.precondition), one.place


def test_lines_of_prose_are_the_reader_s_to_wrap(records: dict[str, Records]) -> None:
    """Text breaks where a command is copied, not where the file's lines end."""
    for one in (t for r in records.values() for t in r.transitions):
        texts = [one.summary, one.precondition, one.reversible_notes]
        texts += [s.description for g in one.step_groups for s in g.steps]
        for text in texts:
            for line, following in zip(text.split("\n"), text.split("\n")[1:], strict=False):
                copied = line.startswith(" ") or following.startswith(" ")
                wraps = line[-1:].isalpha() and following[:1].islower() and len(line) > 70
                assert copied or not wraps, (one.place, line)


def test_most_moves_have_a_verdict_and_the_rest_is_written_down(
    catalog: Catalog, records: dict[str, Records]
) -> None:
    found = coverage(catalog, records)
    share = percentage(found.moves)
    assert share is not None
    assert share >= 90
    todo = (DOCS / "records-todo.md").read_text(encoding="utf-8")
    for component in found.components:
        assert "missing" not in component.assessed.values()
        for move in component.moves:
            if not move.has_verdict:
                assert f"**{component.component} {move.before} -> {move.after}**" in todo


def examples(flag: str) -> list[tuple[str, str]]:
    text = (DOCS / "writing-records.md").read_text(encoding="utf-8")
    return re.findall(rf"```yaml {flag} ?([a-z-]*)\n(.*?)```", text, re.DOTALL)


def rules(folder: Path, text: str, **more: str) -> list[str]:
    write_catalog(folder, {"example": "2.0.3", "predecessor": ""}, {"example": text}, **more)
    return [violation.rule for violation in lint(open_catalog(str(folder)))]


def test_the_guide_s_good_examples_are_good(tmp_path: Path) -> None:
    found = examples("good")
    assert len(found) == 3
    for index, (_, text) in enumerate(found):
        # What the pin needs besides is another matter.
        assert set(rules(tmp_path / str(index), text)) <= {"coverage"}, text


def test_the_guide_s_bad_examples_are_refused_as_it_says(tmp_path: Path) -> None:
    found = examples("bad")
    assert len(found) == 6
    for rule, text in found:
        assert rule in rules(tmp_path / rule, records_file("example", text)), text


def test_the_guide_s_allowlist_is_read(tmp_path: Path) -> None:
    ((_, text),) = examples("allowlist")
    write_catalog(tmp_path, {"example": "2.4.1"})
    put(tmp_path, "records-allowlist.yaml", text)
    assert text.startswith(HEAD)
    assert lint(open_catalog(str(tmp_path))) == []


def test_the_guide_names_every_rule() -> None:
    from aicr.upgrade.violations import RULES

    text = (DOCS / "writing-records.md").read_text(encoding="utf-8")
    for name, asks in RULES.items():
        assert f"| `{name}` | {asks} |\n" in text
