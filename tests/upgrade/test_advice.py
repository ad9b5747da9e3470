"""Each reason says, in fixed words, what its verdict rests on and what to do."""

from __future__ import annotations

import pytest

from aicr.catalog.model import Release
from aicr.upgrade.inventory import Identity
from aicr.upgrade.rows import Row
from upgrade_records import row, transition

UP_TO_2 = ("<2.0.0", ">=2.0.0 <=2.5.0")
UP_TO_3 = (">=2.0.0 <3.0.0", ">=3.0.0 <=3.0.0")


def manual(bounds: tuple[str, str]) -> Row:
    return row("1.0.0", "3.0.0", transition(*bounds, "manual"))


CASES: dict[str, tuple[Row, str, list[str]]] = {
    "safe": (
        row("2.0.0-rc.1", "2.0.3", transition(*UP_TO_2)),
        "3 patches, verified by lane-7",
        ["One record covers this move, verified by lane-7. Apply the new bundle."],
    ),
    "safe with a precondition": (
        row("1.0.0", "2.0.0", transition(*UP_TO_2, precondition="Drain.")),
        "1 major, verified by lane-7, has a precondition",
        ["Make sure that the precondition holds first; nothing checks it."],
    ),
    "chain of safe": (
        row("1.0.0", "3.0.0", transition(*UP_TO_2), transition(*UP_TO_3)),
        "2 majors, verified by lane-7",
        ["crosses 2 recorded boundaries, all safe"],
    ),
    "manual": (
        row("1.0.0", "2.0.0", transition(*UP_TO_2, "manual")),
        "1 major, 2 steps",
        ["Run the steps in order; apply the new bundle where they say so, or else at the end."],
    ),
    "one of several is manual": (
        row("1.0.0", "3.0.0", transition(*UP_TO_2), transition("<3.0.0", "3.0.0", "manual")),
        "2 majors, 2 steps",
        ["Of the 2 recorded boundaries that the move crosses, one needs work by hand."],
    ),
    "blocked by its record": (
        row("1.0.0", "2.0.0", transition(*UP_TO_2, "blocked")),
        "1 major, not in one go, 2 steps",
        ["blocks it at >=2.0.0 <=2.5.0", "Its steps say what to do instead"],
    ),
    "beyond the ceiling, boundary crossed": (
        row("1.0.0", "2.6.0", transition(*UP_TO_2)),
        "1 major, no further than >=2.0.0 <=2.5.0",
        ["was assessed for >=2.0.0 <=2.5.0; 2.6.0 is above. Go no further than that",
         "widen the record with evidence", "Records lead no further than 2.5.0",
         "No release pins 2.5.0: check that it was published"],
    ),
    "beyond the ceiling, nothing crossed": (
        row("2.5.0", "2.6.0", transition(*UP_TO_2)),
        "1 minor, no further than >=2.0.0 <=2.5.0",
        ["2.5.0 is past every recorded boundary, and 2.6.0 lies above >=2.0.0 <=2.5.0"],
    ),
    "several boundaries, with a path": (
        row("1.0.0", "3.0.0", transition(*UP_TO_2, "manual"), transition(*UP_TO_3, "manual"),
            releases=(Release("r1", {"alpha": ["2.4.0"]}),)),
        "2 majors, land on 2.4.0 first",
        ["crosses 2 recorded boundaries at once (>=2.0.0 <=2.5.0, >=3.0.0 <=3.0.0)",
         "Land on 2.4.0 first, then go on to 3.0.0", "aicr upgrade-plan lays out the way."],
    ),
    "several boundaries, an unpinned stop": (
        row("1.0.0", "3.0.0", transition(*UP_TO_2, "manual"), transition(*UP_TO_3, "manual")),
        "2 majors, land on 2.5.0 first",
        ["No release pins 2.5.0: check that it was published before you plan with it."],
    ),
    "several boundaries, a dead end": (
        row("1.0.0", "3.0.0", transition(*UP_TO_2, "manual"),
            transition(">=2.6.0 <3.0.0", "3.0.0", "manual")),
        "2 majors, 2 boundaries at once",
        ["Records lead no further than 2.5.0. Missing is a record whose from contains 2.5.0"],
    ),
    "several boundaries, nothing leads on": (
        row("0.1.0", "3.0.0", transition(">=1.0.0 <2.0.0", "2.0.0"), transition(*UP_TO_3)),
        "3 majors, 2 boundaries at once",
        ["Nothing recorded leads on from 0.1.0. Missing is a record whose from contains 0.1.0"],
    ),
    "a record blocks, by hand at the end": (
        row("1.0.0", "3.0.0", transition(*UP_TO_2, "manual"), transition(*UP_TO_3, "blocked")),
        "2 majors, land on 2.5.0 first",
        ["A record blocks at >=3.0.0 <=3.0.0, but this move crosses 1 more boundary.",
         "are not shown", "Land on 2.5.0 first; from 2.5.0 a record's steps say how to go on"],
    ),
    "a record blocks the first boundary": (
        row("1.0.0", "3.0.0", transition(*UP_TO_2, "blocked"), transition(*UP_TO_3)),
        "2 majors, a record blocks at >=2.0.0 <=2.5.0",
        ["The move to 2.5.0 is blocked by a record that has steps for it"],
    ),
    "a record blocks, for another start": (
        row("0.1.0", "2.0.0", transition(">=1.0.0 <2.0.0", "2.0.0", "blocked")),
        "2 majors, a record blocks at 2.0.0",
        ["but for moves that start inside >=1.0.0 <2.0.0, not from 0.1.0"],
    ),
    "an origin below the records": (
        row("0.1.0", "2.0.0", transition(">=1.0.0 <2.0.0", "2.0.0", "manual")),
        "2 majors, records begin at >=1.0.0 <2.0.0",
        ["Records begin at >=1.0.0 <2.0.0, and none judges the way there: read the release notes",
         "Its steps belong to another move and are not shown"],
    ),
    "an origin in a gap": (
        row("1.5.0", "2.0.0", transition("<1.0.0", "2.0.0", "manual")),
        "1 major, no record for this starting point",
        ["A record must be authored for moves that start at 1.5.0."],
    ),
    "no record": (
        row("1.0.0", "2.0.0"),
        "1 major, no record",
        ["does not mean that the move is safe", "release notes from 1.0.0 to 2.0.0",
         "author the first record"],
    ),
    "no boundary": (
        row("1.0.0", "1.1.0", transition(*UP_TO_2)),
        "1 minor, no boundary recorded here",
        ["no boundary between 1.0.0 and 1.1.0", "decide whether a boundary belongs there"],
    ),
    "another build": (
        row("1.0.0+a", "1.0.0+b", transition(*UP_TO_2)),
        "build, no boundary recorded here",
        ["different builds or spellings of one version"],
    ),
    "downgrade": (
        row("2.0.0", "1.0.0", transition(*UP_TO_2)),
        "1 major, downgrade",
        ["no record can ever make it known", "--fail-on-error=false"],
    ),
    "unversioned": (
        row("main", "1.0.0"),
        "not comparable",
        ['"main" is not comparable', "Pin something comparable on both sides"],
    ),
    "unversioned on both sides": (
        row("main", ""),
        "not comparable",
        ['"main" and no version are not comparable'],
    ),
    "identity alone": (
        row("1.0.0", "1.0.0", old_identity=Identity("1.0.0", namespace="a"),
            new_identity=Identity("1.0.0", namespace="b")),
        "namespace moved",
        ["The version is the same, but namespace moved", "Move the release deliberately",
         "--inherit-from"],
    ),
    "safe and identity": (
        row("1.0.0", "2.0.0", transition(*UP_TO_2),
            old_identity=Identity("1.0.0", namespace="a"),
            new_identity=Identity("2.0.0", namespace="b")),
        "1 major, namespace moved",
        ["The version move alone is recorded as safe (verified by lane-7), but namespace moved"],
    ),
    "manual and identity": (
        row("1.0.0", "2.0.0", transition(*UP_TO_2, "manual"),
            old_identity=Identity("1.0.0", namespace="a"),
            new_identity=Identity("2.0.0", namespace="b")),
        "1 major, 2 steps, namespace moved",
        ["All of this speaks of the version; namespace moved as well."],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_advice(case: str) -> None:
    found, notes, says = CASES[case]
    assert found.notes == notes
    for words in says:
        assert words in found.explanation
    assert found.explanation.endswith(".")


def test_every_reason_has_a_case() -> None:
    from aicr.upgrade.advice import _REASONS

    assert {found.reason for found, _, _ in CASES.values()} == set(_REASONS)


def test_added_and_removed_need_no_advice() -> None:
    added, removed = Row("a", "added", after="1"), Row("a", "removed", before="1")
    assert (added.notes, added.explanation) == ("new component, nothing to do", "")
    assert (removed.notes, removed.explanation) == ("no longer in the recipe, stays installed", "")
    assert not added.fails_run
    assert not removed.fails_run
