"""Connections that are slow, endless or too many, and a server that is told to end.

What a server must be busy with is held by the test itself: a request whose body it has asked for
(``Expect: 100-continue``) and that does not come until the test sends it.
"""

from __future__ import annotations

import json
import re
import select
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from live_server import PATIENCE, LiveServer, live_server

# Two servers of small bounds: one that soon has enough of waiting, and one that never has.
SOON = {"head_seconds": 1, "body_seconds": 1, "idle_seconds": 2}
NEVER = {"head_seconds": 600, "body_seconds": 600, "idle_seconds": 600, "answer_seconds": 600,
         "drain_seconds": 600, "connections": 20, "active": 1, "head": 8192}  # fmt: skip
PIPELINED = b"GET /v1/components HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(scope="module")
def hasty(own_cache: Path) -> Iterator[LiveServer]:
    with live_server(limits=SOON) as found:
        yield found


@pytest.fixture(scope="module")
def patient(own_cache: Path) -> Iterator[LiveServer]:
    with live_server(limits=NEVER) as found:
        yield found


def opened(server: LiveServer) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)


def everything(connection: socket.socket) -> bytes:
    """All that still comes, until the server closes."""
    found = b""
    try:
        while data := connection.recv(65536):
            found += data
    except ConnectionResetError:
        pass
    return found


def status_of(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def values_of(answer: bytes) -> dict[str, object]:
    """The error that an answer is, with all that every error has."""
    head, _, body = answer.partition(b"\r\n\r\n")
    found = json.loads(body)
    assert isinstance(found, dict)
    assert set(found) == {"code", "message", "details", "requestId", "timestamp", "retryable"}
    assert f"\r\nx-request-id: {found['requestId']}\r\n".encode() in head + b"\r\n"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(found["timestamp"]))
    assert (b"\r\nretry-after: " in head) is found["retryable"]
    return found


def under_way(server: LiveServer, body: bytes, query: str = "", **headers: str) -> socket.socket:
    """A check that the server has begun with: it has said that it wants the body."""
    said = {"Host": "x", "Content-Type": "application/yaml", "Content-Length": str(len(body)),
            "Expect": "100-continue", **headers}  # fmt: skip
    head = f"POST /v1/upgrade-check?deployer=helm{query} HTTP/1.1\r\n"
    connection = opened(server)
    connection.sendall(
        (head + "".join(f"{name}: {value}\r\n" for name, value in said.items())).encode() + b"\r\n"
    )
    asked_for = connection.recv(65536)
    assert asked_for == b"HTTP/1.1 100 Continue\r\n\r\n", asked_for
    return connection


def wait_until_free(server: LiveServer) -> None:
    """What was held has been let go of, and the server noticed."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            if server.get("/openapi.json").status == 200:
                return
        except OSError:
            pass
        time.sleep(0.05)
    pytest.fail("the server stays busy")


def test_a_head_that_does_not_end(hasty: LiveServer) -> None:
    with opened(hasty) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        answer = everything(one)
    assert status_of(answer) == 408
    assert values_of(answer)["code"] == "TIMEOUT"
    assert b"took too long" in answer


def test_a_head_that_drips(hasty: LiveServer) -> None:
    """However long it goes on: it never ends by itself."""
    deadline = time.monotonic() + PATIENCE
    with opened(hasty) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nX-Slow: ")
        while not select.select([one], [], [], 0.05)[0]:
            assert time.monotonic() < deadline
            one.sendall(b"x")
        answer = everything(one)
    assert not answer or status_of(answer) == 408


def test_a_head_that_is_too_large(patient: LiveServer) -> None:
    with opened(patient) as one:
        one.sendall(b"GET /healthz HTTP/1.1\r\nX-Large: ")
        for _ in range(10):
            try:
                one.sendall(b"x" * 4096)
            except OSError:
                break
        answer = everything(one)
    assert not answer or status_of(answer) == 431


def test_nothing_at_all(hasty: LiveServer) -> None:
    with opened(hasty) as one:
        assert everything(one) == b""


def test_a_body_that_does_not_come(hasty: LiveServer) -> None:
    with opened(hasty) as one:
        one.sendall(
            b"POST /v1/recipe HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        answer = everything(one)
    assert status_of(answer) == 408
    assert values_of(answer)["code"] == "TIMEOUT"


def test_what_is_no_http(patient: LiveServer) -> None:
    with opened(patient) as one:
        one.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        answer = everything(one)
    assert status_of(answer) == 400
    values = values_of(answer)
    assert values["code"] == "INVALID_REQUEST"
    output = patient.process.stdout
    assert output is not None
    line = next(line for line in output if str(values["requestId"]) in line)
    said = json.loads(line)
    assert (said["method"], said["path"], said["status"]) == ("", "", 400)
    assert said["client"] == "127.0.0.1"


def test_an_answer_that_nobody_reads(own_cache: Path) -> None:
    limits = {"answer_seconds": 1, "pipelined": 1_000_000}
    with live_server(limits=limits) as server, opened(server) as one:
        assert write_until_reset(one, PIPELINED * 100)
        assert server.get("/healthz").status == 200


def test_requests_that_wait_behind_each_other(patient: LiveServer) -> None:
    with opened(patient) as one:
        one.sendall(PIPELINED * 31 + b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert everything(one).count(b"HTTP/1.1 200 OK\r\n") == 32
    with opened(patient) as one:
        assert write_until_reset(one, PIPELINED * 1000)
    assert patient.get("/healthz").status == 200


def write_until_reset(connection: socket.socket, data: bytes) -> bool:
    """Whether the server ends a connection that is written to again and again, and never read."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(0.2)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            connection.sendall(data)
        except TimeoutError:  # it takes no more: it waits for the answers to be read
            pass
        except OSError:
            return True
    return False


def test_too_many_connections(patient: LiveServer) -> None:
    wait_until_free(patient)
    held = [opened(patient) for _ in range(30)]
    refused: set[socket.socket] = set()
    try:
        deadline = time.monotonic() + PATIENCE
        while len(refused) < 10:
            assert time.monotonic() < deadline, f"{len(refused)} were refused"
            refused.update(select.select(held, [], [], 1)[0])
        for one in refused:
            answer = everything(one)
            assert status_of(answer) == 503
            assert b"\r\nretry-after: " in answer.lower()
            assert values_of(answer)["retryable"] is True
        # The others are as many as it takes.
        assert not select.select([one for one in held if one not in refused], [], [], 0)[0]
    finally:
        for one in held:
            one.close()
    wait_until_free(patient)


def test_it_sheds_what_it_has_no_place_for(patient: LiveServer) -> None:
    wait_until_free(patient)
    with under_way(patient, b"x" * 100):
        found = patient.get("/v1/recipe?service=eks")
        assert found.status == 503
        assert found.values["code"] == "UNAVAILABLE"
        assert found.values["retryable"] is True
        assert int(found.headers["retry-after"]) > 0
        # Those that look after it are answered all the same.
        for path in ("/healthz", "/readyz", "/metrics"):
            assert patient.get(path).status == 200
        shed = patient.get("/metrics").text
        assert "aicr_http_requests_shed_total 0.0\n" not in shed
    wait_until_free(patient)


def test_bodies_of_all_requests_together_are_bounded(own_cache: Path) -> None:
    body = b"{" + b" " * 999
    with live_server(limits={**NEVER, "active": 100, "bodies": 1500}) as server:
        with under_way(server, body) as one:
            one.sendall(body[:-1])
            deadline = time.monotonic() + PATIENCE
            while "aicr_body_bytes 999.0" not in server.get("/metrics").text:
                assert time.monotonic() < deadline
            found = server.post("/v1/upgrade-check", body)
            assert found.status == 503
            assert int(found.headers["retry-after"]) > 0
            one.sendall(body[-1:])
            assert one.recv(65536).startswith(b"HTTP/1.1 400 ")
        found = server.post("/v1/upgrade-check", body)
        assert found.status == 400, "the room was given back"


def test_it_answers_what_is_under_way_and_ends(own_cache: Path) -> None:
    body = (
        b"kind: RecipeResult\ncriteria: {service: eks}\n"
        b"componentRefs: [{name: a, type: Helm, source: s, version: 1.0.0}]\n"
    )
    with live_server(limits=NEVER) as server:
        output = server.process.stdout
        assert output is not None
        with under_way(server, body) as one:
            server.process.send_signal(signal.SIGTERM)
            ending = json.loads(output.readline())
            assert (ending["event"], ending["active"]) == ("ending", 1)
            with pytest.raises(ConnectionRefusedError):
                opened(server)
            one.sendall(body)
            answer = everything(one)
        assert status_of(answer) == 200
        assert server.process.wait(PATIENCE) == -signal.SIGTERM
        (request,) = (json.loads(line) for line in output.read().splitlines())
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
