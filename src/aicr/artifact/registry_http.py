"""What a container registry answers to one request, login and redirects included.

The HTTP part is here rather than in a library: what matters is which headers go where. An
``Authorization`` header never follows a redirect to another host, tokens come from https alone
(unless plain http was asked for), and answers are bounded.
"""

from __future__ import annotations

import json

from aicr.artifact.image_ref import DOCKER_HUB, ImageRef
from aicr.artifact.registry_auth import read_docker_config, tls_context
from aicr.errors import (
    CONFLICT,
    FORBIDDEN,
    RATE_LIMITED,
    TIMEOUT,
    UNAUTHORIZED,
    UNAVAILABLE,
    AicrError,
)
from aicr.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.request import OpenerDirector

    # Status, headers by their names in lower case, body.
    Answer = tuple[int, Mapping[str, str], bytes]

SECONDS = 60.0
LARGEST_ANSWER = 4 * 1024 * 1024
_HUB_HOST = "registry-1.docker.io"
_REDIRECTS = 5
_CODES = {
    401: UNAUTHORIZED, 403: FORBIDDEN, 408: TIMEOUT, 409: CONFLICT, 429: RATE_LIMITED, 504: TIMEOUT,
}  # fmt: skip


class RegistryConnection:
    """Asks for things of one repository; ``location`` is how messages name it."""

    def __init__(
        self, ref: ImageRef, location: str, *, plain_http: bool = False, seconds: float = SECONDS
    ) -> None:
        self._ref = ref
        self._location = location
        self._plain = plain_http
        self._seconds = seconds
        host, self._path = ref.registry, ref.path
        if host in (DOCKER_HUB, "index.docker.io"):
            host = _HUB_HOST
            self._path = ref.path if "/" in ref.path else f"library/{ref.path}"
        self._base = f"{'http' if plain_http else 'https'}://{host}"
        self._authorization = ""

    def url(self, below: str) -> str:
        return f"{self._base}/v2/{self._path}/{below}"

    def call(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        writes: bool = False,
        largest: int = LARGEST_ANSWER,
    ) -> Answer:
        """The answer, whatever its status. ``writes`` is what a login is asked for."""
        answer = self._once(method, url, body, headers or {}, largest)
        if answer[0] == 401 and url.startswith(self._base + "/"):
            self._authorization = self._authorize(answer[1].get("www-authenticate", ""), writes)
            answer = self._once(method, url, body, headers or {}, largest)
        for _ in range(_REDIRECTS):
            target = answer[1].get("location", "")
            if method != "GET" or answer[0] not in (301, 302, 303, 307, 308) or not target:
                return answer
            from urllib.parse import urljoin

            url = urljoin(url, target)
            if not url.startswith(self._schemes):
                raise AicrError(
                    UNAVAILABLE, f"{self._location}: redirects to {shown(url)}, not followed"
                )
            answer = self._once(method, url, body, headers or {}, largest)
        raise AicrError(UNAVAILABLE, f"{self._location}: redirects more than {_REDIRECTS} times")

    def refused(self, url: str, answer: Answer) -> AicrError:
        """The error that an answer of another status than the wanted one is."""
        status, _, data = answer
        said = data[:200].decode("utf-8", "replace").strip()
        text = f"{self._location}: {shown(url)} answered {status}"
        return AicrError(_CODES.get(status, UNAVAILABLE), f"{text}: {said}" if said else text)

    @property
    def _schemes(self) -> tuple[str, ...]:
        return ("https://", "http://") if self._plain else ("https://",)

    def _once(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], largest: int
    ) -> Answer:
        from http.client import HTTPException
        from urllib.error import URLError
        from urllib.request import Request

        own = {"User-Agent": f"aicr/{__version__}", **headers}
        if self._authorization and url.startswith(self._base + "/"):
            own["Authorization"] = self._authorization
        try:
            request = Request(url, data=body, headers=own, method=method)
            with _opener(url).open(request, timeout=self._seconds) as answer:
                data: bytes = answer.read(largest + 1)
                found = {key.lower(): value for key, value in answer.headers.items()}
                status = int(answer.status)
        except TimeoutError:
            raise self._too_slow(url) from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._too_slow(url) from None
            raise self._unreachable(url, str(error.reason)) from None
        except (HTTPException, OSError, ValueError) as error:
            raise self._unreachable(url, str(error) or type(error).__name__) from None
        if len(data) > largest:
            raise AicrError(UNAVAILABLE, f"{self._location}: {shown(url)}: too long an answer")
        return status, found, data

    def _authorize(self, challenge: str, writes: bool) -> str:
        """The Authorization header that the challenge asks for."""
        import re
        from urllib.parse import urlencode

        config = read_docker_config(None)
        login = config.login(self._ref.registry, self._path)
        scheme, _, rest = challenge.partition(" ")
        if scheme.lower() == "basic":
            if login is None:
                raise self._no_login(config.path)
            return login.basic
        asked = {key.lower(): value for key, value in re.findall(r'(\w+)="([^"]*)"', rest)}
        realm = asked.get("realm", "")
        if scheme.lower() != "bearer" or not realm.startswith(self._schemes):
            raise AicrError(
                UNAUTHORIZED, f"{self._location}: asks for a login of an unknown kind: {scheme!r}"
            )
        query = {"scope": f"repository:{self._path}:{'pull,push' if writes else 'pull'}"}
        if asked.get("service"):
            query["service"] = asked["service"]
        self._authorization = ""
        url = f"{realm}{'&' if '?' in realm else '?'}{urlencode(query)}"
        headers = {"Authorization": login.basic} if login is not None else {}
        answer = self._once("GET", url, None, headers, LARGEST_ANSWER)
        if answer[0] != 200:
            if login is None and answer[0] in (401, 403):
                raise self._no_login(config.path)
            raise self.refused(realm, answer)
        said = json_map(answer[2])
        token = said.get("token") or said.get("access_token")
        if not token:
            raise AicrError(UNAUTHORIZED, f"{self._location}: {realm} gave no token")
        return f"Bearer {token}"

    def _no_login(self, path: str) -> AicrError:
        return AicrError(
            UNAUTHORIZED,
            f"{self._location}: the registry wants a login, and {path} has none for "
            f"{self._ref.registry}",
            hint=f"docker login {self._ref.registry}",
        )

    def _too_slow(self, url: str) -> AicrError:
        return AicrError(
            TIMEOUT, f"{self._location}: {shown(url)}: no answer within {self._seconds:g} s"
        )

    def _unreachable(self, url: str, why: str) -> AicrError:
        hint = "--plain-http is for a registry that does not speak TLS" if "SSL" in why else ""
        return AicrError(
            UNAVAILABLE, f"{self._location}: {shown(url)} cannot be reached: {why}", hint=hint
        )


def _opener(url: str) -> OpenerDirector:
    """An opener without redirects and without exceptions for statuses."""
    from urllib.parse import urlsplit
    from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler

    opener = OpenerDirector()
    opener.add_handler(ProxyHandler())
    if url.startswith("https://"):
        opener.add_handler(HTTPSHandler(context=tls_context(urlsplit(url).netloc, None)))
    else:
        opener.add_handler(HTTPHandler())
    return opener


def json_map(data: bytes) -> Mapping[str, object]:
    """The JSON object in an answer; {} where there is none."""
    try:
        found = json.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def shown(url: str) -> str:
    """The address without what stands behind a question mark."""
    return url.partition("?")[0]
