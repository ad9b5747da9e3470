"""Where requests are computed: a few threads, a bounded queue before them, and a deadline."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from aicr.errors import TIMEOUT, UNAVAILABLE, AicrError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future
    from typing import TypeVar

    T = TypeVar("T")


# Threads that compute at once only take the interpreter from each other; a second one goes ahead
# where the first one is not done soon.
_TURN_SECONDS = 0.1


class Work:
    """Runs functions beside the event loop, one after another as long as each is quick.

    A function that is past its deadline goes on until it ends (a thread cannot be stopped) and
    keeps its place until then, so that the work in this process stays bounded.
    """

    def __init__(self, *, threads: int, waiting: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="aicr")
        self._places = threads + waiting
        self._seconds = seconds
        self._turn = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.taken = 0

    async def run(self, function: Callable[[], T]) -> T:
        """What ``function`` gives. Raises UNAVAILABLE where there is no place, TIMEOUT where it
        takes too long."""
        if self.taken >= self._places:
            raise overloaded("every place is taken")
        self._loop = loop = asyncio.get_running_loop()
        self.taken += 1
        future = self._pool.submit(self._in_turn, function)
        future.add_done_callback(self._left)
        waiting: asyncio.Future[T] = asyncio.wrap_future(future, loop=loop)
        try:
            return await asyncio.wait_for(waiting, self._seconds)
        except TimeoutError:
            raise AicrError(
                TIMEOUT, f"this took longer than the {self._seconds:g} s that a request has"
            ) from None

    def _in_turn(self, function: Callable[[], T]) -> T:
        own = self._turn.acquire(timeout=_TURN_SECONDS)
        try:
            return function()
        finally:
            if own:
                self._turn.release()

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _left(self, _: Future[T]) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(self._leave)
        except RuntimeError:
            pass  # the loop is closed: nobody counts any more

    def _leave(self) -> None:
        self.taken -= 1


def overloaded(why: str) -> AicrError:
    """What a request is told that finds no room."""
    return AicrError(UNAVAILABLE, f"the server is busy: {why}; come again in a moment")
