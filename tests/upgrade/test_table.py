"""The table, byte for byte, and that no text from elsewhere can break it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aicr.catalog.model import Release
from aicr.upgrade.check import AtRisk, Report, Rules, compare
from aicr.upgrade.check_html import report_html
from aicr.upgrade.inventory import Identity
from aicr.upgrade.markdown import markdown_text
from aicr.upgrade.model import Records, Step, StepGroup, Transition
from aicr.upgrade.table import table_text
from aicr.upgrade.wrap import WIDTH, wrapped
from aicr.versions.ranges import parse_range
from upgrade_records import STEPS, transition


def a_report() -> Report:
    known = {
        "alpha-operator": Records("a", [transition("<1.2.3", ">=1.2.3 <=1.2.5")]),
        "beta-operator": Records(
            "b",
            [
                Transition(
                    parse_range("<0.18.0"),
                    parse_range(">=0.18.0 <=0.19.1"),
                    "manual",
                    summary="The Widget kind is renamed.",
                    precondition="No Widget is being\n  kubectl get widgets\nreconciled.",
                    reversible=False,
                    step_groups=STEPS,
                    references=["https://example.com/notes"],
                )
            ],
        ),
        "gamma-operator": Records(
            "g",
            [
                transition("<2.0.0", ">=2.0.0 <=2.5.0"),
                transition(">=2.1.0 <3.0.0", ">=3.0.0 <=3.0.0", "manual"),
            ],
        ),
    }
    before = {
        "alpha-operator": Identity("1.2.0"),
        "beta-operator": Identity("0.17.2"),
        "delta": Identity("1.0.0", namespace="a", chart="x"),
        "gamma-operator": Identity("1.0.0"),
    }
    after = {
        "alpha-operator": Identity("1.2.3"),
        "beta-operator": Identity("0.18.1"),
        "delta": Identity("1.0.0", namespace="b", chart="x"),
        "gamma-operator": Identity("3.0.0"),
        "zeta-operator": Identity("0.4.0"),
    }
    rules = Rules(known, [Release("v1", {"gamma-operator": ["2.1.0"]})])
    return Report(
        "old-recipe.yaml",
        "new-recipe.yaml",
        compare(before, after, rules, deployer="helm"),
        deployer="helm",
        names_skipped="old-recipe.yaml is not a bundle",
    )


TABLE = """\
UPGRADE CHECK
  from      old-recipe.yaml
  to        new-recipe.yaml
  deployer  helm

COMPONENT       FROM         TO           VERDICT  NOTES
---------       ----         --           -------  -----
alpha-operator  1.2.0        1.2.3        safe     3 patches, verified by lane-7
beta-operator   0.17.2       0.18.1       manual   1 minor, 2 steps, has a precondition
delta           namespace=a  namespace=b  unknown  namespace moved
gamma-operator  1.0.0        3.0.0        blocked  2 majors, land on 2.1.0 first
zeta-operator   -            0.4.0        -        new component, nothing to do

beta-operator 0.17.2 -> 0.18.1  (manual)
  The Widget kind is renamed.

  One record covers this move. Make sure that the precondition holds first;
  nothing checks it. Run the steps in order; apply the new bundle where they
  say so, or else at the end.

  PRECONDITION
    No Widget is being
      kubectl get widgets
    reconciled.

  STEPS (deployer: helm)
    1. apply-crds
       Apply the CRDs.
    2. upgrade
       Upgrade.

  REVERSIBLE
    no

  REFERENCES
    https://example.com/notes

delta 1.0.0, moved  (unknown)
  The version is the same, but namespace moved. No record assesses such a
  move, and applied as it is a second copy may be installed beside the running
  one. Move the release deliberately, or resolve the new recipe with
  --inherit-from so that it keeps what is deployed. Then run the check again.

  MOVED
    namespace: a -> b

gamma-operator 1.0.0 -> 3.0.0  (blocked)
  The move crosses 2 recorded boundaries at once
  (>=2.0.0 <=2.5.0, >=3.0.0 <=3.0.0), and no single record describes it, so no
  steps are shown. Land on 2.1.0 first, then go on to 3.0.0; run the check
  again after each. aicr upgrade-plan lays out the way.

  PATH
    2.1.0 (safe, pinned by v1)
    3.0.0 (manual)

  object names were not compared: old-recipe.yaml is not a bundle

AT RISK (advisory)
  not scanned: no cluster access was requested

5 component changes, 3 need attention
"""


def test_table() -> None:
    assert table_text(a_report()) == TABLE


def test_nothing_changed() -> None:
    text = table_text(Report("a.yaml", "b.yaml", (), note="Nothing to compare."))
    assert text == (
        "UPGRADE CHECK\n  from      a.yaml\n  to        b.yaml\n\n  Nothing to compare.\n\n"
        "AT RISK (advisory)\n  not scanned: no cluster access was requested\n\n"
        "no component changes\n"
    )


def test_nothing_changed_as_far_as_was_compared() -> None:
    report = Report("a", "b", (), names_skipped="the values in a could not be read: why")
    said = "bject names were not compared: the values in a could not be read: why"
    assert said in table_text(report)
    assert said in markdown_text(report)
    assert said in report_html(report)


def test_one_change_and_what_is_at_risk() -> None:
    rows = compare({}, {"a": Identity("1")}, Rules({}))
    text = table_text(
        Report("a", "b", rows, at_risk=AtRisk(scanned=True, reason="", findings=[{"kind": "W\n"}]))
    )
    assert text.endswith("AT RISK (advisory)\n  1 found\n    kind=W \n\n"
                         "1 component change, 0 need attention\n")  # fmt: skip
    text = table_text(Report("a", "b", rows, at_risk=AtRisk(scanned=True, reason="nothing found")))
    assert "  nothing found\n" in text


HOSTILE = "\x1b[2J\nsafe-operator  1.0.0  2.0.0  safe     ok\r\u202e\u200b"


def test_hostile_text_forges_no_row_and_no_colour() -> None:
    record = Transition(
        parse_range("<2.0.0"),
        parse_range(">=2.0.0 <=2.0.0"),
        "manual",
        summary=HOSTILE,
        precondition=HOSTILE,
        reversible=True,
        reversible_notes=HOSTILE,
        step_groups=[StepGroup(None, [Step(HOSTILE, HOSTILE, HOSTILE)])],
        references=[HOSTILE],
    )
    name = "alpha" + HOSTILE
    rows = compare(
        {name: Identity("1.0.0", namespace="a" + HOSTILE), "x": Identity(HOSTILE)},
        {name: Identity("2.0.0", namespace="b" + HOSTILE), "x": Identity("1")},
        Rules({name: Records(name, [record])}),
        deployer="helm",
    )
    text = table_text(Report(HOSTILE, HOSTILE, rows, deployer=HOSTILE, names_skipped=HOSTILE))
    assert not any(c in text for c in "\x1b\r\u202e\u200b")
    assert not any(line.startswith("safe-operator") for line in text.split("\n"))


@given(st.text(alphabet=" ab\n<>=1.-", max_size=300))
def test_wrapping_loses_no_word_and_keeps_the_width(text: str) -> None:
    lines = wrapped(text, "  ")
    assert " ".join(lines).split() == text.split()
    for line in lines:
        assert len(line) <= WIDTH or " " not in line.strip() or _is_kept_whole(line)
        assert line == "" or line.startswith("  ")


def _is_kept_whole(line: str) -> bool:
    """An indented line of the author, or one range."""
    return line[2] == " " or all(word[0] in "<>=" or i for i, word in enumerate(line.split()))


def test_neither_a_url_nor_a_range_is_split() -> None:
    url = "https://example.com/" + "a" * 80
    text = f"{'word ' * 13}(>=2.0.0-alpha.1 <=2.5.0), see {url} and {'word ' * 12}>= 1.2.3, <2.0.0."
    lines = wrapped(text, "  ")
    assert any("(>=2.0.0-alpha.1 <=2.5.0)," in line for line in lines)
    assert f"  {url}" in lines
    assert any(">= 1.2.3, <2.0.0." in line for line in lines)
    assert all(len(line) <= WIDTH for line in lines if url not in line)
