"""What a recipe says at one place, with the values of its components computed.

The hydrated recipe: the recipe as it is written, ``componentRefs`` being ``components`` by name,
each with its ``values``.
"""

from __future__ import annotations

from aicr.recipe.document import component_fields, recipe_values
from aicr.recipe.selector import parse_selector, select
from aicr.recipe.values import component_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.catalog.layers import Catalog
    from aicr.recipe.model import Recipe


def query(catalog: Catalog, recipe: Recipe, selector: str) -> object:
    """What ``selector`` finds in the hydrated recipe.

    Raises NOT_FOUND with the keys that are there, INVALID_REQUEST for a malformed selector or a
    values file that is not there.
    """
    steps = parse_selector(selector)
    return select(hydrated(catalog, recipe, steps), steps, selector)


def hydrated(catalog: Catalog, recipe: Recipe, steps: Sequence[str] = ()) -> dict[str, object]:
    """The hydrated recipe; values are computed only for what ``steps`` may reach."""
    components: dict[str, object] = {}
    for ref in recipe.components:
        components[ref.name] = {
            **component_fields(ref),
            "values": component_values(catalog, ref) if _reaches(steps, ref.name) else {},
        }
    found: dict[str, object] = {}
    for key, value in recipe_values(recipe).items():
        if key == "componentRefs":
            found["components"] = components
        else:
            found[key] = value
    found.setdefault("criteria", {})
    found.setdefault("constraints", [])
    return found


def _reaches(steps: Sequence[str], component: str) -> bool:
    """Whether the steps may end in, above or below the values of a component."""
    wanted = ("components", component, "values")
    return all(step == want for step, want in zip(steps, wanted, strict=False))
