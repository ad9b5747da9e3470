"""One JSON line for each request, written in batches: no bodies, no queries, no secrets."""

from __future__ import annotations

import asyncio
import json
import re
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_SECONDS = 0.2
_LINES = 500


_PLAIN = re.compile(r"[A-Za-z0-9/_.:{}-]*")


def _quoted(text: str) -> str:
    return f'"{text}"' if _PLAIN.fullmatch(text) else json.dumps(text)


class Log:
    """Lines for ``stream``; None drops them."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._lines: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._second = 0
        self._stamp = ""

    def timestamp(self) -> str:
        """Now, as RFC 3339 in UTC."""
        now = time.time()
        second = int(now)
        if second != self._second:
            self._second = second
            self._stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._stamp}.{int(now * 1000) % 1000:03d}Z"

    def write(self, **fields: object) -> None:
        if self._stream is None:
            return
        self._append(json.dumps({"time": self.timestamp(), **fields}))

    def request(
        self,
        *,
        request_id: str,
        method: str,
        path: str,
        status: int,
        size: int,
        seconds: float,
        client: str,
        fault: str,
    ) -> None:
        """The line of a request. Written without a dictionary in between: each one costs this."""
        if self._stream is None:
            return
        more = f', "fault": {json.dumps(fault)}' if fault else ""
        self._append(
            f'{{"time": "{self.timestamp()}", "requestId": "{request_id}", "method": '
            f'{_quoted(method[:20])}, "path": {_quoted(path[:500])}, "status": {status}, "bytes": '
            f'{size}, "ms": {seconds * 1000:.2f}, "client": {_quoted(client)}{more}}}'
        )

    def _append(self, line: str) -> None:
        self._lines.append(line)
        if len(self._lines) >= _LINES:
            self.flush()
        elif self._timer is None:
            try:
                self._timer = asyncio.get_running_loop().call_later(_SECONDS, self.flush)
            except RuntimeError:  # before the loop, or after it
                self.flush()

    def flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        lines, self._lines = self._lines, []
        if lines and self._stream is not None:
            try:
                self._stream.write("\n".join(lines) + "\n")
                self._stream.flush()
            except OSError:
                self._stream = None  # nobody reads any more; serving goes on
