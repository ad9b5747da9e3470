from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from aicr.errors import CONFLICT, INVALID_REQUEST, AicrError
from aicr.nvcf import evidence_manifest
from aicr.nvcf.evidence import Record, append_record, create_record, open_record
from aicr.nvcf.evidence_chain import MANIFEST, verify
from aicr.nvcf.evidence_report import verify_text

UID = "7c0b4d0e-6b0e-4a57-9f0f-2a4a2f6a9c11"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "record"


def put(record: Record, file: str, data: bytes = b"x") -> None:
    record.write(file, data, source="test", command="GET /x")


def filled(folder: Path) -> Path:
    with create_record(str(folder), UID) as record:
        put(record, "stream-before.json", b"{}")
        put(record, "pods/one.json", b"[]")
    return folder


def test_a_record_is_private_and_verifies(folder: Path) -> None:
    old = os.umask(0)
    try:
        filled(folder)
    finally:
        os.umask(old)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "pods").stat().st_mode) == 0o700
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    verdict = verify(str(folder))
    assert verdict.problems == []
    assert verdict.unlisted == []
    assert verdict.closed
    assert verdict.control_plane == UID
    assert [entry.kind for entry in verdict.entries] == ["head", "file", "file", "close"]


def test_each_line_names_the_hash_of_the_line_before(folder: Path) -> None:
    from hashlib import sha256

    lines = (filled(folder) / MANIFEST).read_bytes().splitlines()
    said = [json.loads(line) for line in lines]
    assert said[0]["previous"] == ""
    for before, after in zip(lines, said[1:], strict=False):
        assert after["previous"] == sha256(before).hexdigest()
    assert said[1]["sha256"] == sha256(b"{}").hexdigest()


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_no_line_can_be_changed_or_left_out(folder: Path, number: int) -> None:
    path = filled(folder) / MANIFEST
    lines = path.read_bytes().splitlines(keepends=True)
    changed = [*lines]
    changed[number] = changed[number].replace(b'"time":"2', b'"time":"3')
    path.write_bytes(b"".join(changed))
    if number < 3:  # the last line is the one that nothing names
        assert verify(str(folder)).problems
    path.write_bytes(b"".join(lines[:number] + lines[number + 1 :]))
    verdict = verify(str(folder))
    assert verdict.problems or not verdict.closed


def test_a_cut_manifest_counts_up_to_its_last_whole_line(folder: Path) -> None:
    """As a command that was killed at any moment leaves it."""
    path = filled(folder) / MANIFEST
    data = path.read_bytes()
    whole = len(data.splitlines(keepends=True)[0])
    for size in range(whole, len(data)):
        path.write_bytes(data[:size])
        verdict = verify(str(folder))
        assert verdict.problems == []
        assert not verdict.closed
        assert len(verdict.entries) == data[:size].count(b"\n")
        assert verdict.torn == size - data[:size].rfind(b"\n") - 1
        assert "not closed" in verify_text(str(folder), verdict, "table")
    path.write_bytes(data[:-5])
    assert "no whole line" in verify_text(str(folder), verify(str(folder)), "table")
    with append_record(str(folder), UID) as record:
        assert "the last line was not whole" in record.notes[0]
        put(record, "more.json")
    assert verify(str(folder)).closed
    path.write_bytes(data[: whole - 5])
    assert "has no whole line" in verify(str(folder)).problems[0]
    with pytest.raises(AicrError, match="does not verify"):
        append_record(str(folder), UID)


@pytest.mark.parametrize("left", [None, b"", b'{"time":"20'])
def test_a_command_that_was_killed_at_once_leaves_no_record(
    folder: Path, left: bytes | None
) -> None:
    folder.mkdir(mode=0o700)
    if left is not None:
        (folder / MANIFEST).write_bytes(left)
        with pytest.raises(AicrError, match="is there already"):
            create_record(str(folder), UID)
    with open_record(str(folder), UID) as record:
        put(record, "one.json")
    assert verify(str(folder)).closed
    assert verify(str(folder)).control_plane == UID


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda folder: (folder / "pods/one.json").write_bytes(b"[1]"), "changed since"),
        (lambda folder: (folder / "pods/one.json").unlink(), "is missing"),
        (
            lambda folder: (
                (folder / "pods/one.json").unlink(),
                (folder / "pods/one.json").symlink_to(folder / "stream-before.json"),
            ),
            "is no plain file",
        ),
    ],
)
def test_a_file_that_is_not_as_written_is_seen(folder: Path, harm: object, said: str) -> None:
    filled(folder)
    assert callable(harm)
    harm(folder)
    assert said in verify(str(folder)).problems[0]
    with pytest.raises(AicrError, match="does not verify"):
        append_record(str(folder), UID)


def test_a_file_without_a_line_counts_for_nothing(folder: Path) -> None:
    filled(folder)
    (folder / "left.json").write_text("{}")
    verdict = verify(str(folder))
    assert verdict.problems == []
    assert verdict.unlisted == ["left.json"]
    with append_record(str(folder), UID) as record:
        assert "1 files are not in the manifest" in record.notes[0]
        with pytest.raises(AicrError, match=r"has no file left\.json"):
            record.read("left.json")
        with pytest.raises(AicrError) as caught:
            put(record, "left.json")
    assert caught.value.code == CONFLICT


def test_a_new_record_must_not_exist(folder: Path) -> None:
    folder.mkdir()
    with pytest.raises(AicrError, match="is there already") as caught:
        create_record(str(folder), UID)
    assert caught.value.code == INVALID_REQUEST


def test_later_captures_have_a_folder_each(folder: Path) -> None:
    for prefix in ("", "run-2/", "run-3/"):
        with open_record(str(folder), UID) as record:
            assert record.next_run() == prefix
            put(record, f"{prefix}stream-before.json")
    assert verify(str(folder)).problems == []
    assert sorted(path.name for path in folder.iterdir()) == [
        MANIFEST, "run-2", "run-3", "stream-before.json",
    ]  # fmt: skip


def test_what_a_killed_command_left_is_never_written_again(folder: Path) -> None:
    """Files without an entry: a later command takes other names."""
    with open_record(str(folder), UID):
        pass
    (folder / "message-1.json").write_bytes(b"left")
    (folder / "readings").mkdir(mode=0o700)
    (folder / "readings" / "drain-0003.json").write_bytes(b"left")
    with open_record(str(folder), UID) as record:
        assert record.next_run() == "run-2/"
        assert record.numbered("readings/drain-", 4) == "readings/drain-0004.json"
        assert record.numbered("readings/baseline-", 4) == "readings/baseline-0001.json"
        assert record.numbered("recorded/task-", 3) == "recorded/task-001.json"
    (folder / "run-7").mkdir()
    with open_record(str(folder), UID) as record:
        assert record.next_run() == "run-8/"
        put(record, record.numbered("readings/drain-", 4))
        assert record.numbered("readings/drain-", 4) == "readings/drain-0005.json"


def test_only_the_same_control_plane_goes_on(folder: Path) -> None:
    filled(folder)
    with pytest.raises(AicrError, match="belongs to the control plane"):
        append_record(str(folder), "another")


def test_a_link_is_no_record(folder: Path) -> None:
    filled(folder)
    link = folder.parent / "link"
    link.symlink_to(folder)
    with pytest.raises(AicrError, match="is a link"):
        append_record(str(link), UID)


def test_a_folder_that_others_can_read_is_no_record(folder: Path) -> None:
    filled(folder).chmod(0o750)
    with pytest.raises(AicrError, match="mode 0750"):
        append_record(str(folder), UID)


def test_a_second_command_reads_and_never_writes(folder: Path) -> None:
    with create_record(str(folder), UID) as first:
        put(first, "one.json", b"1")
        first.flush()
        second = append_record(str(folder), UID)
        assert not second.writable
        assert second.read("one.json") == b"1"
        with pytest.raises(AicrError) as caught:
            put(second, "two.json")
        assert caught.value.code == CONFLICT
        second.close()
        put(first, "two.json")
    assert verify(str(folder)).problems == []


def test_a_window_of_files_is_one_write_of_the_manifest(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence_manifest, "WINDOW", 40)
    with create_record(str(folder), UID) as record:
        for number in range(39):
            put(record, f"message-{number}.json")
        assert len(record.entries) == 1
        put(record, "message-39.json")
        assert len(record.entries) == 41
        put(record, "message-40.json")
    assert len(verify(str(folder)).entries) == 1 + 41 + 1


def test_many_threads_write_one_chain(folder: Path) -> None:
    with create_record(str(folder), UID) as record:

        def work(which: int) -> None:
            for number in range(20):
                put(record, f"{which}/{number}.json", str(number).encode())
                record.flush()

        threads = [threading.Thread(target=work, args=(which,)) for which in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    verdict = verify(str(folder))
    assert verdict.problems == []
    assert len(verdict.entries) == 82


def test_a_killed_command_leaves_a_record_that_goes_on(folder: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from aicr.nvcf.evidence import create_record\n"
        "record = create_record(sys.argv[1], sys.argv[2])\n"
        "record.write('one.json', b'1', source='t', command='c')\n"
        "record.flush()\n"
        "record.write('two.json', b'2', source='t', command='c')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(folder), UID], check=False)
    verdict = verify(str(folder))
    assert verdict.problems == []
    assert not verdict.closed
    assert verdict.unlisted == ["two.json"]
    with append_record(str(folder), UID) as record:
        assert record.read("one.json") == b"1"
        put(record, "three.json")
    assert verify(str(folder)).closed


@pytest.mark.parametrize(
    "name", ["../out.json", "/etc/x", "a//b", ".hidden", "a/../b", MANIFEST, "", "a\nb", "x" * 300]
)
def test_a_name_stays_inside(folder: Path, name: str) -> None:
    record = create_record(str(folder), UID)
    with record, pytest.raises(AicrError, match="is no name for a file"):
        put(record, name)


def test_a_replaced_baseline_is_logged(folder: Path) -> None:
    with create_record(str(folder), UID) as record:
        record.log("new-baseline", {"reason": "first one was taken too late"})
    entry = verify(str(folder)).entries[1]
    assert entry.kind == "event"
    assert entry.said["details"] == {"reason": "first one was taken too late"}
