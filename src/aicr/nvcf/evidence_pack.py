"""A record as one file to hand on: as it is, or with nothing in it but fields on a list."""

from __future__ import annotations

import io
import json
import os
import tarfile

from aicr.errors import invalid
from aicr.nvcf.evidence_chain import MANIFEST, Entry, Verdict, verify
from aicr.nvcf.redaction import redacted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = ("time", "serverTime", "file", "sha256", "closes", "previous", "record", "tool")


class Packed:
    """What went into a pack; ``left_out`` are files of which only name and hash went."""

    __slots__ = ("files", "left_out", "verdict")

    def __init__(self, files: int, left_out: list[str], verdict: Verdict) -> None:
        self.files = files
        self.left_out = left_out
        self.verdict = verdict


def pack(record: str, output: str, *, redact: bool) -> Packed:
    """Write the pack to ``output``, which must not exist. Raises INVALID_REQUEST."""
    verdict = verify(record)
    files = [entry for entry in verdict.entries if entry.kind == "file"]
    left_out: list[str] = []
    try:
        handle = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise invalid(f"{output}: is there already; a new file was expected") from None
    except OSError as error:
        raise invalid(f"{output}: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "wb") as raw, tarfile.open(fileobj=raw, mode="w:gz") as archive:
            add = _adder(archive)
            add(MANIFEST, _manifest(record, verdict, redact=redact))
            for entry in files:
                data = _content(record, entry)
                if redact:
                    kept = None if data is None else redacted(entry.file, data)
                    if kept is None:
                        left_out.append(entry.file)
                        continue
                    add(f"{entry.file}.redacted.json", _json(kept))
                elif data is not None:
                    add(entry.file, data)
                else:
                    left_out.append(entry.file)
    except OSError as error:
        os.unlink(output)
        raise invalid(f"{output}: cannot be written: {error.strerror or error}") from None
    except BaseException:
        os.unlink(output)
        raise
    return Packed(len(files) - len(left_out), left_out, verdict)


def _adder(archive: tarfile.TarFile) -> Callable[[str, bytes], None]:
    def add(name: str, data: bytes) -> None:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        info.mode = 0o600
        archive.addfile(info, io.BytesIO(data))

    return add


def _content(record: str, entry: Entry) -> bytes | None:
    try:
        with open(os.path.join(record, *entry.file.split("/")), "rb") as file:
            return file.read()
    except OSError:
        return None


def _manifest(record: str, verdict: Verdict, *, redact: bool) -> bytes:
    if not redact:
        with open(os.path.join(record, MANIFEST), "rb") as file:
            return file.read()
    lines = []
    for entry in verdict.entries:
        kept = {key: entry.said[key] for key in _PLAIN if key in entry.said}
        kept |= {"controlPlane": verdict.control_plane} if entry.kind == "head" else {}
        kept |= {"event": entry.said["event"]} if entry.kind == "event" else {}
        lines.append(json.dumps({**kept, "hash": entry.hash}))
    return ("\n".join(lines) + "\n").encode()


def _json(value: object) -> bytes:
    return json.dumps(value, indent=1).encode()
