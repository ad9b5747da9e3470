"""Which rows come out, what must agree first, and whose deployer counts."""

from __future__ import annotations

from typing import cast

import pytest

from aicr.catalog.layers import Catalog
from aicr.catalog.model import ComponentRef, Release
from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria
from aicr.upgrade.check import (
    Rules,
    check,
    compare,
    records_needed,
)
from aicr.upgrade.inventory import Identity
from aicr.upgrade.model import Records
from aicr.upgrade.sides import choose_deployer, criteria_conflicts
from upgrade_records import records, replacement, row, side, transition

MANUAL = transition("<2.0.0", ">=2.0.0 <=2.5.0", "manual")
SAFE = transition("<2.0.0", ">=2.0.0 <=2.5.0")


class NoCatalog:
    """A catalog without records, releases or values."""

    def __init__(self) -> None:
        self.registry: dict[str, object] = {}
        self.releases: list[Release] = []

    def has(self, path: str) -> bool:
        return False


NO_CATALOG = cast("Catalog", NoCatalog())


def rows_of(
    before: dict[str, Identity], after: dict[str, Identity], known: dict[str, Records]
) -> list[tuple[str, str, str, str]]:
    found = compare(before, after, Rules(known), deployer="helm")
    return [(r.component, r.change, r.verdict, r.reason) for r in found]


def test_no_row_for_what_did_not_change() -> None:
    same = {"a": Identity("1.2.0", namespace="x")}
    assert rows_of(same, {"a": Identity("v1.2.0")}, {}) == []
    assert rows_of({"a": Identity("main")}, {"a": Identity("main")}, {}) == []


def test_rows_of_each_kind_sorted_by_name() -> None:
    found = rows_of(
        {"d": Identity("1"), "c": Identity("1", chart="a"), "b": Identity("1.0.0")},
        {"a": Identity("1"), "c": Identity("1", chart="b"), "b": Identity("2.0.0")},
        {"b": records(SAFE)},
    )
    assert found == [
        ("a", "added", "", ""),
        ("b", "version", "safe", "recorded"),
        ("c", "identity", "unknown", "identity-changed"),
        ("d", "removed", "", ""),
    ]


def test_builds_and_spellings_of_one_version_are_a_change() -> None:
    for new in ("1.2.0+b", "1.2"):
        assert row("1.2.0", new).reason == "no-record"


def test_a_safe_move_that_also_moved_identity_is_unknown_and_others_stand() -> None:
    old, new = Identity("1.0.0", namespace="a"), Identity("2.0.0", namespace="b")
    for move, verdict, reason in (
        (SAFE, "unknown", "identity-changed"),
        (MANUAL, "manual", "recorded"),
        (transition("<2.0.0", "2.0.0", "blocked"), "blocked", "recorded"),
    ):
        found = row("1.0.0", "2.0.0", move, old_identity=old, new_identity=new)
        assert (found.verdict, found.reason, found.fails_run) == (verdict, reason, True)
        assert [c.field for c in found.identity_changes] == ["namespace"]
    assert (
        "verified by lane-7"
        in row("1.0.0", "2.0.0", SAFE, old_identity=old, new_identity=new).explanation
    )


def test_an_arrival_takes_the_place_of_a_departure() -> None:
    before, after = {"old": Identity("1")}, {"b": Identity("2"), "a": Identity("3")}
    known = {
        "a": records(replaces=replacement("old", "blocked")),
        "b": records(replaces=replacement("old", "safe")),
    }
    found = compare(before, after, Rules(known), deployer="helm")
    assert [(r.component, r.change, r.replaces, r.verdict) for r in found] == [
        ("a", "replaced", "old", "blocked"),
        ("b", "added", "old", ""),
    ]
    first, second = found
    assert (first.before, first.after, first.reason, first.stopped_at) == ("1", "3", "recorded", "")
    assert (first.fails_run, len(first.steps)) == (True, 2)
    assert second.notes == "new component; a takes the place of old already"


@pytest.mark.parametrize("both", ["old", "a"])
def test_nothing_is_replaced_where_both_are_on_one_side(both: str) -> None:
    before, after = {"old": Identity("1")}, {"a": Identity("3")}
    if both == "old":
        after["old"] = Identity("1")
    else:
        before["a"] = Identity("3")
    found = rows_of(before, after, {"a": records(replaces=replacement("old"))})
    assert [change for _, change, _, _ in found] == (["added"] if both == "old" else ["removed"])


def test_records_are_needed_for_arrivals_and_versions_that_changed() -> None:
    before = {"a": Identity("1"), "b": Identity("1"), "d": Identity("1")}
    after = {"a": Identity("v1"), "b": Identity("2"), "c": Identity("1")}
    assert records_needed(before, after) == ["b", "c"]


def test_a_chain_of_safe_says_what_all_its_records_say() -> None:
    first = transition(
        "<2.0.0", ">=2.0.0 <=2.5.0", summary="One.", precondition="Drain.", verified_by="lane-1",
        reversible=True, reversible_notes="Back.", references=("https://a", "https://b"),
    )  # fmt: skip
    second = transition(
        ">=2.0.0 <3.0.0", ">=3.0.0 <=3.4.0", summary="Two.", verified_by="lane-2",
        references=("https://b", "https://c"),
    )  # fmt: skip
    found = row("1.0.0", "3.0.0", first, second)
    assert (found.verdict, found.reason, found.covers) == ("safe", "recorded", "2 majors")
    assert found.verified_by == "lane-1; lane-2"
    assert found.summary == "At >=2.0.0 <=2.5.0: One.\n\nAt >=3.0.0 <=3.4.0: Two."
    assert found.precondition == "At >=2.0.0 <=2.5.0: Drain."
    assert found.reversible is None
    assert list(found.references) == ["https://a", "https://b", "https://c"]
    assert found.notes == "2 majors, verified by lane-1; lane-2, has a precondition"


def test_reversible_only_if_all_say_so() -> None:
    def said(one: bool | None, two: bool | None) -> bool | None:
        return row(
            "1.0.0",
            "3.0.0",
            transition("<2.0.0", ">=2.0.0 <=2.5.0", reversible=one),
            transition(">=2.0.0 <3.0.0", ">=3.0.0 <=3.4.0", reversible=two),
        ).reversible

    assert said(True, True) is True
    assert said(True, None) is None
    assert said(False, None) is False


def test_only_the_record_for_this_move_shows_steps() -> None:
    assert len(row("1.0.0", "2.0.0", MANUAL).steps) == 2
    assert len(row("1.0.0", "2.0.0", MANUAL, deployer="flux").steps) == 1
    assert len(row("1.0.0", "2.0.0", transition("<2.0.0", "2.0.0", "blocked")).steps) == 2
    deferring = row("1.0.0", "3.0.0", SAFE, transition("<3.0.0", "3.0.0", "manual"))
    assert (deferring.verdict, len(deferring.steps)) == ("manual", 2)
    for other in (
        row("1.0.0", "3.0.0", MANUAL, transition(">=2.0.0 <3.0.0", "3.0.0", "manual")),
        row("1.0.0", "2.6.0", MANUAL),
        row("0.1.0", "2.0.0", transition(">=1.0.0 <2.0.0", "2.0.0", "manual")),
        row("0.1.0", "2.0.0", transition(">=1.0.0 <2.0.0", "2.0.0", "blocked")),
    ):
        assert other.verdict == "blocked"
        assert (list(other.steps), other.summary, other.precondition, other.covers) == (
            [],
            "",
            "",
            "",
        )


def test_steps_need_a_deployer_and_nothing_else_does() -> None:
    for old, new in (("1.0.0", "1.1.0"), ("2.0.0", "1.0.0"), ("1.0.0", "2.6.0")):
        assert row(old, new, MANUAL, deployer="").verdict in ("unknown", "blocked")
    with pytest.raises(AicrError, match=r"--deployer is required: .* alpha has steps") as refused:
        row("1.0.0", "2.0.0", MANUAL, deployer="")
    assert "helmfile" in refused.value.hint


@pytest.mark.parametrize(
    ("given", "old", "new", "chosen", "warns"),
    [
        ("", "", "", "", False),
        ("helm", "", "", "helm", False),
        ("", "flux", "", "flux", False),
        ("", "", "argocd", "argocd", False),
        ("", "flux", "argocd", "argocd", True),
        ("argocd", "flux", "argocd", "argocd", True),
        ("helm", "flux", "", "helm", True),
        ("flux", "flux", "flux", "flux", False),
    ],
)
def test_whose_deployer_counts(given: str, old: str, new: str, chosen: str, warns: bool) -> None:
    found, warnings = choose_deployer(
        given,
        side("old", is_bundle=bool(old), deployer=old),
        side("new", is_bundle=bool(new), deployer=new),
    )
    assert found == chosen
    assert bool(warnings) is warns
    assert all("change of deployer" in w and old in w and chosen in w for w in warnings)


def test_a_deployer_that_contradicts_the_new_bundle_or_is_unknown() -> None:
    with pytest.raises(AicrError, match=r"--deployer helm contradicts the bundle new.* flux"):
        choose_deployer("helm", side("old"), side("new", is_bundle=True, deployer="flux"))
    with pytest.raises(AicrError, match='--deployer "argo": expected helm, helmfile'):
        choose_deployer("argo", side("old"), side("new"))
    with pytest.raises(AicrError, match=r'old: bundle-info\.yaml names the deployer "argo"'):
        choose_deployer("", side("old", is_bundle=True, deployer="argo"), side("new"))


def test_criteria_that_both_state_must_agree() -> None:
    eks, gke = Criteria(service="eks", os="ubuntu"), Criteria(service="gke", os="rhel")
    assert criteria_conflicts(eks, gke) == [("service", "eks", "gke"), ("os", "ubuntu", "rhel")]
    assert criteria_conflicts(eks, Criteria(service="eks", platform="nim", nodes=4)) == []
    assert criteria_conflicts(Criteria(platform="nim"), Criteria(platform="dynamo")) == []
    with pytest.raises(
        AicrError, match=r"old and new .* \(service eks and gke; os ubuntu and rhel"
    ):
        check(side("old", criteria=eks), side("new", criteria=gke), NO_CATALOG)
    report = check(
        side("old", criteria=eks),
        side("new", criteria=gke),
        NO_CATALOG,
        allow_different_criteria=True,
    )
    assert "different clusters" in report.warnings[0]


def names(text: str) -> dict[str, object]:
    return {"a": {"fullnameOverride": text}}


@pytest.mark.parametrize(
    ("old_values", "new_values", "overrides", "moved"),
    [
        (names("x"), names("x"), None, []),
        (names("x"), names("y"), None, ["fullnameOverride"]),
        (names("x"), {"a": {}}, None, ["fullnameOverride"]),
        (names("x"), None, {"fullnameOverride": "x"}, []),
        (names("x"), None, {"fullnameOverride": "y"}, ["fullnameOverride"]),
        ({"a": {}}, None, {"sub": {"nameOverride": "y"}}, ["sub.nameOverride"]),
    ],
)
def test_object_names_are_compared_from_a_bundle_with_values(
    old_values: dict[str, object],
    new_values: dict[str, object] | None,
    overrides: dict[str, object] | None,
    moved: list[str],
) -> None:
    ref = ComponentRef("a", version="1.0.0")
    report = check(
        side("old", ref, is_bundle=True, values=old_values),
        side(
            "new",
            ComponentRef("a", version="1.0.0", overrides=overrides),
            is_bundle=new_values is not None,
            values=new_values,
        ),
        NO_CATALOG,
    )
    assert report.names_compared
    assert report.names_skipped == ""
    assert [c.field for r in report.rows for c in r.identity_changes] == moved


def test_values_that_cannot_be_read_hide_no_name_of_another_component() -> None:
    a = ComponentRef("a", version="1.0.0")
    b = ComponentRef("b", version="1.0.0")
    odd = ComponentRef("b", version="1.0.0", values_file="nope.yaml")
    named, bare = {"fullnameOverride": "x"}, dict[str, object]()
    read = side("old", a, b, is_bundle=True, values={"a": named, "b": {}})
    partly = side("old", a, b, is_bundle=True, values_missing="b is broken", readable={"a": named})
    unlisted = side("old", a, b, is_bundle=True, values={"a": named})
    after = side("new", a, b, is_bundle=True, values={"a": bare, "b": bare})
    for old, new, why in (
        (read, side("new", a, odd), "the values of b in new could not be computed"),
        (partly, after, "b is broken (not compared: b)"),
        (unlisted, after, "old does not say where the values of b are"),
    ):
        report = check(old, new, NO_CATALOG)
        moved = {row.component: [one.field for one in row.identity_changes] for row in report.rows}
        assert moved == {"a": ["fullnameOverride"]}
        assert [row.verdict for row in report.rows] == ["unknown"]
        assert not report.names_compared
        assert why in report.names_skipped


def test_where_object_names_cannot_be_compared_the_report_says_why() -> None:
    ref = ComponentRef("a", version="1.0.0")
    bundle = side("old", ref, is_bundle=True, values={"a": {}})
    for old, new, why in (
        (side("old", ref), side("new", ref), "old is not a bundle"),
        (side("old", ref, is_bundle=True, values_missing="the chart is remote"), side("new", ref),
         "the chart is remote"),
        (bundle, side("new", ref, is_bundle=True), "new has no values on disk"),
        (side("old", ref, is_bundle=True, values={}), side("new", ref),
         "old does not say where the values of a are"),
        (bundle, side("new", ref, is_bundle=True, values={"b": {}}),
         "new does not say where the values of a are"),
        (bundle, side("new", ComponentRef("a", version="1.0.0", values_file="v.yaml")),
         'the values of a in new could not be computed: the component "a" names the values file'),
    ):  # fmt: skip
        report = check(old, new, NO_CATALOG)
        assert not report.names_compared
        assert why in report.names_skipped
