"""How a cluster is reached, and as whom: a pool of connections, and the headers of a request.

The service account of a pod and the pool itself are the kubernetes client's part.
"""

from __future__ import annotations

from aicr.cluster.proxies import proxy_for
from aicr.cluster.tls import certificate_of, tls_of, trusting
from aicr.errors import UNAUTHORIZED, AicrError, install, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from ssl import SSLContext
    from typing import Any

    from urllib3 import HTTPHeaderDict, PoolManager

    from aicr.cluster.kubeconfig import Place
    from aicr.cluster.plugin import Credential

MISSING = f"talking to a cluster needs the kubernetes client; {install('cluster')}"
# Where the client keeps the token: its name changed between editions.
_TOKEN_KEYS = ("BearerToken", "authorization")
_PROVIDERS_GONE = "kubectl has dropped it too; use the credential plugin (exec) that replaced it"


class Access:
    """How the cluster is reached: ``server``, a ``pool`` of connections to it and their ``tls``
    (None without). ``rejected`` is the header that the server refused ("" for none at all), None
    where it did not; ``on_note`` gets what a person should know."""

    __slots__ = (
        "_certificate",
        "_configuration",
        "_credential",
        "_on_note",
        "_place",
        "pool",
        "server",
        "tls",
    )

    def __init__(
        self, place: Place, rejected: str | None = None, *, on_note: Callable[[str], None]
    ) -> None:
        _kubernetes("kubernetes.client.rest")
        self._place = place
        self._on_note = on_note
        self._credential = self._obtained(rejected)
        self._configuration = _configuration(place)
        self.server: str = self._configuration.host.rstrip("/")
        self._connect()
        if not self.verifies_tls:  # said once by the connection, not by each request
            urllib3 = _kubernetes("urllib3")
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)

    def _connect(self) -> None:
        self.tls: SSLContext | None = None
        if self.server.startswith("https"):
            self.tls = tls_of(self._place, self._configuration, self._credential)
        self._certificate = certificate_of(self._place, self._credential)
        rest = _kubernetes("kubernetes.client.rest")
        self.pool: PoolManager = _pool(rest, self._configuration, self.tls)

    @property
    def verifies_tls(self) -> bool:
        return bool(self._configuration.verify_ssl)

    @property
    def server_name(self) -> str:
        """The name that the server's certificate must have; "" for that of its address."""
        return str(self._place.cluster.get("tls-server-name") or "")

    def headers(self) -> HTTPHeaderDict:
        """The headers that say who asks, as of now: a token may have been renewed meanwhile."""
        headers: HTTPHeaderDict = _kubernetes("urllib3").HTTPHeaderDict()
        token = self._token()
        if token:
            if not token.isascii() or not token.isprintable():
                raise AicrError(
                    UNAUTHORIZED,
                    f"context {self._place.context}: the token has other characters"
                    " than a token may have",
                )
            headers["Authorization"] = token
        _impersonate(self._place, headers)
        return headers

    def shown(self) -> tuple[str, bytes]:
        """What tells the server who asks: the header, and the certificate."""
        return str(self.headers().get("Authorization") or ""), self._certificate

    def _token(self) -> str:
        user = self._place.user
        if user.get("tokenFile"):
            return f"Bearer {_text_of(str(user['tokenFile']), 'token file')}"
        if self._credential is not None and self._credential.is_over:
            self._credential = self._obtained(None)
            self._connect()
        if self._credential is not None:
            return f"Bearer {self._credential.token}" if self._credential.token else ""
        configuration = self._configuration
        if configuration.refresh_api_key_hook is not None:
            configuration.refresh_api_key_hook(configuration)
        for key in _TOKEN_KEYS:
            if configuration.api_key.get(key):
                return str(configuration.api_key[key]).strip()
        return ""

    def _obtained(self, rejected: str | None) -> Credential | None:
        """What a plugin or an issuer gives; None where the kubeconfig itself says who asks."""
        user = self._place.user
        if user.get("token") or user.get("tokenFile"):
            return None
        if user.get("auth-provider"):
            return self._of_issuer((rejected or "").removeprefix("Bearer "))
        if user.get("exec"):
            from aicr.cluster.plugin import ask_plugin

            return ask_plugin(self._place, rejected=rejected is not None)
        return None

    def _of_issuer(self, rejected: str) -> Credential:
        provider = self._place.user["auth-provider"]
        name = provider.get("name") if isinstance(provider, dict) else ""
        if name != "oidc":
            raise AicrError(
                UNAUTHORIZED,
                f"context {self._place.context}: the auth-provider {name} is not supported",
                hint=_PROVIDERS_GONE,
            )
        from aicr.cluster.oidc import id_token

        return id_token(self._place, _issuer_pool, rejected=rejected, on_note=self._on_note)


def _configuration(place: Place) -> Any:
    """The kubernetes client's configuration for this place, without its certificates."""
    client = _kubernetes("kubernetes.client")
    configuration = client.Configuration()
    if not place.files:
        config = _kubernetes("kubernetes.config")
        try:
            config.load_incluster_config(client_configuration=configuration)
        except (config.ConfigException, OSError, ValueError) as error:
            raise invalid(f"{place}: {error}") from None
        return configuration
    cluster, user = place.cluster, place.user
    configuration.host = str(cluster["server"]).rstrip("/")
    configuration.verify_ssl = not cluster.get("insecure-skip-tls-verify")
    configuration.tls_server_name = cluster.get("tls-server-name")
    if user.get("token"):
        configuration.api_key[_TOKEN_KEYS[0]] = f"Bearer {user['token']}"
    elif user.get("username") and user.get("password"):
        basic = _kubernetes("urllib3").make_headers(
            basic_auth=f"{user['username']}:{user['password']}"
        )
        configuration.api_key[_TOKEN_KEYS[0]] = basic["authorization"]
    # What is said for one cluster holds whatever the environment says.
    proxy = str(cluster.get("proxy-url") or "") or proxy_for(configuration.host)
    configuration.proxy, configuration.no_proxy = proxy or None, None
    return configuration


def _pool(rest: Any, configuration: Any, tls: SSLContext | None) -> PoolManager:
    from importlib.util import find_spec
    from urllib.parse import unquote, urlsplit

    urllib3 = _kubernetes("urllib3")
    if configuration.proxy:
        proxy = urlsplit(configuration.proxy)
        if proxy.username:
            known = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
            configuration.proxy_headers = urllib3.make_headers(proxy_basic_auth=known)
    scheme = str(configuration.proxy).partition("://")[0]
    if scheme.startswith("socks") and find_spec("socks") is None:
        raise invalid(
            f"the proxy of {configuration.host}: {scheme}:// needs PySocks, which is not installed",
            hint="pip install 'urllib3[socks]'",
        )
    try:
        pool: PoolManager = rest.RESTClientObject(configuration).pool_manager
    except (ValueError, urllib3.exceptions.HTTPError):
        raise invalid(
            f"the proxy of {configuration.host}: {scheme}:// is no way to a proxy",
            hint="expected http:// or https://",
        ) from None
    if tls is not None:
        pool.connection_pool_kw["ssl_context"] = tls
        for name in ("ca_certs", "cert_file", "key_file"):
            pool.connection_pool_kw.pop(name, None)
    return pool


def _issuer_pool(address: str, authority: str, data: bytes) -> PoolManager:
    """Connections to an issuer of tokens, verified whatever the cluster's own are."""
    configuration = _kubernetes("kubernetes.client").Configuration()
    configuration.host = address
    configuration.verify_ssl = True
    configuration.proxy, configuration.no_proxy = proxy_for(address) or None, None
    tls = trusting(authority, data, f"the OIDC issuer {address}")
    return _pool(_kubernetes("kubernetes.client.rest"), configuration, tls)


def _impersonate(place: Place, headers: HTTPHeaderDict) -> None:
    user = place.user
    if user.get("as"):
        headers["Impersonate-User"] = str(user["as"])
    if user.get("as-uid"):
        headers["Impersonate-Uid"] = str(user["as-uid"])
    for group in user.get("as-groups") or ():
        headers.add("Impersonate-Group", str(group))
    if user.get("as-user-extra"):
        raise invalid(
            f"context {place.context}: as-user-extra is not supported", hint="use another user"
        )


def _text_of(path: str, what: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except (OSError, ValueError):
        raise AicrError(UNAUTHORIZED, f"the {what} {path} cannot be read") from None


def _kubernetes(module: str) -> Any:
    """A module of the optional client; imported here only, since it is slow to import."""
    try:
        from importlib import import_module

        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("kubernetes", "urllib3", "yaml"):
            raise
        raise invalid(MISSING) from None
