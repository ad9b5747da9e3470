"""What the page tells a person to do: each thing once, in order, and every row of it."""

from __future__ import annotations

import re

from aicr.upgrade.check import Report, Rules, compare
from aicr.upgrade.check_html import report_html
from aicr.upgrade.inventory import Identity
from aicr.upgrade.model import Records
from upgrade_records import transition

KNOWN = {
    "ahead": Records("ahead", [transition("<2.0.0", ">=2.0.0 <=2.5.0")]),
    "first": Records(
        "first",
        [
            transition("<2.0.0", ">=2.0.0 <=2.5.0"),
            transition(">=2.1.0 <3.0.0", ">=3.0.0 <=3.0.0", "manual"),
        ],
    ),
    "hands": Records("hands", [transition("<2.0.0", ">=2.0.0 <=2.5.0", "manual")]),
    "late": Records("late", [transition(">=1.0.0 <2.0.0", ">=2.0.0 <=2.5.0")]),
    "no": Records("no", [transition("<2.0.0", ">=2.0.0 <=2.5.0", "blocked")]),
    "silent": Records("silent", [transition("<2.0.0", ">=2.0.0 <=2.5.0")]),
}
MOVES = {
    "ahead": ("1.0.0", "3.0.0"),
    "back": ("2.0.0", "1.0.0"),
    "first": ("1.0.0", "3.0.0"),
    "hands": ("1.0.0", "2.0.0"),
    "late": ("0.5.0", "2.0.0"),
    "new-a": ("1.0.0", "2.0.0"),
    "new-b": ("1.0.0", "2.0.0"),
    "no": ("1.0.0", "2.0.0"),
    "odd": ("1.0.0", "main"),
    "silent": ("2.1.0", "2.2.0"),
}


def a_page(names: list[str], *, moved: tuple[str, ...] = ()) -> str:
    before = {name: Identity(MOVES[name][0], namespace="a", chart="c") for name in names}
    after = {
        name: Identity(MOVES[name][1], namespace="b" if name in moved else "a", chart="c")
        for name in names
    }
    rows = compare(before, after, Rules(KNOWN, []), deployer="helm")
    return report_html(Report("old", "new", rows, deployer="helm"))


def items(page: str) -> list[str]:
    """The items of the list as a person reads them."""
    (listed,) = re.findall(r'<ol class="todo">(.*?)</ol>', page, re.DOTALL)
    return [
        " ".join(re.sub(r"<[^>]+>", " ", one).split())
        .replace("&gt;", ">")
        .replace("&lt;", "<")
        .replace(" :", ":")
        .replace(" ,", ",")
        for one in re.findall(r"<li>(.*?)</li>", listed, re.DOTALL)
    ]


def test_what_stops_then_the_work_then_the_bundle() -> None:
    assert items(a_page(list(MOVES))) == [
        "blocked ahead: go no further than >=2.0.0 <=2.5.0: beyond it nobody has looked",
        "blocked first: land on 2.5.0 first, then check again",
        "blocked late: records begin at >=1.0.0 <2.0.0: read the notes for the way there",
        "blocked no: not in one go; the steps say how",
        "unversioned odd: pin a version that can be compared, then check again",
        "unknown back: a way back is in no record: review it by hand",
        "unknown no record: read the release notes and decide (2) new-a, new-b",
        "unknown silent: records are silent here: read the release notes and decide",
        "Check again: only what is left then can be applied together.",
        "manual hands: run its 2 steps",
        "Apply the new bundle, where a step has not done so already.",
    ]


def test_what_moved_as_well_is_said() -> None:
    found = items(a_page(["new-a", "new-b", "no"], moved=("new-b", "no")))
    assert found[:2] == [
        "blocked no: not in one go; the steps say how (namespace moved as well)",
        (
            "unknown no record: read the release notes and decide (2) new-a, "
            "new-b (namespace moved as well)"
        ),
    ]


def test_every_row_that_needs_attention_is_linked() -> None:
    page = a_page(list(MOVES))
    (listed,) = re.findall(r'<ol class="todo">(.*?)</ol>', page, re.DOTALL)
    links = dict(re.findall(r'<a href="#([^"]+)">([^<]+)</a>', listed))
    assert sorted(links.values()) == sorted(MOVES)
    for place, name in links.items():
        row = page[: page.index(f'<div id="{place}">')].rpartition("<strong>")[2]
        assert row.startswith(f"{name}</strong>")


def test_how_many_there_are_of_each_kind() -> None:
    (tally,) = re.findall(r'<ul class="tally">(.*?)</ul>', a_page(list(MOVES)), re.DOTALL)
    assert re.findall(r">(\d+ \w+)<", tally) == [
        "4 blocked",
        "1 unversioned",
        "4 unknown",
        "1 manual",
    ]
    assert '<ul class="tally">' not in a_page(["new-a", "new-b"])
