"""What the records of a catalog say about the moves that operators really make.

A real move is one of a component between two releases of the stack: by default from each release
to the next one, on request from each to every later one; and from the last release to what the
catalog pins now. Each distinct pair of versions counts once.
"""

from __future__ import annotations

from aicr.upgrade.check import Rules
from aicr.upgrade.graph import stack_walk_share, walk_share
from aicr.upgrade.match import UNKNOWN, UNVERSIONED, Judge
from aicr.upgrade.model import BLOCKED, MANUAL, SAFE, Records
from aicr.upgrade.pins import current_pins
from aicr.versions.semver import same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.catalog.layers import Catalog
    from aicr.upgrade.graph import WalkShare
    from aicr.upgrade.match import Judgement

NOW = "catalog"
VERDICTS = (SAFE, MANUAL, BLOCKED, UNKNOWN, UNVERSIONED)


class Move:
    """A version move that releases of the stack made, the first of them from and to which."""

    __slots__ = ("after", "before", "judgement", "later", "release")

    def __init__(
        self, before: str, after: str, release: str, later: str, judgement: Judgement
    ) -> None:
        self.before = before
        self.after = after
        self.release = release
        self.later = later
        self.judgement = judgement

    @property
    def has_verdict(self) -> bool:
        return self.judgement.verdict in (SAFE, MANUAL, BLOCKED)


class Span:
    """Versions that some releases in a row pinned."""

    __slots__ = ("first", "last", "versions")

    def __init__(self, versions: Sequence[str], first: str, last: str) -> None:
        self.versions = versions
        self.first = first
        self.last = last


class Covered:
    """One component: its pins release by release, its moves, its current pins, what it replaces.

    ``assessed`` maps each current pin to ``recorded``, ``allowed`` or ``missing``; ``walks`` is
    how many pairs of past releases have a whole walk between them.
    """

    __slots__ = ("assessed", "component", "moves", "records", "spans", "walks")

    def __init__(
        self,
        component: str,
        *,
        spans: Sequence[Span],
        moves: Sequence[Move],
        assessed: Mapping[str, str],
        records: Records | None,
        walks: WalkShare,
    ) -> None:
        self.component = component
        self.spans = spans
        self.moves = moves
        self.assessed = assessed
        self.records = records
        self.walks = walks


class Coverage:
    """Every component of a catalog and of its release history, by name; ``walks`` is how many
    pairs of past releases have a whole walk between them for the whole stack."""

    __slots__ = ("all_pairs", "components", "releases", "walks")

    def __init__(
        self,
        components: Sequence[Covered],
        releases: Sequence[str],
        *,
        all_pairs: bool,
        walks: WalkShare,
    ) -> None:
        self.walks = walks
        self.components = components
        self.releases = releases
        self.all_pairs = all_pairs

    @property
    def moves(self) -> list[Move]:
        return [move for component in self.components for move in component.moves]


def counted(moves: Sequence[Move]) -> dict[str, int]:
    """How many moves have each verdict."""
    found = dict.fromkeys(VERDICTS, 0)
    for move in moves:
        found[move.judgement.verdict] += 1
    return found


def percentage(moves: Sequence[Move]) -> float | None:
    """The share of the moves that have a verdict; None where there is no move."""
    if not moves:
        return None
    return round(100 * sum(move.has_verdict for move in moves) / len(moves), 1)


def coverage(
    catalog: Catalog, records: Mapping[str, Records], *, all_pairs: bool = False
) -> Coverage:
    """The coverage of a catalog whose records are these."""
    from aicr.upgrade.allowlist import read_allowlist
    from aicr.upgrade.gate import recorded

    rules = Rules(records, catalog.releases)
    pins = current_pins(catalog)
    allowlist, _ = read_allowlist(catalog, records)
    releases = [(release.name, release.pins) for release in catalog.releases]
    history = [
        *releases,
        (NOW, {name: [pin.text for pin in found] for name, found in pins.items()}),
    ]
    shipped = {name for _, pinned in history for name in pinned}
    found = []
    for name in sorted(shipped | records.keys()):
        here = records.get(name)
        known = here if here is not None else Records(name)
        allowed = allowlist.of(name)
        assessed = {
            pin.text: "recorded"
            if recorded(known, pin.text)
            else "allowed"
            if any(entry.covers(pin.text, known) for entry in allowed)
            else "missing"
            for pin in pins.get(name, ())
        }
        stated = [(release, list(pinned.get(name, ()))) for release, pinned in history]
        found.append(
            Covered(
                name,
                spans=_spans(stated),
                moves=_moves(stated, Judge(here), all_pairs=all_pairs),
                assessed=assessed,
                records=here,
                walks=walk_share(rules, name),
            )
        )
    names = [name for name, _ in history]
    return Coverage(found, names, all_pairs=all_pairs, walks=stack_walk_share(rules))


def _spans(stated: Sequence[tuple[str, list[str]]]) -> list[Span]:
    spans: list[Span] = []
    fresh = False
    for release, versions in stated:
        if versions and fresh and list(spans[-1].versions) == versions:
            spans[-1].last = release
        elif versions:
            spans.append(Span(versions, release, release))
        fresh = bool(versions)
    return spans


def _moves(stated: Sequence[tuple[str, list[str]]], judge: Judge, *, all_pairs: bool) -> list[Move]:
    shipping = [(release, versions) for release, versions in stated if versions]
    found: dict[tuple[str, str], Move] = {}
    for index, (release, old) in enumerate(shipping):
        later = shipping[index + 1 :] if all_pairs else shipping[index + 1 : index + 2]
        for other, new in later:
            for before, after in _pairs(old, new):
                if (before, after) in found:
                    continue
                judgement = judge.judge(judge.version(before), judge.version(after))
                found[before, after] = Move(before, after, release, other, judgement)
    return list(found.values())


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, str]]:
    """Which version moved to which; one that both pin stayed where it was."""
    gone = [a for a in old if not any(same(a, b) for b in new)]
    come = [b for b in new if not any(same(a, b) for a in old)]
    return [(a, b) for a in gone for b in come or new]
