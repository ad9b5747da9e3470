"""What a cluster should run where a snapshot of it is at hand: overlays that do not fit stay out.

An overlay one of whose constraints fails is left out, with the reason, and what it stands on may
take its place; a stated criterion that then nothing carries is an error, a detected one is left
open. (Rules: resolving a recipe, sections 3.8 and 4.)
"""

from __future__ import annotations

from aicr.errors import invalid
from aicr.recipe.constraints import ConstraintError, evaluate
from aicr.recipe.criteria import Criteria
from aicr.recipe.match import (
    ROOT,
    chain_of,
    coverage_error,
    matching_leaves,
    merge_order,
    uncovered,
)
from aicr.recipe.model import ConstraintWarning
from aicr.recipe.resolve import compose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import Constraint
    from aicr.recipe.model import Recipe
    from aicr.recipe.snapshot import Snapshot


class Fitted:
    """A recipe that fits a snapshot, and what was left out of it, said for a person."""

    __slots__ = ("recipe", "warnings")

    def __init__(self, recipe: Recipe, warnings: list[str]) -> None:
        self.recipe = recipe
        self.warnings = warnings


def resolve_on(
    catalog: Catalog, criteria: Criteria, snapshot: Snapshot, detected: Collection[str]
) -> Fitted:
    """The recipe for ``criteria`` on the cluster of ``snapshot``.

    ``detected`` are the dimensions of the criteria that came from the snapshot: where no overlay
    carries them, they are left open. Raises as ``resolve`` does.
    """
    failed = failing_overlays(catalog, criteria, snapshot)
    applied = merge_order(catalog, matching_leaves(catalog, criteria, list(failed)))
    missing = uncovered(catalog, criteria, applied)
    stated_missing = [dimension for dimension in missing if dimension not in detected]
    if stated_missing or len(missing) == len(criteria.stated()):
        error = coverage_error(catalog, criteria, stated_missing or missing)
        if failed:
            error.message += "; left out by the snapshot: " + "; ".join(
                _line(one) for found in failed.values() for one in found
            )
        raise error
    warnings = [_said(one) for found in failed.values() for one in found]
    open_criteria = criteria
    if missing:
        # Nothing that applies carries these, so what applies stays the same without them.
        kept = {key: value for key, value in criteria.stated().items() if key not in missing}
        open_criteria = Criteria.of(kept, criteria.nodes)
        warnings += [
            f"{dimension}={getattr(criteria, dimension)} is what the snapshot shows, but no "
            f"overlay that applies honours it, so the {dimension} is left open"
            for dimension in missing
        ]
    root = _failing(catalog, [ROOT], snapshot) if ROOT in catalog.heads else []
    recipe = compose(
        catalog,
        open_criteria,
        applied,
        excluded=sorted(failed),
        warnings=[one for found in failed.values() for one in found],
    )
    standing = {one.name: one.value for one in recipe.constraints}
    root = [one for one in root if standing.get(one.constraint) == one.expected]
    if root:
        recipe = recipe.replace(constraint_warnings=[*recipe.constraint_warnings, *root])
        warnings += [f"{_line(one)} (every recipe starts from it, so it stays)" for one in root]
    return Fitted(recipe, warnings)


def failing_overlays(
    catalog: Catalog, criteria: Criteria, snapshot: Snapshot
) -> dict[str, list[ConstraintWarning]]:
    """The matching overlays that the snapshot leaves out, each with the constraints that failed."""
    failed: dict[str, list[ConstraintWarning]] = {}
    while True:
        found = {
            leaf: warnings
            for leaf in matching_leaves(catalog, criteria, list(failed))
            if leaf != ROOT and (warnings := _failing(catalog, chain_of(catalog, leaf), snapshot))
        }
        if not found:
            return failed
        failed |= found


def _failing(catalog: Catalog, chain: list[str], snapshot: Snapshot) -> list[ConstraintWarning]:
    """The constraints that hold for the last overlay of ``chain`` and that the snapshot fails.

    A constraint of the same name further up replaces. Those of the root are not an overlay's own:
    they count only where the root itself is asked for.
    """
    leaf = chain[-1]
    effective: dict[str, tuple[Constraint, str, str]] = {}
    mixins: dict[str, str] = {}
    for name in chain:
        if name == ROOT and leaf != ROOT:
            continue
        overlay = catalog.overlay(name)
        stated_by = "" if name == leaf else f'stated by "{name}"'
        for constraint in overlay.constraints:
            effective[constraint.name] = (constraint, stated_by, overlay.where)
        for mixin in overlay.mixins:
            mixins.setdefault(mixin, overlay.where)
    for name, wanted_by in mixins.items():
        mixin_ = catalog.mixin(name, wanted_by)
        for constraint in mixin_.constraints:
            effective[constraint.name] = (constraint, f'of the mixin "{name}"', mixin_.where)
    found: list[ConstraintWarning] = []
    for constraint, origin, where in effective.values():
        try:
            outcome = evaluate(constraint, snapshot)
        except ConstraintError as error:
            raise invalid(f"{where}: the constraint {constraint.name}: {error}") from None
        if not outcome.holds:
            reason = f"{outcome.reason} ({origin})" if origin else outcome.reason
            found.append(
                ConstraintWarning(
                    overlay=leaf,
                    constraint=constraint.name,
                    expected=constraint.value,
                    actual=outcome.actual,
                    reason=reason,
                )
            )
    return found


def _line(one: ConstraintWarning) -> str:
    return f'"{one.overlay}": {one.constraint}: {one.reason}'


def _said(one: ConstraintWarning) -> str:
    return f"the overlay {_line(one)}, so it is left out"
