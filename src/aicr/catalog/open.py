"""Which catalog a command works on: the shipped one, a folder over it, or a folder alone."""

from __future__ import annotations

import os

from aicr.catalog.compiled import FORMAT, decode_layer, encode_layer, read_cached, write_cached
from aicr.catalog.folder import Layer, read_files, read_layer
from aicr.catalog.layers import Catalog
from aicr.documents.digest import sha256_hex
from aicr.documents.fields import Problems
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from aicr.documents.fields import Problem

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
SHIPPED_DATA = os.path.join(_PACKAGE, "data")
SHIPPED_COMPILED = os.path.join(_PACKAGE, "compiled.bin")


def open_catalog(
    catalog: str | None = None,
    data: str | None = None,
    *,
    allow_unknown: bool = False,
    on_warning: Callable[[Problem], None] | None = None,
) -> Catalog:
    """The shipped catalog, with the folder ``data`` over it; or the folder ``catalog`` alone.

    With ``allow_unknown`` keys that this version does not know are warnings, given to
    ``on_warning``. Raises INVALID_REQUEST with all problems of the folders.
    """
    if catalog is not None and data is not None:
        raise invalid(
            "--catalog and --data were both given",
            hint="--catalog replaces the shipped catalog, --data lays a folder over it",
        )
    layers: list[Layer] = []
    problems = Problems(allow_unknown=allow_unknown)
    if catalog is not None:
        layers.append(_open_folder(catalog, "--catalog", problems))
        if "registry.yaml" not in layers[0].files:
            raise invalid(f"--catalog {catalog}: no registry.yaml in it, so this is no catalog")
    else:
        layers.append(open_shipped())
        if data is not None:
            layers.append(_open_folder(data, "--data", problems))
    problems.raise_any()
    if on_warning is not None:
        for warning in problems.warnings:
            on_warning(warning)
    return Catalog(layers, allow_unknown=allow_unknown)


def open_shipped() -> Layer:
    """The layer that the package ships: from its compiled form, else from the cache."""
    try:
        with open(SHIPPED_COMPILED, "rb") as file:
            layer = decode_layer(file.read(), SHIPPED_DATA, "")
    except FileNotFoundError:
        layer = None
    if layer is not None:
        return layer
    problems = Problems()
    layer = _open_cached(SHIPPED_DATA, "", problems)
    problems.raise_any()
    return layer


def compile_shipped() -> bytes:
    """The compiled form of the shipped catalog, for the package's build."""
    problems = Problems()
    layer, trees = read_layer(SHIPPED_DATA, "", read_files(SHIPPED_DATA, ""), problems)
    problems.raise_any()
    Catalog([layer])
    return encode_layer(layer, trees)


def _open_folder(folder: str, flag: str, problems: Problems) -> Layer:
    if not os.path.isdir(folder):
        found = "is a file" if os.path.exists(folder) else "does not exist"
        raise invalid(f"{flag} {folder}: {found}, expected a catalog folder")
    label = folder.rstrip("/") or folder
    layer = _open_cached(folder, label, problems)
    if not layer.files:
        raise invalid(
            f"{flag} {folder}: holds no catalog file",
            hint="expected registry.yaml, overlays/, mixins/ or components/ in it",
        )
    return layer


def _open_cached(root: str, label: str, problems: Problems) -> Layer:
    """The layer in ``root``, compiled once for each content of its files."""
    from aicr.version import __version__

    contents = read_files(root, label)
    lines = [f"{FORMAT} {__version__}"]
    lines += [f"{sha256_hex(data)} {path}" for path, data in contents]
    key = sha256_hex("\n".join(lines).encode("utf-8", "surrogateescape")) + ".bin"
    if not problems.allow_unknown:
        kept = read_cached(key)
        layer = decode_layer(kept, root, label) if kept is not None else None
        if layer is not None:
            return layer
    before = len(problems.errors) + len(problems.warnings)
    layer, trees = read_layer(root, label, contents, problems)
    if len(problems.errors) + len(problems.warnings) == before:
        write_cached(key, encode_layer(layer, trees))
    return layer
