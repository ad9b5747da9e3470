"""How the files of a record reach the disk: private, written once, by one command at a time."""

from __future__ import annotations

import errno
import os
import re
import stat

from aicr.errors import CONFLICT, AicrError, invalid
from aicr.nvcf.evidence_chain import MANIFEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,200}")
_FEW = 16


def check_private(path: str) -> None:
    try:
        found = os.lstat(path)
    except OSError as error:
        raise invalid(f"{path}: {error.strerror or error}") from None
    if stat.S_ISLNK(found.st_mode):
        raise invalid(f"{path}: is a link; a record folder must not be one")
    if not stat.S_ISDIR(found.st_mode):
        raise invalid(f"{path}: is no folder")
    if found.st_uid != os.geteuid():
        raise invalid(f"{path}: belongs to the user {found.st_uid}, not to you")
    if stat.S_IMODE(found.st_mode) & 0o077:
        raise invalid(
            f"{path}: others may look into it (mode {stat.S_IMODE(found.st_mode):04o}), 0700 was "
            "expected",
            hint="it may have been read or changed; pass a new folder with --record",
        )


def lock_folder(path: str) -> int:
    """The folder's lock as a handle; -1 where another command has it."""
    import fcntl

    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return -1
        raise invalid(
            f"{path}: this file system has no locks ({error.strerror}), so that two commands could "
            "write one record",
            hint="pass a folder on a local disk with --record",
        ) from None
    return handle


def write_once(root: str, file: str, data: bytes, folders: set[str]) -> None:
    """``folders`` are those that are known to be there; new ones are added. Raises CONFLICT,
    INVALID_REQUEST; what was written of a file that does not fit is taken away again."""
    folder, _, name = file.rpartition("/")
    parts = [name] if folder in folders or not folder else file.split("/")
    if not all(map(_PART.fullmatch, parts)) or file.startswith("/") or file == MANIFEST:
        raise invalid(f'{root}: "{file}" is no name for a file of a record')
    path = f"{root}/{file}"
    try:
        if folder and folder not in folders:
            _make(root, folder)
            folders.add(folder)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise AicrError(CONFLICT, f"{path}: is there already, and is never changed") from None
    except OSError as error:
        raise unwritable(path, error) from None
    try:
        try:
            write_all(handle, data)
        finally:
            os.close(handle)
    except BaseException as error:
        os.unlink(path)
        if isinstance(error, OSError):
            raise unwritable(path, error) from None
        raise


def _make(root: str, folder: str) -> None:
    """The folders on the way to a file."""
    path = root
    for part in folder.split("/"):
        path = os.path.join(path, part)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                raise


def write_all(handle: int, data: bytes | bytearray) -> None:
    written = os.write(handle, data)
    while written < len(data):
        written += os.write(handle, memoryview(data)[written:])


def sync_files(root: str, files: Sequence[str]) -> None:
    """Force the files and the names of their folders to disk: a few one by one, many at once."""
    if not files:
        return
    if len(files) > _FEW and _sync_file_system(root):
        return
    folders = {root}
    for file in files:
        path = os.path.join(root, *file.split("/"))
        folders.add(os.path.dirname(path))
        _fsync(path)
    for folder in folders:
        _fsync(folder)


def _sync_file_system(root: str) -> bool:
    try:
        import ctypes

        sync = ctypes.CDLL(None, use_errno=True).syncfs
    except (ImportError, OSError, AttributeError):
        return False
    handle = os.open(root, os.O_RDONLY)
    try:
        return int(sync(handle)) == 0
    finally:
        os.close(handle)


def _fsync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unwritable(path: str, error: OSError) -> AicrError:
    return invalid(f"{path}: cannot be written: {error.strerror or error}")
