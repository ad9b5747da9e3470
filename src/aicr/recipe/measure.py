"""How what a Kubernetes API tells of a cluster is written as a snapshot.

A reading that stands for all nodes is there only where the nodes agree: of those with GPUs, else of
all. Where they do not, the snapshot has each node's own, and the reader is told.
"""

from __future__ import annotations

import re

from aicr.catalog.schema import WRITTEN_API_VERSION
from aicr.recipe.snapshot import GPU_LABEL, KIND
from aicr.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aicr.cluster.nodes import Node, ServerVersion

# The labels that say what a node is; the others may be anybody's.
_LABELS = (
    "nvidia.com/",
    "feature.node.kubernetes.io/pci-10de",
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/",
)
_OS_NAMES = (
    ("ubuntu", "ubuntu"),
    ("red hat enterprise linux", "rhel"),
    ("amazon linux", "amzn"),
    ("container-optimized os", "cos"),
    ("oracle linux", "ol"),
    ("talos", "talos"),
    ("bottlerocket", "bottlerocket"),
    ("debian", "debian"),
    ("rocky linux", "rocky"),
    ("flatcar", "flatcar"),
    ("suse linux enterprise", "sles"),
)
_NUMBER = re.compile(r"v?([0-9]+(?:\.[0-9]+)*)")


def snapshot_values(
    server: ServerVersion, nodes: Sequence[Node], read_at: str
) -> tuple[dict[str, object], list[str]]:
    """The snapshot as native values, and what a person should know about it."""
    doubts: dict[str, list[str]] = {}
    speaking = [node for node in nodes if _has_gpu(node)] or list(nodes)
    measurements = [
        _measurement(
            "K8s",
            server={
                "version": server.version,
                "platform": server.platform,
                "goVersion": server.go_version,
            },
            node=_agreed(speaking, _node_readings, doubts),
        ),
        _measurement(
            "OS",
            release=_agreed(speaking, _release, doubts),
            sysctl=_agreed(speaking, _sysctl, doubts),
        ),
        _measurement(
            "NodeTopology",
            summary={
                "node-count": str(len(nodes)),
                "label-count": str(len({key for node in nodes for key in _labels(node)})),
                "taint-count": str(len({taint for node in nodes for taint in node.taints})),
            },
            label=_shared((key, value, node) for node in nodes for key, value in _pairs(node)),
            taint=_shared(
                (key, f"{effect}|{value}", node)
                for node in nodes
                for key, value, effect in node.taints
            ),
        ),
    ]
    metadata: dict[str, object] = {"version": __version__}
    if read_at:
        metadata["readAt"] = read_at
    values: dict[str, object] = {
        "kind": KIND,
        "apiVersion": WRITTEN_API_VERSION,
        "metadata": metadata,
        "measurements": measurements,
        "nodes": [_node_values(node) for node in nodes],
    }
    return values, [
        f"the nodes differ in {' and '.join(keys)}, so the snapshot has no one reading: {said}"
        for said, keys in doubts.items()
    ]


def _measurement(kind: str, **subtypes: Mapping[str, str]) -> dict[str, object]:
    listed = [
        {"subtype": name, "data": {key: data[key] for key in sorted(data) if data[key]}}
        for name, data in subtypes.items()
    ]
    return {"type": kind, "subtypes": listed}


def _has_gpu(node: Node) -> bool:
    return node.allocatable_gpus > 0 or GPU_LABEL in node.labels


def _agreed(nodes: Sequence[Node], read: _Reading, doubts: dict[str, list[str]]) -> dict[str, str]:
    """The readings in which all nodes agree; the others are doubts, by how they differ."""
    found: dict[str, dict[str, list[str]]] = {}
    for node in nodes:
        for key, value in read(node).items():
            found.setdefault(key, {}).setdefault(value, []).append(node.name)
    agreed: dict[str, str] = {}
    for key, values in found.items():
        if len(values) == 1:
            agreed[key] = next(iter(values))
        else:
            said = ", ".join(f"{value or 'none'} ({len(of)})" for value, of in values.items())
            doubts.setdefault(said, []).append(key)
    return agreed


def _node_readings(node: Node) -> dict[str, str]:
    runtime, _, version = node.container_runtime.partition("://")
    return {
        "provider": node.provider_id.partition("://")[0],
        "kubelet-version": node.kubelet,
        "kernel-version": node.kernel,
        "operating-system": node.operating_system,
        "os-image": node.os_image,
        "container-runtime-name": runtime,
        "container-runtime-version": version,
    }


def _release(node: Node) -> dict[str, str]:
    """What /etc/os-release would say, as far as the image's name tells."""
    image = node.os_image.lower()
    for text, name in _OS_NAMES:
        if text in image:
            number = _NUMBER.search(image.partition(text)[2])
            version = number[1] if number else ""
            if name == "ubuntu":
                version = ".".join(version.split(".")[:2])
            return {"ID": name, "VERSION_ID": version, "PRETTY_NAME": node.os_image}
    return {"PRETTY_NAME": node.os_image}


def _sysctl(node: Node) -> dict[str, str]:
    return {"/proc/sys/kernel/osrelease": node.kernel}


def _labels(node: Node) -> dict[str, str]:
    return {key: value for key, value in node.labels.items() if key.startswith(_LABELS)}


def _pairs(node: Node) -> Iterable[tuple[str, str]]:
    return sorted(_labels(node).items())


def _shared(readings: Iterable[tuple[str, str, Node]]) -> dict[str, str]:
    """``value|nodes`` by key; a key with several values has each value in its name."""
    found: dict[str, dict[str, list[str]]] = {}
    for key, value, node in readings:
        found.setdefault(key, {}).setdefault(value, []).append(node.name)
    shared: dict[str, str] = {}
    for key, values in found.items():
        for value, names in values.items():
            name = key if len(values) == 1 else f"{key}.{value}"
            shared[name] = f"{value}|{','.join(names)}"
    return shared


def _node_values(node: Node) -> dict[str, object]:
    values: dict[str, object] = {
        "name": node.name,
        "ready": node.ready,
        "unschedulable": node.unschedulable,
        "provider": node.provider_id.partition("://")[0],
        "architecture": node.architecture,
        "osImage": node.os_image,
        "kernel": node.kernel,
        "containerRuntime": node.container_runtime,
        "kubelet": node.kubelet,
        "gpus": node.allocatable_gpus,
        "labels": dict(_pairs(node)),
        "taints": [
            {"key": key, "value": value, "effect": effect} for key, value, effect in node.taints
        ],
    }
    return {key: value for key, value in values.items() if value not in ("", {}, [])}


if TYPE_CHECKING:
    from collections.abc import Callable

    _Reading = Callable[[Node], Mapping[str, str]]
