"""The log: a line a request, and nobody waits for who reads it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from aicr.server.log import Log
from live_server import PATIENCE, live_server

PIPE = 64 * 1024  # what the kernel keeps of a pipe that nobody reads


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def test_a_log_that_nobody_reads_holds_up_no_request(own_cache: Path) -> None:
    path = "/" + "x" * 1000
    many = 16 * PIPE // len(path)
    with live_server() as server:
        for _ in range(many):
            assert server.get(path).status == 404
        assert "aicr_log_lines_left_out 0.0" in server.get("/metrics").text
        output = server.process.stdout
        assert output is not None
        lines = [json.loads(output.readline()) for _ in range(many)]
    assert {line["status"] for line in lines} == {404}


def test_it_ends_though_nobody_reads_the_log(own_cache: Path) -> None:
    path = "/" + "x" * 1000
    with live_server() as server:
        for _ in range(16 * PIPE // len(path)):
            server.get(path)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE) == -signal.SIGTERM


def test_what_is_left_out_is_counted_and_said(pipe: tuple[int, int]) -> None:
    reads, writes = pipe
    log = Log(writes, most_waiting=PIPE)
    for number in range(1000):  # outside of an event loop each line is a batch
        log.write(number=number, fill="x" * 1000)
    assert log.left_out > 0
    got = os.read(reads, 1 << 20)
    while log.left_out and got.count(b"\n") < 1000 - log.left_out:
        got += os.read(reads, 1 << 20)
    log.write(number=1000)
    log.close()
    got += os.read(reads, 1 << 20)
    expected = missing = 0
    for line in map(json.loads, got.splitlines()):
        if "event" in line:
            assert line["event"] == "left-out"
            expected += line["lines"]
            missing += line["lines"]
        else:
            assert line["number"] == expected
            expected += 1
    assert expected == 1001
    assert missing == log.left_out


def test_a_pipe_that_does_not_block(pipe: tuple[int, int]) -> None:
    reads, writes = pipe
    os.set_blocking(writes, False)
    log = Log(writes)
    many = 3 * PIPE // 1000
    for number in range(many):
        log.write(number=number, fill="x" * 1000)
    got = b""
    while got.count(b"\n") < many:
        got += os.read(reads, PIPE)
    log.close()
    assert [json.loads(line)["number"] for line in got.splitlines()] == list(range(many))


def test_serving_goes_on_where_the_reader_is_gone() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    log = Log(writes)
    log.write(event="first")
    log.close()
    log.write(event="second")
    os.close(writes)
