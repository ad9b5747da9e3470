"""The recorded ways of a component as a graph: versions, the jumps between them, and the holes.

Nodes are the versions that a release pinned and those that an inclusive bound of a record names.
An edge is a jump that can be walked in one go. A hole is a jump from one node to the next one
that cannot be: what lies between has no way that records know.
"""

from __future__ import annotations

from aicr.versions.semver import same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.check import Rules
    from aicr.upgrade.match import Judgement
    from aicr.upgrade.path import Stop, Walks


class Edge:
    """A jump between two nodes and its answer."""

    __slots__ = ("after", "before", "judgement")

    def __init__(self, before: Stop, after: Stop, judgement: Judgement) -> None:
        self.before = before
        self.after = after
        self.judgement = judgement


class Graph:
    """``holes`` are the jumps from each node to the next one that cannot be walked."""

    __slots__ = ("component", "edges", "holes", "nodes")

    def __init__(
        self,
        component: str,
        nodes: Sequence[Stop],
        edges: Sequence[Edge],
        holes: Sequence[Edge],
    ) -> None:
        self.component = component
        self.nodes = nodes
        self.edges = edges
        self.holes = holes


def component_graph(component: str, rules: Rules) -> Graph:
    """The graph of one component."""
    walks, judge = rules.walks(component), rules.judge(component)
    nodes = walks.stops
    edges: list[Edge] = []
    holes: list[Edge] = []
    for index, before in enumerate(nodes):
        for after in nodes[index + 1 :]:
            found = walks.leads(before.version, after.version)
            if found is not None:
                edges.append(Edge(before, after, found))
        if index + 1 < len(nodes):
            following = nodes[index + 1]
            if walks.leads(before.version, following.version) is None:
                found = judge.judge(before.version, following.version)
                holes.append(Edge(before, following, found))
    return Graph(component, nodes, edges, holes)


def has_walk(walks: Walks, before: str, after: str) -> bool:
    """Whether a whole walk leads from one version to another, in one go or over stops."""
    if walks.open(before, after):
        return True
    source, target = walks.version(before), walks.version(after)
    if source is None or target is None:
        return False
    return bool(walks.ways(source, target).path)


class WalkShare:
    """How many of the pairs of releases that move something have a whole walk between them."""

    __slots__ = ("pairs", "walked")

    def __init__(self, walked: int, pairs: int) -> None:
        self.walked = walked
        self.pairs = pairs

    @property
    def share(self) -> float | None:
        """From 0 to 1; None where no pair moves anything."""
        return self.walked / self.pairs if self.pairs else None


def walk_share(rules: Rules, component: str) -> WalkShare:
    """Of the ordered pairs of releases, an older and a newer one, that both pin the component and
    in different versions: how many have a whole walk."""
    walks = rules.walks(component)
    pins = [(release.pins.get(component) or ("",))[0] for release in rules.releases]
    pairs = [
        (before, after)
        for index, before in enumerate(pins)
        for after in pins[index + 1 :]
        if before and after and not same(before, after)
    ]
    known: dict[tuple[str, str], bool] = {}
    walked = 0
    for pair in pairs:
        if pair not in known:
            known[pair] = has_walk(walks, *pair)
        walked += known[pair]
    return WalkShare(walked, len(pairs))


def stack_walk_share(rules: Rules) -> WalkShare:
    """The same of the whole stack: pairs of releases that both pin some component in different
    versions; a pair has a whole walk where each such component has one."""
    releases = rules.releases
    known: dict[tuple[str, str, str], bool] = {}
    pairs = walked = 0
    for index, old in enumerate(releases):
        for new in releases[index + 1 :]:
            moves = [
                (name, old.pins[name][0], new.pins[name][0])
                for name in sorted(old.pins.keys() & new.pins.keys())
                if old.pins[name] and new.pins[name]
                and not same(old.pins[name][0], new.pins[name][0])
            ]  # fmt: skip
            if not moves:
                continue
            pairs += 1
            for move in moves:
                if move not in known:
                    name, before, after = move
                    known[move] = has_walk(rules.walks(name), before, after)
            walked += all(known[move] for move in moves)
    return WalkShare(walked, pairs)
