"""Which objects of some kinds belong to nobody who would bring them back: neither Helm nor Argo CD
says that it owns them."""

from __future__ import annotations

from aicr.cluster import wire
from aicr.cluster.failures import ApiError, Permission
from aicr.cluster.reading import METADATA_ONLY, List, read_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from aicr.cluster.connection import Connection

_MANAGED_BY = "app.kubernetes.io/managed-by"
_RELEASE = "meta.helm.sh/release-name"
_TRACKING = "argocd.argoproj.io/tracking-id"


class Unmanaged:
    """An object that nobody owns."""

    __slots__ = ("group", "kind", "name", "namespace")

    def __init__(self, group: str, kind: str, namespace: str, name: str) -> None:
        self.group = group
        self.kind = kind
        self.namespace = namespace
        self.name = name


class _Resource(wire.Struct):
    name: str = ""
    kind: str = ""
    verbs: list[str] | None = None


class _Resources(wire.Struct):
    resources: list[_Resource] | None = None


class _GroupVersion(wire.Struct):
    version: str = ""


class _Group(wire.Struct):
    versions: list[_GroupVersion] | None = None
    preferredVersion: _GroupVersion | None = None


_GROUPS = wire.Decoder(_Group)
_RESOURCES = wire.Decoder(_Resources)
_PAGES = wire.Decoder(wire.Page[wire.Item])


def find_unmanaged(
    connection: Connection, kinds: Iterable[tuple[str, str]]
) -> tuple[list[Unmanaged], list[tuple[str, str]]]:
    """The objects of these (group, kind) that nobody owns, and the kinds that are not served.

    Raises FORBIDDEN with the right that is missing.
    """
    found: list[Unmanaged] = []
    absent: list[tuple[str, str]] = []
    discovered = _Discovery(connection)
    for group, kind in sorted(set(kinds)):
        served = discovered.find(group, kind)
        if served is None:
            absent.append((group, kind))
            continue
        version, resource = served
        wanted = List(resource, group=group, version=version, accept=METADATA_ONLY)
        reader = read_list(connection, wanted, _Reader)
        found += [
            Unmanaged(group, kind, namespace, name) for namespace, name in sorted(reader.found)
        ]
    return found, absent


class _Reader:
    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []

    def page(self, body: bytes) -> str:
        page = wire.decode(_PAGES, body, "a list of objects")
        for item in page.items or ():
            meta = item.metadata
            if not _is_owned(meta.labels or {}, meta.annotations or {}):
                self.found.append((meta.namespace, meta.name))
        return page.metadata.next


def _is_owned(labels: dict[str, str], annotations: dict[str, str]) -> bool:
    by_helm = labels.get(_MANAGED_BY) == "Helm" and bool(annotations.get(_RELEASE))
    return by_helm or bool(annotations.get(_TRACKING))


class _Discovery:
    """Which version and resource serve a kind; each group is asked for once."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[str, dict[str, tuple[str, str]]] = {}

    def find(self, group: str, kind: str) -> tuple[str, str] | None:
        if group not in self._known:
            self._known[group] = self._kinds(group)
        return self._known[group].get(kind)

    def _kinds(self, group: str) -> dict[str, tuple[str, str]]:
        versions = ["v1"]
        if group:
            body = self._get(f"/apis/{group}", f"the API group {group}")
            if body is None:
                return {}
            found = wire.decode(_GROUPS, body, f"the API group {group}")
            preferred = [found.preferredVersion] if found.preferredVersion else []
            versions = list(
                dict.fromkeys(one.version for one in [*preferred, *(found.versions or ())])
            )
        kinds: dict[str, tuple[str, str]] = {}
        for version in versions:
            path = f"/apis/{group}/{version}" if group else f"/api/{version}"
            body = self._get(path, f"the resources of {group or 'the core group'}")
            if body is None:
                continue
            for one in wire.decode(_RESOURCES, body, path).resources or ():
                if "/" not in one.name and "list" in (one.verbs or ()):
                    kinds.setdefault(one.kind, (version, one.name))
        return kinds

    def _get(self, path: str, what: str) -> bytes | None:
        try:
            return self._connection.read(path, Permission("get", what)).body
        except ApiError as error:
            if error.status == 404:
                return None
            raise
