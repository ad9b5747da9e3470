"""Which Argo CD Applications deploy to this cluster, and what of each a sync has completed."""

from __future__ import annotations

from aicr.cluster import wire
from aicr.cluster.failures import ApiError
from aicr.cluster.reading import List, read_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.cluster.connection import Connection

GROUP = "argoproj.io"
VERSION = "v1alpha1"
RESOURCE = "applications"
CLUSTER_SECRETS = "argocd.argoproj.io/secret-type=cluster"
LOCAL_SERVER = "https://kubernetes.default.svc"
LOCAL_NAME = "in-cluster"


class Source:
    """Where an Application takes something from; ``revision`` is what it asks for, ``resolved``
    what that was when it was synced (a version, a digest or a commit)."""

    __slots__ = ("chart", "path", "repository", "resolved", "revision")

    def __init__(
        self, repository: str, chart: str, path: str, revision: str, resolved: str = ""
    ) -> None:
        self.repository = repository
        self.chart = chart
        self.path = path
        self.revision = revision
        self.resolved = resolved


class Application:
    """An Application.

    ``completed`` are the sources of the last sync that was completed, None where none was;
    ``wanted`` are those of its spec. ``sync``, ``health`` and ``phase`` are Argo CD's own words,
    "" where it has not spoken. ``local`` is whether it deploys to this very cluster; ``target``
    is the other one, as it is named.
    """

    __slots__ = (
        "completed",
        "health",
        "history_id",
        "local",
        "name",
        "namespace",
        "phase",
        "since",
        "stored_in",
        "sync",
        "target",
        "wanted",
    )

    def __init__(
        self,
        name: str,
        *,
        stored_in: str,
        namespace: str,
        local: bool,
        target: str,
        wanted: Sequence[Source],
        completed: Sequence[Source] | None,
        history_id: int,
        since: str,
        sync: str,
        health: str,
        phase: str,
    ) -> None:
        self.name = name
        self.stored_in = stored_in
        self.namespace = namespace
        self.local = local
        self.target = target
        self.wanted = wanted
        self.completed = completed
        self.history_id = history_id
        self.since = since
        self.sync = sync
        self.health = health
        self.phase = phase

    def __str__(self) -> str:
        return f"Application {self.stored_in}/{self.name}"


class Applications:
    """All of them, those for other clusters included; ``served`` is whether the API exists."""

    __slots__ = ("applications", "served")

    def __init__(self, applications: list[Application], *, served: bool) -> None:
        self.applications = applications
        self.served = served


class _Source(wire.Struct):
    repoURL: str = ""
    chart: str = ""
    path: str = ""
    targetRevision: str = ""


class _Destination(wire.Struct):
    server: str = ""
    name: str = ""
    namespace: str = ""


class _Spec(wire.Struct):
    destination: _Destination | None = None
    source: _Source | None = None
    sources: list[_Source] | None = None


class _Completed(wire.Struct):
    id: int = 0
    deployedAt: str = ""
    revision: str = ""
    revisions: list[str] | None = None
    source: _Source | None = None
    sources: list[_Source] | None = None


class _Word(wire.Struct):
    status: str = ""


class _Operation(wire.Struct):
    phase: str = ""


class _Status(wire.Struct):
    history: list[_Completed] | None = None
    sync: _Word | None = None
    health: _Word | None = None
    operationState: _Operation | None = None


class _Application(wire.Item):
    spec: _Spec | None = None
    status: _Status | None = None


class _ClusterData(wire.Struct):
    """Of a cluster's Secret, the only two fields that are no credentials."""

    name: str = ""
    server: str = ""


class _ClusterSecret(wire.Item):
    data: _ClusterData | None = None


_PAGES = wire.Decoder(wire.Page[_Application])
_CLUSTERS = wire.Decoder(wire.Page[_ClusterSecret])


def read_applications(connection: Connection) -> Applications:
    """Every Application in the cluster.

    A cluster that knows no Applications has none. Raises FORBIDDEN with the right that is missing.
    """
    try:
        reader = read_list(
            connection,
            List(RESOURCE, group=GROUP, version=VERSION, limit=100),
            _Reader,
        )
    except ApiError as error:
        if error.status == 404:
            return Applications([], served=False)
        raise
    servers: dict[tuple[str, str], str] = {}
    namespaces = {
        item.metadata.namespace
        for item in reader.found
        if _destination(item).name not in ("", LOCAL_NAME)
    }
    for namespace in sorted(namespaces):
        servers |= _servers(connection, namespace)
    found = [_application(connection, item, servers) for item in reader.found]
    found.sort(key=lambda one: (one.stored_in, one.name))
    return Applications(found, served=True)


class _Reader:
    def __init__(self) -> None:
        self.found: list[_Application] = []

    def page(self, body: bytes) -> str:
        page = wire.decode(_PAGES, body, "Argo CD's Applications")
        self.found += page.items or ()
        return page.metadata.next


class _ClusterReader:
    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []

    def page(self, body: bytes) -> str:
        page = wire.decode(_CLUSTERS, body, "Argo CD's clusters")
        for item in page.items or ():
            if item.data is not None:
                self.found.append((_text(item.data.name), _text(item.data.server)))
        return page.metadata.next


def _servers(connection: Connection, namespace: str) -> dict[tuple[str, str], str]:
    """The servers of the clusters that one Argo CD knows by name."""
    reader = read_list(
        connection,
        List("secrets", namespace=namespace, labels=CLUSTER_SECRETS),
        _ClusterReader,
    )
    return {(namespace, name): server for name, server in reader.found if name}


def _text(encoded: str) -> str:
    from base64 import b64decode

    try:
        return b64decode(encoded).decode("utf-8").strip()
    except ValueError:
        return ""


def _destination(item: _Application) -> _Destination:
    spec = item.spec
    return spec.destination if spec is not None and spec.destination else _Destination()


def _application(
    connection: Connection, item: _Application, servers: dict[tuple[str, str], str]
) -> Application:
    spec = item.spec or _Spec()
    status = item.status or _Status()
    destination = _destination(item)
    namespace = item.metadata.namespace
    server = destination.server
    local = destination.name == LOCAL_NAME
    if destination.name and not local:
        server = servers.get((namespace, destination.name), "")
    local = local or _same_server(server, LOCAL_SERVER) or _same_server(server, connection.server)
    last = max(status.history or (), key=lambda entry: entry.id, default=None)
    wanted = _sources(spec.source, spec.sources)
    return Application(
        item.metadata.name,
        stored_in=namespace,
        namespace=destination.namespace,
        local=local,
        target=destination.name or destination.server,
        wanted=[_source(one) for one in wanted],
        completed=_completed(last) if last is not None else None,
        history_id=last.id if last is not None else -1,
        since=last.deployedAt if last is not None else "",
        sync=status.sync.status if status.sync is not None else "",
        health=status.health.status if status.health is not None else "",
        phase=status.operationState.phase if status.operationState is not None else "",
    )


def _sources(one: _Source | None, many: list[_Source] | None) -> list[_Source]:
    """The sources; beside several Argo CD writes an empty single one."""
    if many:
        return many
    return [one] if one is not None and one.repoURL else []


def _source(one: _Source, resolved: str = "") -> Source:
    return Source(one.repoURL, one.chart, one.path, one.targetRevision, resolved)


def _completed(entry: _Completed) -> list[Source]:
    sources = _sources(entry.source, entry.sources)
    resolved = entry.revisions if entry.sources else [entry.revision]
    if resolved is None or len(resolved) != len(sources):
        resolved = [""] * len(sources)
    return [_source(one, revision) for one, revision in zip(sources, resolved, strict=True)]


def _same_server(one: str, other: str) -> bool:
    def normal(url: str) -> str:
        return url.rstrip("/").removesuffix(":443").lower()

    return bool(one) and normal(one) == normal(other)
