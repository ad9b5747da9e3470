"""How to get from what runs to what is wanted: which component moves in which stage.

A plan is the rules of the check, applied again to each hop: it decides nothing of its own. Where
nothing moves there is no stage; what is held back is said first.
"""

from __future__ import annotations

from aicr.errors import invalid
from aicr.upgrade.check import Rules, require_deployer
from aicr.upgrade.courses import Course, Held, PlannedHop, courses, hop_row, newest_release
from aicr.upgrade.match import IDENTITY_CHANGED
from aicr.upgrade.model import MANUAL
from aicr.upgrade.path import Leg, joint_walk
from aicr.upgrade.stages import (
    CRDS,
    Scheduled,
    in_last_stages,
    order_of,
    pulled_forward,
    shipped_by,
    stack_at,
)
from aicr.versions.semver import same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import ComponentRef, Release
    from aicr.upgrade.check import Report
    from aicr.upgrade.path import JointWalk
    from aicr.upgrade.sides import Side
    from aicr.upgrade.stages import Refs

HOPS = "hops"
RELEASES = "releases"
MODES = (HOPS, RELEASES)


class Stage:
    """One recipe on the way: its components, and the hops that lead to it, in deployment order.

    ``release`` is the newest release that pinned its versions together, "" where none did;
    ``notes`` say what had to give way in it.
    """

    __slots__ = ("components", "hops", "n", "notes", "order", "release")

    def __init__(
        self,
        n: int,
        hops: Sequence[PlannedHop],
        components: Sequence[ComponentRef],
        order: Sequence[str],
        *,
        release: str = "",
        notes: Sequence[str] = (),
    ) -> None:
        self.n = n
        self.hops = hops
        self.components = components
        self.order = order
        self.release = release
        self.notes = notes

    @property
    def reversible(self) -> bool:
        """Whether each hop says that there is a way back, and nothing comes, goes or relocates."""
        return all(
            hop.row.change == "version" and hop.row.reversible and not hop.row.identity_changes
            for hop in self.hops
        )


class Plan:
    """The answer. ``report`` is the check of the whole move.

    In the mode of releases, where no walk leads to the target: ``reached`` is the newest release
    that can be reached ("" where none can) and ``closed`` has each later one, the target as "",
    with the first component that closes the way to it.
    """

    __slots__ = ("closed", "held", "mode", "reached", "report", "stages", "unplanned")

    def __init__(
        self,
        report: Report,
        mode: str,
        stages: Sequence[Stage],
        held: Sequence[Held],
        *,
        reached: str = "",
        closed: Sequence[tuple[str, str]] = (),
        unplanned: bool = False,
    ) -> None:
        self.report = report
        self.mode = mode
        self.stages = stages
        self.held = held
        self.reached = reached
        self.closed = closed
        self.unplanned = unplanned

    @property
    def hops(self) -> list[PlannedHop]:
        return [hop for stage in self.stages for hop in stage.hops]

    @property
    def manual(self) -> int:
        return sum(hop.row.verdict == MANUAL for hop in self.hops)

    @property
    def cautions(self) -> list[str]:
        """What no hop can say: who moves without its CRDs, and what was not compared."""
        kept = {held.change.component: held.reached or held.change.before for held in self.held}
        moving = dict.fromkeys(hop.row.component for hop in self.hops)
        found = [
            f"without its CRDs: {name} moves, and {name}{CRDS} is held at {kept[name + CRDS]}; "
            f"those may be too old for it: leave {name} where it is until they can move"
            for name in moving
            if name + CRDS in kept
        ]
        if self.report.names_skipped:
            found.append(f"object names were not compared: {self.report.names_skipped}")
        return found

    @property
    def needs_attention(self) -> bool:
        """Whether something is held or closed, or needs more than applying bundles."""
        return bool(self.held or self.closed) or any(hop.row.fails_run for hop in self.hops)

    @property
    def reversible_to(self) -> int:
        """The last stage up to which every stage is reversible; 0 where the first one is not."""
        count = 0
        for stage in self.stages:
            if not stage.reversible:
                break
            count = stage.n
        return count


class _Move:
    """What is planned for: the two sides by component, the rules, what was judged of it all."""

    __slots__ = ("after", "before", "courses", "releases", "report", "rules", "unplanned")

    def __init__(
        self,
        report: Report,
        before: Refs,
        new: Side,
        catalog: Catalog,
        *,
        unplanned: bool,
    ) -> None:
        self.report = report
        self.releases: Sequence[Release] = catalog.releases
        self.rules = Rules(report.records, self.releases)
        self.before = before
        self.after: Refs = {ref.name: ref for ref in new.recipe.components}
        self.courses = courses(report, self.rules)
        self.unplanned = unplanned


def make_plan(
    report: Report,
    old: Side,
    new: Side,
    catalog: Catalog,
    *,
    mode: str = HOPS,
    unplanned: bool = False,
    as_deployed: Refs | None = None,
) -> Plan:
    """The plan for the move that ``report`` judged; ``unplanned`` lets the last stage be the
    target as it is, held components included. ``as_deployed`` are the old side's components with
    the values that they run with, where stages are to be written.

    Raises INVALID_REQUEST where a hop has steps and no deployer is known, and for another mode.
    """
    if mode not in MODES:
        raise invalid(f'stages: expected {" or ".join(MODES)}, found "{mode}"')
    before = as_deployed or {ref.name: ref for ref in old.recipe.components}
    move = _Move(report, before, new, catalog, unplanned=unplanned)
    if mode == RELEASES:
        return _through_releases(move)
    held = [course for course in move.courses if course.held is not None]
    scheduled, count = in_last_stages(move.courses, unplanned=unplanned)
    return _plan(move, mode, pulled_forward(scheduled, move.after), held, count)


def _plan(
    move: _Move, mode: str, scheduled: Sequence[Scheduled], held: Sequence[Course], count: int
) -> Plan:
    kept = [course.held for course in held if course.held is not None]
    rows = [hop.row for one in scheduled for hop in one.course.hops]
    require_deployer([*rows, *(one.stuck for one in kept)], move.report.deployer)
    stages = [
        _stage(move, n, count, scheduled, () if move.unplanned else held)
        for n in range(1, count + 1)
    ]
    return Plan(move.report, mode, stages, kept, unplanned=move.unplanned)


def _stage(
    move: _Move, n: int, count: int, scheduled: Sequence[Scheduled], held: Sequence[Course]
) -> Stage:
    components, notes = stack_at(n, count, scheduled, held, move.before, move.after)
    order, problems = order_of(components)
    places = {name: place for place, name in enumerate(order)}
    hops = [
        hop
        for one in scheduled
        for hop, stage in zip(one.course.hops, one.stages, strict=True)
        if stage == n
    ]
    hops.sort(key=lambda hop: (places.get(hop.row.component, len(order)), hop.row.component))
    release = shipped_by(components, move.releases)
    return Stage(n, hops, components, order, release=release, notes=[*notes, *problems])


def _through_releases(move: _Move) -> Plan:
    """The plan whose stages are past releases of the stack."""
    held = [_unmoved(course) for course in move.courses if _is_kept(course, move.rules)]
    names = {course.component for course in held}
    legs = _legs(move, names)
    if len(held) == len(move.courses):
        return _plan(move, RELEASES, (), held, int(move.unplanned and bool(held)))
    goal = len(move.releases) + 1
    walk = joint_walk(legs, goal)
    if not walk.nodes:
        called = ["", *(release.name for release in move.releases), ""]
        kept = [course.held for course in held if course.held is not None]
        closed = [(called[node], component) for node, component in walk.closed]
        return Plan(move.report, RELEASES, (), kept, reached=called[walk.reached], closed=closed)
    scheduled = _along(move, walk, legs, names)
    return _plan(move, RELEASES, pulled_forward(scheduled, move.after, crds=False), held,
                 len(walk.nodes))  # fmt: skip


def _is_kept(course: Course, rules: Rules) -> bool:
    """Whether no walk at all takes the component along. One whose identity moves with its version
    can be taken by a last hop that is ``manual``, whichever chain was the best for it alone."""
    if course.held is None:
        return False
    row = course.change
    if row.change != "version" or not row.identity_changes:
        return True
    return not rules.walks(row.component).ends_by_hand(row.before, row.after)


def _unmoved(course: Course) -> Course:
    """The same component, held where it is: releases take it no further."""
    held = course.held
    if held is None or not course.hops:
        return course
    stuck = held.stuck if held.stuck.reason == IDENTITY_CHANGED else course.change
    return Course(course.change, (), Held(course.change, stuck))


def _legs(move: _Move, held: set[str]) -> list[Leg]:
    """What every release has to take along: all that runs on and is not held, if any release ever
    pinned it; and the rest that changes, as it is until the end."""
    ever = {name for release in move.releases for name in release.pins}
    rows = {course.component: course.change for course in move.courses}
    legs: list[Leg] = []
    for name, ref in sorted(move.after.items()):
        old = move.before.get(name)
        if name in held or old is None or not (old.enabled and ref.enabled):
            continue
        row = rows.get(name)
        if row is None and not ref.pin:
            continue  # only manifests: no release says anything of it
        start, end = (row.before, row.after) if row is not None else (old.pin, ref.pin)
        if name in ever:
            pins = [(release.pins.get(name) or ("",))[0] for release in move.releases]
        else:
            pins = [start for _ in move.releases]
        moved = row is not None and bool(row.identity_changes)
        legs.append(Leg(name, move.rules.walks(name), [start, *pins, end], moved=moved))
    return legs


def _along(move: _Move, walk: JointWalk, legs: Sequence[Leg], held: set[str]) -> list[Scheduled]:
    """The hops of each component on a walk, each in its stage; what comes or goes, in the last."""
    last = len(walk.nodes)
    by_name = {leg.component: leg for leg in legs}
    scheduled: list[Scheduled] = []
    for course in move.courses:
        leg = by_name.get(course.component)
        if leg is None or course.change.change != "version":
            if course.component not in held:
                scheduled.append(Scheduled(course, [last]))
            continue
        hops: list[PlannedHop] = []
        stages: list[int] = []
        at = course.change.before
        for n, node in enumerate(walk.nodes, 1):
            to = leg.versions[node]
            if same(at, to):
                continue
            is_last = n == last
            row = hop_row(course.change, at, to, move.rules, move.report.deployer, last=is_last)
            release = newest_release(move.rules, course.component, to)
            hops.append(PlannedHop(row, release, stop=not is_last))
            stages.append(n)
            at = to
        scheduled.append(Scheduled(Course(course.change, hops), stages))
    return scheduled
