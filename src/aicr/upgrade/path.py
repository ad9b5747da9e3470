"""Which recorded stops lead from one version to another, and how far they lead where none does;
and which releases of the whole stack do so for all components together.

A move that answers ``safe`` or ``manual`` by itself can be walked: ``Judgement.walkable`` says so,
and everything here asks that alone. Stops are the versions that an inclusive bound of a record
names, and those that a release of the stack pinned. Everything here depends only on where source
and target lie among these versions and the bounds, so answers are kept by that.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from aicr.upgrade.chains import HOP, MANUAL_HOP, UNPINNED_STOP, best_chains, best_hop
from aicr.upgrade.match import Judge
from aicr.upgrade.model import BLOCKED, MANUAL, SAFE
from aicr.versions.semver import same, without_v

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aicr.catalog.model import Release
    from aicr.upgrade.match import Judgement
    from aicr.versions.semver import Key, Version


class Stop:
    """A version to land on: ``release`` is the newest one that pins it, "" where none does."""

    __slots__ = ("release", "text", "version")

    def __init__(self, version: Version, text: str, release: str) -> None:
        self.version = version
        self.text = text
        self.release = release

    def spelled_for(self, source: Version) -> str:
        """As the newest release writes it, else as the bound with the v of the running version."""
        if self.release:
            return self.text
        return ("v" if source.text[:1] == "v" else "") + without_v(self.text)


class Hop:
    """One move of a path: where it lands, the answer for it, the release that pins it."""

    __slots__ = ("judgement", "release", "to")

    def __init__(self, to: str, judgement: Judgement, release: str) -> None:
        self.to = to
        self.judgement = judgement
        self.release = release


class Ways:
    """How to go on from a blocked move.

    ``path`` are the hops to the target, empty where there is no such chain; ``furthest`` the stop
    that the records lead to instead, with the hops to it in ``to_furthest``; ``land_at`` where to
    go first, "" where nothing recorded helps. Where no stop can be reached, ``by_hand`` is the
    highest one that a blocked record has steps for.
    """

    __slots__ = ("by_hand", "furthest", "land_at", "path", "to_furthest")

    def __init__(
        self,
        path: Sequence[Hop] = (),
        land_at: str = "",
        furthest: str = "",
        to_furthest: Sequence[Hop] = (),
        by_hand: str = "",
    ) -> None:
        self.path = path
        self.land_at = land_at
        self.furthest = furthest
        self.to_furthest = to_furthest
        self.by_hand = by_hand


_NONE = Ways()
_TARGET = -1


def pins_of(releases: Iterable[Release], component: str) -> list[tuple[str, str]]:
    """(release, version) for each version of the component that a release pinned, oldest first."""
    return [(r.name, version) for r in releases for version in r.pins.get(component, ())]


class Walks:
    """The recorded ways of one component, over its records and the pins of past releases."""

    __slots__ = (
        "_firsts",
        "_from_source",
        "_judge",
        "_known",
        "_points",
        "_rows",
        "_stops",
        "_to_goal",
    )

    def __init__(self, judge: Judge, pins: Iterable[tuple[str, str]] = ()) -> None:
        self._judge = judge
        found: dict[Key, Stop] = {}
        points: set[Key] = set()
        transitions = judge.records.transitions if judge.records is not None else ()
        for transition in transitions:
            for bounds in (transition.origin.bounds, transition.to.bounds):
                for operator, version in bounds:
                    points.add(version.key)
                    if operator not in ("<", ">"):
                        found.setdefault(version.key, Stop(version, version.text, ""))
        for release, text in pins:
            pinned = judge.version(text)
            if pinned is not None:
                points.add(pinned.key)
                found[pinned.key] = Stop(pinned, text, release)
        self._points = sorted(points)
        self._stops = [found[key] for key in sorted(found)]
        self._rows: list[list[int] | None] = [None] * len(self._stops)
        self._firsts: dict[int, list[int]] = {}
        self._to_goal: dict[int, tuple[list[int], list[int]]] = {}
        self._from_source: dict[int, list[int]] = {}
        self._known: dict[tuple[int, int], _Chains] = {}

    @property
    def stops(self) -> Sequence[Stop]:
        """Every stop of the component, ascending."""
        return self._stops

    def version(self, text: str) -> Version | None:
        """The version that ``text`` spells, in its line; None where it cannot be compared."""
        return self._judge.version(text)

    def leads(self, source: Version, target: Version) -> Judgement | None:
        """The answer for the jump by itself if it can be walked, else None."""
        found = self._judge.judge(source, target)
        return found if found.walkable else None

    def open(self, before: str, after: str, *, moved: bool = False) -> bool:
        """Whether a component as written here can go there in one go, or stays as it is; one
        whose identity moves with it cannot by a ``safe``, which speaks of versions alone."""
        return self.can_go(before, after, self.version(before), self.version(after), moved)

    def can_go(
        self,
        before: str,
        after: str,
        source: Version | None,
        target: Version | None,
        moved: bool,
    ) -> bool:
        """As ``open``, for versions that are parsed already."""
        if same(before, after):
            return not moved
        if source is None or target is None:
            return False
        found = self._judge.judge(source, target)
        return found.walkable and not (moved and found.verdict == SAFE)

    def ends_by_hand(self, before: str, after: str) -> bool:
        """Whether some chain to the target ends with a ``manual`` hop."""
        source, target = self.version(before), self.version(after)
        if source is None or target is None or target.key <= source.key:
            return False
        _, high = self._between(source, target)
        starts = [source, *(self._stops[i].version for i in self._reached(source) if i < high)]
        return any(self._judge.judge(start, target).verdict == MANUAL for start in starts)

    def ways(self, source: Version, target: Version) -> Ways:
        """How to go on where the move is blocked; all empty for any other move, and where the
        move's own record says how."""
        direct = self._judge.judge(source, target)
        if direct.verdict != BLOCKED or direct.by_hand:
            return _NONE
        place = (self._place(source), self._place(target))
        chains = self._known.get(place)
        if chains is None:
            chains = self._known[place] = self._search(source, target)
        path = self._hops(chains.path, source, target)
        if path:
            return Ways(path, land_at=path[0].to)
        to_furthest = self._hops(chains.to_furthest, source, None)
        if not to_furthest:
            index = chains.first_by_hand
            return Ways(by_hand=self._stops[index].spelled_for(source) if index >= 0 else "")
        return Ways(
            land_at=to_furthest[0].to if chains.by_hand else "",
            furthest=to_furthest[-1].to,
            to_furthest=to_furthest,
        )

    def _by_hand_from(self, source: Version, low: int, high: int) -> int:
        """The highest stop that a blocked record has steps for, -1 where there is none."""
        for index in range(high - 1, low - 1, -1):
            if self._judge.judge(source, self._stops[index].version).by_hand:
                return index
        return -1

    def _place(self, version: Version) -> int:
        at = bisect_left(self._points, version.key)
        return 2 * at + (at < len(self._points) and self._points[at] == version.key)

    def _between(self, source: Version, target: Version) -> tuple[int, int]:
        """The stops strictly between two versions, as a range of indexes."""
        low = bisect_right(self._stops, source.key, key=lambda s: s.version.key)
        high = bisect_left(self._stops, target.key, key=lambda s: s.version.key)
        return low, max(low, high)

    def _hops(self, indexes: Sequence[int], source: Version, target: Version | None) -> list[Hop]:
        """The hops over these stops, and to the target where it is part of the chain."""
        hops: list[Hop] = []
        at = source
        for index in indexes:
            stop = self._stops[index] if index != _TARGET else None
            to = stop.version if stop is not None else target
            if to is None:
                break
            text = stop.spelled_for(source) if stop is not None else to.text
            release = stop.release if stop is not None else ""
            hops.append(Hop(text, self._judge.judge(at, to), release))
            at = to
        return hops

    def _search(self, source: Version, target: Version) -> _Chains:
        low, high = self._between(source, target)
        path = self._chain(source, low, high, target)
        if path:
            return _Chains([*path[:-1], _TARGET], (), by_hand=False)
        reached = [i for i in self._reached(source) if i < high]
        if not reached:
            first = self._by_hand_from(source, low, high)
            return _Chains((), (), by_hand=False, first_by_hand=first)
        by_hand = [i for i in reached if self._judge.judge(self._stops[i].version, target).by_hand]
        goal = (by_hand or reached)[-1]
        to_furthest = self._chain(source, low, goal, self._stops[goal].version)
        return _Chains((), to_furthest, by_hand=bool(by_hand))

    def _chain(self, source: Version, low: int, high: int, goal: Version) -> list[int]:
        """The best chain from source over the stops low to high-1 to the goal, as indexes of
        stops with ``high`` for the goal; empty if there is none."""
        place = self._place(goal)
        known = self._to_goal.get(place)
        if known is None:
            last = [self._weight(stop.version, goal) for stop in self._stops[:high]]
            known = self._to_goal[place] = best_chains(
                high, lambda i: [*self._row(i)[i + 1 : high], last[i]]
            )
        following, total = known
        weights = [*self._first(source)[low:high], self._weight(source, goal)]
        at, _ = best_hop(low, weights, following, total)
        chain: list[int] = []
        while at >= 0:
            chain.append(at)
            at = following[at]
        return chain

    def _reached(self, source: Version) -> list[int]:
        """All stops that chains from the source reach, ascending."""
        place = self._place(source)
        reached = self._from_source.get(place)
        if reached is None:
            reached = self._from_source[place] = []
            for index, direct in enumerate(self._first(source)):
                if direct or any(self._row(before)[index] for before in reached):
                    reached.append(index)
        return reached

    def _first(self, source: Version) -> list[int]:
        """The weights of the hops from the source to each stop."""
        place = self._place(source)
        row = self._firsts.get(place)
        if row is None:
            row = self._firsts[place] = self._weights_from(source)
        return row

    def _row(self, index: int) -> list[int]:
        """The weights of the hops from one stop to each stop."""
        row = self._rows[index]
        if row is None:
            row = self._rows[index] = self._weights_from(self._stops[index].version)
        return row

    def _weights_from(self, source: Version) -> list[int]:
        above = bisect_right(self._stops, source.key, key=lambda s: s.version.key)
        return [0] * above + [
            weight + (0 if stop.release else UNPINNED_STOP) if weight else 0
            for stop in self._stops[above:]
            for weight in (self._weight(source, stop.version),)
        ]

    def _weight(self, source: Version, target: Version) -> int:
        if target.key <= source.key:
            return 0
        found = self.leads(source, target)
        if found is None:
            return 0
        return HOP + (MANUAL_HOP if found.verdict == MANUAL else 0)


class _Chains:
    """What a search found, by indexes of stops."""

    __slots__ = ("by_hand", "first_by_hand", "path", "to_furthest")

    def __init__(
        self,
        path: Sequence[int],
        to_furthest: Sequence[int],
        *,
        by_hand: bool,
        first_by_hand: int = -1,
    ) -> None:
        self.first_by_hand = first_by_hand
        self.path = path
        self.to_furthest = to_furthest
        self.by_hand = by_hand


class Leg:
    """One component of a joint walk: its version at each node, "" where a node does not ship it.

    The first node is what runs, the last one what is wanted; ``moved`` where the identity moves
    with the last move.
    """

    __slots__ = ("_known", "_parsed", "component", "moved", "versions", "walks")

    def __init__(
        self, component: str, walks: Walks, versions: Sequence[str], *, moved: bool = False
    ) -> None:
        self.component = component
        self.walks = walks
        self.versions = versions
        self.moved = moved
        self._parsed = [walks.version(text) for text in versions]
        self._known: dict[tuple[str, str, bool], bool] = {}

    def open(self, start: int, end: int) -> bool:
        """Whether the component can go from one node to another."""
        before, after = self.versions[start], self.versions[end]
        is_last = end == len(self.versions) - 1
        if not after and not is_last:
            return False
        place = (before, after, is_last and self.moved)
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = self.walks.can_go(
                before, after, self._parsed[start], self._parsed[end], place[2]
            )
        return known


class JointWalk:
    """The nodes of the best walk, the last one included; else the newest node that can be reached
    and, for each later one, the first component by name that closes the way to it."""

    __slots__ = ("closed", "nodes", "reached")

    def __init__(
        self, nodes: Sequence[int], reached: int = 0, closed: Sequence[tuple[int, str]] = ()
    ) -> None:
        self.nodes = nodes
        self.reached = reached
        self.closed = closed


def joint_walk(legs: Iterable[Leg], goal: int) -> JointWalk:
    """The walk over ascending nodes, from 0 to ``goal``, that all legs can make together: the
    fewest hops, then the higher first differing node."""
    ordered = sorted(legs, key=lambda leg: leg.component)

    def can_go(start: int, end: int) -> bool:
        return all(leg.open(start, end) for leg in ordered)

    following, _ = best_chains(
        goal, lambda i: [HOP if can_go(i, j) else 0 for j in range(i + 1, goal + 1)]
    )
    if following[0] >= 0:
        nodes = [following[0]]
        while nodes[-1] != goal:
            nodes.append(following[nodes[-1]])
        return JointWalk(nodes)
    reached = [0]
    for node in range(1, goal):
        if any(can_go(before, node) for before in reached):
            reached.append(node)
    newest = reached[-1]
    closed = [
        (node, next(leg.component for leg in ordered if not leg.open(newest, node)))
        for node in range(newest + 1, goal + 1)
    ]
    return JointWalk((), newest, closed)
