"""Which criteria resolve on a catalog."""

from __future__ import annotations

from aicr.errors import AicrError
from aicr.recipe.criteria import Criteria
from aicr.recipe.resolve import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.catalog.layers import Catalog


def resolvable(catalog: Catalog) -> list[tuple[Criteria, int]]:
    """The criteria that some overlay states and that resolve, with the number of components."""
    found: dict[Criteria, int] = {}
    for head in catalog.heads.values():
        stated = {key: value for key, value in (head.criteria or {}).items() if key != "nodes"}
        criteria = Criteria.of(stated)
        if not stated or criteria in found:
            continue
        try:
            found[criteria] = len(resolve(catalog, criteria).deployment_order)
        except AicrError:
            continue
    return sorted(found.items(), key=lambda item: tuple(item[0].stated().items()))
