"""What a registry has under a reference: digests and architectures, read by GET alone.

The HTTP part is here rather than in a library: what matters is which headers go where. An
``Authorization`` header never follows a redirect to another host, tokens come from https addresses
alone, plain http is spoken only to the hosts that were named for it, and answers are bounded.
"""

from __future__ import annotations

import json
import time

from aicr.artifact.image_ref import DOCKER_HUB, ImageRef
from aicr.artifact.registry_auth import CERTS_D, DockerConfig, Login, tls_context
from aicr.documents.digest import sha256_hex
from aicr.errors import AicrError
from aicr.nvcf import allow
from aicr.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from urllib.request import OpenerDirector

OCI_INDEX = "application/vnd.oci.image.index.v1+json"
DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
ACCEPT = ", ".join((OCI_INDEX, DOCKER_LIST, OCI_MANIFEST, DOCKER_MANIFEST))
HUB_HOST = "registry-1.docker.io"
_LARGEST = 8 * 1024 * 1024
_REDIRECTS = 5
_TRIES = 3
_CHUNK = 64 * 1024
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
        host, path = ref.registry, ref.path
        if host in (DOCKER_HUB, "index.docker.io"):
            host, path = HUB_HOST, path if "/" in path else f"library/{path}"
        scheme = "http" if host in self._plain else "https"
        url = f"{scheme}://{host}/v2/{path}/{below}"
        headers = {"Accept": accept}
        key = (host, path)
        if key in self._authorized:
            headers["Authorization"] = self._authorized[key]
        status, answer, data = self._follow(url, headers)
        if status == 401:
            self._authorized[key] = self._authorize(ref, host, path, answer)
            headers["Authorization"] = self._authorized[key]
            status, answer, data = self._follow(url, headers)
        if status == 200:
            return data, answer
        raise _refused(ref, url, status, data)

    def _authorize(self, ref: ImageRef, host: str, path: str, answer: Mapping[str, str]) -> str:
        """The Authorization header that the challenge asks for."""
        from urllib.parse import urlencode

        try:
            login = self._config.login(ref.registry, path)
        except AicrError as error:
            raise RegistryError("unauthorised", f"{ref.text}: {error.message}") from None
        challenge = answer.get("www-authenticate", "")
        scheme, _, rest = challenge.partition(" ")
        if scheme.lower() == "basic":
            if login is None:
                raise _no_login(ref, host, self._config)
            return login.basic
        if scheme.lower() != "bearer":
            raise RegistryError(
                "unauthorised", f"{ref.text}: {host} asks for {scheme or 'nothing'}"
            )
        words = _parameters(rest)
        realm = words.get("realm", "")
        if not realm.lower().startswith("https://"):
            raise RegistryError(
                "unauthorised", f"{ref.text}: {host} sends to {realm}, tokens need an https address"
            )
        query = {"scope": words.get("scope") or f"repository:{path}:pull"}
        if words.get("service"):
            query["service"] = words["service"]
        headers = {"Accept": "application/json"}
        if login is not None:
            headers["Authorization"] = login.basic
        joined = f"{realm}{'&' if '?' in realm else '?'}{urlencode(query)}"
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

    def _follow(self, url: str, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], bytes]:
        """The answer at the end of the redirects; Authorization stays with its host."""
        from urllib.parse import urljoin, urlsplit

        sent = dict(headers)
        for _ in range(_REDIRECTS + 1):
            status, answer, data = self._tried(url, sent)
            if status not in (301, 302, 303, 307, 308) or not answer.get("location"):
                return status, answer, data
            target = urljoin(url, answer["location"])
            old, new = urlsplit(url), urlsplit(target)
            if new.scheme != "https" and (new.scheme != "http" or old.scheme == "https"):
                raise RegistryError(
                    "unreachable", f"{_shown(url)}: redirects to {_shown(target)}, not followed"
                )
            if (old.scheme, old.netloc) != (new.scheme, new.netloc):
                sent.pop("Authorization", None)
            url = target
        raise RegistryError("unreachable", f"{_shown(url)}: redirects more than {_REDIRECTS} times")

    def _tried(self, url: str, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], bytes]:
        for attempt in range(_TRIES):
            last = attempt == _TRIES - 1
            try:
                status, answer, data = self._once(url, headers)
            except ConnectionError as error:
                if last:
                    raise RegistryError("unreachable", f"{_shown(url)}: {error}") from None
            else:
                if status not in _RETRIED or last:
                    return status, answer, data
            time.sleep(self._wait * 2**attempt)
        raise AssertionError

    def _once(self, url: str, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str], bytes]:
        from http.client import HTTPException
        from urllib.error import URLError
        from urllib.request import Request

        allow.registry("GET")
        self.reads.append(("GET", _shown(url)))
        request = Request(url, headers={"User-Agent": f"aicr/{__version__}", **headers})
        end = time.monotonic() + self._seconds
        try:
            with self._opener(url).open(request, timeout=self._seconds) as answer:
                data = bytearray()
                while piece := answer.read1(_CHUNK):
                    data += piece
                    if len(data) > _LARGEST:
                        raise RegistryError("unreachable", f"{_shown(url)}: too long an answer")
                    if time.monotonic() > end:
                        raise TimeoutError
                found = {key.lower(): value for key, value in answer.headers.items()}
                return int(answer.status), found, bytes(data)
        except TimeoutError:
            raise RegistryError(
                "unreachable", f"{_shown(url)}: no answer within {self._seconds:g} s"
            ) from None
        except URLError as error:
            reason = error.reason
            if isinstance(reason, TimeoutError):
                raise RegistryError(
                    "unreachable", f"{_shown(url)}: no answer within {self._seconds:g} s"
                ) from None
            if isinstance(reason, ConnectionError):
                raise reason from None
            raise RegistryError("unreachable", f"{_shown(url)}: {reason}") from None
        except (HTTPException, OSError, ValueError) as error:
            if isinstance(error, ConnectionError):
                raise
            text = str(error) or type(error).__name__
            raise RegistryError("unreachable", f"{_shown(url)}: {text}") from None

    def _opener(self, url: str) -> OpenerDirector:
        """An opener without redirects and without exceptions for statuses, for one host."""
        from urllib.parse import urlsplit
        from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler

        host = urlsplit(url).netloc
        opener = self._openers.get(host)
        if opener is None:
            opener = OpenerDirector()
            context = tls_context(host, self._ca, certs_d=self._certs_d)
            for handler in (ProxyHandler(), HTTPHandler(), HTTPSHandler(context=context)):
                opener.add_handler(handler)
            self._openers[host] = opener
        return opener


def _refused(ref: ImageRef, url: str, status: int, data: bytes) -> RegistryError:
    said = _message(data)
    if status == 404:
        return RegistryError("not-found", f"{ref.text}: {_shown(url)} answered 404{said}")
    if status in (401, 403):
        return RegistryError("unauthorised", f"{ref.text}: {_shown(url)} answered {status}{said}")
    return RegistryError("unreachable", f"{ref.text}: {_shown(url)} answered {status}{said}")


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


def _parameters(text: str) -> dict[str, str]:
    """The parameters of a challenge: ``key="value"``, separated by commas."""
    import re

    return {
        key.lower(): quoted or plain
        for key, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|([^\s,]+))', text)
    }


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


def _shown(url: str) -> str:
    return url.partition("?")[0]
