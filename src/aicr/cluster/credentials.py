"""Which cluster is meant, and as whom it is asked: kubeconfig, context, or the pod's own account.

The order is kubectl's: the file that is named, ``KUBECONFIG`` (several files merged, the first one
that says something wins), ``~/.kube/config``, then the service account of the pod. Reading
credentials is the kubernetes client's part: exec plugins, OIDC, certificates, tokens, proxies.
"""

from __future__ import annotations

import logging
import os

from aicr.errors import UNAUTHORIZED, AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from urllib3 import PoolManager

DEFAULT_KUBECONFIG = "~/.kube/config"
IN_CLUSTER = "in-cluster"
MISSING = (
    "talking to a cluster needs the kubernetes client, which is not installed: pip install "
    "'aicr[cluster]'"
)
# Where the client keeps the token: its name changed between editions.
_TOKEN_KEYS = ("BearerToken", "authorization")


class Place:
    """Where the credentials come from: ``files`` and the ``context`` in them; no files is the
    service account of the pod. ``user`` and ``cluster`` are the kubeconfig's entries."""

    __slots__ = ("cluster", "context", "files", "folder", "user")

    def __init__(
        self,
        files: Sequence[str],
        context: str,
        *,
        user: Mapping[str, Any] | None = None,
        cluster: Mapping[str, Any] | None = None,
        folder: str = "",
    ) -> None:
        self.files = files
        self.context = context
        self.user = user or {}
        self.cluster = cluster or {}
        self.folder = folder


class Access:
    """How the cluster is reached: ``server``, and a pool of connections to it."""

    __slots__ = ("_configuration", "_place", "pool", "server")

    def __init__(self, place: Place) -> None:
        rest = _kubernetes("kubernetes.client.rest")
        self._place = place
        self._configuration = _configuration(place)
        self.server: str = self._configuration.host.rstrip("/")
        self.pool: PoolManager = rest.RESTClientObject(self._configuration).pool_manager
        if not self.verifies_tls:  # said once by the connection, not by each request
            urllib3 = _kubernetes("urllib3")
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)

    @property
    def verifies_tls(self) -> bool:
        return bool(self._configuration.verify_ssl)

    def headers(self) -> dict[str, str]:
        """The headers that say who asks, as of now: a token may have been renewed meanwhile."""
        headers: dict[str, str] = {}
        token = self._token()
        if token:
            if not token.isascii() or not token.isprintable():
                raise AicrError(
                    UNAUTHORIZED,
                    f"context {self._place.context}: the token has other characters"
                    " than a token may have",
                )
            headers["Authorization"] = token
        user = self._place.user
        if user.get("as"):
            headers["Impersonate-User"] = str(user["as"])
        return headers

    def _token(self) -> str:
        path = self._place.user.get("tokenFile")
        if path:
            return f"Bearer {_token_file(os.path.join(self._place.folder, str(path)))}"
        configuration = self._configuration
        if configuration.refresh_api_key_hook is not None:
            with _Overheard() as overheard:
                configuration.refresh_api_key_hook(configuration)
            if overheard.said:
                raise _no_credentials(self._place, overheard.said)
        for key in _TOKEN_KEYS:
            if configuration.api_key.get(key):
                return str(configuration.api_key[key]).strip()
        return ""


def find_place(kubeconfig: str | None, context: str | None) -> Place:
    """Where to find the credentials.

    Raises INVALID_REQUEST where a named file or context is not there, and where nothing is.
    """
    files = _kubeconfigs(kubeconfig)
    if not files:
        if os.environ.get("KUBERNETES_SERVICE_HOST"):
            if context:
                raise invalid(
                    f"--context {context}: there is no kubeconfig, only the pod's account"
                )
            return Place((), IN_CLUSTER)
        raise invalid(
            f"no kubeconfig: {DEFAULT_KUBECONFIG} is not there and KUBECONFIG is not set",
            hint="pass --kubeconfig FILE",
        )
    documents = [(path, _document(path)) for path in files]
    chosen = context or next(
        (str(doc["current-context"]) for _, doc in documents if doc.get("current-context")), ""
    )
    where = ", ".join(files)
    if not chosen:
        raise invalid(f"{where}: no current-context", hint=_known("contexts", documents))
    _, entry = _entry(documents, "contexts", chosen, where)
    details = entry.get("context") or {}
    origin, cluster = _entry(documents, "clusters", str(details.get("cluster", "")), where)
    user: Mapping[str, Any] = {}
    if details.get("user"):
        origin, found = _entry(documents, "users", str(details["user"]), where)
        user = found.get("user") or {}
    server = cluster.get("cluster") or {}
    if not server.get("server"):
        raise invalid(f'{where}: the cluster of context "{chosen}" has no server')
    return Place(
        files,
        chosen,
        user=user,
        cluster=server,
        folder=os.path.abspath(os.path.dirname(origin)),
    )


def _kubeconfigs(named: str | None) -> list[str]:
    if named:
        path = os.path.expanduser(named)
        if not os.path.isfile(path):
            raise invalid(f"--kubeconfig {named}: there is no such file")
        return [path]
    listed = [path for path in os.environ.get("KUBECONFIG", "").split(os.pathsep) if path]
    if listed:
        # Like kubectl: files that are not there are passed over, unless none is.
        found = [path for path in map(os.path.expanduser, listed) if os.path.isfile(path)]
        if not found:
            raise invalid(f"KUBECONFIG names no file that is there: {', '.join(listed)}")
        return found
    default = os.path.expanduser(DEFAULT_KUBECONFIG)
    return [default] if os.path.isfile(default) else []


def _document(path: str) -> Mapping[str, Any]:
    import yaml

    try:
        with open(path, encoding="utf-8") as file:
            found = yaml.safe_load(file)
    except (OSError, ValueError, yaml.YAMLError) as error:
        # What the parser quotes may be a credential.
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        at = f":{line + 1}" if isinstance(line, int) else ""
        raise invalid(f"{path}{at}: cannot be read as a kubeconfig") from None
    if not isinstance(found, dict):
        raise invalid(f"{path}: a kubeconfig must be a map")
    return found


def _entry(
    documents: Sequence[tuple[str, Mapping[str, Any]]], section: str, name: str, where: str
) -> tuple[str, Mapping[str, Any]]:
    """The file and the entry of this name; the first file that has it wins."""
    for path, document in documents:
        for one in document.get(section) or ():
            if isinstance(one, dict) and one.get("name") == name:
                return path, one
    kind = section.removesuffix("s")
    raise invalid(f'{where}: there is no {kind} "{name}"', hint=_known(section, documents))


def _known(section: str, documents: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    names = [
        str(one.get("name"))
        for _, document in documents
        for one in document.get(section) or ()
        if isinstance(one, dict)
    ]
    return f"{section} there: {', '.join(names) or 'none'}"


def _configuration(place: Place) -> Any:
    """The kubernetes client's configuration for this place."""
    client = _kubernetes("kubernetes.client")
    config = _kubernetes("kubernetes.config")
    configuration = client.Configuration()
    with _Overheard() as overheard:
        try:
            if place.files:
                config.load_kube_config(
                    config_file=os.pathsep.join(place.files),
                    context=place.context,
                    client_configuration=configuration,
                )
            else:
                config.load_incluster_config(client_configuration=configuration)
        except config.ConfigException as error:
            # The client's words may go on with the whole entry, credentials and all.
            said = str(error).split("{", 1)[0]
            raise invalid(f"{_shown(place)}: {said}") from None
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise invalid(
                f"{_shown(place)}: the entries of context {place.context} cannot be used "
                f"({type(error).__name__})"
            ) from None
    if place.cluster.get("proxy-url"):  # passed over by older editions of the client
        configuration.proxy = place.cluster["proxy-url"]
    given = any(configuration.api_key.get(key) for key in _TOKEN_KEYS) or configuration.cert_file
    if "exec" in place.user and not given:
        raise _no_credentials(place, overheard.said)
    return configuration


def _shown(place: Place) -> str:
    return ", ".join(place.files) or "the pod's service account"


def _token_file(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except (OSError, ValueError):
        raise AicrError(UNAUTHORIZED, f"the token file {path} cannot be read") from None


def _no_credentials(place: Place, said: Sequence[str]) -> AicrError:
    command = str((place.user.get("exec") or {}).get("command", ""))
    source = f"the credential plugin {command}" if command else "the credential provider"
    because = f": {'; '.join(said)}" if said else ""
    return AicrError(
        UNAUTHORIZED,
        f"context {place.context}: {source} gave no credentials{because}",
        hint="log in as you would for kubectl, then try again",
    )


def _kubernetes(module: str) -> Any:
    """A module of the optional client; imported here only, since it is slow to import."""
    try:
        from importlib import import_module

        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("kubernetes", "urllib3", "yaml"):
            raise
        raise invalid(MISSING) from None


class _Overheard(logging.Handler):
    """Collects what the client logs as errors instead of raising them."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())

    def __enter__(self) -> _Overheard:
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)
