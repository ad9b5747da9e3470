"""How files become a ``.tar.gz``, the same bytes every time, and come out of one without harm.

Packing: paths sorted, no time, no owner; the gzip part stores and does not compress, because
compressors of different versions give different bytes, and a digest must not depend on them.

Unpacking happens in memory, within bounds, and takes regular files with plain relative paths
alone: a link, a device, a path that leads out, or more data than allowed is refused, and named.
"""

from __future__ import annotations

from aicr.documents.safe import cell
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from tarfile import TarFile, TarInfo

    # Path (with "/") -> content, and whether it is a program.
    Files = Mapping[str, tuple[bytes, bool]]

SUFFIXES = (".tar.gz", ".tgz")
MAX_ARCHIVE_BYTES = 64 * 1024 * 1024
MAX_UNPACKED_BYTES = 100 * 1024 * 1024
MAX_FILE_BYTES = 10 * 1024 * 1024
MAX_FILES = 10_000
_LONGEST_PATH = 1024
_BLOCK = 0xFFFF


def is_tarball(path: str) -> bool:
    """Whether a path names a ``.tar.gz`` by its ending."""
    return path.lower().endswith(SUFFIXES)


def pack(files: Files) -> bytes:
    """The archive of ``files``; same files, same bytes."""
    import io
    import tarfile

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(files):
            data, executable = files[path]
            member = tarfile.TarInfo(path)
            member.size = len(data)
            member.mode = 0o755 if executable else 0o644
            tar.addfile(member, io.BytesIO(data))
    return _stored(buffer.getvalue())


def unpack(
    data: bytes, where: str, *, largest_file: int = MAX_FILE_BYTES
) -> dict[str, tuple[bytes, bool]]:
    """The files in an archive, by path. Raises INVALID_REQUEST that names ``where``."""
    import io
    import tarfile

    found: dict[str, tuple[bytes, bool]] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(_gunzip(data, where)), mode="r:") as tar:
            for member in _members(tar, where):
                path = _path(member, where)
                if member.isdir():
                    continue
                if path in found:
                    raise invalid(f'{where}: "{cell(path)}" is in it twice')
                if member.size > largest_file:
                    raise invalid(
                        f'{where}: "{cell(path)}" has {member.size} bytes, more than the '
                        f"{largest_file} allowed for a file"
                    )
                file = tar.extractfile(member)
                assert file is not None
                found[path] = (file.read(), bool(member.mode & 0o100))
    except RecursionError:  # of headers that only describe the next one
        why = "headers without files"
        raise invalid(f"{where}: not a tar archive that can be read: {why}") from None
    except (tarfile.TarError, EOFError, UnicodeError, ValueError, OverflowError) as error:
        raise invalid(f"{where}: not a tar archive that can be read: {error}") from None
    for path in found:
        if any(other in found for other in _above(path)):
            raise invalid(f'{where}: "{cell(path)}" lies below what is a file')
    return found


def _members(tar: TarFile, where: str) -> Iterator[TarInfo]:
    for count, member in enumerate(tar):
        if count >= MAX_FILES:
            raise invalid(f"{where}: more than the {MAX_FILES} files allowed in an archive")
        yield member


def _path(member: TarInfo, where: str) -> str:
    """The path of a member that may be taken."""
    import tarfile

    name = member.name.removeprefix("./").rstrip("/")
    shown = cell(member.name[:200])
    if member.issym() or member.islnk():
        raise invalid(f'{where}: "{shown}" is a link, and links are not taken')
    plain = member.type in (tarfile.REGTYPE, tarfile.AREGTYPE) and member.sparse is None
    if not (plain or member.isdir()):
        raise invalid(f'{where}: "{shown}" is no regular file (type {member.type!r})')
    if member.isdir() and name in ("", "."):
        return ""
    parts = name.split("/")
    if (
        name.startswith("/")
        or "\\" in name
        or not name.isprintable()
        or len(name) > _LONGEST_PATH
        or parts[0][1:2] == ":"
        or any(part in ("", ".", "..") for part in parts)
    ):
        raise invalid(
            f'{where}: "{shown}" is a path that leads out of the archive, or no plain one'
        )
    return name


def _above(path: str) -> Iterator[str]:
    at = path.find("/")
    while at > 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _gunzip(data: bytes, where: str) -> bytes:
    import zlib

    if len(data) > MAX_ARCHIVE_BYTES:
        raise invalid(f"{where}: more than the {MAX_ARCHIVE_BYTES} bytes allowed for an archive")
    unpacker = zlib.decompressobj(wbits=31)
    try:
        plain = unpacker.decompress(data, MAX_UNPACKED_BYTES + 1)
    except zlib.error:
        raise invalid(f"{where}: not a gzip archive") from None
    if len(plain) > MAX_UNPACKED_BYTES:
        raise invalid(
            f"{where}: unpacks to more than the {MAX_UNPACKED_BYTES} bytes allowed, "
            f"from {len(data)}"
        )
    if not unpacker.eof:
        raise invalid(f"{where}: the archive ends early")
    if unpacker.unused_data.strip(b"\0"):
        raise invalid(f"{where}: more data behind the end of the archive")
    return plain


def _stored(data: bytes) -> bytes:
    """``data`` in the gzip format (RFC 1952), in stored blocks (RFC 1951, 3.2.4)."""
    import zlib

    parts = [b"\x1f\x8b\x08\0\0\0\0\0\0\xff"]
    for at in range(0, max(len(data), 1), _BLOCK):
        block = data[at : at + _BLOCK]
        size = len(block)
        last = at + _BLOCK >= len(data)
        parts.append(bytes([last]) + size.to_bytes(2, "little"))
        parts.append((size ^ 0xFFFF).to_bytes(2, "little") + block)
    parts.append(zlib.crc32(data).to_bytes(4, "little"))
    parts.append((len(data) & 0xFFFFFFFF).to_bytes(4, "little"))
    return b"".join(parts)
