"""Which files of a folder are a catalog, and what is in them: one layer, read and checked.

A layer is one folder: its files by path, the heads of its overlays and mixins (what matching
needs), and the parsed tree of each YAML file on demand.
"""

from __future__ import annotations

import os

from aicr.catalog.schema import read_mixin, read_overlay, read_registry, read_releases
from aicr.documents.digest import sha256_hex
from aicr.documents.fields import Problem, Problems
from aicr.errors import AicrError, invalid, not_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aicr.documents.nodes import Node

REGISTRY = "registry.yaml"
RELEASES = "releases.yaml"
ALLOWLIST = "records-allowlist.yaml"
TOP_FILES = (REGISTRY, RELEASES, ALLOWLIST)
FOLDERS = ("overlays", "mixins", "components")
MAX_FILE_BYTES = 10 * 1024 * 1024


class OverlayHead:
    """What matching needs to know of an overlay: its name, base, criteria (None: no such key).

    ``wanted`` are the criteria that a query must state for it to match by itself: ``nodes`` is
    advisory and not among them. None where it never does.
    """

    __slots__ = ("base", "criteria", "name", "path", "wanted")

    def __init__(self, path: str, name: str, base: str, criteria: dict[str, str] | None) -> None:
        self.path = path
        self.name = name
        self.base = base
        self.criteria = criteria
        self.wanted = (
            None
            if criteria is None
            else frozenset(item for item in criteria.items() if item[0] != "nodes")
        )


class Layer:
    """One catalog folder.

    ``files`` maps each path (relative, with ``/``) to the SHA-256 of its bytes; ``tree`` gives
    the parsed form of a YAML file; ``label`` is how a path of it is shown to a person.
    """

    __slots__ = ("_label", "_tree", "files", "mixins", "overlays", "root")

    def __init__(
        self,
        root: str,
        label: str,
        files: Mapping[str, str],
        overlays: list[OverlayHead],
        mixins: dict[str, str],
        tree: Callable[[str], Node],
    ) -> None:
        self.root = root
        self._label = label
        self.files = files
        self.overlays = overlays
        self.mixins = mixins
        self._tree = tree

    def where(self, path: str) -> str:
        return f"{self._label}/{path}" if self._label else path

    def tree(self, path: str) -> Node:
        return self._tree(path)

    def data(self, path: str) -> bytes:
        return read_file(self.root, path, self.where(path))


def read_file(root: str, path: str, where: str) -> bytes:
    """The bytes of a file below ``root``, which no link may lead out of.

    Raises NOT_FOUND where it is not there, INVALID_REQUEST where it is too large or leads out.
    """
    parts = path.split("/")
    if path.startswith("/") or ".." in parts or "\\" in path or "\0" in path:
        raise invalid(f'"{path}" is not a path inside the catalog')
    full = os.path.join(root, *parts)
    _stays_inside(os.path.realpath(root).rstrip(os.sep) + os.sep, full, where)
    return _read_bytes(full, where)


def _read_bytes(full: str, where: str) -> bytes:
    try:
        with open(full, "rb", buffering=0) as file:
            # Asked for as much as there is: a buffer of the largest size would be made each time.
            data = file.read(min(os.fstat(file.fileno()).st_size, MAX_FILE_BYTES) + 1)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise not_found(f"{where}: there is no such file in the catalog") from None
    except OSError as error:
        raise invalid(f"{where}: cannot be read: {error.strerror}") from None
    if len(data) > MAX_FILE_BYTES:
        raise invalid(f"{where}: larger than the {MAX_FILE_BYTES} bytes allowed for a file")
    return data


def read_files(root: str, label: str) -> list[tuple[str, bytes]]:
    """Every catalog file below ``root`` with its bytes, sorted by path."""
    return [
        (path, _read_bytes(os.path.join(root, path), f"{label}/{path}" if label else path))
        for path in list_files(root, label)
    ]


def list_files(root: str, label: str) -> list[str]:
    """The catalog files below ``root``, sorted.

    Links that lead out of it are an error, and so is what cannot be read as a file or a folder
    (a link to nothing, a pipe): left out in silence, what it was meant to replace would count.
    """
    inside = os.path.realpath(root).rstrip(os.sep) + os.sep
    found: list[str] = []
    for name in _entries(root, label):
        meant = _meant(name)
        if meant:
            raise invalid(f"{label}/{name}: is not read, since a catalog has {meant}; rename it")
    for name in (*TOP_FILES, *FOLDERS):
        full = os.path.join(root, name)
        where = f"{label}/{name}" if label else name
        _stays_inside(inside, full, where)
        wanted = "file" if name in TOP_FILES else "folder"
        if not (os.path.isfile if wanted == "file" else os.path.isdir)(full):
            if os.path.lexists(full):
                raise invalid(f"{where}: is no {wanted} that can be read")
        elif wanted == "file":
            found.append(name)
    for folder in FOLDERS:
        pending = [folder]
        while pending:
            current = pending.pop()
            try:
                entries = list(os.scandir(os.path.join(root, *current.split("/"))))
            except FileNotFoundError:
                continue
            except OSError as error:
                where = f"{label}/{current}" if label else current
                raise invalid(f"{where}: cannot be read: {error.strerror}") from None
            for entry in entries:
                path = f"{current}/{entry.name}"
                if entry.is_symlink():
                    _stays_inside(inside, entry.path, f"{label}/{path}" if label else path)
                if entry.is_dir():
                    if path.count("/") > 16:
                        raise invalid(f"{path}: folders nested deeper than 16 (a link in a loop?)")
                    pending.append(path)
                elif entry.is_file():
                    found.append(path)
                elif not entry.name.startswith("."):  # an editor's lock is a link to nothing
                    where = f"{label}/{path}" if label else path
                    raise invalid(f"{where}: is no file and no folder that can be read")
    return sorted(found)


def _entries(root: str, label: str) -> list[str]:
    try:
        return sorted(os.listdir(root))
    except OSError as error:
        raise invalid(f"{label or root}: cannot be read: {error.strerror}") from None


def _meant(name: str) -> str:
    """The name of a catalog that ``name`` nearly is (``registry.yml``, ``Overlays``), else ""."""
    near = name.lower()
    near = near.removesuffix(".yml") + ".yaml" if near.endswith(".yml") else near
    return near if near != name and near in (*TOP_FILES, *FOLDERS) else ""


def _stays_inside(inside: str, full: str, where: str) -> None:
    if not os.path.realpath(full).startswith(inside):
        raise invalid(f"{where}: a link that leads out of the catalog is not followed")


def is_yaml(path: str) -> bool:
    return path.lower().endswith((".yaml", ".yml"))


def is_tree(path: str) -> bool:
    """Whether a file is read as a document (a manifest is a template, not YAML)."""
    return is_yaml(path) and "/manifests/" not in path


def read_layer(
    root: str, label: str, contents: list[tuple[str, bytes]], problems: Problems
) -> tuple[Layer, dict[str, Node]]:
    """The layer that ``contents`` of ``root`` are, each overlay, mixin and registry file checked.

    Also gives the parsed trees. Problems of the schema are collected; a values or record file
    (or the records' allowlist) that does not parse is left out of the trees and raises when it
    is used.
    """
    from aicr.documents.reader import read_yaml

    files: dict[str, str] = {}
    trees: dict[str, Node] = {}
    overlays: list[OverlayHead] = []
    mixins: dict[str, str] = {}
    places: dict[tuple[str, str], str] = {}
    for path, data in contents:
        where = f"{label}/{path}" if label else path
        files[path] = sha256_hex(data)
        if not is_tree(path):
            continue
        if path.startswith("components/") or path == ALLOWLIST:
            try:
                trees[path] = read_yaml(data, where, empty=_empty())
            except AicrError:
                continue
            continue
        node = trees[path] = read_yaml(data, where)
        if path == REGISTRY:
            read_registry(node, where, problems)
        elif path == RELEASES:
            read_releases(node, where, problems)
        elif path.startswith("overlays/"):
            overlay = read_overlay(node, where, problems)
            overlays.append(OverlayHead(
                path, overlay.name, overlay.base,
                None if overlay.criteria is None else dict(overlay.criteria),
            ))  # fmt: skip
            _once(places, "overlay", overlay.name, where, problems)
        else:
            mixin = read_mixin(node, where, problems)
            mixins[mixin.name] = path
            _once(places, "mixin", mixin.name, where, problems)

    def tree(path: str) -> Node:
        if path not in trees:
            where = f"{label}/{path}" if label else path
            trees[path] = read_yaml(read_file(root, path, where), where, empty=_empty())
        return trees[path]

    return Layer(root, label, files, overlays, mixins, tree), trees


def _empty() -> Node:
    from aicr.documents.nodes import Map

    return Map()


def _once(
    places: dict[tuple[str, str], str], kind: str, name: str, where: str, problems: Problems
) -> None:
    if not name:
        return
    if (kind, name) in places:
        message = f'the {kind} "{name}" is also in {places[kind, name]}'
        problems.errors.append(Problem(where, 0, "", message))
    places[kind, name] = where
