"""How a record's manifest grows: in windows of lines, each written after its files are on disk.

A full window is written behind the command's back, so that it goes on meanwhile; the next window
waits for it. What could not be written is tried again with the next one.
"""

from __future__ import annotations

import json
import os
from functools import lru_cache
from hashlib import sha256

from aicr.nvcf.evidence_chain import MANIFEST, Entry, file_entry
from aicr.nvcf.evidence_files import sync_files, unwritable, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future, ThreadPoolExecutor

    # Of a file: its name, SHA-256, source, command, time, and the server's time. Else all it says.
    Line = tuple[str, str, str, str, str, str] | dict[str, object]

WINDOW = 1000


class Manifest:
    """``last`` is the hash of its last line. The record that owns it lets one thread in."""

    def __init__(self, root: str, entries: Sequence[Entry], last: str) -> None:
        self._root = root
        self._entries = list(entries)
        self._last = last
        self._waiting: list[Line] = []
        self._pool: ThreadPoolExecutor | None = None
        self._behind: Future[None] | None = None
        self._behinds_lines: list[Line] = []

    @property
    def entries(self) -> Sequence[Entry]:
        """What is written, oldest first. Raises OSError."""
        self._settle()
        return self._entries

    def add(self, line: Line) -> None:
        """Raises OSError where an earlier window could not be written."""
        self._waiting.append(line)
        if len(self._waiting) >= WINDOW:
            self._hand_over()

    def flush(self) -> None:
        """All that was added is on disk when this returns. Raises OSError."""
        self._settle()
        if self._waiting:
            self._hand_over()
            self._settle()

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def _hand_over(self) -> None:
        """Lines are written in a thread of their own, also where they are waited for: no signal
        comes there, so that what is on disk and what is known of it agree."""
        self._settle()
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(1)
        self._behinds_lines, self._waiting = self._waiting, []
        self._behind = self._pool.submit(self._commit, self._behinds_lines)

    def _settle(self) -> None:
        if self._behind is None:
            return
        try:
            self._behind.result()
        except OSError:
            self._behind = None
            self._waiting = [*self._behinds_lines, *self._waiting]
            raise
        self._behind, self._behinds_lines = None, []

    def _commit(self, lines: Sequence[Line]) -> None:
        sync_files(self._root, [one[0] for one in lines if not isinstance(one, dict)])
        data = bytearray()
        entries = []
        last = self._last
        for one in lines:
            text = _event(one, last) if isinstance(one, dict) else _file(one, last)
            last = sha256(text).hexdigest()
            if isinstance(one, dict):
                entries.append(Entry({**one, "previous": ""}, last))
            else:
                entries.append(file_entry(one[0], one[1], one[2], one[4]))
            data += text
            data += b"\n"
        append_whole(self._root, data)
        self._last = last
        self._entries += entries


def append_whole(root: str, data: bytes | bytearray) -> None:
    """Add to the manifest, all or nothing, and force it to disk."""
    path = os.path.join(root, MANIFEST)
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
    try:
        size = os.fstat(handle).st_size
        try:
            write_all(handle, data)
            os.fsync(handle)
        except BaseException:
            os.ftruncate(handle, size)
            raise
    finally:
        os.close(handle)


def drop_torn(root: str, size: int) -> None:
    """Take the last ``size`` bytes away, which are no whole line."""
    try:
        path = os.path.join(root, MANIFEST)
        os.truncate(path, os.path.getsize(path) - size)
    except OSError as error:
        raise unwritable(root, error) from None


def _event(said: dict[str, object], previous: str) -> bytes:
    whole = {key: value for key, value in said.items() if value is not None}
    whole["previous"] = previous
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()


def _file(line: tuple[str, str, str, str, str, str], previous: str) -> bytes:
    """As ``_event``, put together: there may be very many, and a name needs no quoting."""
    file, digest, source, command, time, server_time = line
    at = f'"serverTime":"{server_time}",' if server_time else ""
    return (
        f'{{"time":"{time}",{at}"source":{_quoted(source)},"command":{_quoted(command)},'
        f'"file":"{file}","sha256":"{digest}","previous":"{previous}"}}'
    ).encode()


@lru_cache(maxsize=256)
def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
