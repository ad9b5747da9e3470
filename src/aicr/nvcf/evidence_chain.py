"""Whether a record folder is what was written: the chain of its manifest, and the file of each
line."""

from __future__ import annotations

import json
import os
import stat
from sys import intern

from aicr.documents.digest import sha256_hex
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

    def slim(self) -> Entry:
        """Without what the line says beside the file's name, hash, source and time: a record that
        is being written has very many of them."""
        self.said = _NOTHING
        self.hash = ""
        return self


_NOTHING: dict[str, object] = {}
_KINDS = (("file", "file"), ("close", "closes"), ("head", "record"), ("event", "event"))


class Verdict:
    """What ``verify`` found. ``problems`` break the record; ``unlisted`` files are in no line.
    ``closed`` says whether the last command ended as it should; ``growing`` whether the last line
    is not whole, as while it is being written."""

    __slots__ = ("closed", "control_plane", "entries", "growing", "last", "problems", "unlisted")

    def __init__(
        self,
        *,
        entries: Sequence[Entry],
        problems: Sequence[str],
        unlisted: Sequence[str],
        growing: bool,
    ) -> None:
        self.entries = entries
        self.problems = problems
        self.unlisted = unlisted
        self.growing = growing
        self.last = entries[-1].hash if entries else ""
        self.closed = bool(entries) and entries[-1].kind == "close"
        head = entries[0].said if entries else {}
        self.control_plane = str(head.get("controlPlane") or "")

    @property
    def intact(self) -> bool:
        return not self.problems


def line_of(said: dict[str, object], previous: str) -> tuple[bytes, Entry]:
    """The manifest's line for ``said`` after the line with the hash ``previous``, and its entry."""
    whole = {**{key: value for key, value in said.items() if value is not None}}
    whole["previous"] = previous
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
    return text + b"\n", Entry(whole, sha256_hex(text))


def chain(data: bytes) -> tuple[list[Entry], list[str], bool]:
    """The lines of a manifest up to the first that does not follow, what is wrong, and whether
    that is only a last line that is not whole."""
    entries: list[Entry] = []
    previous = ""
    lines = data.split(b"\n")
    rest = lines.pop()
    for number, line in enumerate(lines, 1):
        try:
            said = json.loads(line)
        except ValueError:
            said = None
        if not isinstance(said, dict):
            return entries, [f"{MANIFEST}:{number}: is no line of a manifest"], False
        if said.get("previous") != previous:
            return entries, [f"{MANIFEST}:{number}: does not follow the line before it"], False
        entry = Entry(said, sha256_hex(line))
        if (entry.kind == "head") != (number == 1):
            return (
                entries,
                [f"{MANIFEST}:{number}: a {entry.kind} line is not expected here"],
                False,
            )
        if entry.kind == "close" and said["closes"] != number - 1:
            problem = f"{MANIFEST}:{number}: closes {said['closes']} lines, there are {number - 1}"
            return entries, [problem], False
        entries.append(entry)
        previous = entry.hash
    if rest:
        return entries, [f"{MANIFEST}:{len(lines) + 1}: the last line is not whole"], True
    if not entries:
        return entries, [f"{MANIFEST}: is empty"], True
    return entries, [], False


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
    entries, problems, growing = chain(data)
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
    return Verdict(entries=entries, problems=problems, unlisted=unlisted, growing=growing)


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
    return "" if sha256_hex(data) == digest else "changed since it was written"
