"""Whether a record folder is what was written: the chain of its manifest, and the file of each
line."""

from __future__ import annotations

import json
import os
import stat
from hashlib import sha256
from sys import intern

from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MANIFEST = "manifest.jsonl"


class Entry:
    """One line. ``kind`` is ``head``, ``file``, ``event`` or ``close``; ``hash`` is what the next
    line names as ``previous``; ``said`` is all of the line."""

    __slots__ = ("file", "hash", "kind", "said", "sha256", "source", "time")

    def __init__(self, said: dict[str, object], hash: str) -> None:
        self.said = said
        self.hash = hash
        self.time = intern(str(said.get("time", "")))
        self.source = str(said.get("source") or "")
        self.file = str(said.get("file") or "")
        self.sha256 = str(said.get("sha256") or "")
        self.kind = next(
            (kind for kind, key in _KINDS if key in said),
            "unknown",
        )


_NOTHING: dict[str, object] = {}
_KINDS = (("file", "file"), ("close", "closes"), ("head", "record"), ("event", "event"))


def file_entry(file: str, sha256: str, source: str, time: str) -> Entry:
    """The entry of a file without what else its line says: a record that is being written has very
    many of them."""
    entry = Entry.__new__(Entry)
    entry.said = _NOTHING
    entry.hash = ""
    entry.time = intern(time)
    entry.source = source
    entry.file = file
    entry.sha256 = sha256
    entry.kind = "file"
    return entry


class Verdict:
    """What ``verify`` found. ``problems`` break the record; ``unlisted`` files are in no line.
    ``closed`` says whether the last command ended as it should; ``torn`` are the bytes after the
    last whole line: a command was killed while it wrote them, or writes them just now, and they
    count for nothing."""

    __slots__ = ("closed", "control_plane", "entries", "last", "problems", "torn", "unlisted")

    def __init__(
        self,
        *,
        entries: Sequence[Entry],
        problems: Sequence[str],
        unlisted: Sequence[str],
        torn: int,
    ) -> None:
        self.entries = entries
        self.problems = problems
        self.unlisted = unlisted
        self.torn = torn
        self.last = entries[-1].hash if entries else ""
        self.closed = bool(entries) and entries[-1].kind == "close" and not torn
        head = entries[0].said if entries else {}
        self.control_plane = str(head.get("controlPlane") or "")

    @property
    def intact(self) -> bool:
        return not self.problems


def chain(data: bytes) -> tuple[list[Entry], list[str], int]:
    """The lines of a manifest up to the first that does not follow, what is wrong, and how many
    bytes stand after the last whole line."""
    entries: list[Entry] = []
    previous = ""
    lines = data.split(b"\n")
    torn = len(lines.pop())
    for number, line in enumerate(lines, 1):
        try:
            said = json.loads(line)
        except ValueError:
            said = None
        if not isinstance(said, dict):
            return entries, [f"{MANIFEST}:{number}: is no line of a manifest"], torn
        if said.get("previous") != previous:
            return entries, [f"{MANIFEST}:{number}: does not follow the line before it"], torn
        entry = Entry(said, sha256(line).hexdigest())
        if (entry.kind == "head") != (number == 1):
            return entries, [f"{MANIFEST}:{number}: a {entry.kind} line is not expected here"], torn
        if entry.kind == "close" and said["closes"] != number - 1:
            problem = f"{MANIFEST}:{number}: closes {said['closes']} lines, there are {number - 1}"
            return entries, [problem], torn
        entries.append(entry)
        previous = entry.hash
    return entries, [], torn


def verify(path: str) -> Verdict:
    """Read the whole record and compare. Raises INVALID_REQUEST where there is none."""
    try:
        with open(os.path.join(path, MANIFEST), "rb") as file:
            data = file.read()
    except OSError as error:
        raise invalid(
            f"{path}: no record: {MANIFEST}: {error.strerror or error}",
            hint="a record folder is made by the commands that take --record",
        ) from None
    entries, problems, torn = chain(data)
    if not entries and not problems:
        problems.append(f"{MANIFEST}: has no whole line: its command was killed at once")
    listed: dict[str, str] = {}
    for entry in entries:
        if entry.kind == "file":
            if entry.file in listed:
                problems.append(f"{entry.file}: is listed twice")
            listed[entry.file] = entry.sha256
    there = _files(path)
    for name, digest in listed.items():
        problem = _compare(path, name, digest) if name in there else "is missing"
        if problem:
            problems.append(f"{name}: {problem}")
    unlisted = sorted(there - set(listed) - {MANIFEST})
    return Verdict(entries=entries, problems=problems, unlisted=unlisted, torn=torn)


def _files(root: str) -> set[str]:
    found: set[str] = set()
    for folder, folders, names in os.walk(root):
        inside = os.path.relpath(folder, root)
        prefix = "" if inside == os.curdir else inside.replace(os.sep, "/") + "/"
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        found.update(prefix + name for name in (*names, *links))
    return found


def _compare(root: str, name: str, digest: str) -> str:
    path = os.path.join(root, *name.split("/"))
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            return "is no plain file"
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    return "" if sha256(data).hexdigest() == digest else "changed since it was written"
