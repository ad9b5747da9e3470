"""Waiting with somebody watching: how long it still takes, and what it means to leave early."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager

from aicr.cli.output import note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CLEARED = "\r\x1b[K"


def countdown(text: str, whole: float) -> None:
    """Wait; on a terminal, show how long it still takes."""
    if not sys.stderr.isatty():
        time.sleep(whole)
        return
    end = time.monotonic() + whole
    try:
        while (left := end - time.monotonic()) > 0:
            sys.stderr.write(f"\r{text} in {left:.0f} s \x1b[K")
            sys.stderr.flush()
            time.sleep(min(1.0, left))
    finally:
        sys.stderr.write(_CLEARED)
        sys.stderr.flush()


@contextmanager
def said_when_left(words: Callable[[], str]) -> Iterator[None]:
    """Where a signal ends it, say what that leaves: nobody is to take silence for an answer."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        if sys.stderr.isatty():
            sys.stderr.write(_CLEARED)  # with what the terminal shows of the key
        note(words())
        raise
