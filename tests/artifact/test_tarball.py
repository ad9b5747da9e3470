"""Archives: the same bytes, read by other tools, and hostile ones refused."""

from __future__ import annotations

import contextlib
import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aicr.artifact import tarball
from aicr.artifact.tarball import pack, unpack
from aicr.errors import AicrError

FILES = {
    "b/deploy.sh": (b"#!/bin/sh\n", True),
    "a.yaml": (b"", False),
    "z": (b"x" * 200_000, False),
}


def archive(*members: tarfile.TarInfo, data: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for member in members:
            member.size = len(data) if member.isreg() else 0
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type = kind
    made.linkname = target
    return made


def test_what_is_packed_comes_out() -> None:
    assert unpack(pack(FILES), "x") == FILES


def test_the_same_bytes_whatever_the_order() -> None:
    assert pack(dict(reversed(FILES.items()))) == pack(FILES)


def test_another_tool_reads_it(tmp_path: Path) -> None:
    (tmp_path / "x.tgz").write_bytes(pack(FILES))
    with tarfile.open(tmp_path / "x.tgz") as tar:
        assert tar.getnames() == sorted(FILES)
        for path, (data, executable) in FILES.items():
            found = tar.getmember(path)
            file = tar.extractfile(path)
            assert file is not None
            assert file.read() == data
            assert (found.mode, found.mtime, found.uid) == (0o755 if executable else 0o644, 0, 0)


def test_nothing_is_an_archive_too() -> None:
    assert unpack(pack({}), "x") == {}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (lambda: archive(member("../out")), "leads out"),
        (lambda: archive(member("a/../../out")), "leads out"),
        (lambda: archive(member("/etc/passwd")), "leads out"),
        (lambda: archive(member("a\\b")), "leads out"),
        (lambda: archive(member("C:/x")), "leads out"),
        (lambda: archive(member("a\nb")), "leads out"),
        (lambda: archive(member("a//b")), "leads out"),
        (lambda: archive(member("l", tarfile.SYMTYPE, "/etc")), "is a link"),
        (lambda: archive(member("l", tarfile.LNKTYPE, "x")), "is a link"),
        (lambda: archive(member("d", tarfile.CHRTYPE)), "no regular file"),
        (lambda: archive(member("p", tarfile.FIFOTYPE)), "no regular file"),
        (lambda: archive(member("a"), member("a")), "twice"),
        (lambda: archive(member("a"), member("a/b")), "below what is a file"),
        (lambda: b"PK\x03\x04 a zip", "not a gzip"),
        (lambda: pack(FILES)[:-9], "ends early"),
        (lambda: pack(FILES) + b"more", "behind the end"),
        (lambda: gzip.compress(b"text" * 999), "not a tar archive"),
    ],
)
def test_hostile_archives(data: Callable[[], bytes], says: str) -> None:
    with pytest.raises(AicrError, match=says) as caught:
        unpack(data(), "where.tgz")
    assert caught.value.message.startswith("where.tgz: ")


def test_bombs(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(bytes(200_000_000), 9)
    with pytest.raises(AicrError, match="unpacks to more than"):
        unpack(bomb, "x")
    with pytest.raises(AicrError, match='"big" has 50000000 bytes'):
        unpack(archive(member("big"), data=bytes(50_000_000)), "x")
    monkeypatch.setattr(tarball, "MAX_FILES", 2)
    with pytest.raises(AicrError, match="more than the 2 files"):
        unpack(archive(member("a"), member("b"), member("c")), "x")


def test_a_sparse_file_is_none(tmp_path: Path) -> None:
    sparse = member("s", tarfile.GNUTYPE_SPARSE)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=tarfile.GNU_FORMAT) as tar:
        tar.addfile(sparse)
    with pytest.raises(AicrError):
        unpack(buffer.getvalue(), "x")


@given(st.binary(max_size=600), st.integers(0, 2000), st.integers(0, 255))
@settings(max_examples=100)
def test_damage_is_an_error_or_harmless(data: bytes, at: int, value: int) -> None:
    for hostile in (data, gzip.compress(data), _flipped(pack({"a/b": (data, False)}), at, value)):
        with contextlib.suppress(AicrError):
            found = unpack(hostile, "x")
            assert not any(path.startswith("/") or ".." in path.split("/") for path in found)


def _flipped(data: bytes, at: int, value: int) -> bytes:
    at %= len(data)
    return data[:at] + bytes([value]) + data[at + 1 :]
