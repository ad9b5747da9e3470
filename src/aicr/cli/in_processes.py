"""Many files read at once, in processes of their own: parsing uses whole processors, and whatever
one file does to its reader costs that file alone.

Each worker has a share of the items and reports one after another. A worker that is silent for too
long, or gone, has the item at hand on its conscience; another one takes over the rest.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import struct
import time

from aicr.errors import INTERNAL, TIMEOUT, AicrError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    T = TypeVar("T")
    R = TypeVar("R")

_HEAD = struct.Struct("!I")
_TICK = 0.2
_MOST = 8
# Below this number of files a second process is not worth its start.
WORTH_IT = 64


def processes() -> int:
    """How many processes are of use here; 1 where the system has no fork."""
    return min(os.cpu_count() or 1, _MOST) if hasattr(os, "fork") else 1


class _Worker:
    """A process, the items that it has still to report, and what it has sent so far."""

    __slots__ = ("buffer", "heard", "items", "pid", "pipe")

    def __init__(self, pid: int, pipe: int, items: list[int]) -> None:
        self.pid = pid
        self.pipe = pipe
        self.items = items
        self.buffer = bytearray()
        self.heard = time.monotonic()

    def end(self) -> None:
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.close(self.pipe)
        os.waitpid(self.pid, 0)


def in_processes(
    items: Sequence[T], read: Callable[[T], R], *, at_once: int, seconds: float
) -> Iterator[tuple[int, R | None, AicrError | None]]:
    """(index, result, error) of each item as it comes."""
    shares = [list(range(first, len(items), at_once)) for first in range(at_once)]
    workers = [_start(items, read, share) for share in shares if share]
    try:
        while workers:
            by_pipe = {worker.pipe: worker for worker in workers}
            ready, _, _ = select.select(list(by_pipe), [], [], _TICK)
            for pipe in ready:
                worker = by_pipe[pipe]
                data = os.read(pipe, 1 << 20)
                if data:
                    worker.buffer += data
                    yield from _frames(worker)  # type: ignore[misc]
                    continue
                workers.remove(worker)
                worker.end()
                yield from _given_up(worker, items, read, workers, _GONE)
            for worker in list(workers):
                if worker.items and time.monotonic() - worker.heard > seconds:
                    workers.remove(worker)
                    worker.end()
                    late = AicrError(TIMEOUT, f"not read within {seconds:g} seconds")
                    yield from _given_up(worker, items, read, workers, late)
    finally:
        for worker in workers:
            worker.end()


_GONE = AicrError(INTERNAL, "the process that read it ended: it may need too much memory")


def _given_up(
    worker: _Worker,
    items: Sequence[T],
    read: Callable[[T], R],
    workers: list[_Worker],
    error: AicrError,
) -> Iterator[tuple[int, None, AicrError]]:
    """The item that a worker did not report, and a new worker for the rest."""
    if not worker.items:
        return
    rest = worker.items[1:]
    if rest:
        workers.append(_start(items, read, rest))
    yield worker.items[0], None, error


def _frames(worker: _Worker) -> Iterator[tuple[int, object, AicrError | None]]:
    """The whole reports among what a worker has sent."""
    buffer = worker.buffer
    while len(buffer) >= _HEAD.size:
        (size,) = _HEAD.unpack_from(buffer)
        if len(buffer) < _HEAD.size + size:
            return
        index, result, failure = pickle.loads(buffer[_HEAD.size : _HEAD.size + size])
        del buffer[: _HEAD.size + size]
        worker.items.remove(index)
        worker.heard = time.monotonic()
        error = None
        if failure is not None:
            code, message, hint, details = failure
            error = AicrError(code, message, hint=hint, details=details)
        yield index, result, error


def _start(items: Sequence[T], read: Callable[[T], R], share: list[int]) -> _Worker:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Worker(pid, reading, list(share))
    code = 1
    try:
        os.close(reading)
        for index in share:
            data = pickle.dumps(_report(index, items[index], read), pickle.HIGHEST_PROTOCOL)
            _write(writing, _HEAD.pack(len(data)) + data)
        code = 0
    finally:
        os._exit(code)


def _report(
    index: int, item: T, read: Callable[[T], R]
) -> tuple[int, R | None, tuple[str, str, str, dict[str, object]] | None]:
    from aicr.cli.side_by_side import as_error

    try:
        return index, read(item), None
    except Exception as failure:
        error = as_error(failure)
        return index, None, (error.code, error.message, error.hint, error.details)


def _write(pipe: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(pipe, view) :]
