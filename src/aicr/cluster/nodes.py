"""What the API alone can tell of a cluster: the server's version, and each node."""

from __future__ import annotations

from aicr.cluster import wire
from aicr.cluster.failures import Permission
from aicr.cluster.reading import List, read_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.cluster.connection import Connection


class ServerVersion:
    """The API server, in its own words."""

    __slots__ = ("go_version", "platform", "version")

    def __init__(self, version: str, platform: str, go_version: str) -> None:
        self.version = version
        self.platform = platform
        self.go_version = go_version


class Node:
    """A node as the kubelet reports it; ``taints`` are (key, value, effect)."""

    __slots__ = (
        "allocatable_gpus",
        "architecture",
        "container_runtime",
        "kernel",
        "kubelet",
        "labels",
        "name",
        "operating_system",
        "os_image",
        "provider_id",
        "ready",
        "taints",
        "unschedulable",
    )

    def __init__(
        self,
        name: str,
        *,
        labels: Mapping[str, str],
        provider_id: str,
        taints: Sequence[tuple[str, str, str]],
        unschedulable: bool,
        ready: bool,
        os_image: str,
        operating_system: str,
        kernel: str,
        container_runtime: str,
        kubelet: str,
        architecture: str,
        allocatable_gpus: int,
    ) -> None:
        self.name = name
        self.labels = labels
        self.provider_id = provider_id
        self.taints = taints
        self.unschedulable = unschedulable
        self.ready = ready
        self.os_image = os_image
        self.operating_system = operating_system
        self.kernel = kernel
        self.container_runtime = container_runtime
        self.kubelet = kubelet
        self.architecture = architecture
        self.allocatable_gpus = allocatable_gpus


class _Version(wire.Struct):
    gitVersion: str = ""
    platform: str = ""
    goVersion: str = ""


class _Taint(wire.Struct):
    key: str = ""
    value: str = ""
    effect: str = ""


class _Spec(wire.Struct):
    providerID: str = ""
    taints: list[_Taint] | None = None
    unschedulable: bool = False


class _Info(wire.Struct):
    kernelVersion: str = ""
    osImage: str = ""
    containerRuntimeVersion: str = ""
    kubeletVersion: str = ""
    operatingSystem: str = ""
    architecture: str = ""


class _Condition(wire.Struct):
    type: str = ""
    status: str = ""


class _Status(wire.Struct):
    nodeInfo: _Info | None = None
    allocatable: dict[str, str] | None = None
    conditions: list[_Condition] | None = None


class _Node(wire.Item):
    spec: _Spec | None = None
    status: _Status | None = None


_VERSION = wire.Decoder(_Version)
_PAGES = wire.Decoder(wire.Page[_Node])


def read_version(connection: Connection) -> ServerVersion:
    """Which API server answers."""
    answer = connection.read("/version", Permission("get", "the server's version"))
    found = wire.decode(_VERSION, answer.body, "the server's version")
    return ServerVersion(found.gitVersion, found.platform, found.goVersion)


def read_nodes(connection: Connection) -> list[Node]:
    """Every node, by name."""
    reader = read_list(connection, List("nodes"), _Reader)
    return sorted((_node(item) for item in reader.found), key=lambda node: node.name)


class _Reader:
    def __init__(self) -> None:
        self.found: list[_Node] = []

    def page(self, body: bytes) -> str:
        page = wire.decode(_PAGES, body, "the nodes")
        self.found += page.items or ()
        return page.metadata.next


def _node(item: _Node) -> Node:
    spec = item.spec or _Spec()
    status = item.status or _Status()
    info = status.nodeInfo or _Info()
    gpus = (status.allocatable or {}).get("nvidia.com/gpu", "0")
    return Node(
        item.metadata.name,
        labels=item.metadata.labels or {},
        provider_id=spec.providerID,
        taints=[(taint.key, taint.value, taint.effect) for taint in spec.taints or ()],
        unschedulable=spec.unschedulable,
        ready=any(one.type == "Ready" and one.status == "True" for one in status.conditions or ()),
        os_image=info.osImage,
        operating_system=info.operatingSystem,
        kernel=info.kernelVersion,
        container_runtime=info.containerRuntimeVersion,
        kubelet=info.kubeletVersion,
        architecture=info.architecture,
        allocatable_gpus=int(gpus) if gpus.isdecimal() else 0,
    )
