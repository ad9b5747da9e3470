"""What the Kubernetes double stores: objects by kind, in the order of their storage keys.

Lists are paged from the state as of their first page, as a real server does; ``compact`` forgets
those states, after which their continue tokens are too old.
"""

from __future__ import annotations

import base64
import copy
import json
import threading
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kube_double_kinds import (
    BUILT_IN,
    Kind,
    Object,
    StatusError,
    details,
    immutable,
    not_found,
    validate,
)
from kube_double_selectors import fields_match, labels_match

_TOO_OLD = (
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without the continue parameter, or use the continue token in this response to "
    "retrieve the remainder of the results. Continuing with the provided token results in an "
    "inconsistent list - objects that were created, modified, or deleted between the time the "
    "first chunk was returned and now may show up in the list."
)


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
        self._states: dict[tuple[Kind, int], dict[str, Object]] = {}
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
                and labels_match(labels, item["metadata"].get("labels") or {})
                and fields_match(fields, item)
            ]
            metadata: Object = {"resourceVersion": str(revision)}
            if kind.custom:
                metadata["continue"] = ""
            page = matching[:limit] if limit else matching
            if len(page) < len(matching):
                self._states.setdefault((kind, revision), dict(state))
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
                raise immutable(kind, name)
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
                and labels_match(labels, item["metadata"].get("labels") or {})
                and fields_match(fields, item)
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
        if (kind, revision) not in self._states:
            raise StatusError(410, "Expired", _TOO_OLD, metadata={"continue": _token(-1, start)})
        return self._states[kind, revision], revision, start


def _key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def _token(revision: int, start: str) -> str:
    text = json.dumps(
        {"v": "meta.k8s.io/v1", "rv": revision, "start": start}, separators=(",", ":")
    )
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
