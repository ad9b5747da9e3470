"""What a container registry answers to one request, login and redirects included.

An ``Authorization`` header never follows a redirect to another host, and tokens come from https
alone (unless plain http was asked for).
"""

from __future__ import annotations

import json

from aicr.artifact.image_ref import ImageRef
from aicr.artifact.registry_auth import read_docker_config
from aicr.artifact.registry_exchange import (
    MOST_REDIRECTS,
    Challenge,
    NoAnswer,
    exchange,
    opener_for,
    place_of,
    redirect_of,
    shown,
)
from aicr.errors import (
    CONFLICT,
    FORBIDDEN,
    RATE_LIMITED,
    TIMEOUT,
    UNAUTHORIZED,
    UNAVAILABLE,
    AicrError,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.artifact.registry_exchange import Answer

SECONDS = 60.0
LARGEST_ANSWER = 4 * 1024 * 1024
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
        host, self._path = place_of(ref)
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
            self._authorization = self._authorize(Challenge(answer), writes)
            answer = self._once(method, url, body, headers or {}, largest)
        for _ in range(MOST_REDIRECTS):
            target = redirect_of(url, answer)
            if method != "GET" or not target:
                return answer
            url = target
            if not url.startswith(self._schemes):
                raise AicrError(
                    UNAVAILABLE, f"{self._location}: redirects to {shown(url)}, not followed"
                )
            answer = self._once(method, url, body, headers or {}, largest)
        raise AicrError(
            UNAVAILABLE, f"{self._location}: redirects more than {MOST_REDIRECTS} times"
        )

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
        own = dict(headers)
        if self._authorization and url.startswith(self._base + "/"):
            own["Authorization"] = self._authorization
        try:
            return exchange(
                opener_for(url), method, url, own, body=body, seconds=self._seconds, largest=largest
            )
        except NoAnswer as error:
            where = f"{self._location}: {shown(url)}"
            if error.slow:
                text = f"{where}: no answer within {self._seconds:g} s"
                raise AicrError(TIMEOUT, text) from None
            why = str(error)
            if error.large:
                raise AicrError(UNAVAILABLE, f"{where}: {why}") from None
            hint = "--plain-http is for a registry that does not speak TLS" if "SSL" in why else ""
            text = f"{where} cannot be reached: {why}"
            raise AicrError(UNAVAILABLE, text, hint=hint) from None

    def _authorize(self, challenge: Challenge, writes: bool) -> str:
        """The Authorization header that the challenge asks for."""
        config = read_docker_config(None)
        login = config.login(self._ref.registry, self._path)
        if challenge.scheme == "basic":
            if login is None:
                raise self._no_login(config.path)
            return login.basic
        realm = challenge.realm
        if challenge.scheme != "bearer" or not realm.startswith(self._schemes):
            raise AicrError(
                UNAUTHORIZED,
                f"{self._location}: asks for a login of an unknown kind: {challenge.written!r}",
            )
        self._authorization = ""
        scope = f"repository:{self._path}:{'pull,push' if writes else 'pull'}"
        headers = {"Authorization": login.basic} if login is not None else {}
        answer = self._once("GET", challenge.token_url(scope), None, headers, LARGEST_ANSWER)
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


def json_map(data: bytes) -> Mapping[str, object]:
    """The JSON object in an answer; {} where there is none."""
    try:
        found = json.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
