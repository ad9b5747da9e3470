"""Whether a folder is still as this tool wrote it: ``checksums.txt``, written and compared."""

from __future__ import annotations

import os

from aicr.documents.digest import sha256_hex
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    # Path inside the folder (with "/") -> content, and whether it is a program.
    Files = Mapping[str, tuple[bytes, bool]]

CHECKSUMS = "checksums.txt"
_SHOWN = 20


def checksums_text(files: Files) -> bytes:
    """``checksums.txt`` for ``files``, in the format of ``sha256sum``."""
    lines = [f"{sha256_hex(files[path][0])}  {path}\n" for path in sorted(files)]
    return "".join(lines).encode("utf-8")


def check_replaceable(target: str, *, sign: tuple[str, bytes], overwrite: bool) -> None:
    """Whether the folder may be replaced as a whole. Raises INVALID_REQUEST.

    ``sign`` is a file and what it contains in every folder of this kind.
    """
    try:
        present = _list(target)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise invalid(f"{target}: it is a file, a folder was expected") from None
    if not present:
        return
    listed = _checksums(target) if _is_signed(target, sign) else {}
    foreign = sorted(path for path in present if path not in listed and path != CHECKSUMS)
    if not listed:
        foreign = sorted(present)
    if foreign:
        raise invalid(
            f"{target}: holds files that this tool did not write: {_shown(foreign)}",
            hint="nothing was changed; move them away, or write to another folder",
            details={"files": list(foreign)},
        )
    edited = sorted(
        path for path, digest in listed.items()
        if not present.get(path) or _digest(os.path.join(target, path)) != digest
    )  # fmt: skip
    if edited and not overwrite:
        raise invalid(
            f"{target}: changed since it was written: {_shown(edited)}",
            hint="nothing was changed; --overwrite replaces the folder, or write to another one",
            details={"files": list(edited)},
        )


def _list(root: str) -> dict[str, bool]:
    """Every file below ``root`` (links too, not followed), and whether it is a plain file."""
    found: dict[str, bool] = {}
    pending = [""]
    while pending:
        folder = pending.pop()
        with os.scandir(os.path.join(root, folder)) as entries:
            for entry in entries:
                path = f"{folder}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    pending.append(path + "/")
                else:
                    found[path] = entry.is_file(follow_symlinks=False)
    return found


def _is_signed(root: str, sign: tuple[str, bytes]) -> bool:
    return sign[1] in _content(os.path.join(root, sign[0]))


def _checksums(root: str) -> dict[str, str]:
    """Path -> digest as ``checksums.txt`` has it; {} where that cannot be read."""
    try:
        lines = _content(os.path.join(root, CHECKSUMS)).decode("utf-8").splitlines()
    except UnicodeDecodeError:
        return {}
    return {line[66:]: line[:64] for line in lines if line[64:66] == "  "}


def _content(path: str) -> bytes:
    """The bytes of a regular file; none of one that cannot be read, or of a pipe, which would
    never end."""
    if not os.path.isfile(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return sha256_hex(file.read())


def _shown(paths: list[str]) -> str:
    text = ", ".join(paths[:_SHOWN])
    return text if len(paths) <= _SHOWN else f"{text} and {len(paths) - _SHOWN} more"
