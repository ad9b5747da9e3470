"""Connections that are slow, endless or too many, and a server that is told to end."""

from __future__ import annotations

import json
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from live_server import LiveServer, live_server

LIMITS = {"head_seconds": 1, "body_seconds": 1, "idle_seconds": 2, "answer_seconds": 5,
          "connections": 20, "threads": 1, "waiting": 0, "head": 8192}  # fmt: skip


@pytest.fixture(scope="module")
def strict(own_cache: Path) -> Iterator[LiveServer]:
    with live_server(limits=LIMITS) as found:
        yield found


def opened(server: LiveServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=10)


def everything(connection: socket.socket) -> bytes:
    found = b""
    try:
        while data := connection.recv(65536):
            found += data
    except ConnectionResetError:
        pass
    return found


def test_a_head_that_does_not_end(strict: LiveServer) -> None:
    with opened(strict) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        answer = everything(one)
    assert b"408" in answer.splitlines()[0]
    assert b"took too long" in answer


def test_a_head_that_drips(strict: LiveServer) -> None:
    start = time.monotonic()
    with opened(strict) as one:
        try:
            for char in b"GET /healthz HTTP/1.1\r\nX-Slow: " + b"x" * 100:
                one.sendall(bytes([char]))
                time.sleep(0.05)
        except OSError:
            pass
    assert time.monotonic() - start < 4


def test_a_head_that_is_too_large(strict: LiveServer) -> None:
    with opened(strict) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nX-Large: ")
        for _ in range(10):
            try:
                one.sendall(b"x" * 4096)
            except OSError:
                break
            time.sleep(0.02)
        answer = everything(one)
    assert not answer or b"431" in answer.splitlines()[0]


def test_nothing_at_all(strict: LiveServer) -> None:
    with opened(strict) as one:
        assert everything(one) == b""


def test_a_body_that_does_not_come(strict: LiveServer) -> None:
    with opened(strict) as one:
        one.sendall(
            b"POST /v1/recipe HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        answer = everything(one)
    assert b"408" in answer.splitlines()[0]
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "TIMEOUT"


def test_what_is_no_http(strict: LiveServer) -> None:
    with opened(strict) as one:
        one.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        answer = everything(one)
    assert b"400" in answer.splitlines()[0]
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "INVALID_REQUEST"


def test_too_many_connections(strict: LiveServer) -> None:
    held = [opened(strict) for _ in range(30)]
    try:
        refused = held[-1]
        refused.settimeout(5)
        answer = everything(refused)
        assert b"503" in answer.splitlines()[0]
        assert b"retry-after" in answer.lower()
    finally:
        for one in held:
            one.close()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if strict.get("/healthz").status == 200:
            return
        time.sleep(0.1)
    pytest.fail("the server takes no more connections")


def test_it_sheds_what_it_has_no_place_for(strict: LiveServer) -> None:
    names = "".join(
        f"- {{name: c{i}, type: Helm, source: s, version: 1.0.{i}}}\n" for i in range(20_000)
    )
    large = f"kind: RecipeResult\ncomponentRefs:\n{names}".encode()
    with opened(strict) as slow:
        head = (
            f"POST /v1/upgrade-check HTTP/1.1\r\nHost: x\r\nContent-Type: application/yaml\r\n"
            f"Content-Length: {len(large)}\r\n\r\n"
        )
        slow.sendall(head.encode() + large)
        found = None
        for nodes in range(100):  # another one each time: what was answered once is kept
            found = strict.get(f"/v1/recipe?service=eks&nodes={nodes}")
            if found.status == 503:
                break
            time.sleep(0.02)
        assert found is not None
        assert found.status == 503
        assert found.values["retryable"] is True
        assert int(found.headers["retry-after"]) > 0
        assert strict.get("/healthz").status == 200


def test_it_answers_what_is_under_way_and_ends(own_cache: Path) -> None:
    with live_server() as server:
        lines = "".join(
            f"- {{name: c{i}, type: Helm, source: s, version: 1.0.{i}}}\n" for i in range(3000)
        )
        body = f"kind: RecipeResult\ncriteria: {{service: eks}}\ncomponentRefs:\n{lines}".encode()
        with opened(server) as one:
            head = (
                "POST /v1/upgrade-check?deployer=helm HTTP/1.1\r\nHost: x\r\n"
                f"Content-Type: application/yaml\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            one.sendall(head.encode() + body)
            time.sleep(0.15)
            server.process.send_signal(signal.SIGTERM)
            answer = everything(one)
        assert b" 200 " in answer.splitlines()[0]
        assert server.process.wait(20) == -signal.SIGTERM
        assert server.process.stdout is not None
        events = [json.loads(line) for line in server.process.stdout.read().splitlines()]
    assert [one["event"] for one in events if "event" in one] == ["ending"]
    (request,) = (one for one in events if "path" in one)
    assert request["path"] == "/v1/upgrade-check"
    assert request["status"] == 200
    assert set(request) == {
        "time",
        "requestId",
        "method",
        "path",
        "status",
        "bytes",
        "ms",
        "client",
    }


def test_an_address_that_is_taken(server: LiveServer) -> None:
    from command import assert_fails, run_aicr

    assert_fails(run_aicr("serve", "--port", str(server.port)), 2, "cannot listen")
    assert_fails(run_aicr("serve", "--port", "70000"), 2, "--port")
