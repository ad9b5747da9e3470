"""Which criteria resolve on a catalog."""

from __future__ import annotations

from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.match import chain_of
from aicr.recipe.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.catalog.layers import Catalog

    Stated = frozenset[tuple[str, str]]


def resolvable(catalog: Catalog) -> list[tuple[Criteria, int]]:
    """The criteria that resolve, without ``nodes``, each with the number of its components."""
    found: list[tuple[Criteria, int]] = []
    for stated in _unions(_honoured(catalog)):
        criteria = Criteria.of(dict(stated))
        try:
            found.append((criteria, len(resolve(catalog, criteria).deployment_order)))
        except AicrError:
            continue
    return sorted(found, key=lambda item: tuple(item[0].stated().items()))


def _honoured(catalog: Catalog) -> set[Stated]:
    """What an overlay honours by itself: its criteria, also with one of what it stands on."""
    found: set[Stated] = set()
    for name, head in catalog.heads.items():
        if head.criteria is None:
            continue
        own = {item for item in head.criteria.items() if item[0] != "nodes"}
        found.add(frozenset(own))
        for ancestor in chain_of(catalog, name):
            for item in (catalog.heads[ancestor].criteria or {}).items():
                if item[0] != "nodes":
                    found.add(frozenset({*own, item}))
    return {one for one in found if one and _is_one_query(one)}


def _unions(parts: set[Stated]) -> set[Stated]:
    """Every query that some of ``parts`` make together: overlays apply beside each other."""
    found = set(parts)
    pending = list(parts)
    while pending:
        one = pending.pop()
        for part in parts:
            union = one | part
            if union not in found and _is_one_query(union):
                found.add(union)
                pending.append(union)
    return found


def _is_one_query(stated: Stated) -> bool:
    """Whether each dimension has one value."""
    return len({dimension for dimension, _ in stated}) == len(stated)
