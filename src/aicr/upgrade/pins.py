"""Which versions a catalog pins now, and where each pin stands."""

from __future__ import annotations

from aicr.catalog.folder import REGISTRY, is_yaml
from aicr.documents.nodes import Map, Seq
from aicr.documents.scalars import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import RegistryEntry
    from aicr.documents.nodes import Node
    from aicr.upgrade.model import Records
    from aicr.versions.semver import Version


class Pin:
    """One pin of a component: the version (or tag) as written, and its place."""

    __slots__ = ("component", "file", "line", "text")

    def __init__(self, component: str, text: str, file: str, line: int) -> None:
        self.component = component
        self.text = text
        self.file = file
        self.line = line


def current_pins(catalog: Catalog) -> dict[str, list[Pin]]:
    """The pins of each component that has some: in the registry, in overlays and in mixins.

    Each version once, at the first place that has it; the registry comes first.
    """
    found: dict[str, dict[str, Pin]] = {}

    def add(pin: Pin) -> None:
        found.setdefault(pin.component, {}).setdefault(pin.text, pin)

    for entry in catalog.registry.values():
        pinned = entry.version or entry.tag
        if pinned:
            file, _, line = entry.where.rpartition(":")
            add(Pin(entry.name, pinned, file or REGISTRY, _line_of(entry) or int(line)))
    for path in catalog.paths():
        if not path.startswith(("overlays/", "mixins/")) or not is_yaml(path):
            continue
        for ref in _components(catalog.node(path)):
            for key in ("version", "tag"):
                pinned = _text(ref, key)
                if pinned:
                    add(Pin(_text(ref, "name"), pinned, catalog.where(path), ref.lines[key]))
                    break
    return {name: list(pins.values()) for name, pins in found.items()}


def highest(pins: list[Pin], records: Records) -> Version | None:
    """The highest of these pins that the component's records can compare; None without one."""
    versions = [v for pin in pins if (v := records.version(pin.text)) is not None]
    return max(versions, key=lambda v: v.key, default=None)


def _line_of(entry: RegistryEntry) -> int:
    for block, key in (("helm", "defaultVersion"), ("kustomize", "defaultTag")):
        node = entry.raw.get(block)
        if isinstance(node, Map) and key in node:
            return node.lines[key]
    return 0


def _components(node: Node) -> list[Map]:
    spec = node.get("spec") if isinstance(node, Map) else None
    refs = spec.get("componentRefs") if isinstance(spec, Map) else None
    return [ref for ref in refs if isinstance(ref, Map)] if isinstance(refs, Seq) else []


def _text(ref: Map, key: str) -> str:
    node = ref.get(key)
    if node is None or isinstance(node, Map | Seq):
        return ""
    return text_of(node) or ""
