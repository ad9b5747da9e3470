"""What a catalog says when one folder lies over another: the whole, by name and by path.

A file of the same path replaces; a registry entry and a release of the same name replace whole.
"""

from __future__ import annotations

from functools import partial

from aicr.catalog.folder import REGISTRY, RELEASES, Layer, OverlayHead
from aicr.catalog.model import Mixin, Overlay, RegistryEntry, Release
from aicr.catalog.schema import read_mixin, read_overlay, read_registry, read_releases
from aicr.documents.digest import sha256_hex
from aicr.documents.fields import Problems
from aicr.errors import invalid, not_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from aicr.documents.nodes import Node

    T = TypeVar("T")


class Catalog:
    """A catalog that is checked and complete. It is never changed; parts are read on demand.

    ``registry`` maps component names to entries; ``releases`` are oldest first; ``heads`` maps
    overlay names to what matching needs; ``digest`` is ``sha256:`` over all files.
    """

    def __init__(self, layers: list[Layer], *, allow_unknown: bool = False) -> None:
        self._layers = layers
        self._allow_unknown = allow_unknown
        self._owner: dict[str, Layer] = {}
        for layer in layers:
            for path in layer.files:
                self._owner[path] = layer
        self.heads: dict[str, OverlayHead] = {}
        self._mixin_paths: dict[str, str] = {}
        for layer in layers:
            self._add_names(layer)
        self._overlays: dict[str, Overlay] = {}
        self._mixins: dict[str, Mixin] = {}
        self._registry: dict[str, RegistryEntry] | None = None
        self._releases: list[Release] | None = None
        self._digest = ""
        self._check_bases()

    def _add_names(self, layer: Layer) -> None:
        for head in layer.overlays:
            if self._owner[head.path] is not layer:
                continue
            other = self.heads.get(head.name)
            if other is not None:
                raise invalid(
                    f'{layer.where(head.path)}: the overlay "{head.name}" is also in '
                    f"{self.where(other.path)}",
                    hint="a file of the same path replaces; another path needs another name",
                )
            self.heads[head.name] = head
        for name, path in layer.mixins.items():
            if self._owner[path] is not layer:
                continue
            if name in self._mixin_paths:
                raise invalid(
                    f'{layer.where(path)}: the mixin "{name}" is also in '
                    f"{self.where(self._mixin_paths[name])}"
                )
            self._mixin_paths[name] = path

    def _check_bases(self) -> None:
        """Every chain of bases ends at a root. Raises INVALID_REQUEST that shows the chain."""
        sound: set[str] = set()
        for name in self.heads:
            chain: dict[str, None] = {}
            current = name
            while current and current not in sound:
                if current in chain:
                    names = list(chain)
                    loop = " -> ".join([*names[names.index(current) :], current])
                    raise invalid(
                        f"{self.where(self.heads[current].path)}: overlays that are each "
                        f"other's base: {loop}"
                    )
                chain[current] = None
                head = self.heads.get(current)
                if head is None:
                    child = list(chain)[-2]
                    raise invalid(
                        f'{self.where(self.heads[child].path)}: the base "{current}" of '
                        f'"{child}" does not exist (chain: {" -> ".join(chain)})'
                    )
                current = head.base
            sound.update(chain)

    @property
    def registry(self) -> dict[str, RegistryEntry]:
        if self._registry is None:
            entries: dict[str, RegistryEntry] = {}
            for layer in self._layers:
                if REGISTRY in layer.files:
                    for entry in self._read(layer, REGISTRY, read_registry):
                        entries[entry.name] = entry
            self._registry = entries
        return self._registry

    @property
    def releases(self) -> list[Release]:
        if self._releases is None:
            releases: dict[str, Release] = {}
            for layer in self._layers:
                if RELEASES in layer.files:
                    for release in self._read(layer, RELEASES, read_releases):
                        releases[release.name] = release
            self._releases = list(releases.values())
        return self._releases

    @property
    def digest(self) -> str:
        if not self._digest:
            lines = [f"{self._owner[path].files[path]} {path}" for path in sorted(self._owner)]
            text = "\n".join(lines)
            self._digest = "sha256:" + sha256_hex(text.encode(errors="surrogateescape"))
        return self._digest

    def overlay(self, name: str) -> Overlay:
        """The overlay of that name, which must be one of ``heads``."""
        if name not in self._overlays:
            path = self.heads[name].path
            self._overlays[name] = self._read(self._owner[path], path, read_overlay)
        return self._overlays[name]

    def mixin(self, name: str, wanted_by: str) -> Mixin:
        """The mixin of that name; INVALID_REQUEST that names ``wanted_by`` if there is none."""
        if name not in self._mixins:
            path = self._mixin_paths.get(name)
            if path is None:
                known = ", ".join(sorted(self._mixin_paths)) or "none"
                raise invalid(
                    f'{wanted_by}: the mixin "{name}" does not exist (there are: {known})'
                )
            self._mixins[name] = self._read(self._owner[path], path, read_mixin)
        return self._mixins[name]

    def mixin_path(self, name: str) -> str:
        """The file of a mixin that is there."""
        return self._mixin_paths[name]

    def has(self, path: str) -> bool:
        return path in self._owner

    def paths(self) -> list[str]:
        """Every file of the catalog, sorted."""
        return sorted(self._owner)

    def where(self, path: str) -> str:
        """How a file is shown to a person."""
        owner = self._owner.get(path, self._layers[-1])
        return owner.where(path)

    def node(self, path: str) -> Node:
        """The parsed form of a values or record file. NOT_FOUND where it is not there."""
        owner = self._owner.get(path)
        if owner is None:
            raise not_found(f'"{path}" is not in the catalog')
        return owner.tree(path)

    def file(self, path: str) -> bytes:
        """The bytes of a file. NOT_FOUND where it is not there."""
        owner = self._owner.get(path)
        if owner is None:
            raise not_found(f'"{path}" is not in the catalog')
        return owner.data(path)

    def is_own(self, path: str) -> bool:
        """Whether a file is of the topmost folder, the one that its author can change."""
        return self._owner.get(path) is self._layers[-1]

    def each_layer(self, path: str) -> list[tuple[str, bool, Callable[[], Node]]]:
        """A file in every folder that has it, the lowest first: how it is shown, whether it is of
        the topmost folder, and its parsed form."""
        return [
            (layer.where(path), layer is self._layers[-1], partial(layer.tree, path))
            for layer in self._layers
            if path in layer.files
        ]

    def disk_paths(self) -> dict[str, str]:
        """Where each file of each folder lies on disk, by how it is shown."""
        return {
            layer.where(path): f"{layer.root}/{path}"
            for layer in self._layers
            for path in layer.files
        }

    def _read(self, layer: Layer, path: str, reader: Callable[[Node, str, Problems], T]) -> T:
        # Checked when the layer was opened; the flag only says what that check let through.
        problems = Problems(allow_unknown=self._allow_unknown)
        value = reader(layer.tree(path), layer.where(path), problems)
        problems.raise_any()
        return value
