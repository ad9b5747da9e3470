"""What is at a location that a person named: a file, or an http(s) address within bounds."""

from __future__ import annotations

from aicr.artifact.read import read_path
from aicr.documents.reader import MAX_BYTES
from aicr.errors import (
    FORBIDDEN,
    INVALID_REQUEST,
    RATE_LIMITED,
    TIMEOUT,
    UNAUTHORIZED,
    UNAVAILABLE,
    AicrError,
    invalid,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from http.client import HTTPMessage
    from typing import IO
    from urllib.request import OpenerDirector, Request

    from aicr.artifact.config_map import ClusterRef

SECONDS = 30.0
MAX_REDIRECTS = 5
_CODES = {401: UNAUTHORIZED, 403: FORBIDDEN, 408: TIMEOUT, 429: RATE_LIMITED, 504: TIMEOUT}


def read_location(
    location: str, flag: str, *, seconds: float = SECONDS, cluster: ClusterRef | None = None
) -> bytes:
    """The bytes of a file, an address, or a snapshot in a ConfigMap of ``cluster``; ``flag`` is
    the argument that named it.

    Raises INVALID_REQUEST for what is not there or too large, TIMEOUT after ``seconds``, and
    what an HTTP status stands for.
    """
    if location.startswith("cm://"):
        from aicr.artifact.config_map import SNAPSHOT_KEYS, read_config_map

        return read_config_map(location, flag, cluster, SNAPSHOT_KEYS)[0]
    if location.lower().startswith(("http://", "https://")):
        return _within(location, flag, seconds)
    if "://" in location:
        scheme = location.partition("://")[0]
        raise invalid(f"{flag} {location}: {scheme}:// is not read, only files, http and https")
    return read_path(location, flag)


def _within(url: str, flag: str, seconds: float) -> bytes:
    """The answer to a GET within ``seconds`` in all: names, connection, redirects and body."""
    from threading import Thread

    found: list[bytes | AicrError] = []

    def work() -> None:
        try:
            found.append(_get(url, flag, seconds))
        except AicrError as error:
            found.append(error)
        except Exception as error:  # a fault here would be lost with the thread
            found.append(_unavailable(url, flag, f"{type(error).__name__}: {error}"))

    # A socket timeout bounds one read; only another thread bounds a server that drips bytes.
    thread = Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if not found:
        raise AicrError(TIMEOUT, f"{flag} {shown(url)}: no answer within {seconds:g} seconds")
    result = found[0]
    if isinstance(result, AicrError):
        raise result
    return result


def _get(url: str, flag: str, seconds: float) -> bytes:
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.parse import urlsplit
    from urllib.request import Request

    from aicr.version import __version__

    try:
        if not urlsplit(url).hostname:
            raise ValueError("there is no host in it")
        request = Request(
            url, headers={"User-Agent": f"aicr/{__version__}", "Accept-Encoding": "identity"}
        )
        with _opener(url, flag).open(request, timeout=seconds) as answer:
            data: bytes = answer.read(MAX_BYTES + 1)
            missing = answer.length if len(data) <= MAX_BYTES else 0
    except HTTPError as error:
        if 300 <= error.code < 400:
            raise invalid(
                f"{flag} {shown(url)}: redirects more than {MAX_REDIRECTS} times, in a circle, or "
                "to what is no http or https address"
            ) from None
        code = _CODES.get(error.code, UNAVAILABLE if error.code >= 500 else INVALID_REQUEST)
        raise AicrError(
            code, f"{flag} {shown(url)}: the server said {error.code} {error.reason}"
        ) from None
    except TimeoutError:
        raise AicrError(
            TIMEOUT, f"{flag} {shown(url)}: no answer within {seconds:g} seconds"
        ) from None
    except URLError as error:
        raise _unavailable(url, flag, str(error.reason)) from None
    except (HTTPException, OSError) as error:
        raise _unavailable(url, flag, str(error) or type(error).__name__) from None
    except ValueError as error:
        raise invalid(f"{flag} {shown(url)}: no address that can be read: {error}") from None
    if missing:
        raise _unavailable(url, flag, f"the answer ends {missing} bytes early")
    if len(data) > MAX_BYTES:
        raise invalid(
            f"{flag} {shown(url)}: more than the {MAX_BYTES} bytes allowed for a document"
        )
    return data


def _opener(url: str, flag: str) -> OpenerDirector:
    """An opener that follows a few redirects, to http(s) only, and never from https to http."""
    from urllib.request import (
        HTTPDefaultErrorHandler,
        HTTPErrorProcessor,
        HTTPHandler,
        HTTPRedirectHandler,
        HTTPSHandler,
        OpenerDirector,
        ProxyHandler,
    )

    class Redirects(HTTPRedirectHandler):
        max_redirections = MAX_REDIRECTS
        max_repeats = MAX_REDIRECTS

        def redirect_request(
            self,
            req: Request,
            fp: IO[bytes],
            code: int,
            msg: str,
            headers: HTTPMessage,
            newurl: str,
        ) -> Request | None:
            scheme = newurl.partition(":")[0].lower()
            if scheme != "https" and (scheme != "http" or req.type == "https"):
                raise invalid(
                    f"{flag} {shown(url)}: redirects to {shown(newurl)}, which is not followed"
                )
            return super().redirect_request(req, fp, code, msg, headers, newurl)

    opener = OpenerDirector()
    for handler in (
        ProxyHandler(),
        HTTPHandler(),
        HTTPSHandler(),
        HTTPDefaultErrorHandler(),
        Redirects(),
        HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def shown(url: str) -> str:
    """The address without a name and a password in it."""
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path.partition('?')[0]}"


def _unavailable(url: str, flag: str, why: str) -> AicrError:
    return AicrError(UNAVAILABLE, f"{flag} {shown(url)}: cannot be reached: {why}")
