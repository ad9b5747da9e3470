"""What an archive holds that somebody sends: a bundle, read in memory, within bounds."""

from __future__ import annotations

from aicr.artifact.read import INFO_FILE, RECIPE_FILE, Artifact
from aicr.artifact.values import values_in
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from zipfile import ZipInfo

MAX_FILES = 5_000
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
# Of a zip entry, in the upper half of its attributes: what kind of file Unix says that it is.
_KIND, _REGULAR = 0o170000, 0o100000
# Stored and deflated: of the other methods the standard library unpacks all before it is asked to.
_BOUNDED = (0, 8)


class Packed:
    """A bundle out of an archive: what ``open_artifact`` gives of one on disk, and its values."""

    __slots__ = ("artifact", "values", "values_missing")

    def __init__(
        self, artifact: Artifact, values: Mapping[str, object], values_missing: str
    ) -> None:
        self.artifact = artifact
        self.values = values
        self.values_missing = values_missing


def is_archive(data: bytes) -> bool:
    """Whether these are the first bytes of a ``.tar.gz`` or a ``.zip``."""
    return data[:2] == GZIP or data[:4] == ZIP


def open_packed(data: bytes, location: str, *, largest: int) -> Packed:
    """The bundle in an archive that unpacks to no more than ``largest`` bytes; its files stand at
    the top, or all in one folder. Raises INVALID_REQUEST that names ``location``."""
    files = _files(data, location, largest)
    if RECIPE_FILE not in files:
        files = _below_one_folder(files)
    if RECIPE_FILE not in files:
        raise invalid(
            f"{location}: an archive without {RECIPE_FILE} is no bundle",
            hint="send a recipe, or an archive of a folder that aicr bundle wrote",
        )
    from aicr.documents.reader import read_yaml

    info = None
    if INFO_FILE in files:
        from aicr.artifact.bundle_info import read_bundle_info

        info = read_bundle_info(files[INFO_FILE], f"{location}/{INFO_FILE}")

    def read(path: str) -> tuple[bytes | None, str]:
        return files.get(path), f"{location}/{path}"

    values, missing = values_in(location, info, read)
    where = f"{location}/{RECIPE_FILE}"
    document = read_yaml(files[RECIPE_FILE], where)
    artifact = Artifact(location, where=where, document=document, root=location, info=info)
    return Packed(artifact, values, missing)


def _files(data: bytes, location: str, largest: int) -> dict[str, bytes]:
    if data[:4] == ZIP:
        return _unzipped(data, location, largest)
    from aicr.artifact.tarball import unpack

    _check_size(data, location, largest)
    return {path: content for path, (content, _) in unpack(data, location).items()}


def _below_one_folder(files: Mapping[str, bytes]) -> dict[str, bytes]:
    tops = {path.partition("/")[0] for path in files}
    if len(tops) != 1:
        return {}
    return {path.partition("/")[2]: content for path, content in files.items()}


def _check_size(data: bytes, location: str, largest: int) -> None:
    """Whether a gzip stream stays within bounds, without keeping more than a piece of it."""
    import zlib

    unpacker, total, rest = zlib.decompressobj(wbits=31), 0, data
    try:
        while rest and not unpacker.eof:
            total += len(unpacker.decompress(rest, 1 << 20))
            if total > largest:
                raise _too_large(location, largest)
            rest = unpacker.unconsumed_tail
    except zlib.error:
        raise invalid(f"{location}: not a gzip archive") from None


def _unzipped(data: bytes, location: str, largest: int) -> dict[str, bytes]:
    import io
    import zipfile

    found: dict[str, bytes] = {}
    room = largest
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > MAX_FILES:
                raise invalid(f"{location}: more than the {MAX_FILES} files allowed in an archive")
            for member in members:
                if member.is_dir():
                    continue
                path = _plain_path(member, location)
                if member.compress_type not in _BOUNDED:
                    raise invalid(f'{location}: "{path}" is neither stored nor deflated')
                with archive.open(member) as file:
                    content = file.read(room + 1)
                room -= len(content)
                if room < 0:
                    raise _too_large(location, largest)
                if path in found:
                    raise invalid(f'{location}: "{path}" is in it twice')
                found[path] = content
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, ValueError, LookupError,
            NotImplementedError, OverflowError) as error:  # fmt: skip
        raise invalid(f"{location}: not a zip archive that can be read: {error}") from None
    except Exception as error:  # zlib's, lzma's and struct's own
        if type(error).__module__ in ("zlib", "_lzma", "lzma", "struct"):
            raise invalid(f"{location}: a damaged zip archive: {error}") from None
        raise
    return found


def _plain_path(member: ZipInfo, location: str) -> str:
    from aicr.documents.safe import cell

    path = member.filename.removeprefix("./")
    kind = (member.external_attr >> 16) & _KIND
    plain = not path.startswith("/") and "\\" not in path and path.isprintable()
    if kind not in (0, _REGULAR) or not plain or {"", ".", ".."} & set(path.split("/")):
        raise invalid(f'{location}: "{cell(path[:200])}" is no plain file inside the archive')
    return path


def _too_large(location: str, largest: int) -> Exception:
    return invalid(f"{location}: unpacks to more than the {largest} bytes allowed")
