"""What of a recipe is really in a bundle: its enabled components, in an order that holds."""

from __future__ import annotations

from aicr.errors import invalid
from aicr.recipe.order import deployment_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from aicr.catalog.model import ComponentRef
    from aicr.recipe.model import Recipe


def select(recipe: Recipe, removed: Collection[str], where: str) -> Recipe:
    """The recipe without components that are disabled or ``removed``, nor references to them.

    A recipe without ``deploymentOrder`` gets one. Raises INVALID_REQUEST where the recipe's own
    order leaves out an enabled component, names one that is not, or puts a component before what
    it depends on; and where nothing is left.
    """
    kept = [ref for ref in recipe.components if ref.enabled and ref.name not in removed]
    if not kept:
        raise invalid(f"{where}: no component is enabled, so there is nothing to bundle")
    sound = deployment_order(recipe.components)
    order = list(recipe.deployment_order) or sound
    _check_order(recipe, order, where)
    names = {ref.name for ref in kept}
    place = {name: index for index, name in enumerate(order)}
    refs = {ref.name: ref for ref in recipe.components}
    return recipe.replace(
        components=[ref.replace(dependency_refs=_behind(ref, refs, names, place)) for ref in kept],
        deployment_order=[name for name in order if name in names],
    )


def _behind(
    ref: ComponentRef,
    refs: Mapping[str, ComponentRef],
    names: Collection[str],
    place: Mapping[str, int],
) -> list[str]:
    """What a component waits for: where that is left out, what that one waits for."""
    found: dict[str, None] = {}
    seen = {ref.name}
    pending = list(reversed(ref.dependency_refs))
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        if name not in names:
            pending += reversed(refs[name].dependency_refs if name in refs else ())
        elif name in ref.dependency_refs or place[name] < place[ref.name]:
            found[name] = None
    return list(found)


def _check_order(recipe: Recipe, order: list[str], where: str) -> None:
    at = f"{where}: deploymentOrder"
    enabled = {ref.name: ref for ref in recipe.components if ref.enabled}
    problems: list[str] = []
    place: dict[str, int] = {}
    for index, name in enumerate(order):
        if name in place:
            problems.append(f'{at}: "{name}" is there twice')
        elif name not in enabled and recipe.component(name) is None:
            problems.append(f'{at}: "{name}" is not among the componentRefs')
        elif name not in enabled:
            problems.append(f'{at}: "{name}" is disabled, yet in the order')
        place.setdefault(name, index)
    for name, ref in enabled.items():
        if name not in place:
            problems.append(f'{at}: "{name}" is missing')
            continue
        problems += [
            f'{at}: "{name}" comes before "{dependency}", which it depends on'
            for dependency in ref.dependency_refs
            if dependency in enabled and place.get(dependency, -1) > place[name]
        ]
    if problems:
        hint = "leave deploymentOrder out to have it computed, or resolve the recipe again"
        raise invalid("\n  ".join(problems), hint=hint)
