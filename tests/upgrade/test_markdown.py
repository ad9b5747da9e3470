"""The Markdown report: its shape, and that text in it means only itself."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from aicr.documents.safe import escaped
from aicr.upgrade.check import AtRisk, Report
from aicr.upgrade.inventory import Identity
from aicr.upgrade.markdown import markdown_text
from aicr.upgrade.rows import Row
from upgrade_records import row, transition


def test_markdown() -> None:
    found = row(
        "1.0.0",
        "2.0.0",
        transition("<2.0.0", ">=2.0.0 <=2.5.0", "manual", summary="See:\n  kubectl get `x`\nDone.",
                   precondition="Drain.", reversible=True, reversible_notes="Back.",
                   references=("https://example.com/a_b",)),
        deployer="flux",
        old_identity=Identity("1.0.0", namespace="a"),
        new_identity=Identity("2.0.0", namespace="b"),
    )  # fmt: skip
    text = markdown_text(
        Report("old_recipe.yaml", "new.yaml", [found], deployer="flux", names_skipped="why")
    )
    head, _, rest = text.partition("\n\nOne record covers")
    assert (
        head
        == """\
# Upgrade check

- From: old\\_recipe.yaml
- To: new.yaml
- Deployer: flux

| Component | From | To | Verdict | Notes |
| --- | --- | --- | --- | --- |
| alpha | 1.0.0 | 2.0.0 | manual | 1 major, 1 step, has a precondition, namespace moved |

## alpha 1.0.0 -\\> 2.0.0  (manual)

See:\x20\x20
```
  kubectl get `x`
```
Done."""
    )
    assert "**Moved**\n\n- namespace: a -\\> b\n" in rest
    assert "**Precondition**\n\nDrain.\n" in rest
    assert "**Steps** (deployer: flux)\n\n1. **commit-first**\n\n   Commit.\n\n   Why: One" in rest
    assert "**Reversible**\n\nyes: Back.\n" in rest
    assert "**References**\n\n- https://example.com/a\\_b\n" in rest
    assert rest.endswith(
        "\n\nObject names were not compared: why\n\n"
        "At risk (advisory): not scanned: no cluster access was requested\n\n"
        "**1 component change, 1 needs attention**\n"
    )


def test_a_path_a_note_and_what_is_at_risk() -> None:
    found = row(
        "1.0.0", "3.0.0", transition("<2.0.0", ">=2.0.0 <=2.5.0"),
        transition(">=2.0.0 <3.0.0", "3.0.0", "manual"), transition("<1.0.0", "2.7.0"),
    )  # fmt: skip
    text = markdown_text(
        Report("a", "b", [found], note="One.", at_risk=AtRisk(scanned=True, findings=[{"k": "v"}]))
    )
    assert "\n\nOne.\n\n" in text
    assert "At risk (advisory): 1 found\n- k=v\n" in text
    assert "**Recorded way**" in text or "**Path**" in text


HOSTILE = "<img src=x> | @team `code` **bold** [a](b)\n# head\x1b[31m"


def test_hostile_text_is_no_markup() -> None:
    text = markdown_text(Report(HOSTILE, HOSTILE, [Row(HOSTILE, "added", after=HOSTILE)]))
    assert not re.search(r"(?<!\\)[<`@]|(?<!\\)\*\*bold", text)
    assert "\x1b" not in text
    row_line = next(line for line in text.split("\n") if line.startswith("| \\<img"))
    assert len(re.findall(r"(?<!\\)\|", row_line)) == 6


def test_a_fence_in_a_command_does_not_close_the_block() -> None:
    found = row("1.0.0", "2.0.0", transition("<2.0.0", "2.0.0", "manual", summary="  a ```` b"))
    assert "`````\n  a ```` b\n`````" in markdown_text(Report("a", "b", [found]))


@given(st.text())
def test_escaped_text_is_one_line_and_reads_back(text: str) -> None:
    shown = escaped(text)
    assert "\n" not in shown
    plain = re.sub(r"\\([\\`*_{}\[\]<>#|~&@!])", r"\1", shown)
    assert plain == re.sub(r"\\([\\`*_{}\[\]<>#|~&@!])", r"\1", escaped(plain))
