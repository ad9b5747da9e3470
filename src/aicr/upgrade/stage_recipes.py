"""What each stage of a plan deploys, as a recipe; or why that cannot be written.

A stage before the last one is what runs, with the versions of the stage: its values are those
that were deployed, which only a bundle or the catalog of that time knows.
"""

from __future__ import annotations

from aicr.errors import AicrError
from aicr.recipe.values import component_values
from aicr.upgrade.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import ComponentRef
    from aicr.recipe.model import Recipe
    from aicr.upgrade.plan import Stage
    from aicr.upgrade.sides import Side

OLD_VALUES = (
    "the values of an earlier stage were written for the charts that run now; read what changed in "
    "the values of each chart before you apply it"
)


class AsDeployed:
    """The old side's components with the values that they run with. ``why_not`` says why they are
    not known; ``stands_alone`` where their values need no catalog of that time any more."""

    __slots__ = ("components", "stands_alone", "warnings", "why_not")

    def __init__(
        self,
        components: Mapping[str, ComponentRef],
        *,
        stands_alone: bool = False,
        why_not: str = "",
        warnings: Sequence[str] = (),
    ) -> None:
        self.components = components
        self.stands_alone = stands_alone
        self.why_not = why_not
        self.warnings = warnings


class StageRecipe:
    """The recipe of one stage; ``head`` are the lines that its file begins with, ``from_catalog``
    where it can be bundled with the old catalog alone."""

    __slots__ = ("from_catalog", "head", "n", "recipe")

    def __init__(
        self, n: int, recipe: Recipe, head: Sequence[str], *, from_catalog: bool = False
    ) -> None:
        self.n = n
        self.recipe = recipe
        self.head = head
        self.from_catalog = from_catalog

    @property
    def file(self) -> str:
        """Where it is in the folder of the plan."""
        return f"stage-{self.n}/recipe.yaml"


def as_deployed(old: Side, catalog: Catalog, from_catalog: Catalog | None) -> AsDeployed:
    """The components of the old side, each with what it was deployed with.

    Raises INVALID_REQUEST where ``from_catalog`` lacks a values file.
    """
    refs = {ref.name: ref for ref in old.recipe.components}
    if old.recipe.inventory is not None:
        return AsDeployed(refs, why_not=f"{old.label} was read from a cluster, without any values")
    if old.values is not None:
        known = old.values
        lost = [
            f"{name}: {key}"
            for name in sorted(refs)
            if refs[name].enabled
            for key, value in _mapping(known.get(name)).items()
            if value is None
        ]
        warnings = []
        if lost:
            warnings.append(
                f"{old.label} switches defaults of charts off ({', '.join(lost)}); an earlier "
                "stage cannot say that: add it to its bundle"
            )
        carried = {name: _carrying(ref, _mapping(known.get(name))) for name, ref in refs.items()}
        return AsDeployed(carried, stands_alone=True, warnings=warnings)
    recorded = old.recipe.catalog_digest
    if from_catalog is None:
        if recorded == catalog.digest:
            return AsDeployed(refs)
        if recorded:
            why = f"{old.label} was resolved from another catalog than the one in use"
        else:
            why = f"{old.label} does not say which catalog it was resolved from"
        if old.is_bundle:
            why = f"{old.values_missing or f'{old.label} has no values on disk'}, and {why}"
        return AsDeployed(
            refs, why_not=f"{why}; --from-catalog names the folder of the catalog of that time"
        )
    warnings = []
    if recorded and recorded != from_catalog.digest:
        warnings.append(f"--from-catalog is not the catalog that {old.label} was resolved from")
    carried = {
        name: _carrying(ref, component_values(from_catalog, ref)) if ref.enabled else ref
        for name, ref in refs.items()
    }
    return AsDeployed(carried, stands_alone=True, warnings=warnings)


def stage_recipes(
    plan: Plan,
    old: Side,
    new: Side,
    deployed: AsDeployed,
    catalog: Catalog,
    from_catalog: Catalog | None,
) -> tuple[list[StageRecipe], str, list[str]]:
    """The recipe of each stage, else [] and why there are none; and warnings."""
    if not plan.stages:
        return [], "nothing moves", []
    needs_old = len(plan.stages) > 1 or (bool(plan.held) and not plan.unplanned)
    if deployed.why_not and (needs_old or old.recipe.inventory is not None):
        return [], deployed.why_not, []
    warnings = list(deployed.warnings) if needs_old else []
    found: list[StageRecipe] = []
    for stage in plan.stages:
        last = stage.n == len(plan.stages)
        base = new.recipe if last else old.recipe
        neither, old_only = _manifests(stage.components, catalog, from_catalog)
        where = f"stage {stage.n}"
        if neither:
            warnings.append(f"{where}: no catalog here has {', '.join(neither)}")
        if old_only and last:
            warnings.append(
                f"{where}: only --from-catalog has {', '.join(old_only)}, which a held component "
                "needs: copy it into your catalog"
            )
        by_old = bool(old_only) and not last
        components = list(stage.components)
        if by_old:
            components = [_without_file(ref, catalog) for ref in components]
        digest = base.catalog_digest
        if not last and deployed.stands_alone:
            digest = from_catalog.digest if by_old and from_catalog is not None else catalog.digest
        recipe = base.replace(
            components=components, deployment_order=list(stage.order), catalog_digest=digest
        )
        warnings += [f"{where}: {note}" for note in stage.notes]
        found.append(StageRecipe(stage.n, recipe, _head(plan, stage, last=last),
                                 from_catalog=by_old))  # fmt: skip
    if len(plan.stages) > 1:
        warnings.append(OLD_VALUES)
    return found, "", warnings


def _head(plan: Plan, stage: Stage, *, last: bool) -> list[str]:
    lines = [f"Stage {stage.n} of {len(plan.stages)} of an upgrade plan."]
    if not last:
        lines.append(f"Warning: {OLD_VALUES}.")
    elif plan.held and not plan.unplanned:
        names = ", ".join(one.change.component for one in plan.held)
        lines.append(f"The target, in which these stay as they were: {names}.")
    return lines


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _carrying(ref: ComponentRef, values: Mapping[str, object]) -> ComponentRef:
    """The component with these values whole, and no file of a catalog."""
    overrides = dict(values)
    if ref.overrides and "enabled" in ref.overrides:
        overrides = {"enabled": ref.overrides["enabled"], **overrides}
    return ref.replace(values_file="", overrides=overrides or None)


def _without_file(ref: ComponentRef, catalog: Catalog) -> ComponentRef:
    if not ref.values_file or not ref.enabled:
        return ref
    try:
        return _carrying(ref, component_values(catalog, ref))
    except AicrError:
        return ref


def _manifests(
    refs: Sequence[ComponentRef], catalog: Catalog, from_catalog: Catalog | None
) -> tuple[list[str], list[str]]:
    """Of the manifests of the components: those that no catalog has, and those that only the old
    one has."""
    neither: list[str] = []
    old_only: list[str] = []
    for ref in refs:
        for path in (*ref.pre_manifest_files, *ref.manifest_files) if ref.enabled else ():
            if catalog.has(path):
                continue
            has = from_catalog is not None and from_catalog.has(path)
            (old_only if has else neither).append(path)
    return list(dict.fromkeys(neither)), list(dict.fromkeys(old_only))
