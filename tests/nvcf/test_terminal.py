"""``drain`` as somebody sees it who sits before it: the countdown, ``--wait``, ``--watch``, and
what it says when it is left early. Real processes on a terminal, and not on one."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from nvcf_world import EAST, World, creation, request_of, subject_of
from terminal import terminal

# --settle may be short, and every look of --wait comes soon.
_COMMAND = """
import sys
import aicr.nvcf.drain as drain
from aicr.cli.main import run
drain.LEAST_SETTLE = 0
run()
"""
CTRL_C = b"\x03"
CLEARED = "\r\x1b[K"


def command(world: World, *words: str, settle: float = 0.1, verb: str = "drain") -> list[str]:
    return [
        sys.executable, "-c", _COMMAND, "nvcf", verb, "--fleet", str(world.fleet()),
        "--settle", str(settle), "--timeout-nats", "30", *words,
    ]  # fmt: skip


def counted(seen: str, what: str) -> list[int]:
    return [int(number) for number in re.findall(rf"\r{what} in (\d+) s \x1b\[K", seen)]


def test_the_countdown(small_world: World) -> None:
    with terminal(command(small_world, settle=2.5)) as screen:
        screen.until("second reading in", "drain: drained (go, exit 0)")
        assert screen.end() == 0
        seconds = counted(screen.seen, "second reading")
        assert len(seconds) > 1
        assert seconds == sorted(seconds, reverse=True)
        # The line is gone before the answer comes.
        before = screen.seen.partition("drain: drained")[0]
        assert before.endswith(CLEARED)


def test_no_countdown_where_nobody_looks(small_world: World) -> None:
    done = subprocess.run(
        command(small_world, settle=1.5), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert "second reading" not in done.stderr
    assert "\x1b" not in done.stderr + done.stdout
    assert "\r" not in done.stderr + done.stdout


def test_the_countdown_does_not_disturb_a_pipe(small_world: World) -> None:
    """The answer goes elsewhere; the terminal has the countdown alone."""
    words = ("--format", "json")
    with terminal(command(small_world, *words, settle=1.5), stdout=False) as screen:
        assert screen.process.stdout is not None
        out = screen.process.stdout.read().decode()
        assert screen.end() == 0
        assert out.startswith("{")
        assert "\x1b" not in out
        assert counted(screen.seen, "second reading")


@pytest.mark.parametrize("verb", ["drain", "gate"])
def test_left_during_the_countdown(small_world: World, verb: str) -> None:
    with terminal(command(small_world, settle=600, verb=verb)) as screen:
        screen.until("second reading in")
        screen.press(CTRL_C)
        assert screen.end() == 130
        said = " ".join(screen.seen.split())
        assert "left before there was an answer" in said
        assert "hold the NATS roll" in said if verb == "gate" else "keep callers paused" in said
        assert "Traceback" not in said
        assert "(go" not in said


def test_watched(small_world: World) -> None:
    with terminal(command(small_world, "--watch")) as screen:
        screen.until("drain: drained (go, exit 0)")
        small_world.servers.publish(subject_of(), creation("one")[1])
        screen.until("the answer was drained and is not-drained", "drain: not-drained (no-go")
        small_world.agent()
        screen.until("the answer was not-drained and is drained")
        screen.press(CTRL_C)
        assert screen.end() == 130
        assert re.search(
            r"left; the last answer was (drained|not-drained) as of 20\S+", screen.seen
        )
        assert "nobody watches from here on" in screen.seen


def test_waited_for(small_world: World) -> None:
    fields, data = creation("one")
    small_world.servers.publish(subject_of(), data)
    small_world.agent_started_now("east")
    with terminal(command(small_world, "--wait")) as screen:
        seen = screen.until("not drained; waiting until 20", "next look in")
        assert counted(seen, "next look")[0] <= 10
        small_world.agent()
        small_world.request("east", request_of(fields, cluster=EAST))
        screen.until("drain: drained (go, exit 0)")
        assert screen.end() == 0


def test_waiting_ends_in_time(small_world: World) -> None:
    """The time is that of the servers, and --timeout shortens it."""
    small_world.servers.publish(subject_of(), creation("one")[1])
    small_world.agent_started_now("east")
    done = subprocess.run(
        command(small_world, "--wait", "--timeout", "1"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout.startswith("drain: not-drained (no-go, exit 2)")
    assert "not drained; waiting until 20" in done.stderr
    assert "next look" not in done.stderr


def test_left_while_it_waits(small_world: World) -> None:
    small_world.servers.publish(subject_of(), creation("one")[1])
    small_world.agent_started_now("east")
    with terminal(command(small_world, "--wait")) as screen:
        screen.until("next look in")
        screen.press(CTRL_C)
        assert screen.end() == 130
        assert "left before there was an answer" in screen.seen
