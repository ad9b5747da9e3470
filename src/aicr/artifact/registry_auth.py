"""Who asks a registry: credentials of a docker configuration, its helpers, and TLS material."""

from __future__ import annotations

import base64
import binascii
import json
import os

from aicr.errors import UNAUTHORIZED, AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

CERTS_D = "/etc/docker/certs.d"
HUB_KEYS = ("index.docker.io", "https://index.docker.io/v1/", "docker.io", "registry-1.docker.io")
_HELPER_SECONDS = 30.0


class Login:
    """A name and a password; ``source`` says where they came from."""

    __slots__ = ("name", "password", "source")

    def __init__(self, name: str, password: str, source: str) -> None:
        self.name = name
        self.password = password
        self.source = source

    @property
    def basic(self) -> str:
        text = f"{self.name}:{self.password}".encode()
        return "Basic " + base64.b64encode(text).decode("ascii")


class DockerConfig:
    """What a docker configuration file says of logins."""

    def __init__(self, path: str, document: Mapping[str, object]) -> None:
        self.path = path
        self._auths = _map(document.get("auths"))
        self._helpers = _map(document.get("credHelpers"))
        self._store = str(document.get("credsStore") or "")

    def login(self, host: str, repository: str) -> Login | None:
        """The login for a registry; of several the one for the longest path. Raises UNAUTHORIZED
        where a helper fails."""
        keys = HUB_KEYS if host == "docker.io" else (host,)
        for key in keys:
            helper = self._helpers.get(key) or self._store
            if helper:
                found = _from_helper(str(helper), key)
                if found is not None:
                    return found
        best: tuple[int, str, Mapping[str, object]] | None = None
        for key, value in self._auths.items():
            server = key.partition("://")[2] or key
            name, _, path = server.rstrip("/").partition("/")
            if path in ("v1", "v2"):
                path = ""
            if name not in {one.partition("://")[2].partition("/")[0] or one for one in keys}:
                continue
            if path and repository != path and not repository.startswith(path + "/"):
                continue
            if best is None or len(path) > best[0]:
                best = (len(path), key, _map(value))
        return None if best is None else self._decoded(best[1], best[2])

    def _decoded(self, key: str, entry: Mapping[str, object]) -> Login | None:
        where = f"{self.path}: auths[{key}]"
        if entry.get("identitytoken"):
            raise AicrError(
                UNAUTHORIZED,
                f"{where}: an identity token, which only a POST could turn into a password",
                hint="log in with a name and a password, or an API key",
            )
        name, password = str(entry.get("username") or ""), str(entry.get("password") or "")
        if entry.get("auth"):
            try:
                text = base64.b64decode(str(entry["auth"]), validate=True).decode("utf-8")
            except (binascii.Error, UnicodeDecodeError):
                raise invalid(f"{where}: auth is not base64") from None
            name, _, password = text.partition(":")
        return Login(name, password.rstrip("\0"), where) if name else None


def read_docker_config(path: str | None) -> DockerConfig:
    """The configuration at ``path``, else docker's own, which may be absent."""
    folder = os.environ.get("DOCKER_CONFIG") or os.path.expanduser("~/.docker")
    chosen = path or os.path.join(folder, "config.json")
    if path is None and not os.path.exists(chosen):
        return DockerConfig(chosen, {})
    try:
        with open(chosen, "rb") as file:
            document = json.load(file)
    except OSError as error:
        flag = "--registry-config " if path else ""
        raise invalid(f"{flag}{chosen}: {error.strerror or error}") from None
    except ValueError:
        raise invalid(f"{chosen}: is no JSON, a docker configuration was expected") from None
    if not isinstance(document, dict):
        raise invalid(f"{chosen}: a docker configuration must be a map")
    return DockerConfig(chosen, document)


def tls_context(host: str, ca: str | None, *, certs_d: str = CERTS_D) -> ssl.SSLContext:
    """How the certificate of ``host`` is checked: the system's store, docker's folder for this
    host (with its client certificates), and the file of ``--registry-ca``."""
    import ssl

    context = ssl.create_default_context()
    folder = os.path.join(certs_d, host)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        names = []
    try:
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".crt"):
                context.load_verify_locations(path)
            elif name.endswith(".cert"):
                context.load_cert_chain(path, path[: -len(".cert")] + ".key")
        if ca:
            context.load_verify_locations(ca)
    except (OSError, ssl.SSLError) as error:
        raise invalid(f"the certificates for {host} cannot be read: {error}") from None
    return context


def _from_helper(helper: str, server: str) -> Login | None:
    """Ask ``docker-credential-<helper>``. It gets no terminal: one that wants it fails."""
    import subprocess

    command = f"docker-credential-{helper}"
    if os.sep in helper:
        raise invalid(f"the credential helper {helper!r} must be a name, not a path")
    try:
        done = subprocess.run(
            [command, "get"],
            input=server,
            capture_output=True,
            encoding="utf-8",
            timeout=_HELPER_SECONDS,
            start_new_session=True,
            check=False,
        )
        said = json.loads(done.stdout) if done.returncode == 0 else None
    except FileNotFoundError:
        raise AicrError(UNAUTHORIZED, f"{command}: is not installed") from None
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise AicrError(UNAUTHORIZED, f"{command}: {type(error).__name__}") from None
    if said is None:
        text = f"{done.stdout} {done.stderr}"
        if "not found" in text:
            return None
        raise AicrError(UNAUTHORIZED, f"{command}: failed for {server} (exit {done.returncode})")
    name = str(_map(said).get("Username") or "")
    if name == "<token>":
        raise AicrError(UNAUTHORIZED, f"{command}: gave an identity token, which is not used here")
    return Login(name, str(_map(said).get("Secret") or ""), command) if name else None


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
