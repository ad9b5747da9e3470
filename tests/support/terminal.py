"""A command on a terminal of its own: what a person sees there, and the keys that one presses."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import subprocess
import termios
import time
from collections.abc import Iterator, Sequence

from waiting import DEADLINE


def heed_signals() -> None:
    """As a command that a person started: what runs in the background ignores SIGINT, and so would
    all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """``seen`` is all that came, with its control characters. ``stdout`` is not on the terminal
    where it was left out."""

    def __init__(self, command: Sequence[str], *, stdout: bool = True) -> None:
        self._master, slave = pty.openpty()

        def own() -> None:
            """The session leader whom keys reach as signals."""
            heed_signals()
            fcntl.ioctl(2, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave if stdout else subprocess.PIPE, stderr=slave,
            start_new_session=True, preexec_fn=own,
        )  # fmt: skip
        os.close(slave)
        self.seen = ""

    def until(self, *words: str) -> str:
        """Read on until all of them stand there; what came."""
        end = time.monotonic() + DEADLINE
        while not all(word in self.seen for word in words):
            assert time.monotonic() < end, f"{words} did not come; seen: {self.seen!r}"
            if not self._read(1.0):
                raise AssertionError(f"it ended without {words}; seen: {self.seen!r}")
        return self.seen

    def press(self, key: bytes) -> None:
        os.write(self._master, key)

    def end(self) -> int:
        """Read to the end; the exit code."""
        end = time.monotonic() + DEADLINE
        while self._read(1.0):
            assert time.monotonic() < end, f"it does not end; seen: {self.seen!r}"
        return self.process.wait(DEADLINE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def _read(self, seconds: float) -> bool:
        """False where nothing comes any more."""
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        with contextlib.suppress(OSError):  # nobody has the other side any more
            data = os.read(self._master, 65536)
            self.seen += data.decode("utf-8", "replace")
            return bool(data)
        return False


@contextlib.contextmanager
def terminal(command: Sequence[str], *, stdout: bool = True) -> Iterator[Terminal]:
    found = Terminal(command, stdout=stdout)
    try:
        yield found
    finally:
        found.close()
