"""Where in the values of each component the flags for the whole cluster land.

A flag replaces what the catalog says at a path that the registry lists; a component's own override
then has the last word.
"""

from __future__ import annotations

from aicr.bundle.names import shown
from aicr.bundle.overrides import reads_values
from aicr.bundle.setpath import PathError, parse_path, place
from aicr.catalog.schema import registry_values
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aicr.bundle.scheduling import Keys, Wish
    from aicr.bundle.setpath import Path
    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import RegistryEntry
    from aicr.recipe.model import Recipe


class Landing:
    """A path in a component's values where wishes land, and what they put there together."""

    __slots__ = ("path", "value", "wishes")

    def __init__(self, path: Path, value: object, wishes: Sequence[Wish]) -> None:
        self.path = path
        self.value = value
        self.wishes = wishes

    @property
    def given(self) -> str:
        return " and ".join(dict.fromkeys(wish.given for wish in self.wishes))


def landings_of(
    wishes: Sequence[Wish], recipe: Recipe, catalog: Catalog
) -> dict[str, list[Landing]]:
    """Where the wishes land, by component of ``recipe``.

    Raises INVALID_REQUEST where two ask for different things at one path, and for a registry entry
    whose paths cannot be read.
    """
    problems: list[str] = []
    found: dict[str, list[Landing]] = {}
    for ref in recipe.components if wishes else ():
        entry = catalog.registry.get(ref.name)
        if entry is None or not reads_values(ref):
            continue
        by_path: dict[Path, list[Wish]] = {}
        raw = registry_values(entry)
        for wish in wishes:
            for path in _paths(entry, raw, wish.keys, problems):
                by_path.setdefault(path, []).append(wish)
        for path, group in by_path.items():
            value = group[0].value
            for other in group[1:]:
                value = _together(value, other, ref.name, group, problems)
            found.setdefault(ref.name, []).append(Landing(path, value, group))
    if problems:
        raise invalid("\n  ".join(problems), details={"problems": problems})
    return found


def land(
    name: str, values: dict[str, object], landings: Iterable[Landing]
) -> tuple[dict[str, object], list[str]]:
    """The values with what lands in them, and why some could not land."""
    problems: list[str] = []
    for one in landings:
        try:
            values = place(values, one.path, one.value)
        except PathError as error:
            problems.append(f'{one.given}: in the values of "{name}" {error}')
    return values, problems


def _paths(entry: RegistryEntry, raw: object, keys: Keys, problems: list[str]) -> list[Path]:
    node = raw
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    at = f"{entry.where}: {entry.name}.{'.'.join(keys)}"
    if node is None:
        return []
    if not isinstance(node, list):
        problems.append(f"{at}: expected a list of paths")
        return []
    found: list[Path] = []
    for text in node:
        try:
            found.append(parse_path(str(text)))
        except PathError as error:
            problems.append(f"{at}: {shown(str(text))} is no path: {error}")
    return list(dict.fromkeys(found))


def _together(
    value: object, other: Wish, name: str, group: Sequence[Wish], problems: list[str]
) -> object:
    """Two wishes for one path: a pod that runs on both kinds of nodes tolerates the taints of
    both, but no node has two values of a label."""
    if isinstance(value, list) and isinstance(other.value, list):
        return value + [item for item in other.value if item not in value]
    if isinstance(value, dict) and isinstance(other.value, dict):
        merged = {**value, **other.value}
        if merged == {**other.value, **value}:
            return merged
    if value != other.value:
        problems.append(
            f'{group[0].given} and {other.given} contradict each other on "{name}", whose pods '
            "both reach"
        )
    return value
