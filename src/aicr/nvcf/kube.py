"""The fleet's clusters, opened and known again: the UID of kube-system before any other read.

Every request goes through a connection that asks ``allow`` first. Clusters are opened side by
side, and one that cannot be reached does not keep the others from being read; a cluster that is
not the one of its entry stops everything.
"""

from __future__ import annotations

import os
import sys
import time
from threading import Thread

from aicr.cluster import wire
from aicr.cluster.connection import JSON, Answer, Connection, Patience
from aicr.cluster.failures import ApiError, Permission
from aicr.cluster.reading import List, object_path, read_list
from aicr.errors import CONFLICT, INTERNAL, TIMEOUT, UNAVAILABLE, AicrError
from aicr.nvcf import allow, clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from aicr.nvcf.fleet import ComputeCluster, ControlPlane

    Entry = ControlPlane | ComputeCluster

BACKEND_GROUP = "nvcf.nvidia.io"
BACKENDS = "nvcfbackends"
PLUGIN_SECONDS = 60.0
_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_REVIEW = Permission("create", "selfsubjectaccessreviews", group="authorization.k8s.io")
METADATA = f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


class WrongCluster(AicrError):
    """What answers is another cluster than the entry says."""

    def __init__(self, message: str) -> None:
        super().__init__(
            CONFLICT, message, hint="correct the kubeconfig, the context or the entry; then repeat"
        )


class AllowedConnection(Connection):
    """A connection for what is on the list, and nothing else; ``offset`` is its server's clock."""

    offset = clock.UNKNOWN

    def read(
        self,
        path: str,
        permission: Permission,
        query: Mapping[str, str] | None = None,
        *,
        accept: str = JSON,
    ) -> Answer:
        allow.kubernetes("GET", path, accept=accept, query=list((query or {}).items()))
        return super().read(path, permission, query, accept=accept)

    def write(self, method: str, path: str, permission: Permission, body: bytes) -> Answer:
        allow.kubernetes(method, path, body=body)
        return super().write(method, path, permission, body)

    def _ask(
        self,
        method: str,
        path: str,
        permission: Permission,
        query: Mapping[str, str] | None,
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> tuple[int, Answer]:
        sent = time.time()
        status, answer = super()._ask(method, path, permission, query, headers, body)
        if "Date" in answer.headers and self.time:
            said = clock.from_rfc3339(self.time, self.server)
            found = clock.measured(said, sent, time.time(), grain=1.0)
            self.offset = clock.closer(self.offset, found)
        return status, answer


class Kube:
    """One cluster: its ``entry`` in the fleet file, and the ``uid`` that was found."""

    __slots__ = ("connection", "entry", "uid")

    def __init__(self, entry: Entry, connection: AllowedConnection) -> None:
        self.entry = entry
        self.connection = connection
        self.uid = ""

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def source(self) -> str:
        return f"{self.name} ({self.connection.server})"

    def get(
        self,
        resource: str,
        namespace: str,
        name: str,
        *,
        group: str = "",
        version: str = "v1",
        accept: str = JSON,
    ) -> dict[str, Any]:
        """One object, as it was sent. Raises ``ApiError``, AicrError."""
        path = object_path(resource, namespace, name, group=group, version=version)
        permission = Permission("get", resource, group=group, namespace=namespace, name=name)
        answer = self.connection.read(path, permission, accept=accept)
        return wire.decode(_OBJECT, answer.body, f"{resource} {name}")

    def items(self, wanted: List, fields: str = "") -> list[dict[str, Any]]:
        """Every object of a list, as they were sent; ``fields`` is a field selector."""
        if not fields:
            return read_list(self.connection, wanted, _Items).found
        query = {"fieldSelector": fields}
        answer = self.connection.read(wanted.path, wanted.permission, query)
        found = _Items()
        if found.page(answer.body):
            raise AicrError(UNAVAILABLE, f"{self.source}: the list of {wanted.resource} is cut")
        return found.found

    def may(self, right: Permission) -> bool:
        """Whether the server would allow this; it stores nothing of the question."""
        resource, _, subresource = right.resource.partition("/")
        attributes = {
            "verb": right.verb,
            "resource": resource,
            "group": right.group,
            "subresource": subresource,
            "namespace": right.namespace,
        }
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {k: v for k, v in attributes.items() if v}},
        }
        answer = self.connection.write("POST", _REVIEWS, _REVIEW, wire.encode(body))
        said = wire.decode(_OBJECT, answer.body, "the question about a right")
        return (said.get("status") or {}).get("allowed") is True

    def now(self) -> float:
        """The server's time, by the Date of its answers."""
        return time.time() + self.connection.offset.middle


class Opened:
    """What came of opening the entries of a fleet file, by their names.

    ``found`` are the clusters that are who they should be; ``failed`` could not be read; ``wrong``
    says which are others; ``unpinned`` has the UIDs of entries that state none.
    """

    __slots__ = ("failed", "found", "unpinned", "wrong")

    def __init__(self) -> None:
        self.found: dict[str, Kube] = {}
        self.failed: dict[str, AicrError] = {}
        self.wrong: list[str] = []
        self.unpinned: dict[str, str] = {}

    @property
    def skew(self) -> tuple[float, str]:
        """How far the clusters' clocks are apart, and which; Date headers have whole seconds."""
        return clock.skew(self.offsets)

    @property
    def offsets(self) -> dict[str, clock.Offset]:
        """What is known of the clusters' clocks."""
        known = {name: kube.connection.offset for name, kube in self.found.items()}
        return {name: one for name, one in known.items() if one is not clock.UNKNOWN}


def open_fleet(
    entries: Sequence[Entry], *, role: str = "", patience: Patience | None = None
) -> Opened:
    """Open every entry. Nothing but identities was read when this returns."""
    opened = Opened()
    _no_terminal()
    bounds = patience or Patience()
    limit = bounds.connect + bounds.request * bounds.tries + PLUGIN_SECONDS
    results: list[Kube | AicrError] = [_too_late(entry, limit) for entry in entries]

    def work(index: int) -> None:
        results[index] = _open(entries[index], role, patience)

    # Nothing bounds a credential plugin but that its thread is not waited for.
    threads = [Thread(target=work, args=(index,), daemon=True) for index in range(len(entries))]
    for thread in threads:
        thread.start()
    end = time.monotonic() + limit
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    results = list(results)
    for entry, result in zip(entries, results, strict=True):
        if isinstance(result, WrongCluster):
            opened.wrong.append(result.message)
        elif isinstance(result, AicrError):
            opened.failed[entry.name] = result
        else:
            opened.found[entry.name] = result
            if not entry.cluster_uid:
                opened.unpinned[entry.name] = result.uid
    opened.wrong += _twice(kube for kube in opened.found.values() if kube.name != "control-plane")
    return opened


def _no_terminal() -> None:
    """A credential plugin that wants to ask somebody fails, instead of waiting for ever."""
    if getattr(sys.stdin, "name", "") != os.devnull:
        sys.stdin = open(os.devnull)  # noqa: SIM115


def _too_late(entry: Entry, limit: float) -> AicrError:
    return AicrError(
        TIMEOUT,
        f"{entry.name} (context {entry.context}) could not be opened within {limit:g} s",
        hint="log in as you would for kubectl, then repeat",
    )


def _open(entry: Entry, role: str, patience: Patience | None) -> Kube | AicrError:
    try:
        kube = Kube(
            entry,
            AllowedConnection(entry.kubeconfig, entry.context, role=role, patience=patience),
        )
        _identify(kube)
    except AicrError as error:
        return error
    except Exception as error:  # a fault here would be lost with its thread
        return AicrError(INTERNAL, f"{entry.name}: a fault of aicr itself: {error!r}")
    return kube


def _identify(kube: Kube) -> None:
    """Raise ``WrongCluster`` unless the entry's UID, and its cluster id, are the cluster's."""
    found = kube.get("namespaces", "", "kube-system")
    kube.uid = str(found.get("metadata", {}).get("uid", ""))
    wanted = kube.entry.cluster_uid
    if not kube.uid:
        raise AicrError(UNAVAILABLE, f"{kube.source}: its namespace kube-system has no UID")
    if wanted and wanted != kube.uid:
        raise WrongCluster(
            f"{kube.source}, context {kube.connection.context}: this is the cluster {kube.uid}, "
            f"the fleet file says {wanted}"
        )
    cluster_id = getattr(kube.entry, "cluster_id", "")
    if cluster_id:
        ids = [cluster_id_of(one) for one in read_backends(kube)]
        if ids and cluster_id not in ids:
            raise WrongCluster(
                f"{kube.source}: its NVCFBackend has the cluster id {ids[0]}, the fleet file says "
                f"{cluster_id}"
            )


def read_backends(kube: Kube) -> list[dict[str, Any]]:
    """The NVCFBackends of a cluster; none where it does not know the resource."""
    try:
        return kube.items(List(BACKENDS, group=BACKEND_GROUP))
    except ApiError as error:
        # Without the definition the path itself is unknown, and the answer is no Status.
        if error.status == 404 and not error.reason:
            return []
        raise


def cluster_id_of(backend: Mapping[str, Any]) -> str:
    """NVCF's id of the cluster, as its agent registered."""
    config = (backend.get("status") or {}).get("clusterConfig") or {}
    return str(config.get("clusterID") or "")


def _twice(kubes: Iterable[Kube]) -> list[str]:
    names: dict[str, list[str]] = {}
    for kube in kubes:
        names.setdefault(kube.uid, []).append(kube.name)
    return [
        f"{' and '.join(found)} are one cluster ({uid}); each compute cluster has one entry"
        for uid, found in names.items()
        if len(found) > 1
    ]


class _Items:
    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def page(self, body: bytes) -> str:
        page = wire.decode(_PAGES, body, "a list")
        if page.items is None and b'"items"' not in body:
            raise AicrError(UNAVAILABLE, "the answer for a list has no items")
        self.found += page.items or ()
        return page.metadata.next


_OBJECT: wire.Decoder[dict[str, Any]] = wire.Decoder(dict)
_PAGES: wire.Decoder[wire.Page[dict[str, Any]]] = wire.Decoder(wire.Page[dict])  # type: ignore[type-arg]
