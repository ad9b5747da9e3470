"""In which file and line a layer of a catalog says something about a field of a recipe.

A place is a function from the path of a field (``components``, name, field, ..) to ``file:line``.
"""

from __future__ import annotations

from aicr.documents.nodes import Map, Seq

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aicr.catalog.layers import Catalog
    from aicr.documents.nodes import Node

    Path = tuple[str, ...]
    Place = Callable[[Path], str]

_LISTS = {"components": "componentRefs", "constraints": "constraints"}
_REGISTRY = {
    "source": ("helm.defaultRepository", "kustomize.defaultSource"),
    "chart": ("helm.defaultChart",),
    "version": ("helm.defaultVersion",),
    "namespace": ("helm.defaultNamespace",),
    "tag": ("kustomize.defaultTag",),
    "path": ("kustomize.defaultPath",),
    "manifestFiles": ("manifestFiles",),
    "type": ("kustomize", "helm"),
}


def overlay_place(catalog: Catalog, name: str, where: str, *, is_overlay: bool) -> Place:
    """Places in an overlay or a mixin."""
    path = catalog.heads[name].path if is_overlay else catalog.mixin_path(name)

    def place(field: Path) -> str:
        node = catalog.node(path)
        spec = node.get("spec") if isinstance(node, Map) else None
        return _shown(where, _line(spec, field) if isinstance(spec, Map) else 0)

    return place


def document_place(document: Node, where: str) -> Place:
    """Places in a recipe document."""

    def place(field: Path) -> str:
        return _shown(where, _line(document, field) if isinstance(document, Map) else 0)

    return place


def registry_place(catalog: Catalog) -> Place:
    """Places in the registry entry of a component."""

    def place(field: Path) -> str:
        entry = catalog.registry.get(field[1]) if len(field) > 2 else None
        if entry is None or not isinstance(entry.raw, Map):
            return ""
        file, _, first = entry.where.rpartition(":")
        for key in _REGISTRY.get(field[2], ()):
            line = _deepest(entry.raw, key.split("."))
            if line and _reaches(entry.raw, key.split(".")):
                return _shown(file, line)
        return _shown(file, int(first) if first.isdigit() else 0)

    return place


def tree_place(catalog: Catalog, path: str, *, skip: int) -> Place:
    """Places in a values file; ``skip`` steps of a field lead to its root."""

    def place(field: Path) -> str:
        node = catalog.node(path)
        line = _deepest(node, field[skip:]) if isinstance(node, Map) else 0
        return _shown(catalog.where(path), line)

    return place


def _line(node: Map, field: Path) -> int:
    """The line of a field in a map that holds componentRefs, constraints and validation."""
    if field[0] not in _LISTS:
        return _deepest(node, field)
    items = node.get(_LISTS[field[0]])
    if not isinstance(items, Seq) or len(field) < 2:
        return 0
    for item in items:
        if isinstance(item, Map) and item.get("name") == field[1]:
            return _deepest(item, field[2:]) or item.lines.get("name", item.line)
    return 0


def _deepest(node: Map, steps: Sequence[str]) -> int:
    """The line of the deepest key on the way that is there; 0 where the first is not."""
    line = 0
    place: Node = node
    for step in steps:
        if not isinstance(place, Map) or step not in place:
            break
        line = place.lines.get(step, line)
        place = place[step]
    return line


def _reaches(node: Map, steps: Sequence[str]) -> bool:
    place: Node = node
    for step in steps:
        if not isinstance(place, Map) or step not in place:
            return False
        place = place[step]
    return True


def _shown(where: str, line: int) -> str:
    return f"{where}:{line}" if line else where
