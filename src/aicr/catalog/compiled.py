"""How a catalog layer is kept in one file that opens fast: the compiled form.

A line that names the format, then the index (files with their digests, heads of overlays and
mixins), then each parsed tree, found by offset and decoded only when somebody asks. The trees keep
lines and the text of scalars, so everything behind works as on the YAML itself. The shipped catalog
is compiled when the package is built; other folders, and a source checkout, into the user's cache,
under a name made from the content of all files and with a checksum.

Index and trees are in the interpreter's own form (marshal): it needs no import and decodes fastest.
Its version 2 has been read by every Python 3, and is the same bytes for the same values.
"""

from __future__ import annotations

import marshal
import os

from aicr.catalog.folder import Layer, OverlayHead
from aicr.documents.digest import sha256_hex
from aicr.documents.nodes import Map, Node, Scalar, Seq

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

FORMAT = "aicr-catalog/2"
MOST_KEPT = 32
_MARSHAL = 2


def encode_layer(layer: Layer, trees: Mapping[str, Node]) -> bytes:
    """The compiled form of ``layer``; same layer, same bytes."""
    blobs: list[bytes] = []
    offset = 0
    files: dict[str, object] = {}
    for path, digest in layer.files.items():
        if path not in trees:
            files[path] = [digest]
            continue
        blob = _dump(_encode(trees[path]))
        files[path] = [digest, offset, len(blob)]
        blobs.append(blob)
        offset += len(blob)
    index = {
        "files": files,
        "overlays": [[head.path, head.name, head.base, head.criteria] for head in layer.overlays],
        "mixins": layer.mixins,
    }
    head = _dump(index)
    return b"%s %d\n" % (FORMAT.encode(), len(head)) + head + b"".join(blobs)


def decode_layer(data: bytes, root: str, label: str) -> Layer | None:
    """The layer in its compiled form; None where ``data`` is not that (any more)."""
    line, _, rest = data[:64].partition(b"\n")
    form, _, size = line.partition(b" ")
    if form != FORMAT.encode() or not size.isdigit() or len(rest) == 0:
        return None
    start = len(line) + 1 + int(size)
    try:
        index = marshal.loads(data[len(line) + 1 : start])
    except (EOFError, TypeError, ValueError):
        return None
    places = {path: entry[1:] for path, entry in index["files"].items()}
    if start + sum(place[1] for place in places.values() if place) != len(data):
        return None
    trees: dict[str, Node] = {}

    def tree(path: str) -> Node:
        if path not in trees:
            place = places[path]
            if place:
                begin = start + place[0]
                trees[path] = _decode(marshal.loads(data[begin : begin + place[1]]))
            else:
                trees[path] = _parse(root, path, label)
        return trees[path]

    return Layer(
        root,
        label,
        {path: entry[0] for path, entry in index["files"].items()},
        [OverlayHead(path, name, base, criteria)
         for path, name, base, criteria in index["overlays"]],
        index["mixins"],
        tree,
    )  # fmt: skip


def cache_folder() -> str:
    """Where compiled catalogs of this user are kept (XDG base directories)."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "aicr", "catalogs")


def read_cached(key: str) -> bytes | None:
    """What was kept under ``key``; None where there is nothing, or nothing whole."""
    path = os.path.join(cache_folder(), key)
    if not os.path.isfile(path):  # a pipe would be waited for
        return None
    try:
        with open(path, "rb") as file:
            digest, data = file.read(64), file.read()
    except OSError:
        return None
    return data if sha256_hex(data).encode() == digest else None


def write_cached(key: str, data: bytes) -> None:
    """Keep ``data`` under ``key``, and of the rest what was written last; where that is not
    possible (a read-only home), do without."""
    folder = cache_folder()
    partial = os.path.join(folder, f".{key}.{os.getpid()}")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(partial, "wb") as file:
            file.write(sha256_hex(data).encode() + data)
        os.replace(partial, os.path.join(folder, key))
        _remove(sorted(os.scandir(folder), key=_written, reverse=True)[MOST_KEPT:])
    except OSError:
        _remove([partial])


def _written(entry: os.DirEntry[str]) -> float:
    try:
        return entry.stat(follow_symlinks=False).st_mtime
    except OSError:  # another process removed it
        return 0.0


def _remove(paths: Sequence[str | os.DirEntry[str]]) -> None:
    for path in paths:
        try:
            os.unlink(path)
        except OSError:
            continue


def _dump(value: Any) -> bytes:
    return marshal.dumps(value, _MARSHAL)


def _parse(root: str, path: str, label: str) -> Node:
    from aicr.catalog.folder import read_file
    from aicr.documents.reader import read_yaml

    where = f"{label}/{path}" if label else path
    return read_yaml(read_file(root, path, where), where, empty=Map())


def _encode(node: Node) -> object:
    """Text as itself, all else as a list that ``_decode`` tells apart."""
    if isinstance(node, str):
        return node
    if isinstance(node, Scalar):
        return [node.text]
    if isinstance(node, Map):
        entries: list[object] = [0, node.line]
        for key, value in node.items():
            entries += (key, node.lines[key], _encode(value))
        return entries
    items: list[object] = [1, node.line]
    for line, item in zip(node.lines, node, strict=True):
        items += (line, _encode(item))
    return items


def _decode(value: list[object] | str) -> Node:
    """The reverse of ``_encode``: [text], [0, line, key, line, value, ..], [1, line, line, ..]."""
    if isinstance(value, str):
        return value
    if len(value) == 1:
        return Scalar(value[0])  # type: ignore[arg-type]
    line: int = value[1]  # type: ignore[assignment]
    if value[0] == 0:
        node = Map(line)
        keys: list[str] = value[2::3]  # type: ignore[assignment]
        node.lines = dict(zip(keys, value[3::3], strict=True))  # type: ignore[arg-type]
        node.update(zip(keys, _decoded(value[4::3]), strict=True))
        return node
    items = Seq(line)
    items.lines = value[2::2]  # type: ignore[assignment]
    items += _decoded(value[3::2])
    return items


def _decoded(values: list[object]) -> list[Node]:
    for index, item in enumerate(values):
        if type(item) is not str:
            values[index] = _decode(item)  # type: ignore[arg-type]
    return values  # type: ignore[return-value]
