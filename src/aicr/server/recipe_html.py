"""A recipe as one HTML page: its components in deployment order, and which waits for which."""

from __future__ import annotations

from aicr.upgrade.page import about, page, table, text
from aicr.upgrade.picture import STYLE, picture

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.catalog.model import ComponentRef
    from aicr.library import Recipe

_HEAD = ("#", "Component", "Version", "Namespace", "Chart", "Source")


def recipe_html(recipe: Recipe) -> str:
    """The whole page."""
    model = recipe.model
    body = ["<h1>Recipe</h1>\n"]
    body.append(
        about(
            [
                ("Criteria", str(model.criteria)),
                ("Overlays", ", ".join(model.applied_overlays)),
                *((f"Needs {one.name}", one.value) for one in model.constraints),
            ]
        )
    )
    places = {name: index + 1 for index, name in enumerate(recipe.order)}
    refs = sorted(
        recipe.components, key=lambda ref: (places.get(ref.name, len(places) + 1), ref.name)
    )
    rows = [_row(ref, places.get(ref.name)) for ref in refs]
    body += ["<h2>Components, in deployment order</h2>\n", table(_HEAD, rows)]
    drawn = picture(model)
    body.append(f"<h2>What waits for what</h2>\n{drawn}" if drawn else "")
    return page("Recipe", body, style=STYLE)


def _row(ref: ComponentRef, place: int | None) -> list[str]:
    return [
        str(place) if place is not None else "off",
        f"<strong>{text(ref.name)}</strong>",
        f'<span class="v">{text(ref.pin or "-")}</span>',
        text(ref.namespace or "-"),
        text(ref.chart or "-"),
        f'<span class="quiet">{text(ref.source or "-")}</span>',
    ]
