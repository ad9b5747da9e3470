"""One exchange with a container registry over HTTP, and what its answer asks for: a login, another
address.

The HTTP part is here rather than in a library: what matters is which headers go where, and nothing
is followed or retried unless the caller says so. Answers are bounded, in size and in time.
"""

from __future__ import annotations

import re
import time

from aicr.artifact.image_ref import DOCKER_HUB, ImageRef
from aicr.artifact.registry_auth import CERTS_D, tls_context
from aicr.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.request import OpenerDirector

    # Status, headers by their names in lower case, body.
    Answer = tuple[int, Mapping[str, str], bytes]

HUB_HOST = "registry-1.docker.io"
MOST_REDIRECTS = 5
_CHUNK = 64 * 1024
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_PARAMETER = re.compile(r'(\w+)=(?:"([^"]*)"|([^\s,]+))')


class NoAnswer(Exception):
    """None came. ``slow`` is for want of time, ``large`` one of too many bytes, ``dropped`` a
    connection that broke or was refused: one more try may do."""

    def __init__(
        self, why: str, *, slow: bool = False, large: bool = False, dropped: bool = False
    ) -> None:
        super().__init__(why)
        self.slow = slow
        self.large = large
        self.dropped = dropped


class Challenge:
    """What a 401 asks for: ``scheme`` in lower case (``basic``, ``bearer``, "" where none), and
    where a token comes from."""

    __slots__ = ("realm", "scheme", "scope", "service", "written")

    def __init__(self, answer: Answer) -> None:
        self.written, _, rest = answer[1].get("www-authenticate", "").partition(" ")
        self.scheme = self.written.lower()
        words = {key.lower(): quoted or plain for key, quoted, plain in _PARAMETER.findall(rest)}
        self.realm = words.get("realm", "")
        self.service = words.get("service", "")
        self.scope = words.get("scope", "")

    def token_url(self, scope: str) -> str:
        """Where the token for ``scope`` is."""
        from urllib.parse import urlencode

        query = {"scope": scope}
        if self.service:
            query["service"] = self.service
        return f"{self.realm}{'&' if '?' in self.realm else '?'}{urlencode(query)}"


def place_of(ref: ImageRef) -> tuple[str, str]:
    """The host of a reference's registry, and its repository there."""
    if ref.registry in (DOCKER_HUB, "index.docker.io"):
        return HUB_HOST, ref.path if "/" in ref.path else f"library/{ref.path}"
    return ref.registry, ref.path


def redirect_of(url: str, answer: Answer) -> str:
    """The address that the answer names instead; "" where it is no redirect."""
    target = answer[1].get("location", "")
    if answer[0] not in _REDIRECTS or not target:
        return ""
    from urllib.parse import urljoin

    return urljoin(url, target)


def opener_for(url: str, ca: str | None = None, certs_d: str = CERTS_D) -> OpenerDirector:
    """An opener without redirects and without exceptions for statuses, for one host."""
    from urllib.parse import urlsplit
    from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler

    opener = OpenerDirector()
    opener.add_handler(ProxyHandler())
    if url.startswith("https://"):
        context = tls_context(urlsplit(url).netloc, ca, certs_d=certs_d)
        opener.add_handler(HTTPSHandler(context=context))
    else:
        opener.add_handler(HTTPHandler())
    return opener


def exchange(
    opener: OpenerDirector,
    method: str,
    url: str,
    headers: Mapping[str, str],
    *,
    seconds: float,
    largest: int,
    body: bytes | None = None,
    longest: float = float("inf"),
) -> Answer:
    """The answer, whatever its status. ``seconds`` bounds each wait for something to come,
    ``longest`` the whole of it. Raises ``NoAnswer``."""
    from http.client import HTTPException
    from urllib.error import URLError
    from urllib.request import Request

    end = time.monotonic() + longest
    try:
        own = {"User-Agent": f"aicr/{__version__}", **headers}
        request = Request(url, data=body, headers=own, method=method)
        with opener.open(request, timeout=seconds) as answer:
            data = bytearray()
            while piece := answer.read1(_CHUNK):
                data += piece
                if len(data) > largest:
                    raise NoAnswer("too long an answer", large=True)
                if time.monotonic() > end:
                    raise TimeoutError
            found = {key.lower(): value for key, value in answer.headers.items()}
            return int(answer.status), found, bytes(data)
    except URLError as error:
        reason = error.reason
        if isinstance(reason, TimeoutError):
            raise NoAnswer("too slow", slow=True) from None
        raise NoAnswer(str(reason), dropped=isinstance(reason, ConnectionError)) from None
    except TimeoutError:
        raise NoAnswer("too slow", slow=True) from None
    except (HTTPException, OSError, ValueError) as error:
        why = str(error) or type(error).__name__
        raise NoAnswer(why, dropped=isinstance(error, ConnectionError)) from None


def shown(url: str) -> str:
    """The address without what stands behind a question mark."""
    return url.partition("?")[0]
