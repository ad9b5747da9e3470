"""Files and folders are written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from aicr.artifact import atomic
from aicr.artifact.atomic import replace_directory, write_file
from aicr.artifact.checksums import CHECKSUMS, checksums_text
from aicr.errors import AicrError

SIGN = ("info.yaml", b"kind: Test")
ROOT = os.geteuid() == 0 if hasattr(os, "geteuid") else False

Content = dict[str, tuple[bytes, bool]]


def content(**texts: str) -> Content:
    files: Content = {name.replace("__", "/"): (t.encode(), False) for name, t in texts.items()}
    files[SIGN[0]] = (SIGN[1] + b"\n", False)
    files[CHECKSUMS] = (checksums_text(files), False)
    return files


def on_disk(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


def as_bytes(files: Content) -> dict[str, bytes]:
    return {path: data for path, (data, _) in files.items()}


class TestWriteFile:
    def test_a_new_file_and_one_that_is_there(self, tmp_path: Path) -> None:
        path = tmp_path / "a.yaml"
        write_file(str(path), b"one")
        write_file(str(path), b"two")
        assert path.read_bytes() == b"two"
        assert os.listdir(tmp_path) == ["a.yaml"]

    def test_the_mode_of_a_file_stays(self, tmp_path: Path) -> None:
        path = tmp_path / "a"
        path.write_bytes(b"x")
        path.chmod(0o640)
        write_file(str(path), b"y")
        assert path.stat().st_mode & 0o777 == 0o640

    def test_a_link_is_kept_and_its_target_written(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        target = tmp_path / "real" / "a"
        target.write_bytes(b"x")
        (tmp_path / "link").symlink_to(target)
        write_file(str(tmp_path / "link"), b"y")
        assert (tmp_path / "link").is_symlink()
        assert target.read_bytes() == b"y"
        assert os.listdir(tmp_path / "real") == ["a"]

    def test_a_pipe_is_written_to(self, tmp_path: Path) -> None:
        fifo = tmp_path / "fifo"
        os.mkfifo(fifo)
        reader = subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE)
        write_file(str(fifo), b"through")
        assert reader.communicate(timeout=10)[0] == b"through"

    def test_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(AicrError, match="it is a folder") as caught:
            write_file(str(tmp_path), b"x")
        assert caught.value.exit_code == 2

    def test_a_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(AicrError, match="does not exist") as caught:
            write_file(str(tmp_path / "no" / "a"), b"x")
        assert caught.value.hint == "create the folder first"

    def test_a_file_for_a_folder(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_bytes(b"")
        with pytest.raises(AicrError, match="a part of the path is a file"):
            write_file(str(tmp_path / "f" / "a"), b"x")

    @pytest.mark.skipif(ROOT, reason="root may write everywhere")
    def test_a_read_only_folder(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o555)
        try:
            with pytest.raises(AicrError, match="no permission"):
                write_file(str(tmp_path / "a"), b"x")
        finally:
            tmp_path.chmod(0o755)

    @pytest.mark.parametrize("step", ["write", "fsync"])
    def test_a_full_disk_leaves_the_old_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
    ) -> None:
        path = tmp_path / "a"
        path.write_bytes(b"old")

        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, step, full)
        with pytest.raises(AicrError, match="no space left"):
            write_file(str(path), b"new")
        monkeypatch.undo()
        assert on_disk(tmp_path) == {"a": b"old"}

    def test_what_a_killed_process_with_this_id_left_is_no_obstacle(self, tmp_path: Path) -> None:
        (tmp_path / f".aicr-{os.getpid()}.tmp").write_bytes(b"torn")
        write_file(str(tmp_path / "a"), b"x")
        assert on_disk(tmp_path) == {"a": b"x"}


class TestReplaceDirectory:
    def test_a_new_folder_and_missing_ones_above(self, tmp_path: Path) -> None:
        files = content(a="1", d__b="2")
        replace_directory(str(tmp_path / "x" / "y"), files, sign=SIGN)
        assert on_disk(tmp_path / "x" / "y") == as_bytes(files)
        assert os.listdir(tmp_path / "x") == ["y"]

    def test_programs_can_be_run(self, tmp_path: Path) -> None:
        files = content(a="1") | {"run.sh": (b"x", True)}
        replace_directory(str(tmp_path / "b"), files, sign=SIGN)
        assert os.access(tmp_path / "b" / "run.sh", os.X_OK)
        assert not os.access(tmp_path / "b" / "a", os.X_OK)

    def test_an_empty_folder_is_filled(self, tmp_path: Path) -> None:
        (tmp_path / "b").mkdir(mode=0o750)
        replace_directory(str(tmp_path / "b"), content(a="1"), sign=SIGN)
        assert (tmp_path / "b" / "a").read_bytes() == b"1"
        assert (tmp_path / "b").stat().st_mode & 0o777 == 0o750

    @pytest.mark.parametrize("exchange", [True, False])
    def test_an_intact_one_is_replaced(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchange: bool
    ) -> None:
        if not exchange:
            monkeypatch.setattr(atomic, "_exchange", lambda *_: False)
        target = str(tmp_path / "b")
        replace_directory(target, content(a="1", d__gone="2"), sign=SIGN)
        files = content(a="3", e__new="4")
        replace_directory(target, files, sign=SIGN)
        assert on_disk(tmp_path / "b") == as_bytes(files)
        assert os.listdir(tmp_path) == ["b"]

    @pytest.mark.parametrize("change", ["edit", "remove", "link"])
    def test_an_edited_one_needs_overwrite(self, tmp_path: Path, change: str) -> None:
        target = tmp_path / "b"
        replace_directory(str(target), content(a="1", d__b="2"), sign=SIGN)
        if change == "edit":
            (target / "d" / "b").write_bytes(b"mine")
        else:
            (target / "d" / "b").unlink()
        if change == "link":
            (target / "d" / "b").symlink_to("/etc/passwd")
        before = on_disk(target)
        with pytest.raises(AicrError, match="changed since it was written: d/b") as caught:
            replace_directory(str(target), content(a="3"), sign=SIGN)
        assert "--overwrite" in caught.value.hint
        assert on_disk(target) == before
        replace_directory(str(target), content(a="3"), sign=SIGN, overwrite=True)
        assert on_disk(target) == as_bytes(content(a="3"))
        assert Path("/etc/passwd").exists()

    @pytest.mark.parametrize("overwrite", [True, False])
    def test_files_of_others_are_named_and_left(self, tmp_path: Path, overwrite: bool) -> None:
        target = tmp_path / "b"
        replace_directory(str(target), content(a="1"), sign=SIGN)
        (target / "notes.txt").write_bytes(b"mine")
        with pytest.raises(AicrError, match=r"did not write: notes\.txt"):
            replace_directory(str(target), content(a="3"), sign=SIGN, overwrite=overwrite)
        assert (target / "notes.txt").read_bytes() == b"mine"
        assert (target / "a").read_bytes() == b"1"

    def test_checksums_of_others_are_no_licence(self, tmp_path: Path) -> None:
        target = tmp_path / "release"
        target.mkdir()
        (target / "tool.tgz").write_bytes(b"theirs")
        digest = hashlib.sha256(b"theirs").hexdigest()
        (target / CHECKSUMS).write_text(f"{digest}  tool.tgz\n")
        with pytest.raises(AicrError, match=r"checksums\.txt, tool\.tgz"):
            replace_directory(str(target), content(a="3"), sign=SIGN, overwrite=True)

    @pytest.mark.parametrize("name", [SIGN[0], CHECKSUMS])
    def test_a_pipe_is_not_waited_for(self, tmp_path: Path, name: str) -> None:
        target = tmp_path / "b"
        replace_directory(str(target), content(a="1"), sign=SIGN)
        (target / name).unlink()
        os.mkfifo(target / name)
        with pytest.raises(AicrError, match="holds files that this tool did not write"):
            replace_directory(str(target), content(a="3"), sign=SIGN)

    def test_a_current_folder_that_is_gone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "in").mkdir()
        monkeypatch.chdir(tmp_path / "in")
        (tmp_path / "in").rmdir()
        with pytest.raises(AicrError, match="b: the current folder was removed"):
            replace_directory("b", content(a="1"), sign=SIGN)
        with pytest.raises(AicrError, match="b: the current folder was removed"):
            write_file("b", b"1")

    def test_a_file_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "b").write_bytes(b"x")
        with pytest.raises(AicrError, match="it is a file, a folder was expected"):
            replace_directory(str(tmp_path / "b"), content(a="1"), sign=SIGN)

    def test_the_current_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "in").mkdir()
        monkeypatch.chdir(tmp_path / "in")
        for target in (".", "..", "/"):
            with pytest.raises(AicrError, match="the current folder"):
                replace_directory(target, content(a="1"), sign=SIGN)

    def test_a_link_to_a_folder_stays_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to("real")
        replace_directory(str(tmp_path / "link"), content(a="1"), sign=SIGN)
        replace_directory(str(tmp_path / "link"), content(a="2"), sign=SIGN)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "real" / "a").read_bytes() == b"2"

    def test_a_failure_leaves_the_old_one_and_nothing_else(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        target = str(tmp_path / "b")
        files = content(a="1")
        replace_directory(target, files, sign=SIGN)
        written = 0
        real = os.write

        def full(handle: int, data: bytes) -> int:
            nonlocal written
            written += 1
            if written > 2:
                raise OSError(28, "No space left on device")
            return real(handle, data)

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(AicrError, match="no space left"):
            replace_directory(target, content(a="2", b="3"), sign=SIGN)
        monkeypatch.undo()
        assert on_disk(tmp_path / "b") == as_bytes(files)
        assert os.listdir(tmp_path) == ["b"]

    def test_a_failure_between_the_renames_puts_the_old_one_back(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        target = str(tmp_path / "b")
        replace_directory(target, content(a="1"), sign=SIGN)
        monkeypatch.setattr(atomic, "_exchange", lambda *_: False)
        real = os.rename
        calls: list[str] = []

        def rename(source: str, to: str) -> None:
            calls.append(to)
            if len(calls) == 3:
                raise OSError(5, "Input/output error")
            real(source, to)

        monkeypatch.setattr(os, "rename", rename)
        with pytest.raises(AicrError, match="Input/output error"):
            replace_directory(target, content(a="2"), sign=SIGN)
        monkeypatch.undo()
        assert (tmp_path / "b" / "a").read_bytes() == b"1"
        assert os.listdir(tmp_path) == ["b"]

    def test_the_next_run_recovers_a_kill_between_the_renames(self, tmp_path: Path) -> None:
        target = tmp_path / "b"
        replace_directory(str(target), content(a="1"), sign=SIGN)
        (target / "a").write_bytes(b"edited")
        target.rename(tmp_path / ".b.aicr-old-99")
        (tmp_path / ".b.aicr-new-99").mkdir()
        with pytest.raises(AicrError, match="changed since it was written: a"):
            replace_directory(str(target), content(a="2"), sign=SIGN)
        assert os.listdir(tmp_path) == ["b"]
        assert (target / "a").read_bytes() == b"edited"

    def test_leftovers_of_another_target_are_left(self, tmp_path: Path) -> None:
        (tmp_path / ".bb.aicr-new-99").mkdir()
        replace_directory(str(tmp_path / "b"), content(a="1"), sign=SIGN)
        assert sorted(os.listdir(tmp_path)) == [".bb.aicr-new-99", "b"]


CHILD = """
import sys
from aicr.artifact import atomic, checksums
if sys.argv[2] == "renames":
    atomic._exchange = lambda *_: False
version = 0
while True:
    version += 1
    files = {f"d{n}/f": (b"%d" % version, False) for n in range(20)}
    files["info.yaml"] = (b"kind: Test", False)
    files["checksums.txt"] = (checksums.checksums_text(files), False)
    atomic.replace_directory(sys.argv[1], files, sign=("info.yaml", b"kind: Test"))
"""


@pytest.mark.parametrize("way", ["exchange", "renames"])
def test_a_kill_at_any_moment_leaves_one_whole_folder(tmp_path: Path, way: str) -> None:
    target = tmp_path / "b"
    for turn in range(8):
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(target), way])
        deadline = time.monotonic() + 20
        while not target.exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(0.05 + turn * 0.0037)
        child.send_signal(signal.SIGKILL)
        child.wait()
        whole = target
        if not target.exists():
            assert way == "renames"
            (whole,) = tmp_path.glob(".b.aicr-old-*")
        assert len({path.read_bytes() for path in whole.glob("d*/f")}) == 1
        assert len(list(whole.glob("d*/f"))) == 20
    files = content(a="1")
    replace_directory(str(target), files, sign=SIGN)
    assert on_disk(target) == as_bytes(files)
    assert os.listdir(tmp_path) == ["b"]
