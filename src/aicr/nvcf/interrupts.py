"""What a first SIGINT or SIGTERM does (stop and clean up), and a second one (end at once)."""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """While in its ``with`` block, signals call ``stop``; ``code`` is the exit code that they ask
    for, 0 where none came. At the second one what ``left`` says is printed and the process ends."""

    def __init__(self, stop: Callable[[], None], left: Callable[[], str]) -> None:
        self.code = 0
        self._stop = stop
        self._left = left
        self._before: list[signal._HANDLER] = []

    def __enter__(self) -> Interrupts:
        self._before = [signal.signal(number, self._handle) for number in _SIGNALS]
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in zip(_SIGNALS, self._before, strict=True):
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.code:
            os.write(2, f"\naicr: ended at once; left behind: {self._left()}\n".encode())
            os._exit(128 + number)
        self.code = 128 + number
        name = signal.Signals(number).name
        sys.stderr.write(f"\naicr: {name}: cleaning up; a second signal ends at once\n")
        self._stop()
