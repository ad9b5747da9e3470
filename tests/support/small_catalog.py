"""Small catalogs to test with: described in Python, written as files or kept in memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from aicr.catalog.folder import read_layer
from aicr.catalog.layers import Catalog
from aicr.catalog.open import open_catalog
from aicr.documents.fields import Problems

API_VERSION = "aicr.run/v1beta1"
Spec = Mapping[str, object]


def document(kind: str, **rest: object) -> dict[str, object]:
    return {"kind": kind, "apiVersion": API_VERSION, **rest}


def registry_file(*entries: Spec) -> dict[str, object]:
    return document("ComponentRegistry", components=list(entries))


def overlay_file(name: str, **spec: object) -> dict[str, object]:
    return document("RecipeMetadata", metadata={"name": name}, spec=spec)


def mixin_file(name: str, **spec: object) -> dict[str, object]:
    return document("RecipeMixin", metadata={"name": name}, spec=spec)


def helm(name: str, version: str = "1.0.0", **rest: object) -> dict[str, object]:
    """A registry entry of a chart."""
    return {
        "name": name,
        "helm": {
            "defaultRepository": f"https://charts.example/{name}",
            "defaultChart": f"repo/{name}",
            "defaultVersion": version,
            "defaultNamespace": f"{name}-system",
        },
        **rest,
    }


class SmallCatalog:
    """Files of a catalog by path. JSON is YAML, and no code of the project writes it here."""

    def __init__(self, files: Mapping[str, object] | None = None) -> None:
        self.files: dict[str, bytes] = {}
        for path, content in (files or {}).items():
            self.add(path, content)

    def add(self, path: str, content: object) -> SmallCatalog:
        """Text and bytes as they are, all else as JSON."""
        if not isinstance(content, str | bytes):
            content = json.dumps(content)
        self.files[path] = content.encode() if isinstance(content, str) else content
        return self

    def registry(self, *entries: Spec) -> SmallCatalog:
        return self.add("registry.yaml", registry_file(*entries))

    def overlay(self, name: str, **spec: object) -> SmallCatalog:
        return self.add(f"overlays/{name}.yaml", overlay_file(name, **spec))

    def mixin(self, name: str, **spec: object) -> SmallCatalog:
        return self.add(f"mixins/{name}.yaml", mixin_file(name, **spec))

    def write(self, root: Path) -> Path:
        """All files below ``root``."""
        for path, content in self.files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
        root.mkdir(exist_ok=True)
        return root

    def open(self, root: Path) -> Catalog:
        """The catalog, written and opened as ``--catalog`` does."""
        return open_catalog(catalog=str(self.write(root)))

    def in_memory(self, order: Iterable[str] | None = None) -> Catalog:
        """The catalog without a file; its files are read in ``order`` (else sorted)."""
        problems = Problems()
        contents = [(path, self.files[path]) for path in order or sorted(self.files)]
        layer, _ = read_layer("/nowhere", "", contents, problems)
        problems.raise_any()
        return Catalog([layer])


def simple(*components: Spec) -> SmallCatalog:
    """A registry of ``a`` and ``b``, and a root overlay of ``components``."""
    catalog = SmallCatalog().registry(helm("a"), helm("b"))
    catalog.overlay("base", componentRefs=list(components))
    return catalog.overlay("eks", criteria={"service": "eks"})
