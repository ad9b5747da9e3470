"""Slow readings side by side: with a bound on how many at once, and a time-out for each."""

from __future__ import annotations

import threading
import time
from collections import deque

from aicr.errors import INTERNAL, INVALID_REQUEST, TIMEOUT, AicrError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    T = TypeVar("T")
    R = TypeVar("R")

_TICK = 0.2


class _Task:
    __slots__ = ("error", "given_up", "index", "result", "started")

    def __init__(self, index: int) -> None:
        self.index = index
        self.started = 0.0
        self.result: object = None
        self.error: BaseException | None = None
        self.given_up = False


def side_by_side(
    items: Sequence[T], read: Callable[[T], R], *, at_once: int, seconds: float
) -> Iterator[tuple[int, R | None, AicrError | None]]:
    """(index, result, error) of each item as it comes.

    An error of any other kind than the project's own is a fault of this item alone. A reading
    that takes too long is given up, and its place goes to another; it cannot hold the process.
    """
    waiting = deque(_Task(index) for index in range(len(items)))
    running: set[_Task] = set()
    done: deque[_Task] = deque()
    changed = threading.Condition()

    def work() -> None:
        while True:
            with changed:
                if not waiting:
                    return
                task = waiting.popleft()
                task.started = time.monotonic()
                running.add(task)
            try:
                task.result = read(items[task.index])
            except BaseException as error:
                task.error = error
            with changed:
                if task.given_up:
                    return  # another one has taken this place
                running.discard(task)
                done.append(task)
                changed.notify()

    def start() -> None:
        threading.Thread(target=work, daemon=True).start()

    for _ in range(min(at_once, len(items))):
        start()
    left = len(items)
    while left:
        with changed:
            if not done:
                changed.wait(_TICK)
            ready = list(done)
            done.clear()
            late = [t for t in running if time.monotonic() - t.started > seconds]
            for task in late:
                task.given_up = True
                running.discard(task)
        for task in late:
            left -= 1
            start()
            yield task.index, None, AicrError(TIMEOUT, f"not read within {seconds:g} seconds")
        for task in ready:
            left -= 1
            error = as_error(task.error) if task.error is not None else None
            yield task.index, task.result, error  # type: ignore[misc]


def as_error(error: BaseException) -> AicrError:
    """What went wrong with one item, as the project says it."""
    if isinstance(error, AicrError):
        return error
    if isinstance(error, OSError):
        return AicrError(INVALID_REQUEST, f"cannot be read: {error.strerror or error}")
    return AicrError(INTERNAL, f"a fault of aicr itself: {type(error).__name__}: {error}")
