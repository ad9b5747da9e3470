"""Build hook: compiles the shipped catalog into the wheel, so that a command opens one file."""

from __future__ import annotations

import os
import sys
import tempfile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileCatalog(BuildHookInterface):  # type: ignore[type-arg]
    """Adds ``aicr/catalog/compiled.bin``; an editable install compiles on first use instead."""

    def initialize(self, version: str, build_data: dict[str, object]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, os.path.join(self.root, "src"))
        try:
            from aicr.catalog.open import compile_shipped

            compiled = compile_shipped()
        finally:
            sys.path.pop(0)
        self._folder = tempfile.mkdtemp()
        path = os.path.join(self._folder, "compiled.bin")
        with open(path, "wb") as file:
            file.write(compiled)
        include = build_data["force_include"]
        assert isinstance(include, dict)
        include[path] = "aicr/catalog/compiled.bin"
