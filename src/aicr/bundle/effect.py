"""Whether what the command line asks for takes effect in the end, and what it displaces.

A component's own override has the last word over a flag for the whole cluster, and what the
operator wrote into ``cluster-values.yaml`` has it over both.
"""

from __future__ import annotations

from aicr.bundle.overrides import raise_any
from aicr.bundle.setpath import MISSING, lookup, spell
from aicr.bundle.validations import Notice
from aicr.recipe.values import component_values, merge_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.bundle.landings import Landing
    from aicr.bundle.overrides import Settled
    from aicr.bundle.plan import DeploymentPlan
    from aicr.bundle.scheduling import Wish
    from aicr.catalog.layers import Catalog

    Landings = Mapping[str, Sequence[Landing]]


def check_effect(
    plan: DeploymentPlan,
    catalog: Catalog,
    *,
    wishes: Sequence[Wish],
    landings: Landings,
    settled: Settled,
    kept: Mapping[str, Mapping[str, object]],
) -> list[Notice]:
    """What a flag for the whole cluster does not reach, and what of the catalog it displaces.

    ``kept`` has what the operator wrote, by release. Raises INVALID_REQUEST for a flag that reaches
    nothing, and for an override that ``kept`` undoes.
    """
    final = _final_values(plan, kept)
    problems = [
        f"{one.given}: has no effect: {release}'s cluster-values.yaml says otherwise about "
        f'"{spell(one.path)}"'
        for name, overrides in settled.values.items()
        for one in overrides
        for release, values in final.get(name, {}).items()
        if release in kept and not _says(values, one.path, one.value)
    ]
    notices: list[Notice] = []
    reached: set[str] = set()
    named: set[str] = set()
    refs = {ref.name: ref for ref in plan.recipe.components}
    for name, group in landings.items():
        before = component_values(catalog, refs[name])
        for landing in group:
            flags = {wish.flag for wish in landing.wishes}
            named |= flags
            if not all(_says(one, landing.path, landing.value) for one in final[name].values()):
                message = f'is not what "{name}" gets at {spell(landing.path)}: its own override'
                message += " or cluster-values.yaml says otherwise"
                notices.append(Notice("warning", f"{landing.given} {message}"))
                continue
            reached |= flags
            lost = _lost(lookup(before, landing.path), landing.value)
            if lost:
                message = f'replaces what the catalog has for "{name}" at {spell(landing.path)}'
                notices.append(Notice("info", f"{landing.given} {message}: {lost}"))
    for wish in wishes:
        if wish.flag in reached:
            continue
        if wish.flag in named:
            why = "every component that it concerns has an override that says otherwise"
        else:
            lists = [".".join(one.keys) for one in wishes if one.flag == wish.flag]
            why = "no component of the recipe has a place for it"
            why += f" ({' or '.join(lists)} in the registry)"
        problems.append(f"{wish.given}: has no effect: {why}")
    raise_any(problems)
    return notices


def _final_values(
    plan: DeploymentPlan, kept: Mapping[str, Mapping[str, object]]
) -> dict[str, dict[str, Mapping[str, object]]]:
    """A component's values as each of its releases gets them, what the operator wrote included."""
    found: dict[str, dict[str, Mapping[str, object]]] = {}
    for release in plan.releases:
        values = merge_values(release.values, kept.get(release.name, {}))
        own = values if release.chart is not None else values.get(release.component)
        found.setdefault(release.component, {})[release.name] = own if isinstance(own, dict) else {}
    return found


def _says(values: object, path: tuple[str | int, ...], value: object) -> bool:
    """Whether ``value`` stands at ``path``; of a map, whether all of it does."""
    found = lookup(values, path)
    if isinstance(value, dict) and isinstance(found, dict):
        return all(_says(found, (key,), item) for key, item in value.items())
    if value is None:
        return found is None or found is MISSING
    return type(found) is type(value) and found == value


def _lost(before: object, after: object) -> str:
    """What of a list or a map is gone, in words."""
    if isinstance(before, dict) and isinstance(after, dict):
        return ", ".join(f"{key}={item}" for key, item in before.items() if key not in after)
    if isinstance(before, list) and isinstance(after, list):
        return ", ".join(_toleration(item) for item in before if item not in after)
    return ""


def _toleration(item: object) -> str:
    if not isinstance(item, dict):
        return str(item)
    text = str(item.get("key") or "every taint")
    if "value" in item:
        text += f"={item['value']}"
    return f"{text}:{item['effect']}" if "effect" in item else text
