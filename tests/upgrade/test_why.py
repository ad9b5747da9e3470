"""``--why``: the rule that decided, the records with their lines, and why the others did not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.upgrade.check import Rules, compare
from aicr.upgrade.inventory import Identity
from aicr.upgrade.model import Records, Transition
from aicr.upgrade.why import Why, why, why_text, why_values
from upgrade_oracle import Record
from upgrade_records import records, replacement, transition
from upgrade_strategies import LADDER, built, record_lists


def explained(old: Identity, new: Identity, known: Records | None) -> Why:
    rules = Rules({"alpha": known} if known is not None else {})
    (found,) = compare({"alpha": old}, {"alpha": new}, rules, deployer="helm")
    return why(found, known)


FIRST = transition("<1.0.0", ">=2.0.0 <=2.5.0", "blocked", line=5)
SECOND = transition(">=1.0.0 <2.0.0", ">=2.0.0 <=2.5.0", "manual", line=12)
THIRD = transition("<9.0.0", ">=9.0.0 <=9.0.0", line=20)
EARLY = transition("<0.5.0", ">=0.5.0 <=0.5.0", line=30)


def test_text_whole() -> None:
    found = explained(Identity("1.0.0"), Identity("2.0.0"), records(FIRST, SECOND, THIRD, EARLY))
    assert (
        why_text(found)
        == """\
WHY alpha 1.0.0 -> 2.0.0

  verdict   manual, reason recorded
  decided   rule 4: components/alpha/upgrades.yaml:12 is for this move and
            says manual

RECORDS
  components/alpha/upgrades.yaml:5  blocked  from <1.0.0  to >=2.0.0 <=2.5.0
      displaced: a record of the same floor is for 1.0.0, this one is not
  components/alpha/upgrades.yaml:12  manual  from >=1.0.0 <2.0.0  to >=2.0.0 <=2.5.0
      crossed; 1.0.0 is inside its from, its ceiling reaches 2.0.0, gave the
      answer
  components/alpha/upgrades.yaml:20  safe  from <9.0.0  to >=9.0.0 <=9.0.0
      not crossed: 2.0.0 is below its floor
  components/alpha/upgrades.yaml:30  safe  from <0.5.0  to >=0.5.0 <=0.5.0
      not crossed: 1.0.0 is past its floor already

RULES
    1 a version that cannot be compared: 1.0.0 and 2.0.0 are both SemVer
    2 which boundaries the move crosses: crossed: >=2.0.0 <=2.5.0
      (components/alpha/upgrades.yaml:12)
    3 no boundary crossed: 1 crossed
  * 4 one boundary crossed, by its record's own starting points:
      components/alpha/upgrades.yaml:12 is for this move and says manual
    5 a crossed record that blocks: not reached
    6 several boundaries crossed: not reached
    7 one boundary crossed, by a starting point that its record does not know:
      not reached

  One record covers this move. Run the steps in order; apply the new bundle
  where they say so, or else at the end.
"""
    )


UP_TO_2 = transition("<2.0.0", ">=2.0.0 <=2.5.0", line=5)
UP_TO_3 = transition(">=2.0.0 <3.0.0", ">=3.0.0 <=3.0.0", line=9)


@pytest.mark.parametrize(
    ("old", "new", "known", "decided"),
    [
        ("main", "1.0.0", None, 'rule 1: not SemVer: "main"'),
        ("2.0.0", "1.0.0", None, "rule 3: nothing crossed, and 1.0.0 is below 2.0.0"),
        ("1.0.0", "2.0.0", None, "rule 3: the component has no record of a version move"),
        ("1.0.0", "1.1.0", [UP_TO_2], ("rule 3: nothing crossed, and 1.1.0 is within the highest "
         "ceiling, >=2.0.0 <=2.5.0 (components/alpha/upgrades.yaml:5)")),
        ("2.0.0", "2.6.0", [UP_TO_2], "rule 3: nothing crossed, and 2.6.0 is above the highest"),
        ("1.0.0", "2.6.0", [UP_TO_2], "rule 4: 2.6.0 is above the ceiling of >=2.0.0 <=2.5.0"),
        ("0.1.0", "2.0.0", [transition(">=1.0.0 <2.0.0", "2.0.0", "blocked", line=7)],
         "rule 5: components/alpha/upgrades.yaml:7 is authored blocked, the lowest such boundary"),
        ("1.0.0", "3.0.0", [UP_TO_2, UP_TO_3], "rule 6: all are safe, and each leads to the next"),
        ("1.0.0", "3.1.0", [UP_TO_2, UP_TO_3],
         "rule 6: all are safe, but 3.1.0 is above the ceiling of the last one (>=3.0.0 <=3.0.0)"),
        ("0.1.0", "3.0.0", [transition(">=1.0.0 <2.0.0", "2.0.0"), UP_TO_3],
         "rule 6: all are safe, but 0.1.0 is outside the from of the first one"),
        ("1.0.0", "3.0.0", [UP_TO_2, transition(">=2.6.0 <3.0.0", "3.0.0")],
         ("rule 6: all are safe, but no version is both inside a to (>=2.0.0 <=2.5.0) and inside "
         "the next from (>=2.6.0 <3.0.0)")),
        ("1.0.0", "3.0.0", [UP_TO_2, transition("<3.0.0", "3.0.0", "manual", line=9)],
         ("rule 6: components/alpha/upgrades.yaml:9 alone is not safe, is for this start, and says "
         "manual")),
        ("1.0.0", "3.0.0", [UP_TO_2, transition(">=2.0.0 <3.0.0", "3.0.0", "manual", line=9)],
         "rule 6: components/alpha/upgrades.yaml:9 alone is not safe, but 1.0.0 is outside its"),
        ("1.0.0", "3.1.0", [UP_TO_2, transition("<3.0.0", "3.0.0", "manual", line=9)],
         "rule 6: components/alpha/upgrades.yaml:9 alone is not safe, but 3.1.0 is above its"),
        ("1.0.0", "3.0.0", [transition("<2.0.0", "2.0.0", "manual"),
                            transition("<3.0.0", "3.0.0", "manual")],
         "rule 6: 2 of 2 are not safe"),
        ("0.1.0", "2.0.0", [transition(">=1.0.0 <2.0.0", "2.0.0", line=7)],
         "rule 7: 0.1.0 is below the from >=1.0.0 <2.0.0 of components/alpha/upgrades.yaml:7"),
        ("1.5.0", "2.0.0", [transition("<1.0.0", "2.0.0", line=7)],
         "rule 7: 1.5.0 is outside the from <1.0.0 of components/alpha/upgrades.yaml:7"),
    ],
)  # fmt: skip
def test_what_decided(old: str, new: str, known: list[Transition] | None, decided: str) -> None:
    found = explained(Identity(old), Identity(new), records(*known) if known else None)
    assert found.decided.startswith(decided)


@given(record_lists(), st.sampled_from(LADDER), st.sampled_from(LADDER))
def test_exactly_one_rule_decides_and_every_record_is_accounted_for(
    some: list[Record], old: str, new: str
) -> None:
    if old.removeprefix("v") == new.removeprefix("v"):
        return
    known = built(some)
    found = explained(Identity(old), Identity(new), known)
    assert [number for number, decided, _ in found.rules if decided] == [
        found.row.judgement.rule if found.row.judgement else 0
    ]
    assert [t for t, _ in found.records] == list(known.transitions if known is not None else ())
    values = why_values(found)
    assert values["verdict"] == found.row.verdict


def test_identity_takes_a_safe_verdict_back() -> None:
    old, new = Identity("1.0.0", chart="a"), Identity("2.0.0", chart="b")
    assert explained(old, new, records(UP_TO_2)).decided.endswith(
        "; then identity: chart moved, so safe became unknown"
    )
    assert explained(old, new, None).decided.endswith("since only safe is withdrawn")
    same = Identity("1.0.0", chart="b")
    assert explained(old, same, None).decided == (
        "the version is the same on both sides and the identity moved"
    )


def test_arrivals_and_departures() -> None:
    known = records(replaces=replacement("old"))
    rules = Rules({"alpha": known})
    (found,) = compare({"old": Identity("1")}, {"alpha": Identity("2")}, rules, deployer="helm")
    assert why(found, known).decided == (
        "the replaces block at components/alpha/upgrades.yaml:4 says manual"
    )
    added, removed = compare({"b": Identity("1")}, {"a": Identity("2")}, Rules({}))
    assert why(added, None).decided.startswith("only the new side has the component")
    assert why_text(why(removed, None)).startswith("WHY b 1 -> -\n\n  verdict   no verdict\n")
