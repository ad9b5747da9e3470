"""JetStream over a connection of its own: the API asked as it is, many messages at once.

A thread holds the connection.
"""

from __future__ import annotations

import json

from aicr.errors import TIMEOUT, UNAVAILABLE, AicrError, install, invalid
from aicr.nvcf import allow, jetstream
from aicr.nvcf.nats_access import Retained, short_list
from aicr.nvcf.nats_place import options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Sequence
    from concurrent.futures import Future
    from typing import Any, TypeVar

    from aicr.nvcf.nats_place import Place

    T = TypeVar("T")

MISSING = f"a direct connection to NATS needs its client; {install('nats')}"
WINDOW = 256
# Above this many gaps the messages are looked for one after the other instead of listing the gaps.
MOST_GAPS = 1_000_000
MOST_BYTES = 64 * 1024 * 1024
# The servers' own answer where nobody is there to give one.
_NOBODY = b""


class DirectAccess:
    """``NatsAccess`` over a connection. Close it, also after an error."""

    way = "direct"

    def __init__(self, place: Place, *, seconds: float = 5.0) -> None:
        try:
            import nats as client
        except ModuleNotFoundError:
            raise invalid(MISSING) from None
        import asyncio
        import threading

        self._source = f"direct connection, {place.shown}"
        self._seconds = seconds
        self._why = ""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        try:
            found = client.connect(**options(place, seconds, self._note))
            self._client: Any = self._wait(found, seconds * 2)
        except BaseException:
            self._stop()
            raise

    @property
    def source(self) -> str:
        return self._source

    @property
    def notes(self) -> list[str]:
        return []

    def stream_names(self) -> set[str]:
        return self._paged("STREAM.NAMES", jetstream.STREAM_NAMES, "streams")

    def stream(self, name: str) -> tuple[jetstream.StreamInfo, bytes]:
        return self._info(name, {})

    def subjects(self, stream: str) -> dict[str, int]:
        info, _ = self._info(stream, {"subjects_filter": ">"})
        return info.state.subjects or {}

    def consumer_names(self, stream: str) -> set[str]:
        return self._paged(f"CONSUMER.NAMES.{stream}", jetstream.CONSUMER_NAMES, "consumers")

    def consumer(self, stream: str, name: str) -> tuple[jetstream.ConsumerInfo, bytes]:
        what = f"consumer {name}"
        body = self._ask(f"CONSUMER.INFO.{stream}.{name}", {})
        return jetstream.api_answer(jetstream.CONSUMER, body, what), body

    def many_consumer_names(self, streams: Iterable[str]) -> dict[str, set[str]]:
        wanted = sorted(streams)
        if not wanted:
            return {}
        asked = [(f"CONSUMER.NAMES.{name}", {"offset": 0}) for name in wanted]
        bodies = self._wait(self._many(asked), self._seconds + 1 + len(asked) * 0.05)
        found = {}
        for name, body in zip(wanted, bodies, strict=True):
            what = f"the consumers of {name}"
            given = self._given(body, what)
            page = jetstream.api_answer(jetstream.CONSUMER_NAMES, given, what)
            names = set(page.consumers or ())
            found[name] = names if len(names) == page.total else self.consumer_names(name)
        return found

    def retained(
        self,
        stream: str,
        first: int,
        last: int,
        take: Callable[[int, bytes], None],
        *,
        most: int = 0,
    ) -> Retained:
        done = Retained()
        info, _ = self._info(stream, {})
        if info.state.num_deleted > MOST_GAPS:
            self._walk(stream, first, last, take, done)
            return done
        info, _ = self._info(stream, {"deleted_details": True})
        gone = set(info.state.deleted or ())
        start = max(first, info.state.first_seq)
        wanted = [one for one in range(start, last + 1) if one not in gone]
        del gone
        usual = 2 * info.state.bytes // max(1, info.state.messages) + 1
        window = max(1, min(WINDOW, MOST_BYTES // 2 // usual))
        pieces = [wanted[at : at + window] for at in range(0, len(wanted), window)]
        following = self._start(stream, pieces[0]) if pieces else None
        for number, piece in enumerate(pieces):
            current = following
            # The server answers the next window while this one is taken.
            more = pieces[number + 1 : number + 2]
            following = self._start(stream, more[0]) if more else None
            assert current is not None
            bodies = self._result(current, self._seconds + 1 + len(piece) * 0.1)
            self._take(stream, piece, bodies, take, done)
        return done

    def call(self, what: str) -> str:
        return f"$JS.API.{what}"

    def close(self) -> None:
        try:
            self._wait(self._client.close(), 2.0)
        except AicrError:
            pass  # it is gone already
        finally:
            self._stop()

    def _start(self, stream: str, wanted: Sequence[int]) -> Future[list[bytes | None]]:
        import asyncio

        asked = [(f"STREAM.MSG.GET.{stream}", {"seq": one}) for one in wanted]
        return asyncio.run_coroutine_threadsafe(self._many(asked), self._loop)

    def _take(
        self,
        stream: str,
        wanted: Sequence[int],
        bodies: Sequence[bytes | None],
        take: Callable[[int, bytes], None],
        done: Retained,
    ) -> None:
        for sequence, body in zip(wanted, bodies, strict=True):
            done.tried += 1
            what = f"message {sequence} of {stream}"
            try:
                message = jetstream.got_message(self._given(body, what), what)
            except AicrError as error:
                done.failed.append((sequence, error.message))
                continue
            if message is not None:
                take(sequence, message)
                done.found += 1
        if len(done.failed) > WINDOW:
            raise AicrError(UNAVAILABLE, f"{self.source}: {done.failed[-1][1]}, again and again")

    def _walk(
        self, stream: str, first: int, last: int, take: Callable[[int, bytes], None], done: Retained
    ) -> None:
        """From one message to the next that is there: what the gaps hold costs nothing."""
        at = first
        while at <= last:
            what = f"message {at} of {stream}, or the next"
            done.tried += 1
            body = self._ask(f"STREAM.MSG.GET.{stream}", {"seq": at, "next_by_subj": ">"})
            message = jetstream.got_message(body, what)
            if message is None:
                return
            at = jetstream.decode(jetstream.MESSAGE, message, what).seq
            if at > last:
                return
            take(at, message)
            done.found += 1
            at += 1

    def _info(self, name: str, payload: dict[str, object]) -> tuple[jetstream.StreamInfo, bytes]:
        body = self._ask(f"STREAM.INFO.{name}", payload)
        return jetstream.api_answer(jetstream.STREAM, body, f"stream {name}"), body

    def _paged(self, api: str, decoder: Any, key: str) -> set[str]:
        found: set[str] = set()
        while True:
            page = jetstream.api_answer(
                decoder, self._ask(api, {"offset": len(found)}), f"the list of {key}"
            )
            names = getattr(page, key) or ()
            before = len(found)
            found.update(names)
            if page.missing or (len(found) < page.total and len(found) == before):
                raise short_list(f"{self.source}: {api}", len(found), page.total, page.missing)
            if len(found) >= page.total:
                return found

    def _ask(self, api: str, payload: dict[str, object]) -> bytes:
        (body,) = self._wait(self._many([(api, payload)]), self._seconds + 1)
        return self._given(body, api)

    def _given(self, body: bytes | None, what: str) -> bytes:
        """The answer, where there is one."""
        if body is None:
            raise AicrError(
                TIMEOUT,
                f"{self.source}: no answer to {what} within {self._seconds:g} s",
                hint="a server that is down, or no leader, looks like this",
            )
        if body == _NOBODY:
            raise AicrError(
                UNAVAILABLE,
                f"{self.source}: nobody is there to answer {what}",
                hint="JetStream is not up yet, has no leader just now, or is not in this account",
            )
        return body

    async def _many(self, asked: Sequence[tuple[str, dict[str, Any]]]) -> list[bytes | None]:
        """The answers in the order of the questions; None where none came, ``_NOBODY`` where the
        servers say that nobody is there to give one."""
        import asyncio

        requests = []
        for api, payload in asked:
            subject = f"$JS.API.{api}"
            allow.jetstream(subject, payload)
            requests.append((subject, _body(payload)))
        answers: list[bytes | None] = [None] * len(requests)
        left = len(requests)
        size = 0
        complete = asyncio.Event()
        inbox = f"{self._client.new_inbox()}."
        start = len(inbox)

        async def receive(message: Any) -> None:
            nonlocal left, size
            tail = message.subject[start:]
            number = int(tail) if tail.isdecimal() else -1
            if not 0 <= number < len(answers) or answers[number] is not None:
                return
            answers[number] = message.data
            left -= 1
            size += len(message.data)
            if left == 0 or size > MOST_BYTES:
                complete.set()

        subscription = await self._client.subscribe(f"{inbox}*", cb=receive)
        try:
            publish = self._client.publish
            for number, (subject, body) in enumerate(requests):
                await publish(subject, body, reply=f"{inbox}{number}")
            try:
                await asyncio.wait_for(complete.wait(), self._seconds)
            except TimeoutError:
                pass  # what did not come is None
        finally:
            await subscription.unsubscribe()
        return answers

    def _wait(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        import asyncio

        return self._result(asyncio.run_coroutine_threadsafe(work, self._loop), seconds)

    def _result(self, future: Future[T], seconds: float) -> T:
        import concurrent.futures

        try:
            return future.result(seconds)
        except (TimeoutError, concurrent.futures.TimeoutError):
            future.cancel()
            raise AicrError(TIMEOUT, f"{self.source}: no answer within {seconds:g} s") from None
        except AicrError:
            raise
        except (KeyboardInterrupt, SystemExit):
            future.cancel()
            raise
        except Exception as error:
            raise self._unreachable(error) from None

    async def _note(self, error: Exception) -> None:
        """What goes wrong while it connects; all else reaches whoever waits for the answer."""
        self._why = _words(error)

    def _unreachable(self, error: Exception) -> AicrError:
        said = _words(error)
        why = f" ({self._why})" if self._why not in ("", said) else ""
        return AicrError(UNAVAILABLE, f"{self.source}: cannot be reached: {said}{why}")

    def _stop(self) -> None:
        """End what still waits, then the thread."""
        import asyncio
        import concurrent.futures

        async def end() -> None:
            waiting = asyncio.all_tasks() - {asyncio.current_task()}
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

        try:
            asyncio.run_coroutine_threadsafe(end(), self._loop).result(2.0)
        except concurrent.futures.TimeoutError:
            pass  # it is a thread that ends with the command
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(2.0)
        if not self._thread.is_alive():
            self._loop.close()


def _body(payload: dict[str, Any]) -> bytes:
    if payload.keys() == {"seq"}:  # there may be very many of these
        return b'{"seq":%d}' % payload["seq"]
    return json.dumps(payload).encode() if payload else b""


def _words(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:200] or type(error).__name__
