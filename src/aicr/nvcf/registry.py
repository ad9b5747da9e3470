"""What a registry has under a reference: digests and architectures, read by GET alone.

An ``Authorization`` header never follows a redirect to another host, tokens come from https
addresses alone, and plain http is spoken only to the hosts that were named for it.
"""

from __future__ import annotations

import json
import time

from aicr.artifact.image_ref import ImageRef
from aicr.artifact.registry_auth import CERTS_D, DockerConfig, Login
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
from aicr.documents.digest import sha256_hex
from aicr.errors import AicrError
from aicr.nvcf import allow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from urllib.request import OpenerDirector

    from aicr.artifact.registry_exchange import Answer

OCI_INDEX = "application/vnd.oci.image.index.v1+json"
DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
ACCEPT = ", ".join((OCI_INDEX, DOCKER_LIST, OCI_MANIFEST, DOCKER_MANIFEST))
_LARGEST = 8 * 1024 * 1024
_TRIES = 3
_RETRIED = (429, 500, 502, 503, 504)


class RegistryError(Exception):
    """The registry does not give the image. ``outcome`` is the word for it."""

    def __init__(self, outcome: str, message: str) -> None:
        super().__init__(message)
        self.outcome = outcome


class Platform:
    """One architecture of an image: the digests of its manifest and of its configuration."""

    __slots__ = ("architecture", "config", "manifest")

    def __init__(self, architecture: str, manifest: str, config: str) -> None:
        self.architecture = architecture
        self.manifest = manifest
        self.config = config


class RegistryImage:
    """``digest`` is that of what the reference names: of the index, or of the one manifest.
    ``absent`` are architectures that the index lists and the registry does not have."""

    __slots__ = ("absent", "digest", "is_index", "platforms")

    def __init__(
        self,
        digest: str,
        platforms: Collection[Platform],
        *,
        is_index: bool,
        absent: Collection[str] = (),
    ) -> None:
        self.digest = digest
        self.platforms = platforms
        self.is_index = is_index
        self.absent = absent

    @property
    def architectures(self) -> list[str]:
        return sorted({one.architecture for one in self.platforms})

    @property
    def digests(self) -> set[str]:
        """All digests that a runtime may show for it."""
        found = {self.digest}
        for one in self.platforms:
            found |= {one.manifest, one.config}
        return found - {""}


class Registry:
    """Asks registries; one object for a whole command. ``reads`` are the addresses asked."""

    def __init__(
        self,
        config: DockerConfig,
        *,
        ca: str | None = None,
        plain_http: Collection[str] = (),
        seconds: float = 20.0,
        certs_d: str = CERTS_D,
        wait: float = 0.5,
    ) -> None:
        self.reads: list[tuple[str, str]] = []
        self._config = config
        self._ca = ca
        self._plain = frozenset(plain_http)
        self._seconds = seconds
        self._certs_d = certs_d
        self._wait = wait
        self._openers: dict[str, OpenerDirector] = {}
        self._authorized: dict[tuple[str, str], str] = {}

    def image(self, ref: ImageRef) -> RegistryImage:
        """What is there. Raises ``RegistryError`` with the outcome."""
        body, digest, kind = self._manifest(ref, ref.version)
        if ref.digest and digest != ref.digest:
            raise RegistryError(
                "digest-differs", f"{ref.text}: the registry sent content with the digest {digest}"
            )
        if kind not in (OCI_INDEX, DOCKER_LIST):
            return RegistryImage(digest, [self._platform(ref, body, digest)], is_index=False)
        platforms: list[Platform] = []
        absent: list[str] = []
        for entry in _list(body.get("manifests")):
            platform = _map(entry.get("platform"))
            architecture = str(platform.get("architecture") or "")
            if platform.get("os") != "linux" or architecture in ("", "unknown"):
                continue  # an attestation, or for a system that no node here runs
            wanted = str(entry.get("digest") or "")
            try:
                below, found, _ = self._manifest(ref, wanted)
            except RegistryError as error:
                if error.outcome != "not-found":
                    raise
                absent.append(architecture)
                continue
            if found != wanted:
                raise RegistryError(
                    "digest-differs", f"{ref.text}: {architecture}: asked for {wanted}, got {found}"
                )
            config = str(_map(below.get("config")).get("digest") or "")
            platforms.append(Platform(architecture, found, config))
        return RegistryImage(digest, platforms, is_index=True, absent=absent)

    def _platform(self, ref: ImageRef, body: Mapping[str, object], digest: str) -> Platform:
        """A manifest names no platform: the architecture is in its configuration."""
        config = str(_map(body.get("config")).get("digest") or "")
        if not config:
            raise RegistryError("unreachable", f"{ref.text}: what the registry has is no image")
        data, _ = self._get(ref, f"blobs/{config}", "*/*")
        if f"sha256:{sha256_hex(data)}" != config:
            raise RegistryError("digest-differs", f"{ref.text}: its configuration is not {config}")
        said = _json(data, ref)
        return Platform(str(said.get("architecture") or "unknown"), digest, config)

    def _manifest(self, ref: ImageRef, version: str) -> tuple[Mapping[str, object], str, str]:
        data, headers = self._get(ref, f"manifests/{version}", ACCEPT)
        digest = f"sha256:{sha256_hex(data)}"
        said = headers.get("docker-content-digest", digest)
        if said.startswith("sha256:") and said != digest:
            raise RegistryError(
                "digest-differs",
                f"{ref.text}: the registry says {said}, what it sent has the digest {digest}",
            )
        body = _json(data, ref)
        kind = str(body.get("mediaType") or headers.get("content-type", "").partition(";")[0])
        return body, digest, kind.strip()

    def _get(self, ref: ImageRef, below: str, accept: str) -> tuple[bytes, Mapping[str, str]]:
        host, path = place_of(ref)
        scheme = "http" if host in self._plain else "https"
        url = f"{scheme}://{host}/v2/{path}/{below}"
        headers = {"Accept": accept}
        key = (host, path)
        if key in self._authorized:
            headers["Authorization"] = self._authorized[key]
        answer = self._follow(url, headers)
        if answer[0] == 401:
            self._authorized[key] = self._authorize(ref, host, path, Challenge(answer))
            headers["Authorization"] = self._authorized[key]
            answer = self._follow(url, headers)
        status, found, data = answer
        if status == 200:
            return data, found
        raise _refused(ref, url, status, data)

    def _authorize(self, ref: ImageRef, host: str, path: str, challenge: Challenge) -> str:
        """The Authorization header that the challenge asks for."""
        try:
            login = self._config.login(ref.registry, path)
        except AicrError as error:
            raise RegistryError("unauthorised", f"{ref.text}: {error.message}") from None
        if challenge.scheme == "basic":
            if login is None:
                raise _no_login(ref, host, self._config)
            return login.basic
        if challenge.scheme != "bearer":
            raise RegistryError(
                "unauthorised", f"{ref.text}: {host} asks for {challenge.written or 'nothing'}"
            )
        realm = challenge.realm
        if not realm.lower().startswith("https://"):
            raise RegistryError(
                "unauthorised", f"{ref.text}: {host} sends to {realm}, tokens need an https address"
            )
        headers = {"Accept": "application/json"}
        if login is not None:
            headers["Authorization"] = login.basic
        joined = challenge.token_url(challenge.scope or f"repository:{path}:pull")
        status, _, data = self._follow(joined, headers)
        if status in (400, 401, 403):
            raise _not_accepted(ref, realm, status, login, self._config)
        if status != 200:
            raise RegistryError("unreachable", f"{ref.text}: {realm} answered {status}")
        said = _json(data, ref)
        token = str(said.get("token") or said.get("access_token") or "")
        if not token:
            raise RegistryError("unauthorised", f"{ref.text}: {realm} gave no token")
        return f"Bearer {token}"

    def _follow(self, url: str, headers: Mapping[str, str]) -> Answer:
        """The answer at the end of the redirects; Authorization stays with its host."""
        from urllib.parse import urlsplit

        sent = dict(headers)
        for _ in range(MOST_REDIRECTS + 1):
            answer = self._tried(url, sent)
            target = redirect_of(url, answer)
            if not target:
                return answer
            old, new = urlsplit(url), urlsplit(target)
            if new.scheme != "https" and (new.scheme != "http" or old.scheme == "https"):
                raise RegistryError(
                    "unreachable", f"{shown(url)}: redirects to {shown(target)}, not followed"
                )
            if (old.scheme, old.netloc) != (new.scheme, new.netloc):
                sent.pop("Authorization", None)
            url = target
        raise RegistryError(
            "unreachable", f"{shown(url)}: redirects more than {MOST_REDIRECTS} times"
        )

    def _tried(self, url: str, headers: Mapping[str, str]) -> Answer:
        for attempt in range(_TRIES):
            last = attempt == _TRIES - 1
            try:
                answer = self._once(url, headers)
                if answer[0] not in _RETRIED or last:
                    return answer
            except NoAnswer as error:
                if last or not error.dropped:
                    why = f"no answer within {self._seconds:g} s" if error.slow else str(error)
                    raise RegistryError("unreachable", f"{shown(url)}: {why}") from None
            time.sleep(self._wait * 2**attempt)
        raise AssertionError

    def _once(self, url: str, headers: Mapping[str, str]) -> Answer:
        from urllib.parse import urlsplit

        allow.registry("GET")
        self.reads.append(("GET", shown(url)))
        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc}"
        if place not in self._openers:
            self._openers[place] = opener_for(url, self._ca, self._certs_d)
        return exchange(
            self._openers[place], "GET", url, headers,
            seconds=self._seconds, largest=_LARGEST, longest=self._seconds,
        )  # fmt: skip


def _refused(ref: ImageRef, url: str, status: int, data: bytes) -> RegistryError:
    said = _message(data)
    if status == 404:
        return RegistryError("not-found", f"{ref.text}: {shown(url)} answered 404{said}")
    if status in (401, 403):
        return RegistryError("unauthorised", f"{ref.text}: {shown(url)} answered {status}{said}")
    return RegistryError("unreachable", f"{ref.text}: {shown(url)} answered {status}{said}")


def _no_login(ref: ImageRef, host: str, config: DockerConfig) -> RegistryError:
    return RegistryError("unauthorised", f"{ref.text}: {config.path} has no login for {host}")


def _not_accepted(
    ref: ImageRef, realm: str, status: int, login: Login | None, config: DockerConfig
) -> RegistryError:
    who = f"the login of {login.source}" if login else f"no login ({config.path} has none)"
    return RegistryError("unauthorised", f"{ref.text}: {realm} answered {status} to {who}")


def _message(data: bytes) -> str:
    try:
        errors = _list(_map(json.loads(data)).get("errors"))
    except ValueError:
        text = data[:100].decode("utf-8", "replace").strip()
        return f": {text}" if text else ""
    first = errors[0] if errors else {}
    words = [str(first[key]) for key in ("code", "message") if first.get(key)]
    return f": {' '.join(words)}" if words else ""


def _json(data: bytes, ref: ImageRef) -> Mapping[str, object]:
    try:
        found = json.loads(data)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise RegistryError("unreachable", f"{ref.text}: the answer is not what a registry sends")
    return found


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Mapping[str, object]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
