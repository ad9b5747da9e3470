"""Waiting for what has to come: as long as a busy machine may take, and no longer than it does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Nothing takes this long; a machine with many other things to do may.
DEADLINE = 120.0


def until(
    ask: Callable[[], T],
    what: str,
    *,
    passing: tuple[type[BaseException], ...] = (),
    seconds: float = DEADLINE,
) -> T:
    """What ``ask`` gives once that is true; ``passing`` are errors that only mean "not yet"."""
    end = time.monotonic() + seconds
    last: object = None
    pause = 0.01
    while True:
        try:
            found = ask()
            if found:
                return found
            last = found
        except passing as error:
            last = error
        assert time.monotonic() < end, f"{what}: not within {seconds:g} s; last seen: {last!r}"
        time.sleep(pause)
        pause = min(0.25, pause * 1.5)
