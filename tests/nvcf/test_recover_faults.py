"""A capture that is cut off: killed at any moment, a disk that is full, ended from outside. What is
in the record stays valid, the answer is no, and the next capture goes on."""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aicr.cli.main import main
from aicr.nvcf.evidence_chain import MANIFEST, Verdict, verify
from kube_double_faults import Run
from nvcf_world import World, creation, subject_of
from terminal import heed_signals

# The command with small windows, and no file larger than so many bytes (0: no limit).
_COMMAND = """
import resource, sys
import aicr.nvcf.evidence_manifest as manifest
from aicr.cli.main import run
manifest.WINDOW = 7
largest = int(sys.argv.pop(1))
if largest:
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
run()
"""
MESSAGES = 60


def command(world: World, *words: str, largest: int = 0) -> list[str]:
    return [
        sys.executable, "-c", _COMMAND, str(largest), "nvcf", "recover", "--fleet",
        str(world.fleet()), "--format", "json", *words,
    ]  # fmt: skip


def run(world: World, *words: str, largest: int = 0) -> dict[str, Any]:
    done = subprocess.run(
        command(world, *words, largest=largest), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def fill(world: World, *, size: int = 0) -> None:
    bodies = [creation(str(number), secret="x" * size)[1] for number in range(MESSAGES)]
    world.servers.publish(subject_of(), *bodies)


def whole(record: Path) -> Verdict:
    verdict = verify(str(record))
    assert verdict.problems == []
    return verdict


def listed(verdict: Verdict) -> set[str]:
    return {entry.file for entry in verdict.entries if entry.kind == "file"}


def looked_at(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What ``verify`` and ``analyze`` say of a record whose last command was killed."""
    verdict = whole(record)
    assert main(["nvcf", "evidence", "verify", str(record)]) == 0
    assert ("not closed" in capsys.readouterr().out) != verdict.closed
    assert main(["nvcf", "analyze", str(record)]) == 2
    assert ("its closing entry is missing" in capsys.readouterr().out) != verdict.closed


def test_killed_at_random_moments(
    small_world: World, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fill(small_world)
    record = tmp_path / "record"
    seed = int.from_bytes(os.urandom(4), "big")
    print(f"seed {seed}")
    moments = random.Random(seed)
    for _ in range(10):
        words = ("--append", str(record)) if record.exists() else ("--record", str(record))
        process = subprocess.Popen(
            command(small_world, *words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        # From the first moment in which there is anything, and up to its end.
        files = moments.randrange(MESSAGES + 10)
        before = len(list(record.rglob("*")))
        while process.poll() is None and len(list(record.rglob("*"))) < before + files:
            time.sleep(0.001)
        process.kill()
        _, error = process.communicate()
        assert process.returncode in (2, -signal.SIGKILL), error
        if record.exists() and b"\n" in (record / MANIFEST).read_bytes():
            looked_at(record, capsys)
    words = ("--append", str(record)) if record.exists() else ("--record", str(record))
    assert run(small_world, *words)["capture"] == "complete"
    assert whole(record).closed


def test_killed_in_the_middle(
    small_world: World, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    fill(small_world)
    record = tmp_path / "record"
    with held(small_world) as reached:
        process = subprocess.Popen(
            command(small_world, "--record", str(record), "--timeout-read", "280"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert reached.wait(120)
        process.kill()
        process.wait()
    verdict = whole(record)
    assert not verdict.closed
    looked_at(record, capsys)
    found = listed(verdict) | set(verdict.unlisted)
    assert sum(name.startswith("message-") for name in found) == MESSAGES
    # What is in no entry is ignored.
    assert main(["nvcf", "analyze", str(record), "--format", "json"]) == 2
    said = json.loads(capsys.readouterr().out)
    assert len(said["facts"]) == sum(name.startswith("message-") for name in listed(verdict))
    assert run(small_world, "--append", str(record))["capture"] == "complete"
    assert whole(record).closed


@contextlib.contextmanager
def held(world: World) -> Iterator[threading.Event]:
    """The requests of cluster east do not come; the event says that they are waited for."""
    reached, gone = threading.Event(), threading.Event()

    def hold() -> None:
        reached.set()
        gone.wait(300)

    world.doubles["east"].faults.add(Run(hold), lambda request: request.resource == "icmsrequests")
    try:
        yield reached
    finally:
        gone.set()


def test_two_operators_at_once(small_world: World, tmp_path: Path) -> None:
    """The second one is told, gets no go, and writes nothing; the first one goes on."""
    fill(small_world)
    record = tmp_path / "record"
    with held(small_world) as reached:
        first = subprocess.Popen(
            command(small_world, "--record", str(record), "--timeout-read", "280"),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert reached.wait(120)
        second = run(small_world, "--append", str(record))
        assert (second["outcome"], second["capture"]) == ("stop", "failed")
        assert "another command is writing this record" in " ".join(second["problems"])
        new = subprocess.run(
            command(small_world, "--record", str(record)),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert new.returncode == 1
        assert "is there already" in new.stderr
    said = json.loads(first.communicate(timeout=120)[0])
    assert said["capture"] == "complete"
    assert whole(record).closed
    assert not (record / "run-2").exists()
    assert {path.name for path in record.iterdir()} == listed(whole(record)) | {MANIFEST}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ended_from_outside(small_world: World, tmp_path: Path, number: signal.Signals) -> None:
    """It ends at once, although a cluster does not answer, and with its closing entry."""
    fill(small_world)
    record = tmp_path / "record"
    with held(small_world) as reached:
        process = subprocess.Popen(
            command(small_world, "--record", str(record), "--timeout-read", "280"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_signals,
        )  # fmt: skip
        assert reached.wait(120)
        process.send_signal(number)
        out, error = process.communicate(timeout=120)
    assert (process.returncode, out) == (128 + number, b""), error
    verdict = whole(record)
    assert verdict.closed, verdict.entries[-1].said
    assert sum(name.startswith("message-") for name in listed(verdict)) == MESSAGES


@pytest.mark.parametrize(
    ("largest", "size"),
    [(5000, 0), (3000, 0), (9000, 20_000)],
    ids=["the manifest does not fit", "nor many lines of it", "a message does not fit"],
)
def test_no_room(small_world: World, tmp_path: Path, largest: int, size: int) -> None:
    """A limit of the system for the size of a file, which is met in the middle of a write."""
    fill(small_world, size=size)
    record = tmp_path / "record"
    said = run(small_world, "--record", str(record), largest=largest)
    assert (said["outcome"], said["capture"]) == ("stop", "failed")
    assert "File too large" in " ".join(said["problems"])
    verdict = whole(record)
    assert verdict.torn == 0
    assert (record / MANIFEST).stat().st_size <= largest
    assert all((record / name).stat().st_size for name in listed(verdict) | {MANIFEST})
    again = run(small_world, "--append", str(record))
    assert again["capture"] == "complete"
    assert whole(record).closed
    assert sum(name.startswith("run-2/message-") for name in listed(whole(record))) == MESSAGES


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """A file system of its own, of the given size."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = False

    def make(size: str) -> Path:
        nonlocal mounted
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)],
            capture_output=True, check=False,
        )  # fmt: skip
        if done.returncode:
            pytest.skip("a file system cannot be mounted here")
        mounted = True
        return place

    yield make
    if mounted:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("pages", [2, 3, 7, 12, 30, 60])
def test_a_disk_that_is_full(
    small_world: World, small_disk: Callable[[str], Path], pages: int
) -> None:
    fill(small_world)
    disk = small_disk(f"{pages * resource.getpagesize()}")
    record = disk / "record"
    done = subprocess.run(
        command(small_world, "--record", str(record)), capture_output=True, text=True, check=False
    )
    if not done.stdout:  # not even its first line could be written
        assert (done.returncode, pages) == (1, 2)
        assert "No space left on device" in done.stderr
        return
    said = json.loads(done.stdout)
    assert (said["outcome"], said["capture"], done.returncode) == ("stop", "failed", 2)
    assert "No space left on device" in " ".join(said["problems"])
    assert whole(record).torn == 0
    subprocess.run(["mount", "-o", "remount,size=16m", str(disk)], check=True)
    assert run(small_world, "--append", str(record))["capture"] == "complete"
    assert whole(record).closed
