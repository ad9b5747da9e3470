"""The catalog that a program works with: ``aicr.Catalog``."""

from __future__ import annotations

from os import fspath

from aicr.catalog.open import open_catalog
from aicr.upgrade.kept_records import KeptRecords

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os

    from aicr.catalog.layers import Catalog as Layers


class Catalog:
    """Components, overlays, records and the release history.

    ``Catalog()`` is the shipped one; ``data`` lays a folder over it, ``folder`` stands alone.
    Records are read once, when they are first asked for.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        data: str | os.PathLike[str] | None = None,
    ) -> None:
        folder = None if folder is None else fspath(folder)
        data = None if data is None else fspath(data)
        self._layers = open_catalog(folder, data)
        self.folder = folder or ""
        self.data = data or ""
        self._kept: KeptRecords | None = None

    @classmethod
    def of(cls, layers: Layers) -> Catalog:
        """From a catalog that is open already."""
        catalog = cls.__new__(cls)
        catalog._layers = layers
        catalog.folder = catalog.data = ""
        catalog._kept = None
        return catalog

    @property
    def layers(self) -> Layers:
        """The catalog as the modules below take it."""
        return self._layers

    @property
    def digest(self) -> str:
        """``sha256:`` over all files."""
        return self._layers.digest

    @property
    def components(self) -> list[str]:
        """The names of the registry, sorted."""
        return sorted(self._layers.registry)

    @property
    def criteria(self) -> dict[str, list[str]]:
        """The valid values of each dimension."""
        from aicr.recipe.criteria import admitted

        return admitted(self._layers)

    @property
    def records(self) -> KeptRecords:
        """The transition records, read once."""
        # Two threads at once read the same files and get equal values; the last one stays.
        if self._kept is None:
            self._kept = KeptRecords(self._layers)
        return self._kept
