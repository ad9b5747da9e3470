"""Which cluster is meant and as whom it is asked: the one entry of the kubeconfigs that counts.

The order is kubectl's: the file that is named, ``KUBECONFIG`` (several files merged, the first one
that says something wins), ``~/.kube/config``, then the service account of the pod.
"""

from __future__ import annotations

import os

from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

DEFAULT_KUBECONFIG = "~/.kube/config"
IN_CLUSTER = "in-cluster"
# What names a file, relative to the kubeconfig that names it.
_CLUSTER_FILES = ("certificate-authority",)
_USER_FILES = ("client-certificate", "client-key", "tokenFile")


class Place:
    """Where the credentials come from: ``files`` and the ``context`` in them; no files is the
    service account of the pod. ``user`` and ``cluster`` are the kubeconfig's entries, the files
    that they name by full paths; ``origin`` is the kubeconfig that ``user`` stands in."""

    __slots__ = ("cluster", "context", "files", "origin", "user")

    def __init__(
        self,
        files: Sequence[str],
        context: str,
        *,
        user: Mapping[str, Any] | None = None,
        cluster: Mapping[str, Any] | None = None,
        origin: str = "",
    ) -> None:
        self.files = files
        self.context = context
        self.user = user or {}
        self.cluster = cluster or {}
        self.origin = origin

    def __str__(self) -> str:
        return ", ".join(self.files) or "the pod's service account"


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
    details = _entry(documents, "contexts", chosen, where)[1]
    origin, server = _entry(documents, "clusters", str(details.get("cluster", "")), where)
    server = _with_full_paths(server, _CLUSTER_FILES, origin)
    if not server.get("server"):
        raise invalid(f'{where}: the cluster of context "{chosen}" has no server')
    user: Mapping[str, Any] = {}
    if details.get("user"):
        origin, user = _entry(documents, "users", str(details["user"]), where)
        user = _with_full_paths(user, _USER_FILES, origin)
    return Place(files, chosen, user=user, cluster=server, origin=origin)


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
    """The file with the entry of this name, and what the entry holds; the first file wins."""
    kind = section.removesuffix("s")
    for path, document in documents:
        for one in _listed(document, section):
            if isinstance(one, dict) and one.get("name") == name:
                held = one.get(kind) or {}
                if not isinstance(held, dict):
                    raise invalid(f'{path}: {kind} "{name}" must be a map')
                return path, held
    raise invalid(f'{where}: there is no {kind} "{name}"', hint=_known(section, documents))


def _known(section: str, documents: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    names = [
        str(one.get("name"))
        for _, document in documents
        for one in _listed(document, section)
        if isinstance(one, dict)
    ]
    return f"{section} there: {', '.join(names) or 'none'}"


def _listed(document: Mapping[str, Any], section: str) -> Sequence[Any]:
    found = document.get(section)
    return found if isinstance(found, list) else ()


def _with_full_paths(
    held: Mapping[str, Any], names: Sequence[str], origin: str
) -> Mapping[str, Any]:
    folder = os.path.abspath(os.path.dirname(origin))
    paths = {name: os.path.join(folder, str(held[name])) for name in names if held.get(name)}
    return {**held, **paths}
