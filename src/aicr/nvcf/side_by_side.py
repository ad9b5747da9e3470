"""The same question to several at once, each in a thread of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(work: Callable[[T], R], items: Sequence[T], most: int) -> list[R]:
    """What ``work`` gives for each, in their order; ``most`` at a time.

    Where a signal ends the command, nobody waits for what is still being asked.
    """
    if not items:
        return []
    pool = ThreadPoolExecutor(min(len(items), most))
    try:
        return list(pool.map(work, items))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
