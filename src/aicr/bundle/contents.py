"""What files a written bundle has, in a folder, in a ``.tar.gz`` or in a registry."""

from __future__ import annotations

import os

from aicr.artifact.tarball import MAX_ARCHIVE_BYTES, is_tarball, unpack
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ARTIFACT_TYPE = "application/vnd.aicr.bundle.v1"
ARCHIVE_NAME = "bundle.tar.gz"


class Contents:
    """The files of a bundle by path. A link, or anything else that is no plain file, is in
    ``odd`` with what it is, and is never followed."""

    def __init__(self, location: str, root: str, packed: Mapping[str, bytes] | None) -> None:
        self.location = location
        self.odd: dict[str, str] = {}
        self._root = root
        self._packed = packed
        self.paths = sorted(packed) if packed is not None else sorted(self._listed())

    def read(self, path: str, largest: int) -> bytes:
        """The content of one of ``paths``; one byte more than ``largest`` where it is larger."""
        if self._packed is not None:
            return self._packed[path][: largest + 1]
        full = os.path.join(self._root, *path.split("/"))
        try:
            with open(full, "rb") as file:
                return file.read(largest + 1)
        except OSError as error:
            raise invalid(f"{full}: cannot be read: {error.strerror}") from None

    def digest(self, path: str) -> str:
        """The SHA-256 of one of ``paths``, whatever its size."""
        from hashlib import sha256

        if self._packed is not None:
            return sha256(self._packed[path]).hexdigest()
        from hashlib import file_digest

        full = os.path.join(self._root, *path.split("/"))
        try:
            with open(full, "rb") as file:
                return file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise invalid(f"{full}: cannot be read: {error.strerror}") from None

    def _listed(self) -> list[str]:
        found: list[str] = []
        pending = [""]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(os.path.join(self._root, folder)) as entries:
                    for entry in entries:
                        path = f"{folder}{entry.name}"
                        if entry.is_symlink():
                            self.odd[path] = "a link"
                        elif entry.is_dir():
                            pending.append(path + "/")
                        elif entry.is_file():
                            found.append(path)
                        else:
                            self.odd[path] = "no regular file"
            except OSError as error:
                where = os.path.join(self._root, folder)
                raise invalid(f"{where}: cannot be read: {error.strerror}") from None
        return found


def open_contents(location: str, *, plain_http: bool = False) -> Contents:
    """The files at ``location``: a folder, a ``.tar.gz``, or ``oci://``. Raises INVALID_REQUEST for
    what is none of them, and what a registry's answer stands for."""
    if location.startswith("oci://"):
        from aicr.artifact.oci import OciArtifact, parse_oci

        artifact = OciArtifact(parse_oci(location, "BUNDLE"), location, plain_http=plain_http)
        data = artifact.pull(artifact_type=ARTIFACT_TYPE, largest=MAX_ARCHIVE_BYTES)
        return _packed(location, data)
    if os.path.isdir(location):
        return Contents(location, location, None)
    if os.path.isfile(location) and is_tarball(location):
        try:
            with open(location, "rb") as file:
                return _packed(location, file.read(MAX_ARCHIVE_BYTES + 1))
        except OSError as error:
            raise invalid(f"{location}: cannot be read: {error.strerror}") from None
    if os.path.lexists(location):
        raise invalid(f"{location}: is no folder and no .tar.gz, so it is no bundle")
    raise invalid(f"{location}: there is no such folder or file")


def _packed(location: str, data: bytes) -> Contents:
    files = unpack(data, location, largest_file=MAX_ARCHIVE_BYTES)
    return Contents(location, "", {path: content for path, (content, _) in files.items()})
