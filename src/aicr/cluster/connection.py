"""One connection to one API server: reads that are retried with care, writes that never are.

Answers are handed over as the bytes that came, whole and bounded. Retried are 429 (as long as the
server asks for, with a limit), 5xx and dropped connections, of reads alone. A 401 is tried once
more where the credentials are others by now.
"""

from __future__ import annotations

import random
import time

from aicr.cluster.credentials import MISSING, Access
from aicr.cluster.failures import Permission, broken, failure, too_slow
from aicr.cluster.kubeconfig import find_place
from aicr.errors import UNAVAILABLE, AicrError, invalid
from aicr.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from urllib3 import BaseHTTPResponse

USER_AGENT = f"aicr/{__version__}"
JSON = "application/json"
_RETRIED = frozenset((429, 500, 502, 503, 504))
_CHUNK = 256 * 1024


class Patience:
    """How long one request may take, how often a read is tried, and how much may come at once."""

    __slots__ = ("connect", "largest", "longest_wait", "page", "request", "sleep", "tries", "wait")

    def __init__(
        self,
        *,
        tries: int = 5,
        wait: float = 0.2,
        longest_wait: float = 30.0,
        connect: float = 10.0,
        request: float = 60.0,
        largest: int = 64 * 1024 * 1024,
        page: int = 250,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.tries = tries
        self.wait = wait
        self.longest_wait = longest_wait
        self.connect = connect
        self.request = request
        self.largest = largest
        self.page = page
        self.sleep = sleep

    def pause(self, attempt: int, asked: str | None) -> float | None:
        """Seconds to wait before the next try; None where the server asks for too long."""
        longest = min(self.wait * 2.0**attempt, self.longest_wait)
        own: float = longest * random.uniform(0.5, 1.0)
        if asked is None or not asked.strip().isdigit():
            return own
        seconds = int(asked)
        return None if seconds > self.longest_wait else seconds + own


class Answer:
    """A good answer: its body, and its headers by their usual spelling."""

    __slots__ = ("body", "headers")

    def __init__(self, headers: Mapping[str, str], body: bytes) -> None:
        self.headers = headers
        self.body = body


class Connection:
    """``server`` and ``context`` say where it leads; ``role`` is the file with the rights that the
    command needs; ``notes`` are what a person should know about how the reading went, each given
    to ``on_note`` as it is found."""

    def __init__(
        self,
        kubeconfig: str | None = None,
        context: str | None = None,
        *,
        role: str = "",
        patience: Patience | None = None,
        on_note: Callable[[str], None] | None = None,
    ) -> None:
        self.notes: list[str] = []
        self._on_note = on_note
        self._named = kubeconfig, context
        place = find_place(kubeconfig, context)
        self._access = Access(place, on_note=self.note)
        self.server = self._access.server
        self.context = place.context
        self.role = role
        self.patience = patience or Patience()
        self._date = ""
        if not self._access.verifies_tls:
            self.note(
                f"the kubeconfig says insecure-skip-tls-verify: nobody checks that {self.server} "
                "is who it says"
            )

    def note(self, message: str) -> None:
        """Keep what a person should know, and say it."""
        self.notes.append(message)
        if self._on_note is not None:
            self._on_note(message)

    @property
    def time(self) -> str:
        """What the server's own clock said last; "" where it did not say."""
        from email.utils import parsedate_to_datetime

        try:
            return parsedate_to_datetime(self._date).strftime("%Y-%m-%dT%H:%M:%SZ")
        except ValueError:
            return ""

    def read(
        self,
        path: str,
        permission: Permission,
        query: Mapping[str, str] | None = None,
        *,
        accept: str = JSON,
    ) -> Answer:
        """GET. Raises ``ApiError`` for an answer that says no, AicrError where none came."""
        headers = {"Accept": accept}
        attempt = 0
        renewed = False
        while True:
            try:
                status, answer = self._ask("GET", path, permission, query, headers)
            except _Dropped as dropped:
                attempt += 1
                if attempt >= self.patience.tries:
                    raise broken(
                        dropped.error, server=self.server, context=self.context, tries=attempt
                    ) from None
                self.patience.sleep(self.patience.pause(attempt - 1, None) or 0)
                continue
            if status < 300:
                return answer
            if status == 401 and not renewed and self._renew():
                renewed = True
                continue
            pause = None
            if status in _RETRIED and attempt + 1 < self.patience.tries:
                pause = self.patience.pause(attempt, answer.headers.get("Retry-After"))
            if pause is None:
                raise self._failure(status, answer, permission)
            attempt += 1
            self.patience.sleep(pause)

    def write(self, method: str, path: str, permission: Permission, body: bytes) -> Answer:
        """POST or PUT, once."""
        headers = {"Accept": JSON, "Content-Type": JSON}
        try:
            status, answer = self._ask(method, path, permission, None, headers, body)
        except _Dropped as dropped:
            raise AicrError(
                UNAVAILABLE,
                f"the connection to {self.server} (context {self.context}) broke while it was to "
                f"{permission}; whether that was done is not known: "
                f"{broken(dropped.error, server=self.server, context=self.context, tries=1)}",
                hint="look before trying again",
            ) from None
        if status >= 300:
            raise self._failure(status, answer, permission)
        return answer

    def _ask(
        self,
        method: str,
        path: str,
        permission: Permission,
        query: Mapping[str, str] | None,
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> tuple[int, Answer]:
        try:
            import urllib3
            from urllib3 import exceptions
        except ModuleNotFoundError:
            raise invalid(MISSING) from None
        from urllib.parse import urlencode

        patience = self.patience
        end = time.monotonic() + patience.request
        url = self.server + path + (f"?{urlencode(query)}" if query else "")
        sent = self._access.headers()  # first: it may renew the pool
        sent.update({"User-Agent": USER_AGENT, **headers})
        try:
            response = self._access.pool.request(
                method,
                url,
                body=body,
                headers=sent,
                timeout=urllib3.Timeout(connect=patience.connect, read=patience.request),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            try:
                data = self._body(response, permission, end)
            except BaseException:
                # What is still on its way must not be taken for the answer to the next request.
                response.close()
                raise
            response.release_conn()
        except exceptions.TimeoutError as error:
            if isinstance(error, exceptions.NewConnectionError):
                raise _Dropped(error) from None
            raise self._too_slow(permission) from None
        except (exceptions.SSLError, exceptions.NameResolutionError) as error:
            if "EOF" in str(error):
                raise _Dropped(error) from None
            raise broken(error, server=self.server, context=self.context, tries=1) from None
        except (exceptions.ProtocolError, exceptions.NewConnectionError) as error:
            raise _Dropped(error) from None
        except exceptions.HTTPError as error:
            raise broken(error, server=self.server, context=self.context, tries=1) from None
        self._date = response.headers.get("Date", self._date)
        return response.status, Answer(dict(response.headers), data)

    def _body(self, response: BaseHTTPResponse, permission: Permission, end: float) -> bytes:
        """The whole body, as long as it is not too large and does not take too long."""
        found = bytearray()
        while True:
            piece = response.read1(_CHUNK)
            if not piece:
                return bytes(found)
            found += piece
            if len(found) > self.patience.largest:
                raise AicrError(
                    UNAVAILABLE,
                    f"{self.server} answered with more than {self.patience.largest} bytes to "
                    f"{permission}",
                )
            if time.monotonic() > end:
                raise self._too_slow(permission)

    def _renew(self) -> bool:
        """Load the credentials anew; whether they are others now, and of the same server."""
        old = self._access
        access = Access(find_place(*self._named), old.shown()[0], on_note=self.note)
        if access.server != self.server or access.shown() == old.shown():
            return False
        self._access = access
        return True

    def _failure(self, status: int, answer: Answer, permission: Permission) -> AicrError:
        return failure(
            status,
            answer.headers,
            answer.body,
            server=self.server,
            context=self.context,
            permission=permission,
            role=self.role,
        )

    def _too_slow(self, permission: Permission) -> AicrError:
        return too_slow(
            str(permission), self.patience.request, server=self.server, context=self.context
        )


class _Dropped(Exception):
    """The connection broke before the whole answer was there."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error
