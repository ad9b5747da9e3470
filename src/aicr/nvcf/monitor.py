"""What each NATS server says of itself: its pod, its process, and the streams that it holds.

The monitor is read through the API server (``pods/proxy``); where that is refused, with ``wget`` in
nats-box. Servers are those of the StatefulSet, counted by its ``replicas``, not by who answers.
"""

from __future__ import annotations

import time

from aicr.cluster import wire
from aicr.cluster.failures import ApiError, Permission
from aicr.cluster.reading import object_path
from aicr.errors import NOT_FOUND, UNAVAILABLE, AicrError
from aicr.nvcf import allow, clock, jetstream
from aicr.nvcf.queues import Problem, Server

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aicr.cluster.connection import Connection
    from aicr.nvcf.fleet import Nats
    from aicr.nvcf.nats_exec import Box

JSZ = "/jsz?accounts=1&streams=1&consumers=1&config=1"
HEALTHZ = "/healthz?js-server-only=true"
_NO_PROXY = (401, 403, 404, 405)


class _SetSpec(wire.Struct):
    replicas: int = 1
    serviceName: str = ""


class _SetStatus(wire.Struct):
    observedGeneration: int = 0


class _SetMeta(wire.Struct):
    generation: int


class _Set(wire.Struct):
    metadata: _SetMeta
    spec: _SetSpec
    status: _SetStatus | None = None


class _Container(wire.Struct):
    restartCount: int = 0


class _PodStatus(wire.Struct):
    containerStatuses: list[_Container] | None = None


class _Pod(wire.Struct):
    metadata: wire.Meta
    status: _PodStatus | None = None


_SET = wire.Decoder(_Set)
_POD = wire.Decoder(_Pod)


class StatefulSet:
    """The servers that there have to be."""

    __slots__ = ("generation", "name", "namespace", "replicas", "service")

    def __init__(
        self, name: str, namespace: str, *, generation: int, replicas: int, service: str
    ) -> None:
        self.name = name
        self.namespace = namespace
        self.generation = generation
        self.replicas = replicas
        self.service = service

    @property
    def pods(self) -> list[str]:
        return [f"{self.name}-{number}" for number in range(self.replicas)]


class ServerAnswers:
    """Everything that one server said; ``offset`` is its clock."""

    __slots__ = ("jsz", "offset", "problems", "server")

    def __init__(
        self,
        server: Server,
        jsz: jetstream.Jsz,
        problems: Sequence[Problem],
        offset: clock.Offset,
    ) -> None:
        self.server = server
        self.jsz = jsz
        self.problems = problems
        self.offset = offset


class Monitor:
    """The monitors of the control plane's NATS servers. ``keep`` gets every answer as it came."""

    def __init__(
        self,
        connection: Connection,
        nats: Nats,
        box: Callable[[], Box],
        keep: Callable[[str, str, bytes], None] | None = None,
    ) -> None:
        self._connection = connection
        self._nats = nats
        self._box = box
        self._keep = keep
        self.ways: set[str] = set()

    def stateful_set(self) -> StatefulSet:
        nats = self._nats
        path = object_path("statefulsets", nats.namespace, nats.stateful_set, group="apps")
        permission = Permission(
            "get", "statefulsets", group="apps", namespace=nats.namespace, name=nats.stateful_set
        )
        what = f"StatefulSet {nats.namespace}/{nats.stateful_set}"
        found = wire.decode(_SET, self._connection.read(path, permission).body, what)
        if found.spec.replicas < 1:
            raise AicrError(UNAVAILABLE, f"{what}: it is scaled to 0, so no server can be read")
        return StatefulSet(
            nats.stateful_set,
            nats.namespace,
            generation=found.metadata.generation,
            replicas=found.spec.replicas,
            service=found.spec.serviceName or f"{nats.stateful_set}-headless",
        )

    def read(self, servers: StatefulSet, pod: str) -> ServerAnswers:
        """One server. Raises AicrError where any of it cannot be read."""
        what = f"NATS server {pod}"
        path = object_path("pods", servers.namespace, pod)
        permission = Permission("get", "pods", namespace=servers.namespace, name=pod)
        try:
            body = self._connection.read(path, permission).body
        except ApiError as error:
            if error.code == NOT_FOUND:
                raise AicrError(UNAVAILABLE, f"{what}: there is no such pod") from None
            raise
        found = wire.decode(_POD, body, f"pod {pod}")
        sent = time.time()
        varz = jetstream.decode(jetstream.VARZ, self._get(servers, pod, "/varz"), f"{what} /varz")
        said = clock.from_rfc3339(varz.now, f"{pod} /varz")
        offset = clock.measured(said, sent, time.time())
        health = jetstream.decode(
            jetstream.HEALTH, self._get(servers, pod, HEALTHZ), f"{what} /healthz"
        )
        jsz = jetstream.decode(jetstream.JSZ, self._get(servers, pod, JSZ), f"{what} /jsz")
        problems = []
        if health.status != "ok":
            problems.append(Problem(what, f"it says that it is not healthy: {health.status[:80]}"))
        if jsz.server_id != varz.server_id:
            problems.append(Problem(what, "it restarted between two reads"))
        if jsz.disabled:
            problems.append(Problem(what, "JetStream is disabled there"))
        containers = (found.status or _PodStatus()).containerStatuses or ()
        server = Server(
            pod=pod,
            uid=found.metadata.uid,
            restarts=sum(one.restartCount for one in containers),
            name=varz.server_name,
            id=varz.server_id,
            start=varz.start,
            now=varz.now,
            version=varz.version,
        )
        return ServerAnswers(server, jsz, problems, offset)

    def _get(self, servers: StatefulSet, pod: str, path: str) -> bytes:
        """One page of a monitor, through the API server, else through nats-box."""
        allow.monitor(path)
        body = b""
        if "proxy" in self.ways or not self.ways:
            try:
                body = self._through_proxy(servers, pod, path)
                self.ways.add("proxy")
            except ApiError as error:
                if error.status not in _NO_PROXY or "proxy" in self.ways:
                    raise AicrError(
                        error.code, f"the monitor of {pod}: {error.message}", hint=error.hint
                    ) from None
                self.ways.add("exec")
        if not body:
            body = self._through_box(servers, pod, path)
        if self._keep is not None:
            self._keep(pod, path, body)
        return body

    def _through_proxy(self, servers: StatefulSet, pod: str, path: str) -> bytes:
        bare, _, query = path.partition("?")
        port = self._nats.monitor_port
        root = object_path("pods", servers.namespace, pod) + f":{port}/proxy"
        permission = Permission("get", "pods/proxy", namespace=servers.namespace, name=pod)
        asked = dict(one.split("=", 1) for one in query.split("&")) if query else None
        return self._connection.read(root + bare, permission, asked).body

    def _through_box(self, servers: StatefulSet, pod: str, path: str) -> bytes:
        host = f"{pod}.{servers.service}"
        url = f"http://{host}:{self._nats.monitor_port}{path}"
        ran = self._box().run(["wget", "-qO-", "-T", "10", url], f"the monitor of {pod}")
        if ran.code or not ran.stdout:
            said = ran.stderr.decode("utf-8", "replace").strip()[-200:]
            raise AicrError(
                UNAVAILABLE,
                f"the monitor of {pod}: wget in nats-box ended with {ran.code}: {said}",
            )
        return ran.stdout
