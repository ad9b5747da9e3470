"""What the Kubernetes double stores: objects by kind, in the order of their storage keys.

Lists are paged from the state as of their first page, as a real server does; ``compact`` forgets
those states, after which their continue tokens are too old.
"""

from __future__ import annotations

import base64
import copy
import json
import re
import threading
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Object = dict[str, Any]

MAX_CONFIG_MAP = 1_048_576
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_KEY = re.compile(r"[-._a-zA-Z0-9]+")
_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


class Kind(NamedTuple):
    """A resource of the API."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def custom(self) -> bool:
        return "." in self.group and not self.group.endswith(".k8s.io")


RBAC = "rbac.authorization.k8s.io"
BUILT_IN = (
    Kind("", "v1", "configmaps", "ConfigMap"),
    Kind("", "v1", "events", "Event"),
    Kind("", "v1", "namespaces", "Namespace", False),
    Kind("", "v1", "nodes", "Node", False),
    Kind("", "v1", "pods", "Pod"),
    Kind("", "v1", "secrets", "Secret"),
    Kind("", "v1", "serviceaccounts", "ServiceAccount"),
    Kind("", "v1", "services", "Service"),
    Kind(
        "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", False
    ),
    Kind("apps", "v1", "daemonsets", "DaemonSet"),
    Kind("apps", "v1", "deployments", "Deployment"),
    Kind("apps", "v1", "statefulsets", "StatefulSet"),
    Kind(RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", False),
    Kind(RBAC, "v1", "clusterroles", "ClusterRole", False),
    Kind(RBAC, "v1", "rolebindings", "RoleBinding"),
    Kind(RBAC, "v1", "roles", "Role"),
)  # fmt: skip


class StatusError(Exception):
    """A refusal, as the Status that says so."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Object | None = None,
        metadata: Object | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.body: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata or {},
            "status": "Failure",
            "message": message,
            "reason": reason,
        }
        if details:
            self.body["details"] = details
        self.body["code"] = code


class Page(NamedTuple):
    items: list[Object]
    metadata: Object


class Store:
    """All objects of one double; safe to use from several threads."""

    def __init__(self) -> None:
        self.kinds: dict[tuple[str, str], Kind] = {(k.group, k.plural): k for k in BUILT_IN}
        self.revision = 100
        self.changed = threading.Condition()
        self.compacted = 0
        self._objects: dict[Kind, dict[str, Object]] = {}
        self._states: dict[int, dict[str, Object]] = {}
        self._events: list[tuple[int, Kind, str, Object]] = []

    def kind(self, group: str, plural: str) -> Kind:
        return self.kinds[group, plural]

    def kind_of(self, item: Mapping[str, Any]) -> Kind:
        for kind in self.kinds.values():
            if (kind.api_version, kind.kind) == (item["apiVersion"], item["kind"]):
                return kind
        raise KeyError(f"the double has no kind {item['apiVersion']} {item['kind']}")

    def define(self, crd: Mapping[str, Any]) -> Kind:
        """Serve a custom resource."""
        spec = crd["spec"]
        kind = Kind(
            spec["group"],
            spec["versions"][0]["name"],
            spec["names"]["plural"],
            spec["names"]["kind"],
            spec["scope"] == "Namespaced",
        )
        self.kinds[kind.group, kind.plural] = kind
        return kind

    def seed(self, kind: Kind, *items: Mapping[str, Any]) -> None:
        """Put objects as they are, with whatever metadata they have; no checks."""
        with self.changed:
            for item in items:
                one = copy.deepcopy(dict(item))
                given = one["metadata"].get("resourceVersion")
                self.revision = max(self.revision + 1, int(given or 0))
                one["metadata"].setdefault("uid", str(uuid.uuid4()))
                one["metadata"].setdefault("creationTimestamp", "2026-11-30T16:00:00Z")
                one["metadata"].setdefault("resourceVersion", str(self.revision))
                self._put(kind, one, "ADDED")

    def apply(self, *items: Mapping[str, Any]) -> None:
        """Seed objects that name their own kind, as a manifest does."""
        for item in items:
            self.seed(self.kind_of(item), item)

    def all(self, kind: Kind) -> list[Object]:
        return list(self._objects.get(kind, {}).values())

    def find(self, kind: Kind, namespace: str, name: str) -> Object | None:
        return self._objects.get(kind, {}).get(_key(namespace, name))

    def get(self, kind: Kind, namespace: str, name: str) -> Object:
        found = self.find(kind, namespace, name)
        if found is None:
            raise not_found(kind, name)
        return found

    def list(
        self,
        kind: Kind,
        namespace: str = "",
        *,
        labels: str = "",
        fields: str = "",
        limit: int = 0,
        token: str = "",
    ) -> Page:
        with self.changed:
            state, revision, start = self._state(kind, token)
            matching = [
                (key, item)
                for key, item in sorted(state.items())
                if key >= start
                and (not namespace or item["metadata"].get("namespace") == namespace)
                and _labels_match(labels, item["metadata"].get("labels") or {})
                and _fields_match(fields, item)
            ]
            metadata: Object = {"resourceVersion": str(revision)}
            if kind.custom:
                metadata["continue"] = ""
            page = matching[:limit] if limit else matching
            if len(page) < len(matching):
                self._states.setdefault(revision, dict(state))
                metadata["continue"] = _token(revision, page[-1][0] + "\0")
                if not labels and not fields:
                    metadata["remainingItemCount"] = len(matching) - len(page)
            return Page([item for _, item in page], metadata)

    def create(self, kind: Kind, namespace: str, body: Mapping[str, Any]) -> Object:
        with self.changed:
            item = copy.deepcopy(dict(body))
            meta = item.setdefault("metadata", {})
            if kind.namespaced:
                if self.find(self.kind("", "namespaces"), "", namespace) is None:
                    raise not_found(self.kind("", "namespaces"), namespace)
                meta["namespace"] = namespace
            if not meta.get("name") and meta.get("generateName"):
                meta["name"] = meta["generateName"] + uuid.uuid4().hex[:5]
            validate(kind, item)
            if self.find(kind, namespace, meta["name"]) is not None:
                raise StatusError(
                    409,
                    "AlreadyExists",
                    f'{kind.qualified} "{meta["name"]}" already exists',
                    details(kind, meta["name"]),
                )
            self.revision += 1
            meta |= {
                "uid": str(uuid.uuid4()),
                "resourceVersion": str(self.revision),
                "creationTimestamp": "2026-11-30T16:33:43Z",
            }
            self._put(kind, item, "ADDED")
            return item

    def update(self, kind: Kind, namespace: str, name: str, body: Mapping[str, Any]) -> Object:
        with self.changed:
            old = self.get(kind, namespace, name)
            item = copy.deepcopy(dict(body))
            meta = item.setdefault("metadata", {})
            wanted = meta.get("resourceVersion")
            if wanted and wanted != old["metadata"]["resourceVersion"]:
                raise StatusError(
                    409,
                    "Conflict",
                    f'Operation cannot be fulfilled on {kind.qualified} "{name}": the object has '
                    "been modified; please apply your changes to the latest version and try again",
                    details(kind, name),
                )
            for field in ("uid", "creationTimestamp", "resourceVersion", "namespace", "name"):
                if field in old["metadata"]:
                    meta[field] = old["metadata"][field]
            validate(kind, item)
            if old.get("immutable"):
                raise _immutable(kind, name)
            if item == old:
                return old
            self.revision += 1
            meta["resourceVersion"] = str(self.revision)
            self._put(kind, item, "MODIFIED")
            return item

    def delete(self, kind: Kind, namespace: str, name: str, uid: str = "") -> Object:
        with self.changed:
            old = self.get(kind, namespace, name)
            if uid and uid != old["metadata"]["uid"]:
                raise StatusError(
                    409,
                    "Conflict",
                    f'Operation cannot be fulfilled on {kind.qualified} "{name}": Precondition '
                    f"failed: UID in precondition: {uid}, UID in object meta: "
                    f"{old['metadata']['uid']}",
                    details(kind, name),
                )
            del self._objects[kind][_key(namespace, name)]
            self.revision += 1
            gone = copy.deepcopy(old)
            gone["metadata"]["resourceVersion"] = str(self.revision)
            self._events.append((self.revision, kind, "DELETED", gone))
            self.changed.notify_all()
            return gone

    def compact(self) -> None:
        """Forget every earlier state, as etcd does after a while."""
        with self.changed:
            self._states.clear()
            self._events.clear()
            self.compacted = self.revision

    def events(
        self, kind: Kind, namespace: str, after: int, *, labels: str = "", fields: str = ""
    ) -> Iterator[tuple[int, str, Object]]:
        """The changes after a revision that a watch would see, as of now."""
        with self.changed:
            log = list(self._events)
        for revision, of, what, item in log:
            if (
                of == kind
                and revision > after
                and (not namespace or item["metadata"].get("namespace") == namespace)
                and _labels_match(labels, item["metadata"].get("labels") or {})
                and _fields_match(fields, item)
            ):
                yield revision, what, item

    def _put(self, kind: Kind, item: Object, what: str) -> None:
        meta = item["metadata"]
        self._objects.setdefault(kind, {})[_key(meta.get("namespace", ""), meta["name"])] = item
        self._events.append((int(meta["resourceVersion"]), kind, what, item))
        self.changed.notify_all()

    def _state(self, kind: Kind, token: str) -> tuple[dict[str, Object], int, str]:
        now = self._objects.get(kind, {})
        if not token:
            return now, self.revision, ""
        try:
            padded = token + "=" * (-len(token) % 4)
            said = json.loads(base64.urlsafe_b64decode(padded))
            revision, start = int(said["rv"]), str(said["start"])
        except (ValueError, KeyError, TypeError):
            raise StatusError(
                400,
                "BadRequest",
                "invalid continue token: continue key is not valid: illegal base64 data at input "
                "byte 4",
            ) from None
        if revision == -1:
            return now, self.revision, start
        if revision not in self._states:
            raise StatusError(410, "Expired", _TOO_OLD, metadata={"continue": _token(-1, start)})
        return self._states[revision], revision, start


def details(kind: Kind, name: str = "") -> Object:
    found: Object = {}
    if name:
        found["name"] = name
    if kind.group:
        found["group"] = kind.group
    found["kind"] = kind.plural
    return found


def not_found(kind: Kind, name: str) -> StatusError:
    return StatusError(404, "NotFound", f'{kind.qualified} "{name}" not found', details(kind, name))


def validate(kind: Kind, item: Object) -> None:
    """Refuse what a real server refuses, of what this project may send."""
    name = item["metadata"].get("name", "")
    if not _NAME.fullmatch(name):
        rule = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
            "'-' or '.', and must start and end with an alphanumeric character (e.g. "
            "'example.com', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        )
        message = f'Invalid value: "{name}": {rule}'
        raise _refused(kind, name, "FieldValueInvalid", message, "metadata.name")
    if kind.kind != "ConfigMap":
        return
    data = item.get("data") or {}
    for key in data:
        if not _KEY.fullmatch(key):
            rule = (
                "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
                "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
                "'[-._a-zA-Z0-9]+')"
            )
            message = f'Invalid value: "{key}": {rule}'
            raise _refused(kind, name, "FieldValueInvalid", message, f"data[{key}]")
    if sum(len(value.encode()) for value in data.values()) > MAX_CONFIG_MAP:
        message = f"Too long: may not be more than {MAX_CONFIG_MAP} bytes"
        raise _refused(kind, name, "FieldValueTooLong", message, "[]")


def _refused(kind: Kind, name: str, reason: str, message: str, field: str) -> StatusError:
    return StatusError(
        422,
        "Invalid",
        f'{kind.kind} "{name}" is invalid: {field}: {message}',
        {
            "name": name,
            "kind": kind.kind,
            "causes": [{"reason": reason, "message": message, "field": field}],
        },
    )


def _immutable(kind: Kind, name: str) -> StatusError:
    message = "Forbidden: field is immutable when `immutable` is set"
    causes = [
        {"reason": "FieldValueForbidden", "message": message, "field": field}
        for field in ("immutable", "data")
    ]
    return StatusError(
        422,
        "Invalid",
        f'{kind.kind} "{name}" is invalid: [immutable: {message}, data: {message}]',
        {"name": name, "kind": kind.kind, "causes": causes},
    )


def _key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def _token(revision: int, start: str) -> str:
    text = json.dumps(
        {"v": "meta.k8s.io/v1", "rv": revision, "start": start}, separators=(",", ":")
    )
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _labels_match(selector: str, labels: Mapping[str, str]) -> bool:
    return all(_one_label(part.strip(), labels) for part in _parts(selector))


def _parts(selector: str) -> list[str]:
    """The requirements of a selector; a comma inside brackets separates values."""
    return [part for part in re.split(r",(?![^()]*\))", selector) if part.strip()]


def _one_label(text: str, labels: Mapping[str, str]) -> bool:
    found = re.fullmatch(r"(\S+)\s+(in|notin)\s*\(([^)]*)\)", text)
    if found:
        values = [value.strip() for value in found[3].split(",")]
        inside = labels.get(found[1]) in values
        return inside if found[2] == "in" else not inside
    if "!=" in text:
        key, _, value = text.partition("!=")
        return labels.get(key) != value
    if "=" in text:
        key, _, value = text.partition("=")
        return labels.get(key) == value.lstrip("=")
    return text[1:] not in labels if text.startswith("!") else text in labels


def _fields_match(selector: str, item: Mapping[str, Any]) -> bool:
    for part in _parts(selector):
        negated = "!=" in part
        path, _, wanted = part.partition("!=" if negated else "=")
        value: Any = item
        for word in path.split("."):
            value = value.get(word, "") if isinstance(value, dict) else ""
        if (str(value) == wanted.lstrip("=")) == negated:
            return False
    return True
