"""Which component is in which version at each stage of a plan, and what a stage is made of.

A component with k hops moves in the last k stages. One exception: what a component needs first
(a new dependency, its ``<name>-crds``) is pulled forward to the stage in which that component
begins to move, and comes as the target has it.
"""

from __future__ import annotations

from aicr.errors import AicrError
from aicr.recipe.order import deployment_order
from aicr.versions.semver import same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.catalog.model import ComponentRef, Release
    from aicr.upgrade.courses import Course, PlannedHop

    Refs = Mapping[str, ComponentRef]

CRDS = "-crds"
ARRIVALS = ("added", "replaced")


class Scheduled:
    """A course with the stage of each of its hops; ``pulled`` where it ends before the others."""

    __slots__ = ("course", "pulled", "stages")

    def __init__(self, course: Course, stages: Sequence[int], *, pulled: bool = False) -> None:
        self.course = course
        self.stages = stages
        self.pulled = pulled

    @property
    def begin(self) -> int:
        return self.stages[0]

    def landed(self, n: int) -> PlannedHop | None:
        """The last hop that is done once stage ``n`` is."""
        done = [hop for hop, stage in zip(self.course.hops, self.stages, strict=True) if stage <= n]
        return done[-1] if done else None

    def is_there(self, n: int) -> bool:
        """Whether the component is then as the target has it, before the last stage."""
        return self.pulled and self.course.held is None and self.stages[-1] <= n


def in_last_stages(
    courses: Sequence[Course], *, unplanned: bool = False
) -> tuple[list[Scheduled], int]:
    """Each course that has hops, so that its last hop is in the last stage; and their number.

    Where the ``unplanned`` move of what is held is left to the last stage, its hops end before.
    """

    def after(course: Course) -> int:
        return 1 if unplanned and course.held is not None else 0

    count = max((len(course.hops) + after(course) for course in courses), default=0)
    scheduled = [
        Scheduled(course, range(end - len(course.hops) + 1, end + 1))
        for course in courses
        if course.hops
        for end in (count - after(course),)
    ]
    return scheduled, count


def pulled_forward(
    scheduled: Sequence[Scheduled], after: Refs, *, crds: bool = True
) -> list[Scheduled]:
    """The same, with what others need first in the stage in which they begin; of CRD components
    only where ``crds``."""
    begins = {one.course.component: one.begin for one in scheduled}
    arriving = {one.course.component for one in scheduled if one.course.change.change in ARRIVALS}
    leaving = {one.course.component for one in scheduled if one.course.change.change == "removed"}
    changing = True
    while changing:
        changing = False
        for one in scheduled:
            name = one.course.component
            if name in leaving:
                continue
            first = []
            if one.course.held is None and name in after:
                first += [need for need in after[name].dependency_refs if need in arriving]
            if crds:
                first.append(name + CRDS)
            for need in first:
                if begins.get(need, 0) > begins[name] and need not in leaving:
                    begins[need] = begins[name]
                    changing = True
    moved: list[Scheduled] = []
    for one in scheduled:
        by = one.begin - begins[one.course.component]
        stages = [stage - by for stage in one.stages]
        moved.append(Scheduled(one.course, stages, pulled=True) if by else one)
    return moved


def stack_at(
    n: int,
    count: int,
    scheduled: Sequence[Scheduled],
    held: Sequence[Course],
    before: Refs,
    after: Refs,
) -> tuple[list[ComponentRef], list[str]]:
    """The components of stage ``n`` of ``count`` by name, and what had to give way in them.

    The last stage is the target with the held components as they were; an earlier one is what
    runs with the versions of the stage.
    """
    last = n == count
    found = dict(after if last else before)
    stands_for: dict[str, str] = {}
    for one in scheduled:
        name, change = one.course.component, one.course.change
        if last or one.stages[0] > n:
            continue
        if one.is_there(n):
            found[name] = after[name]
            if change.change == "replaced":
                found.pop(change.replaces, None)
                stands_for[change.replaces] = name
            continue
        hop = one.landed(n)
        if hop is not None and name in found:
            found[name] = in_version(found[name], hop.row.after)
    by_name = {one.course.component: one for one in scheduled}
    for course in held if last else ():
        name, change = course.component, course.change
        if change.change == "replaced":
            found.pop(name, None)
            if name in before:
                found[name] = before[name]
            found[change.replaces] = before[change.replaces]
            stands_for[name] = change.replaces
            continue
        hop = by_name[name].landed(n) if name in by_name else None
        ref = before[name]
        found[name] = in_version(ref, hop.row.after) if hop is not None else ref
    if not last:
        _add_needs(n, scheduled, found, after)
    return _with_dependencies(found, stands_for)


def _add_needs(
    n: int, scheduled: Sequence[Scheduled], found: dict[str, ComponentRef], after: Refs
) -> None:
    """What moves waits, within its stage, for a new dependency that was pulled forward for it.

    Not where old and new dependencies together would wait for each other.
    """
    new = {
        one.course.component
        for one in scheduled
        if one.course.change.change in ARRIVALS and one.is_there(n)
    }
    if not new:
        return
    extended = dict(found)
    for one in scheduled:
        name = one.course.component
        ref = found.get(name)
        if ref is None or name not in after or one.course.held is not None or one.begin > n:
            continue
        more = [
            need
            for need in after[name].dependency_refs
            if need in new and need not in ref.dependency_refs
        ]
        if more:
            extended[name] = ref.replace(dependency_refs=[*ref.dependency_refs, *more])
    try:
        deployment_order(_with_dependencies(dict(extended), {})[0])
    except AicrError:
        return
    found.update(extended)


def in_version(ref: ComponentRef, version: str) -> ComponentRef:
    """The component in another version, stated as it was."""
    if ref.pin == version:
        return ref
    if ref.tag and not ref.version:
        return ref.replace(tag=version)
    return ref.replace(version=version)


def _with_dependencies(
    found: dict[str, ComponentRef], stands_for: Mapping[str, str]
) -> tuple[list[ComponentRef], list[str]]:
    """The components by name, none of which needs one that is not there."""
    notes: list[str] = []
    for name, ref in sorted(found.items()):
        needs = [
            stands_for.get(need, need) if need not in found else need
            for need in ref.dependency_refs
        ]
        kept = list(dict.fromkeys(need for need in needs if need in found and need != name))
        if kept != list(ref.dependency_refs):
            gone = [need for need in ref.dependency_refs if need not in kept]
            notes.append(f"{name} no longer waits for {', '.join(gone)}, not in this stage")
            found[name] = ref.replace(dependency_refs=kept)
    return [found[name] for name in sorted(found)], notes


def order_of(components: Sequence[ComponentRef]) -> tuple[list[str], list[str]]:
    """Their deployment order; by name, and why, where they wait for each other."""
    try:
        return deployment_order(components), []
    except AicrError as error:
        return [ref.name for ref in components if ref.enabled], [error.message]


def shipped_by(components: Sequence[ComponentRef], releases: Sequence[Release]) -> str:
    """The newest release that pinned all these versions together, "" where none did.

    Components that no release ever pinned are none of the stack's, and do not count.
    """
    ever = {name for release in releases for name in release.pins}
    pinned = [(ref.name, ref.pin) for ref in components if ref.enabled and ref.name in ever]
    if not pinned:
        return ""
    for release in reversed(releases):
        if all(
            any(same(pin, version) for version in release.pins.get(name, ()))
            for name, pin in pinned
        ):
            return release.name
    return ""
