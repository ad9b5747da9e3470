"""Whether one version move of one component is safe: the rules, in their order.

1. a side that is not SemVer: ``unversioned``;
2. which records' boundaries the move crosses;
3. none: ``downgrade``, ``no-record``, ``beyond-record-ceiling`` or ``no-boundary-crossed``;
4. one, written for this starting point: its own verdict, or ``beyond-record-ceiling``;
5. else one that blocks among the crossed: ``record-blocks``;
6. else several: a chain of ``safe``, or the one that is not ``safe``, or ``multiple-boundaries``;
7. else one, written for other starting points: ``undefined-origin``.

An answer depends only on where source and target lie among the bounds of the records, so a
``Judge`` keeps its answers by that.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

from aicr.upgrade.model import BLOCKED, MANUAL, SAFE
from aicr.versions.semver import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.model import Records, Transition
    from aicr.versions.semver import Version

UNKNOWN = "unknown"
UNVERSIONED = "unversioned"

RECORDED = "recorded"
NOT_COMPARABLE = "not-comparable"
NO_RECORD = "no-record"
NO_BOUNDARY_CROSSED = "no-boundary-crossed"
DOWNGRADE = "downgrade"
IDENTITY_CHANGED = "identity-changed"
BEYOND_RECORD_CEILING = "beyond-record-ceiling"
RECORD_BLOCKS = "record-blocks"
MULTIPLE_BOUNDARIES = "multiple-boundaries"
UNDEFINED_ORIGIN = "undefined-origin"


class Judgement:
    """The answer for one move: verdict, reason, the rule that gave it, and the records behind it.

    ``record`` is the one that gave the verdict or whose boundary stops the move; ``crossed`` are
    the records whose boundary it passes, by floor, without the ``displaced`` ones.
    """

    __slots__ = ("crossed", "displaced", "reason", "record", "rule", "start_at", "verdict")

    def __init__(
        self,
        verdict: str,
        reason: str,
        rule: int,
        *,
        record: Transition | None = None,
        crossed: Sequence[Transition] = (),
        displaced: Sequence[Transition] = (),
        start_at: str = "",
    ) -> None:
        self.verdict = verdict
        self.reason = reason
        self.rule = rule
        self.record = record
        self.crossed = crossed
        self.displaced = displaced
        self.start_at = start_at

    @property
    def stopped_at(self) -> str:
        """The boundary that a blocked move stops at, as its record writes it."""
        return self.record.to.text if self.verdict == BLOCKED and self.record else ""

    @property
    def by_hand(self) -> bool:
        """Blocked by a record for exactly this move, whose steps say how to make it."""
        return self.verdict == BLOCKED and self.reason == RECORDED

    @property
    def walkable(self) -> bool:
        """Whether the move can be made in one go, with steps or without."""
        return self.verdict in (SAFE, MANUAL)


_NOT_COMPARABLE = Judgement(UNVERSIONED, NOT_COMPARABLE, 1)
_DOWNGRADE = Judgement(UNKNOWN, DOWNGRADE, 3)
_NO_RECORD = Judgement(UNKNOWN, NO_RECORD, 3)
_NO_BOUNDARY = Judgement(UNKNOWN, NO_BOUNDARY_CROSSED, 3)


class Judge:
    """Answers for the moves of one component; ``records`` is None where it has none."""

    __slots__ = ("_bounds", "_known", "_lined", "_transitions", "records")

    def __init__(self, records: Records | None) -> None:
        self.records = records
        self._transitions = tuple(records.transitions) if records is not None else ()
        self._lined = records is not None and records.lines is not None
        self._bounds = sorted(
            {v.key for t in self._transitions for r in (t.origin, t.to) for _, v in r.bounds}
        )
        self._known: dict[tuple[int, int], Judgement] = {}

    def version(self, text: str) -> Version | None:
        """A version in the order of the component; None where it cannot be compared."""
        return self.records.version(text) if self.records is not None else parse(text)

    def judge(self, source: Version | None, target: Version | None) -> Judgement:
        """The answer for a move between versions as ``version`` gives them."""
        if source is None or target is None or (self._lined and not (source.line and target.line)):
            return _NOT_COMPARABLE
        if target.key < source.key:
            return _DOWNGRADE
        if not self._transitions:
            return _NO_RECORD
        place = (self._place(source), self._place(target))
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = _judge(self._transitions, source, target)
        return known

    def _place(self, version: Version) -> int:
        """Odd at a bound, even between two; equal places are told apart by no record."""
        at = bisect_left(self._bounds, version.key)
        return 2 * at + (at < len(self._bounds) and self._bounds[at] == version.key)


def judge(records: Records | None, source: Version | None, target: Version | None) -> Judgement:
    """The answer for a single move."""
    return Judge(records).judge(source, target)


def crossing(
    transitions: Sequence[Transition], source: Version, target: Version
) -> tuple[list[Transition], list[Transition]]:
    """The records whose boundary the move passes, by floor, and those displaced by a neighbour.

    Of records with the same floor, one written for this starting point displaces those that are
    not.
    """
    passed = [t for t in transitions if t.crossed_by(source, target)]
    fitting = {(t.floor.key, t.floor_inclusive) for t in passed if t.origin.contains(source)}
    crossed: list[Transition] = []
    displaced: list[Transition] = []
    for t in passed:
        beside = (t.floor.key, t.floor_inclusive) in fitting
        (displaced if beside and not t.origin.contains(source) else crossed).append(t)
    crossed.sort(key=lambda t: (t.floor.key, not t.floor_inclusive))
    return crossed, displaced


def highest_ceiling(transitions: Sequence[Transition]) -> Transition:
    """The record that was assessed furthest; of equal ceilings an inclusive one is higher."""
    return max(transitions, key=lambda t: (t.ceiling.key, t.ceiling_inclusive))


def chain_gap(crossed: Sequence[Transition], source: Version, target: Version) -> str:
    """Why the crossed records, one after another, do not lead from source to target; "" if so."""
    first, last = crossed[0], crossed[-1]
    if not first.origin.contains(source):
        return f"{source} is outside the from of the first one ({first.origin})"
    for before, after in pairwise(crossed):
        if not before.to.interval.intersects(after.origin.interval):
            return (
                f"no version is both inside a to ({before.to}) "
                f"and inside the next from ({after.origin})"
            )
    if not last.reaches(target):
        return f"{target} is above the ceiling of the last one ({last.to})"
    return ""


def _judge(transitions: Sequence[Transition], source: Version, target: Version) -> Judgement:
    crossed, displaced = crossing(transitions, source, target)

    def answer(
        verdict: str, reason: str, rule: int, record: Transition | None, start_at: str = ""
    ) -> Judgement:
        return Judgement(
            verdict,
            reason,
            rule,
            record=record,
            crossed=crossed,
            displaced=displaced,
            start_at=start_at,
        )

    if not crossed:
        top = highest_ceiling(transitions)
        if not top.reaches(target):
            return answer(BLOCKED, BEYOND_RECORD_CEILING, 3, top)
        return _NO_BOUNDARY
    first = crossed[0]
    if len(crossed) == 1 and first.origin.contains(source):
        if not first.reaches(target):
            return answer(BLOCKED, BEYOND_RECORD_CEILING, 4, first)
        return answer(first.verdict, RECORDED, 4, first)
    for record in crossed:
        if record.verdict == BLOCKED:
            return answer(BLOCKED, RECORD_BLOCKS, 5, record)
    if len(crossed) > 1:
        unsafe = [t for t in crossed if t.verdict != SAFE]
        if not unsafe and not chain_gap(crossed, source, target):
            return answer(SAFE, RECORDED, 6, crossed[-1])
        if len(unsafe) == 1 and unsafe[0].origin.contains(source) and unsafe[0].reaches(target):
            return answer(unsafe[0].verdict, RECORDED, 6, unsafe[0])
        return answer(BLOCKED, MULTIPLE_BOUNDARIES, 6, first)
    below = first.origin.interval.is_above(source)
    return answer(BLOCKED, UNDEFINED_ORIGIN, 7, first, first.origin.text if below else "")
