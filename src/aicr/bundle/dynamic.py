"""What of a release's values is left to install time, and what a bundle writes in its place.

A path that is left open is taken out of the values that the bundle fixes; what the recipe says
there is written apart, as the value until somebody says otherwise.
"""

from __future__ import annotations

from aicr.bundle.setpath import MISSING, lookup, place, spell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.bundle.plan import DeploymentPlan, PlannedRelease
    from aicr.bundle.setpath import Path


class LeftOpen:
    """A path of a release, spelled, that is left to install time; ``has_value`` where the recipe
    has a value for it."""

    __slots__ = ("has_value", "path", "release")

    def __init__(self, release: PlannedRelease, path: Path) -> None:
        self.release = release
        self.path = spell(path)
        self.has_value = lookup(release.values, path) is not MISSING


def left_open(plan: DeploymentPlan) -> list[LeftOpen]:
    """Everything that is left to install time, in the order of the releases."""
    return [LeftOpen(release, path) for release in plan.releases for path in release.dynamic]


def fixed_values(
    release: PlannedRelease, given: Mapping[str, object] | None = None
) -> Mapping[str, object]:
    """The values that the bundle fixes. ``given`` are values that are there already for install
    time: a path that they do not have stays fixed, so that no value gets lost."""
    values = dict(release.values)
    for path in release.dynamic:
        if given is None or lookup(given, path) is not MISSING:
            values = _without(values, path)
    return values


def open_values(release: PlannedRelease) -> dict[str, object]:
    """What the recipe says at the paths that are left to install time."""
    values: dict[str, object] = {}
    for path in release.dynamic:
        found = lookup(release.values, path)
        if found is not MISSING:
            values = place(values, path, found, removes=False)
    return values


def missing_paths(release: PlannedRelease) -> list[str]:
    """The paths that are left to install time and have no value in the recipe, spelled."""
    return [spell(path) for path in release.dynamic if lookup(release.values, path) is MISSING]


def _without(values: Mapping[str, object], path: Path) -> dict[str, object]:
    """The values without ``path``, nor the maps that held nothing else."""
    if lookup(values, path) is MISSING:
        return dict(values)
    key, below = path[0], path[1:]
    rest = {name: value for name, value in values.items() if name != key}
    inner = values[str(key)]
    if below and isinstance(inner, dict):
        left = _without(inner, below)
        if left:
            return {name: left if name == key else value for name, value in values.items()}
    return rest
