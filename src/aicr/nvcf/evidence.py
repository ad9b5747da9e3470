"""What was read, kept so that nobody can change it unseen: the record folder.

The folder is 0700, its files 0600 and written once. ``manifest.jsonl`` is a chain of hashes: each
line names a file and its SHA-256, and the SHA-256 of the line before; a closing line ends what a
command wrote. A file becomes part of the record with its line, which is written after the file is
on disk, in windows: a file without a line was being written when its command was killed, and counts
for nothing. So does what stands after the last whole line.

One command writes at a time; another one gets the same record to read (``writable`` is False).
"""

from __future__ import annotations

import os
import re
import threading
import time
from hashlib import sha256

from aicr.errors import CONFLICT, AicrError, invalid
from aicr.nvcf import clock
from aicr.nvcf.evidence_chain import MANIFEST, Entry, Verdict, verify
from aicr.nvcf.evidence_files import check_private, lock_folder, unwritable, write_once
from aicr.nvcf.evidence_manifest import Manifest, drop_torn
from aicr.nvcf.to_copy import to_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        self._manifest = Manifest(path, entries, last)
        self._folders: set[str] = set()
        self._guard = threading.Lock()
        self._closed_at = len(entries)
        self._second = (0, "")

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
        with self._guard:
            try:
                return tuple(self._manifest.entries)
            except OSError as error:
                raise unwritable(self.path, error) from None

    def next_run(self) -> str:
        """The prefix for the files of a new capture: "" for the first one, then ``run-<n>/``.

        What a killed command left there counts too: its files are never written again.
        """
        names = self._there("")
        folders = {entry for entry in names if os.path.isdir(os.path.join(self.path, entry))}
        if not names - folders - {MANIFEST}:
            return ""
        used = [int(found[1]) for name in folders if (found := re.fullmatch(r"run-(\d+)", name))]
        return f"run-{max(used, default=1) + 1}/"

    def numbered(self, head: str, digits: int) -> str:
        """A name for a new file: ``head``, the next number, ``.json``."""
        folder, _, start = head.rpartition("/")
        found = [
            int(name[len(start) : -5])
            for name in self._there(folder)
            if re.fullmatch(re.escape(start) + r"\d+\.json", name)
        ]
        return f"{head}{max(found, default=0) + 1:0{digits}}.json"

    def _there(self, folder: str) -> set[str]:
        try:
            return set(os.listdir(os.path.join(self.path, folder)))
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise unwritable(self.path, error) from None

    def write(
        self, file: str, data: bytes, *, source: str, command: str, at: float | None = None
    ) -> str:
        """Keep ``data`` as ``file`` (with "/") and give its SHA-256.

        ``source`` is who answered, ``command`` the command or API call, ``at`` the server's time
        where it is known. Raises CONFLICT where the record is another's to write or the file is
        there already, INVALID_REQUEST where it cannot be written.
        """
        self._check_writable()
        digest = sha256(data).hexdigest()
        server_time = clock.shown(at) if at else ""
        with self._guard:
            write_once(self.path, file, data, self._folders)
            line = (file, digest, source, command, self._now(), server_time)
            try:
                self._manifest.add(line)
            except OSError as error:
                raise unwritable(self.path, error) from None
        return digest

    def log(self, event: str, details: Mapping[str, object]) -> None:
        """Note something that has no file of its own, such as a baseline that was replaced."""
        self._check_writable()
        with self._guard:
            said: dict[str, object] = {"time": self._now(), "event": event}
            said["details"] = dict(details)
            try:
                self._manifest.add(said)
                self._manifest.flush()
            except OSError as error:
                raise unwritable(self.path, error) from None

    def flush(self) -> None:
        """What was written so far is on disk and in the manifest when this returns."""
        if not self.writable:
            return
        with self._guard:
            try:
                self._manifest.flush()
            except OSError as error:
                raise unwritable(self.path, error) from None

    def read(self, file: str) -> bytes:
        """A file of the record. Raises INVALID_REQUEST where it is not as it was written."""
        entry = next((one for one in reversed(self.entries) if one.file == file), None)
        if entry is None:
            raise invalid(f"{self.path}: the record has no file {file}")
        try:
            with open(os.path.join(self.path, *file.split("/")), "rb") as opened:
                data = opened.read()
        except OSError as error:
            raise invalid(f"{self.path}/{file}: {error.strerror or error}") from None
        if sha256(data).hexdigest() != entry.sha256:
            raise invalid(
                f"{self.path}/{file}: changed since it was written",
                hint=f"{to_copy('evidence', 'verify', self.path)} lists all that changed",
            )
        return data

    def close(self) -> None:
        """Flush, end what was written with a closing line, and let others write."""
        if not self.writable:
            return
        with self._guard:
            try:
                self._end()
            except OSError as error:
                raise unwritable(self.path, error) from None
            except (KeyboardInterrupt, SystemExit):
                self._end()  # a signal came in between
                raise
            finally:
                self._manifest.close()
                os.close(self._lock)
                self._lock = -1

    def _end(self) -> None:
        self._manifest.flush()
        lines = len(self._manifest.entries)
        if lines > self._closed_at:
            self._manifest.add({"time": self._now(), "closes": lines})
            self._manifest.flush()
            self._closed_at = lines + 1

    def _now(self) -> str:
        second = int(time.time())
        if second != self._second[0]:
            self._second = (second, clock.shown(second))
        return self._second[1]

    def _check_writable(self) -> None:
        if not self.writable:
            raise AicrError(
                CONFLICT,
                f"{self.path}: another command is writing this record",
                hint="wait for it to end, or pass another folder with --record",
            )


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
    return _begun(path, control_plane, lock)


def append_record(path: str, control_plane: str) -> Record:
    """A record to go on with: no link, ours, private, of this control plane, and intact.

    Where another command is writing it, the record is not ``writable``. Raises INVALID_REQUEST.
    """
    check_private(path)
    lock = lock_folder(path)
    if lock >= 0 and _is_blank(path):
        return _begun(path, control_plane, lock)
    try:
        verdict = _verified(path, being_written=lock < 0)
        if not verdict.intact:
            raise invalid(
                f"{path}: the record does not verify: {verdict.problems[0]}",
                hint=f"{to_copy('evidence', 'verify', path)} says more; pass a new folder "
                "with --record",
                details={"problems": list(verdict.problems)},
            )
        if control_plane and verdict.control_plane != control_plane:
            raise invalid(
                f"{path}: belongs to the control plane {verdict.control_plane}, not to "
                f"{control_plane}",
                hint="pass another folder with --record",
            )
        if verdict.torn and lock >= 0:
            drop_torn(path, verdict.torn)
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
    elif verdict.torn:
        record.notes.append(
            f"{path}: the last line was not whole (a command was killed while it wrote it); it "
            "counts for nothing and was taken away"
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


def _begun(path: str, control_plane: str, lock: int) -> Record:
    """The record with its first line written. The lock is the record's from here on."""
    from aicr.version import __version__

    record = Record(path, control_plane, lock=lock, entries=(), last="")
    said: dict[str, object] = {
        "time": clock.shown(time.time()),
        "record": "aicr.nvcf/v1",
        "controlPlane": control_plane,
        "tool": f"aicr {__version__}",
    }
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        os.close(os.open(os.path.join(path, MANIFEST), flags, 0o600))
        record._manifest.add(said)
        record._manifest.flush()
    except OSError as error:
        os.close(lock)
        raise unwritable(path, error) from None
    record._closed_at = 0
    return record


def _is_blank(path: str) -> bool:
    """Whether nothing was ever recorded: the command that made the folder was killed at once."""
    if not set(os.listdir(path)) <= {MANIFEST}:
        return False
    try:
        with open(os.path.join(path, MANIFEST), "rb") as file:
            return b"\n" not in file.read()
    except FileNotFoundError:
        return True
    except OSError as error:
        raise unwritable(path, error) from None


def _verified(path: str, *, being_written: bool) -> Verdict:
    """The verdict; of a record that another command is making, once its first line is there."""
    for attempt in range(_LOOKS):
        try:
            verdict = verify(path)
        except AicrError:
            if not being_written or attempt == _LOOKS - 1:
                raise
        else:
            if verdict.entries or not being_written:
                return verdict
        time.sleep(0.05)
    return verify(path)
