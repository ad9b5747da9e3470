"""What a cluster with these criteria should run: catalog and criteria in, recipe out.

A pure function: the catalog is never changed and nothing is remembered between calls.
"""

from __future__ import annotations

from aicr.catalog.schema import PHASES, WRITTEN_API_VERSION
from aicr.recipe.match import coverage_error, matching_leaves, merge_order, uncovered
from aicr.recipe.merge import Draft, with_defaults
from aicr.recipe.model import Recipe
from aicr.recipe.order import deployment_order
from aicr.recipe.values import copied
from aicr.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import ComponentRef, Mixin, Overlay
    from aicr.recipe.criteria import Criteria
    from aicr.recipe.model import ConstraintWarning


def resolve(catalog: Catalog, criteria: Criteria) -> Recipe:
    """The recipe for ``criteria``.

    Raises INVALID_REQUEST where a stated criterion is honoured by no overlay, where a mixin
    brings what is there already, where a component is incomplete, and where dependencies are
    missing or circular.
    """
    applied = merge_order(catalog, matching_leaves(catalog, criteria))
    missing = uncovered(catalog, criteria, applied)
    if missing:
        raise coverage_error(catalog, criteria, missing)
    return compose(catalog, criteria, applied)


def compose(
    catalog: Catalog,
    criteria: Criteria,
    applied: Sequence[str],
    *,
    excluded: Sequence[str] = (),
    warnings: Sequence[ConstraintWarning] = (),
) -> Recipe:
    """The recipe that the overlays ``applied``, in this order, make."""
    draft = merged(catalog, applied)
    components = [complete(catalog, draft, name) for name in sorted(draft.components)]
    return Recipe(
        api_version=WRITTEN_API_VERSION,
        version=__version__,
        catalog_digest=catalog.digest,
        criteria=criteria,
        constraints=[draft.constraints[name] for name in sorted(draft.constraints)],
        components=components,
        deployment_order=deployment_order(components),
        applied_overlays=applied,
        excluded_overlays=excluded,
        constraint_warnings=warnings,
        validation={
            name: copied(draft.validation[name]) for name in PHASES if name in draft.validation
        },
    )


def merged(
    catalog: Catalog,
    applied: Iterable[str],
    watch: Callable[[Overlay | Mixin, Draft], None] | None = None,
) -> Draft:
    """The overlays ``applied`` and their mixins, merged; ``watch`` sees the draft after each."""
    draft = Draft()
    for name in applied:
        overlay = catalog.overlay(name)
        draft.add_overlay(overlay)
        if watch is not None:
            watch(overlay, draft)
    for name, wanted_by in draft.mixins.items():
        mixin = catalog.mixin(name, wanted_by)
        draft.add_mixin(mixin)
        if watch is not None:
            watch(mixin, draft)
    return draft


def complete(catalog: Catalog, draft: Draft, name: str) -> ComponentRef:
    """A merged component with the registry's defaults, sharing nothing that could be changed."""
    ref = draft.components[name]
    return with_defaults(ref, catalog.registry.get(name), draft.origins["component", name])
