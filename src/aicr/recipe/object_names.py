"""Which values rename what a chart creates: ``fullnameOverride`` and ``nameOverride``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NAME_KEYS = ("fullnameOverride", "nameOverride")
Path = tuple[str | int, ...]


def object_names(values: object) -> dict[Path, object]:
    """Every object name in the values, at any depth, by the steps that lead to it."""
    found: dict[Path, object] = {}
    pending: list[tuple[Path, object]] = [((), values)]
    while pending:
        at, value = pending.pop()
        if isinstance(value, dict):
            for key, item in value.items():
                if key in NAME_KEYS and not isinstance(item, dict | list):
                    found[(*at, key)] = item
                else:
                    pending.append(((*at, key), item))
        elif isinstance(value, list):
            pending += [((*at, index), item) for index, item in enumerate(value)]
    return found


def shown(path: Sequence[str | int]) -> str:
    """The path as a person writes it: ``grafana.fullnameOverride``, ``items[0].nameOverride``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            word = f'"{step}"' if "." in step else step
            text += f".{word}" if text else word
    return text
