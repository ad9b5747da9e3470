"""How a connection is bounded: slow heads, large heads, too many of them, answers not read."""

from __future__ import annotations

import json
import socket
import struct
from secrets import token_hex

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from aicr.errors import INVALID_REQUEST, TIMEOUT, UNAVAILABLE
from aicr.server.refusal import RETRY_SECONDS, RETRYABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterable

    from aicr.server.limits import Limits
    from aicr.server.log import Log

_AT_ONCE = struct.pack("ii", 1, 0)  # SO_LINGER: what was not read is dropped, the peer is told
_REASONS = {
    400: "Bad Request",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
}


class Protocol(HttpToolsProtocol):
    """A connection. ``limits`` is set on a subclass made for one server."""

    limits: Limits
    log: Log

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.since = self.loop.time()
        self.in_head = True
        self.head = 0
        if len(self.connections) > self.limits.connections:
            self._refuse(503, UNAVAILABLE, "the server has as many connections as it takes")

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self.in_head:
            if not self.head:
                self.since = self.loop.time()
            self.head += len(data)
        super().data_received(data)
        if self.in_head and self.head > self.limits.head and not self.transport.is_closing():
            self._too_long()

    def on_message_begin(self) -> None:
        self.fields = 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        self.fields += len(name) + len(value)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self.in_head = False
        self.since = self.loop.time()
        if len(self.url) + self.fields > self.limits.head:
            self._too_long()
            raise HttpParserError("the head")
        if b"\0" in self.url:
            raise HttpParserError("the address")
        if len(self.pipeline) >= self.limits.pipelined:
            # Its answer would come before those of the requests ahead of it: there is none.
            self._reset()
            raise HttpParserError("too many requests ahead")
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        # An answer may come before the body has: what is left of it is read and dropped.
        self.in_head = not self.pipeline and not self.cycle.more_body
        self.head = 0
        self.since = self.loop.time()
        super().on_response_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        if self.cycle.response_complete:
            self.in_head = True
            self.head = 0
            self.since = self.loop.time()

    def _too_long(self) -> None:
        most = self.limits.head
        self._refuse(431, INVALID_REQUEST, f"a request's head has no more than {most} bytes")

    def send_400_response(self, msg: str) -> None:
        if self.pipeline or (self.cycle is not None and not self.cycle.response_complete):
            self._reset()  # an answer now would be read as that of a request ahead
        elif not self.transport.is_closing():
            self._refuse(400, INVALID_REQUEST, "this is not HTTP that can be read")

    def overdue(self, now: float) -> None:
        """End the connection if it has kept the server waiting for too long."""
        waited = now - self.since
        if not self.in_head:
            if waited > self.limits.answer_seconds:
                self._reset()
        elif self.head and waited > self.limits.head_seconds:
            self._refuse(408, TIMEOUT, "the request's head took too long to arrive")
        elif waited > self.limits.idle_seconds:
            self.transport.close()

    def _reset(self) -> None:
        """End it at once: the system would keep what nobody reads for minutes."""
        own = self.transport.get_extra_info("socket")
        if own is not None:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
        self.transport.abort()

    def _refuse(self, status: int, code: str, message: str) -> None:
        """Answer what never became a request; the log has a line of it all the same."""
        request_id = token_hex(8)
        retryable = code in RETRYABLE
        values = {
            "code": code,
            "message": message,
            "details": {},
            "requestId": request_id,
            "timestamp": self.log.timestamp(),
            "retryable": retryable,
        }
        body = json.dumps(values).encode()
        retry = f"retry-after: {RETRY_SECONDS}\r\n" if retryable else ""
        head = (
            f"HTTP/1.1 {status} {_REASONS[status]}\r\ncontent-type: application/json\r\n{retry}"
            f"x-request-id: {request_id}\r\n"
            f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
        self.log.request(
            request_id=request_id,
            method="",
            path="",
            status=status,
            size=len(body),
            seconds=self.loop.time() - self.since,
            client=self.client[0] if self.client else "",
            fault="",
        )


def protocol_for(limits: Limits, log: Log) -> type[Protocol]:
    return type("BoundedProtocol", (Protocol,), {"limits": limits, "log": log})


def close_overdue(connections: Iterable[object], now: float) -> None:
    for connection in list(connections):
        if isinstance(connection, Protocol) and not connection.transport.is_closing():
            connection.overdue(now)
