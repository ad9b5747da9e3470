"""An HTTP proxy for tests: CONNECT to a server that it knows by name, and by no other way."""

from __future__ import annotations

import contextlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ProxyDouble:
    """A running proxy; ``asked`` is (address, credentials) of each tunnel that was asked for."""

    def __init__(self, names: dict[str, str], *, credentials: str = "") -> None:
        self.names = names
        self.credentials = credentials
        self.asked: list[tuple[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> ProxyDouble:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(double: ProxyDouble) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_CONNECT(self) -> None:
            given = self.headers.get("Proxy-Authorization", "")
            double.asked.append((self.path, given))
            self.close_connection = True
            if given != double.credentials:
                self.send_error(407)
                return
            host, _, port = self.path.rpartition(":")
            with socket.create_connection((double.names[host], int(port)), 60) as other:
                self.send_response(200)
                self.end_headers()
                back = threading.Thread(target=_copy, args=(other, self.connection), daemon=True)
                back.start()
                _copy(self.connection, other)
                back.join(60)

    return Handler


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
