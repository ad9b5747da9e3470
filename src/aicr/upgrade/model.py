"""What a component's records say: transitions, what a component replaces, steps per deployer."""

from __future__ import annotations

from aicr.versions.ranges import parse_range
from aicr.versions.semver import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.upgrade.lines import Lines
    from aicr.versions.ranges import Range
    from aicr.versions.semver import Version

SAFE = "safe"
MANUAL = "manual"
BLOCKED = "blocked"
VERDICTS = (SAFE, MANUAL, BLOCKED)


class Step:
    """One thing to do by hand."""

    __slots__ = ("description", "id", "reason")

    def __init__(self, id: str, description: str, reason: str = "") -> None:
        self.id = id
        self.description = description
        self.reason = reason


class StepGroup:
    """The steps for some deployers; ``deployers`` is None in the group for all others."""

    __slots__ = ("deployers", "steps")

    def __init__(self, deployers: Sequence[str] | None, steps: Sequence[Step]) -> None:
        self.deployers = deployers
        self.steps = steps


class AffectedResource:
    """Kinds of one API group that a transition touches."""

    __slots__ = ("group", "kinds")

    def __init__(self, group: str, kinds: Sequence[str]) -> None:
        self.group = group
        self.kinds = kinds


class Transition:
    """One record: who may start (``origin``, the ``from`` of the file), where the boundary lies
    and how far it was assessed (``to``: its floor and its ceiling), and the verdict."""

    __slots__ = (
        "affected_resources",
        "ceiling",
        "ceiling_inclusive",
        "file",
        "floor",
        "floor_inclusive",
        "line",
        "origin",
        "places",
        "precondition",
        "references",
        "reversible",
        "reversible_notes",
        "step_groups",
        "summary",
        "to",
        "verdict",
        "verified_by",
    )

    def __init__(
        self,
        origin: Range,
        to: Range,
        verdict: str,
        *,
        summary: str = "",
        verified_by: str = "",
        precondition: str = "",
        reversible: bool | None = None,
        reversible_notes: str = "",
        step_groups: Sequence[StepGroup] = (),
        affected_resources: Sequence[AffectedResource] = (),
        references: Sequence[str] = (),
        file: str = "",
        line: int = 0,
        places: Mapping[str, int] | None = None,
    ) -> None:
        low, high = to.interval.low, to.interval.high
        if low is None or high is None:
            raise ValueError(f"{to.text!r}: a record's to has both bounds")
        self.origin = origin
        self.to = to
        self.floor: Version = low
        self.floor_inclusive = to.interval.low_inclusive
        self.ceiling: Version = high
        self.ceiling_inclusive = to.interval.high_inclusive
        self.verdict = verdict
        self.summary = summary
        self.verified_by = verified_by
        self.precondition = precondition
        self.reversible = reversible
        self.reversible_notes = reversible_notes
        self.step_groups = step_groups
        self.affected_resources = affected_resources
        self.references = references
        self.file = file
        self.line = line
        self.places = places or {}

    @property
    def place(self) -> str:
        """Where the record stands, for messages."""
        return f"{self.file}:{self.line}" if self.file else f"line {self.line}"

    def line_of(self, key: str) -> int:
        """The line of one of its keys, else its own."""
        return self.places.get(key, self.line)

    def crossed_by(self, source: Version, target: Version) -> bool:
        """Whether a move from source to target passes the floor."""
        if self.floor_inclusive:
            return source.key < self.floor.key <= target.key
        return source.key <= self.floor.key < target.key

    def reaches(self, target: Version) -> bool:
        """Whether the ceiling is not below the target."""
        return not self.to.interval.is_below(target)


class Replacement:
    """What a component's records say about arriving in the place of another component."""

    __slots__ = ("component", "file", "line", "step_groups", "summary", "verdict", "verified_by")

    def __init__(
        self,
        component: str,
        verdict: str,
        *,
        summary: str = "",
        verified_by: str = "",
        step_groups: Sequence[StepGroup] = (),
        file: str = "",
        line: int = 0,
    ) -> None:
        self.component = component
        self.verdict = verdict
        self.summary = summary
        self.verified_by = verified_by
        self.step_groups = step_groups
        self.file = file
        self.line = line

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}" if self.file else f"line {self.line}"


class Records:
    """All that one component's ``upgrades.yaml`` says.

    ``lines`` order its versions where their numbers began anew; None where SemVer alone does.
    """

    __slots__ = ("component", "file", "lines", "replaces", "transitions")

    def __init__(
        self,
        component: str,
        transitions: Sequence[Transition] = (),
        replaces: Replacement | None = None,
        *,
        file: str = "",
        lines: Lines | None = None,
    ) -> None:
        self.component = component
        self.transitions = transitions
        self.replaces = replaces
        self.file = file
        self.lines = lines

    def version(self, text: str) -> Version | None:
        """The version that ``text`` spells, in the order of this component; None where it spells
        none, or one that no line has."""
        return parse(text) if self.lines is None else self.lines.version(text)

    def range(self, text: str) -> Range:
        """The range that ``text`` writes, in the order of this component; raises RangeError."""
        return parse_range(text) if self.lines is None else self.lines.range(text)


def choose_steps(groups: Sequence[StepGroup], deployer: str) -> Sequence[Step]:
    """The steps for a deployer: of the group that names it, else of the one for all others."""
    for group in groups:
        if group.deployers is not None and deployer in group.deployers:
            return group.steps
    for group in groups:
        if group.deployers is None:
            return group.steps
    return ()
