"""What a chart archive is: its name and version, its files, its digest."""

from __future__ import annotations

from aicr.artifact.tarball import unpack
from aicr.documents.digest import sha256_hex
from aicr.documents.nodes import Map
from aicr.documents.scalars import text_of
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.documents.nodes import Node

CHART_FILE = "Chart.yaml"
# Helm takes no chart with a larger file either (5 MiB, less in old versions).
MAX_FILE_BYTES = 5 * 1024 * 1024


class ChartArchive:
    """A chart as it is packed. ``files`` are those below its one top folder, by path.

    ``metadata`` is ``Chart.yaml``; ``origin`` says where the archive was taken from.
    """

    __slots__ = ("data", "digest", "files", "metadata", "name", "origin", "version")

    def __init__(
        self,
        name: str,
        version: str,
        *,
        data: bytes,
        files: Mapping[str, bytes],
        metadata: Map,
        origin: str,
    ) -> None:
        self.name = name
        self.version = version
        self.data = data
        self.digest = f"sha256:{sha256_hex(data)}"
        self.files = files
        self.metadata = metadata
        self.origin = origin

    @property
    def file_name(self) -> str:
        """The name that Helm gives the archive."""
        return f"{self.name}-{self.version}.tgz"

    def below(self, subchart: str) -> dict[str, bytes]:
        """The files of a chart in ``charts/``, unpacked there or packed; {} where it is not."""
        at = f"charts/{subchart}/"
        found = {path[len(at) :]: data for path, data in self.files.items() if path.startswith(at)}
        if found:
            return found
        for path, data in self.files.items():
            packed = path.startswith("charts/") and path.count("/") == 1 and path.endswith(".tgz")
            if packed and path[len("charts/") :].startswith(f"{subchart}-"):
                own = read_archive(data, f"{self.file_name}: {path}", origin=self.origin)
                if own.name == subchart:
                    return dict(own.files)
        return {}


def read_archive(data: bytes, where: str, *, origin: str) -> ChartArchive:
    """The chart in the archive ``data``. Raises INVALID_REQUEST that names ``where``."""
    files: dict[str, bytes] = {}
    top = ""
    for path, (content, _) in unpack(data, where, largest_file=MAX_FILE_BYTES).items():
        folder, slash, rest = path.partition("/")
        if not slash or (top and folder != top):
            raise invalid(f'{where}: a chart archive has one folder at its top, found "{path}" too')
        top = folder
        files[rest] = content
    name, version, metadata = read_metadata(files.get(CHART_FILE), f"{where}: {CHART_FILE}")
    return ChartArchive(name, version, data=data, files=files, metadata=metadata, origin=origin)


def read_metadata(data: bytes | None, where: str) -> tuple[str, str, Map]:
    """Name, version and the whole of a ``Chart.yaml``. Raises INVALID_REQUEST."""
    from aicr.documents.reader import read_yaml

    if data is None:
        raise invalid(f"{where}: is missing, so this is no chart")
    node = read_yaml(data, where)
    if not isinstance(node, Map):
        raise invalid(f"{where}: expected a map")
    name, version = _text(node.get("name")), _text(node.get("version"))
    if not _is_word(name) or not _is_word(version):
        raise invalid(f"{where}: has no name and version that can be used")
    return name, version, node


def _text(node: Node | None) -> str:
    return "" if node is None or isinstance(node, Map | list) else text_of(node) or ""


def _is_word(text: str) -> bool:
    """Whether a name or version is fit for the name of a file."""
    rest = text.translate(dict.fromkeys(map(ord, "._+-")))
    return text[:1].isalnum() and rest.isascii() and rest.isalnum() and len(text) <= 200
