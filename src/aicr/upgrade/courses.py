"""By which hops each changed component gets where it is wanted, and what keeps the others back.

The rows of the check decide; nothing is judged here that the check would not judge the same way.
"""

from __future__ import annotations

from bisect import bisect_left

from aicr.upgrade.inventory import Identity
from aicr.upgrade.match import IDENTITY_CHANGED
from aicr.upgrade.model import BLOCKED, MANUAL, SAFE
from aicr.upgrade.rows import version_row
from aicr.versions.semver import without_v

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.check import Report, Rules
    from aicr.upgrade.inventory import IdentityChange
    from aicr.upgrade.rows import Row

WALKABLE = (SAFE, MANUAL)


class PlannedHop:
    """One move of one component in one stage: its row, as the check gives it for that move alone,
    the newest release that pins where it lands, and whether that is a ``stop`` on the way."""

    __slots__ = ("pinned_by", "row", "stop")

    def __init__(self, row: Row, pinned_by: str = "", *, stop: bool = False) -> None:
        self.row = row
        self.pinned_by = pinned_by
        self.stop = stop


class Held:
    """A component that does not get where it is wanted.

    ``change`` is the row of the whole move; ``stuck`` the row of the move that cannot be walked,
    from ``reached`` ("" where it stays as it is) to the target.
    """

    __slots__ = ("change", "reached", "stuck")

    def __init__(self, change: Row, stuck: Row, reached: str = "") -> None:
        self.change = change
        self.stuck = stuck
        self.reached = reached


class Course:
    """The hops of one component, in their order, and what holds it where they end short."""

    __slots__ = ("change", "held", "hops")

    def __init__(self, change: Row, hops: Sequence[PlannedHop], held: Held | None = None) -> None:
        self.change = change
        self.hops = hops
        self.held = held

    @property
    def component(self) -> str:
        return self.change.component


def courses(report: Report, rules: Rules) -> list[Course]:
    """The course of each component that changed, by name."""
    return [_course(row, rules, report.deployer) for row in report.rows]


def hop_row(
    change: Row, before: str, after: str, rules: Rules, deployer: str, *, last: bool
) -> Row:
    """The row of one move on the way; only the last one takes the identity along."""
    moved: Sequence[IdentityChange] = change.identity_changes if last else ()
    return version_row(
        change.component,
        Identity(before),
        Identity(after),
        rules.judge(change.component),
        rules.walks,
        changes=moved,
        deployer=deployer,
    )


def newest_release(rules: Rules, component: str, version: str) -> str:
    """The newest release that pins the version, "" where none does."""
    judge = rules.judge(component)
    wanted = judge.version(version)
    if wanted is None:
        return ""
    stops = rules.walks(component).stops
    place = bisect_left(stops, wanted.key, key=lambda stop: stop.version.key)
    if place < len(stops) and stops[place].version == wanted:
        return stops[place].release
    return ""


def _course(row: Row, rules: Rules, deployer: str) -> Course:
    if row.change in ("added", "removed"):
        return Course(row, [PlannedHop(row, _pinned(rules, row))])
    if row.verdict in WALKABLE:
        return Course(row, [PlannedHop(row, _pinned(rules, row))])
    judgement = row.judgement
    if row.change != "version" or judgement is None or judgement.verdict != BLOCKED:
        return Course(row, (), Held(row, row))
    path = row.ways.path or row.ways.to_furthest
    hops: list[PlannedHop] = []
    at = row.before
    for hop in path:
        last = bool(row.ways.path) and hop is path[-1]
        to = hop.to if last or hop.release else _spelled_after(at, hop.to)
        found = hop_row(row, at, to, rules, deployer, last=last)
        if last and found.reason == IDENTITY_CHANGED:
            return Course(row, hops, Held(row, found, at if hops else ""))
        release = hop.release or newest_release(rules, row.component, to)
        hops.append(PlannedHop(found, release, stop=not last))
        at = to
    if row.ways.path:
        return Course(row, hops)
    stuck = hop_row(row, at, row.after, rules, deployer, last=True) if hops else row
    return Course(row, hops, Held(row, stuck, at if hops else ""))


def _spelled_after(running: str, stop: str) -> str:
    """A stop that no release spells, with the v of the version that runs by then: a plan from
    there spells it the same."""
    return ("v" if running[:1] == "v" else "") + without_v(stop)


def _pinned(rules: Rules, row: Row) -> str:
    return newest_release(rules, row.component, row.after) if row.after else ""
