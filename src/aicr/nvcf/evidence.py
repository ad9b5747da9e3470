"""What was read, kept so that nobody can change it unseen: the record folder.

The folder is 0700, its files 0600 and written once. ``manifest.jsonl`` is a chain of hashes: each
line names a file and its SHA-256, and the SHA-256 of the line before; a closing line ends what a
command wrote. A file becomes part of the record with its line, which is written after the file is
on disk, in windows of up to ``WINDOW`` files: a file without a line was being written when its
command was killed, and counts for nothing.

One command writes at a time; another one gets the same record to read (``writable`` is False).
"""

from __future__ import annotations

import os
import re
import threading
import time

from aicr.documents.digest import sha256_hex
from aicr.errors import CONFLICT, AicrError, invalid
from aicr.nvcf import clock
from aicr.nvcf.evidence_chain import MANIFEST, Entry, Verdict, line_of, verify
from aicr.nvcf.evidence_files import (
    check_private,
    lock_folder,
    sync_files,
    unwritable,
    write_all,
    write_once,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WINDOW = 1000
_LOOKS = 20


class Record:
    """An open record folder. Use it in a ``with`` block, or call ``close``.

    Safe to use from several threads. ``notes`` are what its user should say about it.
    """

    def __init__(
        self, path: str, control_plane: str, *, lock: int, entries: Sequence[Entry], last: str
    ) -> None:
        self.path = path
        self.control_plane = control_plane
        self.notes: list[str] = []
        self._lock = lock
        self._entries = list(entries)
        self._last = last
        self._waiting: list[tuple[str, dict[str, object]]] = []
        self._guard = threading.Lock()
        self._closed_at = len(self._entries)

    def __enter__(self) -> Record:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def writable(self) -> bool:
        return self._lock >= 0

    @property
    def entries(self) -> Sequence[Entry]:
        """What the manifest says, oldest first."""
        return tuple(self._entries)

    def next_run(self) -> str:
        """The prefix for the files of a new capture: "" for the first one, then ``run-<n>/``."""
        with self._guard:
            names = [entry.file for entry in self._entries] + [name for name, _ in self._waiting]
        if not any(name and "/" not in name for name in names):
            return ""
        used = [int(found[1]) for name in names if (found := re.match(r"run-(\d+)/", name))]
        return f"run-{max(used, default=1) + 1}/"

    def write(
        self, file: str, data: bytes, *, source: str, command: str, at: float | None = None
    ) -> str:
        """Keep ``data`` as ``file`` (with "/") and give its SHA-256.

        ``source`` is who answered, ``command`` the command or API call, ``at`` the server's time
        where it is known. Raises CONFLICT where the record is another's to write or the file is
        there already, INVALID_REQUEST where it cannot be written.
        """
        self._check_writable()
        digest = sha256_hex(data)
        said: dict[str, object] = {
            "time": clock.shown(time.time()),
            "serverTime": clock.shown(at) if at else None,
            "source": source,
            "command": command,
            "file": file,
            "sha256": digest,
        }
        with self._guard:
            write_once(self.path, file, data)
            self._waiting.append((file, said))
            if len(self._waiting) >= WINDOW:
                self._flush()
        return digest

    def log(self, event: str, details: Mapping[str, object]) -> None:
        """Note something that has no file of its own, such as a baseline that was replaced."""
        self._check_writable()
        with self._guard:
            said: dict[str, object] = {"time": clock.shown(time.time()), "event": event}
            said["details"] = dict(details)
            self._waiting.append(("", said))
            self._flush()

    def flush(self) -> None:
        """What was written so far is on disk and in the manifest when this returns."""
        if self.writable:
            with self._guard:
                self._flush()

    def read(self, file: str) -> bytes:
        """A file of the record. Raises INVALID_REQUEST where it is not as it was written."""
        entry = next((one for one in reversed(self._entries) if one.file == file), None)
        if entry is None:
            raise invalid(f"{self.path}: the record has no file {file}")
        try:
            with open(os.path.join(self.path, *file.split("/")), "rb") as opened:
                data = opened.read()
        except OSError as error:
            raise invalid(f"{self.path}/{file}: {error.strerror or error}") from None
        if sha256_hex(data) != entry.sha256:
            raise invalid(
                f"{self.path}/{file}: changed since it was written",
                hint=f"aicr nvcf evidence verify {self.path} lists all that changed",
            )
        return data

    def close(self) -> None:
        """Flush, end what was written with a closing line, and let others write."""
        if not self.writable:
            return
        with self._guard:
            try:
                self._flush()
                if len(self._entries) > self._closed_at:
                    said: dict[str, object] = {
                        "time": clock.shown(time.time()),
                        "closes": len(self._entries),
                    }
                    self._append([said])
                    self._closed_at = len(self._entries)
            finally:
                os.close(self._lock)
                self._lock = -1

    def _check_writable(self) -> None:
        if not self.writable:
            raise AicrError(
                CONFLICT,
                f"{self.path}: another command is writing this record",
                hint="wait for it to end, or pass another folder with --record",
            )

    def _flush(self) -> None:
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        files = [name for name, _ in waiting if name]
        try:
            sync_files(self.path, files)
            self._append([said for _, said in waiting])
        except OSError as error:
            raise unwritable(self.path, error) from None

    def _append(self, said: Sequence[dict[str, object]]) -> None:
        lines: list[bytes] = []
        for one in said:
            line, entry = line_of(one, self._last)
            self._last = entry.hash
            self._entries.append(entry.slim() if entry.kind == "file" else entry)
            lines.append(line)
        handle = os.open(
            os.path.join(self.path, MANIFEST), os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW
        )
        try:
            write_all(handle, b"".join(lines))
            os.fsync(handle)
        finally:
            os.close(handle)


def create_record(path: str, control_plane: str) -> Record:
    """A new record folder; it must not exist. Raises INVALID_REQUEST, CONFLICT."""
    made = False
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
        os.mkdir(path, 0o700)
        made = True
        os.chmod(path, 0o700)
    except FileExistsError:
        raise invalid(
            f"{path}: is there already; a new record folder was expected",
            hint=f"--append {path} goes on with a record of the same control plane",
        ) from None
    except OSError as error:
        if made:
            os.rmdir(path)
        raise unwritable(path, error) from None
    lock = lock_folder(path)
    if lock < 0:
        raise AicrError(CONFLICT, f"{path}: another command is writing there")
    record = Record(path, control_plane, lock=lock, entries=(), last="")
    try:
        handle = os.open(os.path.join(path, MANIFEST), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.close(handle)
        record._append([head_of(control_plane)])
    except OSError as error:
        raise unwritable(path, error) from None
    record._closed_at = 0
    return record


def append_record(path: str, control_plane: str) -> Record:
    """A record to go on with: no link, ours, private, of this control plane, and intact.

    Where another command is writing it, the record is not ``writable``. Raises INVALID_REQUEST.
    """
    check_private(path)
    lock = lock_folder(path)
    try:
        verdict = _verified(path, being_written=lock < 0)
        if not verdict.intact:
            raise invalid(
                f"{path}: the record does not verify: {verdict.problems[0]}",
                hint=f"aicr nvcf evidence verify {path} says more; pass a new folder with --record",
                details={"problems": list(verdict.problems)},
            )
        if control_plane and verdict.control_plane != control_plane:
            raise invalid(
                f"{path}: belongs to the control plane {verdict.control_plane}, not to "
                f"{control_plane}",
                hint="pass another folder with --record",
            )
    except BaseException:
        if lock >= 0:
            os.close(lock)
        raise
    record = Record(
        path, verdict.control_plane, lock=lock, entries=verdict.entries, last=verdict.last
    )
    if lock < 0:
        record.notes.append(
            f"{path}: another command is writing this record; this one reads it and writes nothing"
        )
    if verdict.unlisted:
        record.notes.append(
            f"{path}: {len(verdict.unlisted)} files are not in the manifest (a command was killed "
            "while it wrote them); they count for nothing"
        )
    return record


def open_record(path: str, control_plane: str) -> Record:
    """The record at ``path``: gone on with where it is there, else made."""
    if not os.path.lexists(path):
        try:
            return create_record(path, control_plane)
        except AicrError:
            if not os.path.lexists(path):
                raise
            # Another command was first.
    return append_record(path, control_plane)


def head_of(control_plane: str) -> dict[str, object]:
    """What the first line of a manifest says."""
    from aicr.version import __version__

    return {
        "time": clock.shown(time.time()),
        "record": "aicr.nvcf/v1",
        "controlPlane": control_plane,
        "tool": f"aicr {__version__}",
    }


def _verified(path: str, *, being_written: bool) -> Verdict:
    """The verdict; of a record that another command is writing, once its last line is whole."""
    for attempt in range(_LOOKS):
        try:
            verdict = verify(path)
        except AicrError:
            if not being_written or attempt == _LOOKS - 1:
                raise
        else:
            if verdict.intact or not (being_written and verdict.growing):
                return verdict
        time.sleep(0.05)
    return verdict
