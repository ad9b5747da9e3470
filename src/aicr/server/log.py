"""One JSON line for each request, written in batches: no bodies, no queries, no secrets.

A thread writes them, so that who reads the log slowly, or not at all, holds up no request. What it
cannot get rid of is kept up to a bound; what is left out then is counted, and said.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import select
import time
from queue import SimpleQueue
from threading import Thread

_SECONDS = 0.2
_LINES = 500
_MOST_WAITING = 4 * 1024 * 1024
_LAST_WORDS_SECONDS = 2.0


_PLAIN = re.compile(r"[A-Za-z0-9/_.:{}-]*")


def _quoted(text: str) -> str:
    return f'"{text}"' if _PLAIN.fullmatch(text) else json.dumps(text)


class Log:
    """Lines for a file descriptor; None drops them. ``left_out`` is how many there was no room
    for, ``most_waiting`` that room in bytes."""

    def __init__(self, descriptor: int | None, *, most_waiting: int = _MOST_WAITING) -> None:
        self._descriptor = descriptor
        self._most = most_waiting
        self._lines: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._second = 0
        self._stamp = ""
        self._batches: SimpleQueue[bytes | None] = SimpleQueue()
        self._put = 0
        self._taken = 0
        self._unsaid = 0
        self.left_out = 0
        self._writer = Thread(target=self._write_all, name="aicr-log", daemon=True)
        self._writer.start()

    def timestamp(self) -> str:
        """Now, as RFC 3339 in UTC."""
        now = time.time()
        second = int(now)
        if second != self._second:
            self._second = second
            self._stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._stamp}.{int(now * 1000) % 1000:03d}Z"

    def write(self, **fields: object) -> None:
        if self._descriptor is None:
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
        if self._descriptor is None:
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
        if not lines or self._descriptor is None:
            return
        if self._unsaid:
            said = {"time": self.timestamp(), "event": "left-out", "lines": self._unsaid}
            lines.insert(0, json.dumps(said))
        data = ("\n".join(lines) + "\n").encode()
        if self._put - self._taken + len(data) > self._most:
            many = len(lines) - bool(self._unsaid)
            self.left_out += many
            self._unsaid += many
            return
        self._unsaid = 0
        self._put += len(data)
        self._batches.put(data)

    def close(self) -> None:
        """Write what there is, as far as somebody reads it."""
        self.flush()
        self._batches.put(None)
        self._writer.join(_LAST_WORDS_SECONDS)

    def _write_all(self) -> None:
        while (data := self._batches.get()) is not None:
            rest = memoryview(data)
            while rest and self._descriptor is not None:
                try:
                    rest = rest[os.write(self._descriptor, rest) :]
                except BlockingIOError:
                    select.select((), (self._descriptor,), ())
                except OSError:
                    self._descriptor = None  # nobody reads any more; serving goes on
            self._taken += len(data)
