"""How a file or a folder is written so that nobody ever sees half of it.

A file is written beside its target and renamed over it. What a kill can leave behind is that
partial file, ``.aicr-<pid>.tmp``, never a changed or torn target.

A folder is written beside its target (``.<name>.aicr-new-<pid>``) and swapped with it in one step
where the system can (Linux ``renameat2``). A kill before the swap leaves the old folder and the
partial one, a kill after it the new folder and the old one under that hidden name. Where there is
no such step, the old folder is first renamed to ``.<name>.aicr-old-<pid>``: a kill between the two
renames leaves the target missing and that old folder whole. The next run for the same target puts
it back and removes whatever else earlier runs left. A folder is not forced to disk file by file:
after a power cut its ``checksums.txt`` tells whether it is whole.
"""

from __future__ import annotations

import errno
import os
import stat

from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.artifact.checksums import Files

_REASONS = {
    errno.ENOENT: "its folder does not exist",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EISDIR: "it is a folder, a file was expected",
    errno.EACCES: "no permission to write there",
    errno.EPERM: "no permission to write there",
    errno.EROFS: "the file system is read-only",
    errno.ENOSPC: "no space left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.ENAMETOOLONG: "the name is too long",
    errno.EBUSY: "it is a mount point or otherwise in use",
    errno.EXDEV: "it is on another file system than its folder (a mount point?)",
    errno.ELOOP: "links that lead to each other",
}


def write_file(path: str, data: bytes) -> None:
    """Write ``data`` to ``path``, all of it or nothing; a link is kept and its target written.

    A pipe or a device (``/dev/stdout``) is written to as it is. Raises INVALID_REQUEST.
    """
    real = _real(path)
    try:
        mode: int | None = os.stat(path).st_mode
    except OSError:
        mode = None
    if mode is not None and stat.S_ISDIR(mode):
        raise _failure(path, OSError(errno.EISDIR, ""))
    try:
        if mode is not None and not stat.S_ISREG(mode):
            with open(path, "wb") as file:
                file.write(data)
            return
        partial = os.path.join(os.path.dirname(real), f".aicr-{os.getpid()}.tmp")
        try:
            _write_new(partial, data, 0o666, sync=True)
            if mode is not None:
                os.chmod(partial, stat.S_IMODE(mode))
            os.replace(partial, real)
        except BaseException:
            _unlink(partial)
            raise
        _sync_folder(os.path.dirname(real))
    except OSError as error:
        raise _failure(path, error) from None


def replace_directory(
    target: str, files: Files, *, sign: tuple[str, bytes], overwrite: bool = False
) -> None:
    """Make ``files`` the content of the folder ``target``, all of it or nothing.

    ``files`` has ``checksums.txt``, which tells the next run what was written. ``sign`` is a file
    and what it contains in every folder of this kind: a non-empty folder without it is refused.
    So is one with files that its checksums do not list; one whose files were edited needs
    ``overwrite``. Missing folders above ``target`` are made. Raises INVALID_REQUEST.
    """
    from aicr.artifact.checksums import check_replaceable

    real = _real(target)
    parent, name = os.path.split(real)
    if os.path.join(_real(os.curdir), "").startswith(os.path.join(real, "")):
        raise invalid(
            f"{target}: the current folder (or one above it) cannot be replaced as a whole",
            hint=f"name a folder in it, such as {os.path.join(target, 'bundle')}",
        )
    try:
        os.makedirs(parent, exist_ok=True)
        lock = os.open(parent, os.O_RDONLY)
        try:
            locked = _lock(lock)
            _recover(parent, name, clean=locked)
            check_replaceable(target, sign=sign, overwrite=overwrite)
            _replace(parent, name, files)
        finally:
            os.close(lock)
    except OSError as error:
        raise _failure(target, error) from None


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except OSError:  # nothing is relative to a folder that is gone
        raise invalid(f"{path}: the current folder was removed", hint="go to another one") from None


def _replace(parent: str, name: str, files: Files) -> None:
    real = os.path.join(parent, name)
    new = os.path.join(parent, f".{name}.aicr-new-{os.getpid()}")
    try:
        _remove(new)
        os.mkdir(new)
        if os.path.isdir(real):
            os.chmod(new, stat.S_IMODE(os.stat(real).st_mode))
        made = {new}
        for path, (data, executable) in files.items():
            full = os.path.join(new, *path.split("/"))
            folder = os.path.dirname(full)
            if folder not in made:
                os.makedirs(folder, exist_ok=True)
                made.add(folder)
            _write_new(full, data, 0o777 if executable else 0o666)
        _move_in(new, real, os.path.join(parent, f".{name}.aicr-old-{os.getpid()}"))
    except BaseException:
        _remove(new)
        raise


def _move_in(new: str, real: str, aside: str) -> None:
    """``new`` takes the place of ``real``, and what was there is removed."""
    try:
        os.rename(new, real)
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    if _exchange(new, real):
        _remove(new)
        return
    os.rename(real, aside)
    try:
        os.rename(new, real)
    except BaseException:
        os.rename(aside, real)
        raise
    _remove(aside)


def _exchange(one: str, other: str) -> bool:
    """Swap two folders in one step; False where the system or the file system cannot."""
    try:
        import ctypes

        swap = ctypes.CDLL(None, use_errno=True).renameat2
    except (ImportError, OSError, AttributeError):
        return False
    at_cwd, exchange = -100, 2
    swap.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    if swap(at_cwd, os.fsencode(one), at_cwd, os.fsencode(other), exchange) == 0:
        return True
    code = ctypes.get_errno()
    if code in (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
        return False
    raise OSError(code, os.strerror(code))


def _recover(parent: str, name: str, *, clean: bool) -> None:
    """Undo what killed runs for this target left; without a lock only a lost folder comes back."""
    real = os.path.join(parent, name)
    left = sorted(
        entry for entry in os.listdir(parent)
        if entry.startswith((f".{name}.aicr-new-", f".{name}.aicr-old-"))
    )  # fmt: skip
    for entry in left:
        if entry.startswith(f".{name}.aicr-old-") and not os.path.lexists(real):
            os.rename(os.path.join(parent, entry), real)
        elif clean:
            _remove(os.path.join(parent, entry))


def _lock(folder: int) -> bool:
    """One run at a time in this folder; False where the file system has no locks."""
    try:
        import fcntl

        fcntl.flock(folder, fcntl.LOCK_EX)
    except (ImportError, OSError):
        return False
    return True


def _write_new(path: str, data: bytes, mode: int, *, sync: bool = False) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        handle = os.open(path, flags, mode)
    except FileExistsError:  # left by a killed process that had this id
        os.unlink(path)
        handle = os.open(path, flags, mode)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        if sync:
            os.fsync(handle)
    finally:
        os.close(handle)


def _sync_folder(path: str) -> None:
    """Make renames durable; a file system that cannot is no reason to fail."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        return
    finally:
        os.close(handle)


def _unlink(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


def _remove(folder: str) -> None:
    """Remove a folder of our own; what cannot be removed now is left for the next run."""
    for root, folders, names in os.walk(folder, topdown=False):
        for name in names:
            _unlink(os.path.join(root, name))
        for name in folders:
            path = os.path.join(root, name)
            if os.path.islink(path):
                _unlink(path)
            else:
                _rmdir(path)
    _rmdir(folder)


def _rmdir(path: str) -> None:
    try:
        os.rmdir(path)
    except OSError:
        return


def _failure(path: str, error: OSError) -> AicrError:
    reason = _REASONS.get(error.errno or 0) or error.strerror or str(error)
    hint = ""
    if error.errno in (errno.EBUSY, errno.EXDEV):
        hint = f"name a folder inside it, such as {os.path.join(path, 'bundle')}"
    elif error.errno == errno.ENOENT:
        hint = "create the folder first"
    return invalid(f"{path}: cannot be written: {reason}", hint=hint)
