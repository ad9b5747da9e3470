"""Which component waits for which, as a picture: columns in deployment order, coloured by verdict.

It is inline SVG made of text, lines and boxes; each box is a link to the row of its component.
"""

from __future__ import annotations

from aicr.upgrade.page import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.catalog.model import ComponentRef
    from aicr.recipe.model import Recipe

# Beyond this nobody sees anything in it, and every line is a cost.
MOST = 80

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _EDGE = 236, 40, 46, 12, 6
# Characters that fit; the widest of the usual fonts decides.
_NAME, _PIN = 32, 32

STYLE = """\
figure { margin: .5rem 0; } figcaption { color: var(--quiet); margin: .2rem 0; }
figure .scroll { padding: .6rem; }
.picture { display: block; }
.picture text { fill: var(--ink); font: 12px system-ui, sans-serif; }
.picture .pin { fill: var(--quiet); font: 11px ui-monospace, monospace; }
.picture rect { fill: var(--paper); stroke: var(--line); stroke-width: 1.2; }
.picture .lines { fill: none; stroke: var(--quiet); stroke-width: 1; opacity: .55; }
.picture .is-safe rect { fill: var(--safe-b); stroke: var(--safe); }
.picture .is-manual rect { fill: var(--manual-b); stroke: var(--manual); }
.picture .is-blocked rect { fill: var(--blocked-b); stroke: var(--blocked); stroke-width: 2; }
.picture .is-unknown rect, .picture .is-unversioned rect { fill: var(--unknown-b);
  stroke: var(--unknown); }
.picture .is-added rect { stroke-dasharray: 5 3; stroke: var(--quiet); }
.picture a { text-decoration: none; } .picture a:hover text { text-decoration: underline; }
.picture a:focus-visible rect { stroke: var(--link); stroke-width: 3; }
@media print { .picture { max-width: 100%; height: auto; } }
"""


def picture(
    recipe: Recipe,
    words: Mapping[str, str] | None = None,
    places: Mapping[str, str] | None = None,
) -> str:
    """The figure; ``words`` are the verdict or the change of components, ``places`` the id of each
    one's row."""
    refs = {ref.name: ref for ref in recipe.components if ref.enabled}
    order = [name for name in recipe.deployment_order if name in refs]
    if not order:
        return ""
    if len(order) > MOST:
        said = f"{len(order)} components are too many for a picture; their order is in the recipe."
        return f'<p class="quiet">{text(said)}</p>\n'
    needs = _reduced(order, refs)
    columns = _columns(order, needs)
    spots: dict[str, tuple[int, int]] = {}
    for x, column in enumerate(columns):
        for y, name in enumerate(column):
            spots[name] = (x * (_WIDTH + _GAP_X) + 2, y * (_HEIGHT + _GAP_Y) + 2)
    width = len(columns) * (_WIDTH + _GAP_X) - _GAP_X + 4
    height = max(len(column) for column in columns) * (_HEIGHT + _GAP_Y) - _GAP_Y + 4
    lines = "".join(_line(spots[one], spots[name]) for name in order for one in needs[name])
    boxes = "".join(
        _box(refs[name], order.index(name) + 1, spots[name], (words or {}).get(name, ""),
             (places or {}).get(name, ""))
        for name in order
    )  # fmt: skip
    about = f"{len(order)} components in deployment order, from left to right"
    return (
        f'<figure><div class="scroll"><svg class="picture" role="group" aria-label="{text(about)}" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
        f'<path class="lines" d="{lines}"/>\n{boxes}</svg></div>\n'
        f"<figcaption>{text(about)}. A line leads from a component to what waits for it; the "
        "number is the place in the order.</figcaption></figure>\n"
    )


def _reduced(order: Sequence[str], refs: Mapping[str, ComponentRef]) -> dict[str, list[str]]:
    """What each component waits for directly: what it waits for through another is left out."""
    place = {name: index for index, name in enumerate(order)}
    behind: dict[str, set[str]] = {}
    direct: dict[str, list[str]] = {}
    for name in order:
        # Only what comes before it, so that a recipe with a wrong order cannot lead in circles.
        stated = [
            one
            for one in dict.fromkeys(refs[name].dependency_refs)
            if place.get(one, len(order)) < place[name]
        ]
        through = set().union(*(behind[one] for one in stated)) if stated else set()
        direct[name] = [one for one in stated if one not in through]
        behind[name] = through.union(stated)
    return direct


def _columns(order: Sequence[str], needs: Mapping[str, Sequence[str]]) -> list[list[str]]:
    level: dict[str, int] = {}
    for name in order:
        level[name] = max((level[one] + 1 for one in needs[name]), default=0)
    columns: list[list[str]] = [[] for _ in range(max(level.values()) + 1)]
    for name in order:
        columns[level[name]].append(name)
    return columns


def _line(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1 = start[0] + _WIDTH, start[1] + _HEIGHT // 2
    x2, y2 = end[0], end[1] + _HEIGHT // 2
    bend = _GAP_X // 2
    return f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"


def _box(ref: ComponentRef, number: int, spot: tuple[int, int], word: str, place: str) -> str:
    x, y = spot
    known = ("safe", "manual", "blocked", "unknown", "unversioned", "added")
    kind = f' class="is-{word}"' if word in known else ""
    said = f"{number}. {ref.name} {ref.pin}".rstrip() + (f", {word}" if word else "")
    second = f"{ref.pin}  {word}".strip()
    inside = (
        f"<title>{text(said)}</title>"
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="{_EDGE}"/>'
        f'<text x="{x + 8}" y="{y + 17}">{text(_short(f"{number} {ref.name}", _NAME))}</text>'
        f'<text class="pin" x="{x + 8}" y="{y + 32}">{text(_short(second, _PIN))}</text>'
    )
    if place:
        inside = f'<a href="#{place}">{inside}</a>'
    return f"<g{kind}>{inside}</g>\n"


def _short(name: str, longest: int) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "\u2026"
