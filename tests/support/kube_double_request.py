"""What a request to the Kubernetes double is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from kube_double_kinds import Kind
from kube_double_rbac import User
from kube_double_store import Store

_NAMESPACED = re.compile(r"/namespaces/([^/]+)/([^/]+)(?:/([^/]+))?(?:/([^/]+))?(/.*)?")
_PLAIN = re.compile(r"/([^/]+)(?:/([^/]+))?(?:/([^/]+))?(/.*)?")


class Request(NamedTuple):
    """A request as the server saw it; ``verb`` is "" for what is no resource."""

    method: str
    path: str
    query: Mapping[str, str]
    verb: str
    kind: Kind | None
    namespace: str
    name: str
    subresource: str
    rest: str
    user: User | None
    headers: Mapping[str, str]
    body: bytes
    lines: tuple[tuple[str, str], ...] = ()

    @property
    def resource(self) -> str:
        return self.kind.plural if self.kind is not None else ""

    def all_of(self, header: str) -> list[str]:
        """Each value of a header that may come more than once."""
        return [value for name, value in self.lines if name.lower() == header.lower()]


def resource_at(store: Store, path: str) -> tuple[Kind | None, str, str, str, str]:
    """Kind, namespace, name, subresource and what follows it; no kind where there is none."""
    parts = path.split("/")
    if path.startswith("/api/v1/"):
        group, below = "", path[len("/api/v1") :]
    elif path.startswith("/apis/") and len(parts) > 4:
        group, below = parts[2], path[len("/".join(parts[:4])) :]
    else:
        return None, "", "", "", ""
    found = _NAMESPACED.fullmatch(below)
    if found and (group, found[2]) in store.kinds:
        kind = store.kind(group, found[2])
        return kind, found[1], found[3] or "", found[4] or "", found[5] or ""
    found = _PLAIN.fullmatch(below)
    if found and (group, found[1]) in store.kinds:
        kind = store.kind(group, found[1])
        namespace = found[2] or "" if kind.kind == "Namespace" else ""
        return kind, namespace, found[2] or "", found[3] or "", found[4] or ""
    return None, "", "", "", ""
