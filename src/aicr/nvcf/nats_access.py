"""Reading JetStream, whichever way it is reached: what a drain or a recovery may ask of it.

Two ways: commands in the nats-box pod (``nats_exec``), and a connection of its own
(``nats_direct``). ``way`` and ``source`` say which one said something; both are in the reports.
"""

from __future__ import annotations

from aicr.errors import UNAVAILABLE, AicrError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Protocol

    from aicr.nvcf.jetstream import ConsumerInfo, StreamInfo

    class NatsAccess(Protocol):
        """``notes`` are what a person should know about how the reading went."""

        way: str

        @property
        def source(self) -> str: ...

        @property
        def notes(self) -> list[str]: ...

        def stream_names(self) -> set[str]:
            """Every stream of the account. Raises AicrError where the list is not whole."""
            ...

        def stream(self, name: str) -> tuple[StreamInfo, bytes]:
            """What the stream's leader says, and the answer as it came."""
            ...

        def subjects(self, stream: str) -> dict[str, int]:
            """How many messages are retained by subject; empty where this way does not say."""
            ...

        def consumer_names(self, stream: str) -> set[str]: ...

        def consumer(self, stream: str, name: str) -> tuple[ConsumerInfo, bytes]: ...

        def many_consumer_names(self, streams: Iterable[str]) -> dict[str, set[str]]:
            """As ``consumer_names`` for streams that this way can ask cheaply; others are left
            out."""
            ...

        def retained(
            self,
            stream: str,
            first: int,
            last: int,
            take: Callable[[int, bytes], None],
            *,
            most: int,
        ) -> Retained:
            """Hand every message from ``first`` to ``last`` to ``take`` as it came, in order of
            sequence within a window. Nothing is consumed."""
            ...

        def call(self, what: str) -> str:
            """The command or API call for ``what``, for the record."""
            ...

        def close(self) -> None: ...


class Retained:
    """How the reading of messages went: how many were ``found``; ``tried`` is what it cost;
    ``whole`` is whether all that was asked for was tried; ``failed`` are sequences without an
    answer."""

    __slots__ = ("failed", "found", "tried", "whole")

    def __init__(self) -> None:
        self.found = 0
        self.tried = 0
        self.whole = True
        self.failed: list[tuple[int, str]] = []


def short_list(what: str, found: int, total: int, missing: object) -> AicrError:
    """The error for a list that is not whole."""
    said = f"; missing: {missing}" if missing else ""
    return AicrError(
        UNAVAILABLE,
        f"{what}: the list has {found} of {total} entries{said}",
    )
