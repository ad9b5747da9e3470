"""``aicr serve`` in a process of its own, and a client that leaves nothing to a library."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection

# How long a test waits for what must come: far beyond what the busiest machine needs.
PATIENCE = 120

# A server whose bounds are small: what takes ten seconds elsewhere takes one here.
PROGRAM = """\
import sys
from aicr.library import Catalog
from aicr.server.limits import Limits
from aicr.server.run import serve
import json
serve(Catalog(), host="127.0.0.1", port=0, limits=Limits(**json.loads(sys.argv[1])))
"""


class Answer:
    """A whole answer; header names are in lower case."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    @property
    def values(self) -> dict[str, object]:
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found


class LiveServer:
    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | object = None,
        media: str = "application/json",
        **headers: str,
    ) -> Answer:
        """One request on a connection of its own; a body that is no bytes is sent as JSON."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes) else None
        if body is not None and data is None:
            data = json.dumps(body).encode()
        if data is not None:
            sent["Content-Type"] = media
        connection.request(method, path, data, sent)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        answer = Answer(response.status, found, response.read())
        connection.close()
        return answer

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: bytes | object, **headers: str) -> Answer:
        return self.ask("POST", path, body, **headers)


@contextmanager
def live_server(
    *arguments: str, limits: Mapping[str, object] | None = None
) -> Iterator[LiveServer]:
    """A server until the block ends; its log is read to the end."""
    command = [sys.executable, "-m", "aicr", "serve", "--port", "0", *arguments]
    if limits is not None:
        command = [sys.executable, "-c", PROGRAM, json.dumps(limits)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise AssertionError(process.communicate()[1])
    try:
        yield LiveServer(process, int(json.loads(line)["url"].rpartition(":")[2]))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
