"""Which overlays of a catalog apply to criteria, and whether every stated criterion is honoured.

(Rules: resolving a recipe, section 3, points 1 to 3 and 8.)
"""

from __future__ import annotations

from aicr.catalog.model import DIMENSIONS
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from aicr.catalog.layers import Catalog
    from aicr.recipe.criteria import Criteria

ROOT = "base"


def matching_leaves(
    catalog: Catalog, criteria: Criteria, excluded: Collection[str] = ()
) -> list[str]:
    """The names of the matching overlays that no other match stands on, in merge order.

    ``excluded`` are overlays that may not take part, by themselves or below another.
    """
    stated = frozenset(criteria.stated().items())
    heads = catalog.heads
    matches = [
        head
        for head in heads.values()
        if head.wanted is not None
        and head.wanted <= stated
        and not (excluded and any(name in excluded for name in chain_of(catalog, head.name)))
    ]
    ancestors: set[str] = set()
    for head in matches:
        base = head.base
        while base and base not in ancestors:
            ancestors.add(base)
            base = heads[base].base
        if head.name != ROOT:
            ancestors.add(ROOT)
    leaves = [head for head in matches if head.name not in ancestors]
    leaves.sort(key=lambda head: (len(head.criteria or ()), head.name))
    return [head.name for head in leaves]


def chain_of(catalog: Catalog, leaf: str) -> list[str]:
    """The overlay and what it stands on, root first; the catalog's root is always the first."""
    chain: list[str] = []
    name = leaf
    while name:
        chain.append(name)
        name = catalog.heads[name].base
    if chain[-1] != ROOT and ROOT in catalog.heads:
        chain.append(ROOT)
    chain.reverse()
    return chain


def merge_order(catalog: Catalog, leaves: list[str]) -> list[str]:
    """Every overlay of the leaves' chains once, in the order in which they merge."""
    order: dict[str, None] = {}
    if ROOT in catalog.heads:
        order[ROOT] = None
    for leaf in leaves:
        for name in chain_of(catalog, leaf):
            order[name] = None
    return list(order)


def uncovered(catalog: Catalog, criteria: Criteria, applied: list[str]) -> list[str]:
    """The stated dimensions that no applied overlay carries with the stated value."""
    carried = [catalog.heads[name].criteria or {} for name in applied]
    return [
        dimension
        for dimension, value in criteria.stated().items()
        if not any(one.get(dimension) == value for one in carried)
    ]


def coverage_error(catalog: Catalog, criteria: Criteria, missing: list[str]) -> AicrError:
    """The INVALID_REQUEST for criteria that nothing honours, with what would make them resolve."""
    stated = criteria.stated()
    alike: dict[str, list[str]] = {}
    found: list[object] = []
    for dimension in missing:
        completions = _completions(catalog, stated, dimension)
        needs = f": it {_requirement(completions)}" if completions else ""
        alike.setdefault(needs, []).append(f"{dimension}={stated[dimension]}")
        found.append(
            {
                "dimension": dimension,
                "requestedValue": stated[dimension],
                "validCompletions": [dict(one) for one in completions],
            }
        )
    lines = [f"{' and '.join(unmet)}{needs}" for needs, unmet in alike.items()]
    return invalid(
        f"no recipe for {criteria} honours " + "; nor does any honour ".join(lines),
        hint="aicr recipe list shows every combination that resolves",
        details={"criteria": dict(criteria.values()), "uncovered": found},
    )


def _completions(
    catalog: Catalog, stated: Mapping[str, str], dimension: str
) -> list[dict[str, str]]:
    """The smallest sets of further criteria with which everything stated would be covered."""
    from aicr.recipe.criteria import Criteria

    found: list[dict[str, str]] = []
    for head in catalog.heads.values():
        own = {key: value for key, value in (head.criteria or {}).items() if key != "nodes"}
        if own.get(dimension) != stated[dimension]:
            continue
        if any(stated.get(key, value) != value for key, value in own.items()):
            continue
        extra = {key: own[key] for key in DIMENSIONS if key in own and key not in stated}
        if not extra or extra in found:
            continue
        whole = Criteria.of({**stated, **extra})
        applied = merge_order(catalog, matching_leaves(catalog, whole))
        if not uncovered(catalog, whole, applied):
            found.append(extra)
    smallest = [one for one in found if not any(other.items() < one.items() for other in found)]
    return sorted(smallest, key=lambda one: (len(one), list(one.items())))


def _requirement(completions: list[dict[str, str]]) -> str:
    """``requires os (valid: ubuntu)``, one alternative for each set of dimensions."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for one in completions:
        groups.setdefault(tuple(one), []).append(one)
    parts: list[str] = []
    for dimensions, members in groups.items():
        valid = ", ".join("+".join(one.values()) for one in members)
        parts.append(f"{' and '.join(dimensions)} (valid: {valid})")
    return "requires " + ", or ".join(parts)
