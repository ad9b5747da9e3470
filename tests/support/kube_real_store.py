"""The objects of a real API server, as ``Store`` has those of the double; and its audit log."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from kube_double_kinds import RBAC, Kind, Object, StatusError
from kube_double_rbac import User
from kube_double_request import Request
from kube_double_store import Store

if TYPE_CHECKING:
    from kube_real import KubeReal

_OF_THE_SERVER = (
    "uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "selfLink",
)  # fmt: skip
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
# What is swept away between two tests; namespaces stay, nothing here could finish their end.
_SWEPT = (
    ("", "secrets"), ("", "configmaps"), ("", "pods"), ("", "nodes"), (RBAC, "clusterrolebindings"),
    (RBAC, "rolebindings"), (RBAC, "clusterroles"), (RBAC, "roles"), ("apps", "daemonsets"),
    ("apps", "deployments"),
)  # fmt: skip
_BOOTSTRAP = "kubernetes.io/bootstrapping"


class RealStore:
    """Objects through the API; ``changed`` is whether any was touched since it was last False."""

    def __init__(self, server: KubeReal) -> None:
        self.changed = True
        self._server = server
        self._known = Store()
        self._defined: dict[str, Kind] = {}

    def kind(self, group: str, plural: str) -> Kind:
        return self._known.kind(group, plural)

    def kind_of(self, item: Mapping[str, Any]) -> Kind:
        return self._known.kind_of(item)

    def define(self, crd: Mapping[str, Any]) -> Kind:
        from kube_real import until

        kind = self._known.define(crd)
        name = f"{kind.plural}.{kind.group}"
        if name in self._defined:
            return kind
        self.changed = True
        self._server.ask("POST", _CRDS, _whole_crd(crd, name), (201,))
        self._defined[name] = kind
        until(lambda: self._is_served(kind), f"{name} is served")
        return kind

    def seed(self, kind: Kind, *items: Mapping[str, Any]) -> None:
        self.changed = True
        for item in items:
            meta = {k: v for k, v in item["metadata"].items() if k not in _OF_THE_SERVER}
            namespace = meta.get("namespace", "")
            if namespace:
                self._server.namespace(namespace)
            body = {**item, "apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}
            try:
                made = self._server.ask("POST", _path(kind, namespace), body, (201,))
            except StatusError as error:
                if error.code != 409:
                    raise
                made = self.update(kind, namespace, meta["name"], body)
            if item.get("status") and made.get("status") != item["status"]:
                # A server that keeps the status apart leaves it out of what is created.
                path = f"{_path(kind, namespace, meta['name'])}/status"
                self._server.ask("PUT", path, {**made, "status": item["status"]}, (200,))

    def apply(self, *items: Mapping[str, Any]) -> None:
        for item in items:
            self.seed(self.kind_of(item), item)

    def all(self, kind: Kind) -> list[Object]:
        return list(self._server.ask("GET", _path(kind, ""), None, (200,))["items"])

    def get(self, kind: Kind, namespace: str, name: str) -> Object:
        found: Object = self._server.ask("GET", _path(kind, namespace, name), None, (200,))
        return found

    def find(self, kind: Kind, namespace: str, name: str) -> Object | None:
        try:
            return self.get(kind, namespace, name)
        except StatusError as error:
            if error.code == 404:
                return None
            raise

    def update(self, kind: Kind, namespace: str, name: str, body: Mapping[str, Any]) -> Object:
        self.changed = True
        old = self.get(kind, namespace, name)["metadata"]
        meta = {**(body.get("metadata") or {}), "name": name}
        meta["resourceVersion"] = old["resourceVersion"]
        if namespace:
            meta["namespace"] = namespace
        whole = {**body, "apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}
        found: Object = self._server.ask("PUT", _path(kind, namespace, name), whole, (200,))
        return found

    def delete(self, kind: Kind, namespace: str, name: str) -> None:
        self.changed = True
        one = self.get(kind, namespace, name)
        if one["metadata"].pop("finalizers", None):  # nobody is here to do what they wait for
            self.update(kind, namespace, name, one)
        now = "?gracePeriodSeconds=0" if kind.plural == "pods" else ""
        path = _path(kind, namespace, name) + now
        self._server.ask("DELETE", path, None, (200, 202))

    def sweep(self, keep: Iterable[str] = ()) -> None:
        """Take everything away that a test can have left, but for the definitions to keep."""
        from kube_real import until

        self.changed = True
        kinds = [self.kind(group, plural) for group, plural in _SWEPT]
        kinds += self._defined.values()
        gone: list[tuple[str, Mapping[str, Any], str]] = []
        for kind in kinds:
            for item in self.all(kind):
                meta = item["metadata"]
                namespace = meta.get("namespace", "")
                own = namespace.startswith("kube-") or meta["name"].startswith("system:")
                if own or _BOOTSTRAP in (meta.get("labels") or {}):
                    continue
                if kind.plural.endswith("bindings"):
                    role = self._role(item)
                    gone += [(who["name"], role, namespace) for who in item.get("subjects") or ()]
                self.delete(kind, namespace, meta["name"])
        for name in [name for name in self._defined if name not in keep]:
            kind = self._defined.pop(name)
            self._server.ask("DELETE", f"{_CRDS}/{name}", None, (200,))
            until(lambda kind=kind: not self._is_served(kind), f"{name} is gone")  # type: ignore[misc]
        for user, role, namespace in gone:
            self._server.denied(user, role, namespace)

    def _role(self, binding: Mapping[str, Any]) -> Mapping[str, Any]:
        ref = binding["roleRef"]
        plural = "clusterroles" if ref["kind"] == "ClusterRole" else "roles"
        home = "" if plural == "clusterroles" else binding["metadata"]["namespace"]
        return self.find(self.kind(RBAC, plural), home, ref["name"]) or {"rules": []}

    def _is_served(self, kind: Kind) -> bool:
        """Whether the resource is listed, by discovery too."""
        try:
            self._server.ask("GET", _path(kind, ""), None, (200,))
            root = _path(kind, "").rpartition("/")[0]
            found = self._server.ask("GET", root, None, (200,))["resources"]
        except StatusError:
            return False
        except ValueError:  # the 404 of an absent group is no JSON
            return False
        return any(one["name"] == kind.plural for one in found)


def audited(store: RealStore, lines: Iterable[bytes]) -> list[Request]:
    """What this tool asked, of an audit log."""
    found: list[Request] = []
    for line in lines:
        event = json.loads(line)
        if not event.get("userAgent", "").startswith("aicr/"):
            continue
        url = urlsplit(event["requestURI"])
        about = event.get("objectRef") or {}
        known = store._known.kinds.get((about.get("apiGroup", ""), about.get("resource", "")))
        verb = event["verb"] if about else ""
        found.append(
            Request(
                {"create": "POST", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}.get(
                    event["verb"], "GET" if event["verb"] in ("get", "list", "watch") else "?"
                ),
                url.path,
                {key: values[-1] for key, values in parse_qs(url.query).items()},
                verb,
                known or Kind(about.get("apiGroup", ""), "", about.get("resource", ""), ""),
                about.get("namespace", ""),
                about.get("name", ""),
                about.get("subresource", ""),
                "",
                User(event["user"].get("username", ""), tuple(event["user"].get("groups") or ())),
                {"User-Agent": event["userAgent"]},
                b"",
            )
        )
    return found


def _path(kind: Kind, namespace: str, name: str = "") -> str:
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    inside = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{inside}/{kind.plural}" + (f"/{name}" if name else "")


def _whole_crd(crd: Mapping[str, Any], name: str) -> Object:
    """The definition with what a real server insists on."""
    spec = crd["spec"]
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    versions = [
        {"served": True, "storage": number == 0, "schema": schema, **version}
        for number, version in enumerate(spec["versions"])
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {**spec, "versions": versions},
    }
