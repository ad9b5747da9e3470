"""The body of a request: received and unpacked within bounds, and what kind of document it is."""

from __future__ import annotations

import asyncio
import zlib

from aicr.errors import TIMEOUT, AicrError, invalid
from aicr.server.refusal import Refusal
from aicr.server.work import overloaded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from starlette.requests import Request

    from aicr.server.limits import Limits

KINDS = {
    "application/json": "json",
    "application/yaml": "yaml",
    "application/x-yaml": "yaml",
    "text/yaml": "yaml",
    "text/x-yaml": "yaml",
    "application/zip": "archive",
    "application/gzip": "archive",
    "application/x-gzip": "archive",
    "application/x-tar+gzip": "archive",
}
_CLOSE = {"connection": "close"}


class Bodies:
    """Receives bodies; ``held`` is how many bytes of them are in memory, of all requests."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.held = 0

    def room(self, size: int) -> None:
        """Take room for ``size`` more bytes. Raises UNAVAILABLE where there is none."""
        if self.held + size > self._limits.bodies:
            raise overloaded("too much is being received")
        self.held += size

    async def receive(self, request: Request) -> tuple[bytes, str]:
        """The whole body and its kind, "" where there is none. The caller gives ``len(body)``
        back to ``held``. Raises what stands for a body that may not be."""
        length = request.headers.get("content-length", "")
        if length.isdigit() and int(length) > self._limits.body:
            raise self._too_large()
        encoding = request.headers.get("content-encoding", "").strip().lower()
        if encoding not in ("", "identity", "gzip"):
            error = invalid(f'Content-Encoding: "{encoding[:100]}" is not taken', hint="use gzip")
            raise Refusal(415, error)
        data = await self._received(request)
        try:
            if encoding == "gzip" and data:
                plain = self._unpacked(data)
                self.room(len(plain))
                self.held -= len(data)
                data = plain
            return data, _kind(request, data)
        except BaseException:
            self.held -= len(data)
            raise

    async def _received(self, request: Request) -> bytes:
        found = bytearray()
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                async for chunk in request.stream():
                    self.room(len(chunk))
                    found += chunk
                    if len(found) > self._limits.body:
                        raise self._too_large()
        except TimeoutError:
            self.held -= len(found)
            seconds = self._limits.body_seconds
            error = AicrError(TIMEOUT, f"the body took longer than {seconds:g} s to arrive")
            raise Refusal(408, error, _CLOSE) from None
        except BaseException:
            self.held -= len(found)
            raise
        return bytes(found)

    def _unpacked(self, data: bytes) -> bytes:
        unpacker = zlib.decompressobj(wbits=31)
        try:
            plain = unpacker.decompress(data, self._limits.body + 1)
        except zlib.error:
            raise invalid("the body is not gzip, and Content-Encoding says that it is") from None
        if len(plain) > self._limits.body:
            raise self._too_large()
        if not unpacker.eof or unpacker.unused_data:
            raise invalid("the body is not one whole gzip stream")
        return plain

    def _too_large(self) -> Refusal:
        message = f"the body is larger than the {self._limits.body} bytes that a request may have"
        return Refusal(413, invalid(message))


def _kind(request: Request, data: bytes) -> str:
    if not data:
        return ""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given in KINDS:
        return KINDS[given]
    found = f'"{given[:100]}" is not taken' if given else "is missing"
    hint = f"use {', '.join(KINDS)}"
    raise Refusal(415, invalid(f"Content-Type: {found}", hint=hint))
