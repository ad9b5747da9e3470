from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from aicr.artifact.fetch import read_location, shown
from aicr.documents.reader import MAX_BYTES
from aicr.errors import AicrError


class Answers(BaseHTTPRequestHandler):
    """``/ok``; ``/status/N``; ``/redirect/N`` to N-1; ``/to/ADDRESS``; ``/large``; ``/drip``."""

    def do_GET(self) -> None:
        _, word, *rest = self.path.split("/", 2)
        if word == "status":
            self.send_response(int(rest[0]))
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif word == "redirect" and int(rest[0]):
            self._redirect(f"/redirect/{int(rest[0]) - 1}")
        elif word == "to":
            self._redirect(rest[0])
        elif word == "large":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x" * (MAX_BYTES + 2))
        elif word == "drip":
            self.send_response(200)
            self.end_headers()
            for _ in range(50):
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.1)
        elif word == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b"short")
        else:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"kind: Snapshot\n")

    def _redirect(self, target: str) -> None:
        self.send_response(302)
        self.send_header("Location", target)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as running:
        running.daemon_threads = True
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def read(location: str, seconds: float = 20) -> bytes:
    return read_location(location, "--snapshot", seconds=seconds)


def test_an_address_and_redirects_within_bounds(server: str) -> None:
    assert read(f"{server}/ok") == b"kind: Snapshot\n"
    assert read(f"{server}/redirect/5") == b"kind: Snapshot\n"


@pytest.mark.parametrize(
    ("path", "code", "said"),
    [
        ("/status/404", "INVALID_REQUEST", "404"),
        ("/status/401", "UNAUTHORIZED", "401"),
        ("/status/403", "FORBIDDEN", "403"),
        ("/status/429", "RATE_LIMITED", "429"),
        ("/status/500", "UNAVAILABLE", "500"),
        ("/status/504", "TIMEOUT", "504"),
        ("/redirect/6", "INVALID_REQUEST", "more than 5 times"),
        ("/to/file:///etc/passwd", "INVALID_REQUEST", "no http or https address"),
        ("/to/ftp://host/x", "INVALID_REQUEST", "which is not followed"),
        ("/large", "INVALID_REQUEST", "bytes allowed"),
        ("/cut", "UNAVAILABLE", "ends 95 bytes early"),
    ],
)
def test_answers_that_are_refused(server: str, path: str, code: str, said: str) -> None:
    with pytest.raises(AicrError) as caught:
        read(server + path)
    assert caught.value.code == code
    assert said in caught.value.message
    assert caught.value.message.startswith(f"--snapshot {server}{path.partition('?')[0]}")


def test_a_server_that_drips_is_given_up(server: str) -> None:
    start = time.monotonic()
    with pytest.raises(AicrError) as caught:
        read(f"{server}/drip", seconds=0.5)
    assert caught.value.code == "TIMEOUT"
    assert time.monotonic() - start < 3


def test_nobody_listens() -> None:
    with pytest.raises(AicrError) as caught:
        read("http://127.0.0.1:1/x")
    assert caught.value.code == "UNAVAILABLE"


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("ftp://host/x", "only files, http and https"),
        ("/nowhere/s.yaml", "there is no such file"),
        ("http://", "no address"),
        ("http://[::1", "address"),
    ],
)
def test_locations_that_are_refused(location: str, said: str) -> None:
    with pytest.raises(AicrError) as caught:
        read(location)
    assert caught.value.code == "INVALID_REQUEST"
    assert said in caught.value.message


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_bytes(b"x: 1\n")
    assert read(str(tmp_path / "s.yaml")) == b"x: 1\n"


def test_credentials_are_not_shown() -> None:
    assert shown("https://me:secret@host:1/a/b?token=x") == "https://host:1/a/b"
