from __future__ import annotations

from typing import Any

import pytest

from aicr.cluster.nodes import read_nodes, read_version
from aicr.documents.emit import yaml_text
from aicr.recipe.measure import snapshot_values
from aicr.recipe.snapshot import Snapshot, read_snapshot
from kube_double import KubeDouble
from kube_double_fixtures import Connect


def taken(double: KubeDouble, connect: Connect) -> tuple[Snapshot, dict[str, object], list[str]]:
    connection = connect(double)
    values, doubts = snapshot_values(
        read_version(connection), read_nodes(connection), "2026-11-30T16:00:00Z"
    )
    return read_snapshot(yaml_text(values).encode(), "snapshot.yaml"), values, doubts


def test_what_the_nodes_agree_on(double: KubeDouble, connect: Connect) -> None:
    snapshot, _, doubts = taken(double, connect)
    assert snapshot.reading("K8s", "server", "version") == "v1.36.2"
    assert snapshot.reading("K8s", "node", "provider") == "aws"
    assert snapshot.reading("K8s", "node", "container-runtime-version") == "2.1.4"
    assert snapshot.reading("OS", "release", "ID") == "ubuntu"
    assert snapshot.reading("OS", "release", "VERSION_ID") == "24.04"
    assert snapshot.reading("NodeTopology", "summary", "node-count") == "3"
    taint = snapshot.reading("NodeTopology", "taint", "dedicated")
    assert taint == "NoExecute|tasks|gpu-arm64-1"
    assert snapshot.reading("OS", "sysctl", "/proc/sys/kernel/osrelease") is None
    assert doubts[0] == (
        "the nodes differ in kernel-version, so the snapshot has no one reading: "
        "6.8.0-1030-aws (2), 6.8.0-1030-nvidia-64k (1)"
    )


def test_nodes_without_gpus_do_not_speak(double: KubeDouble, connect: Connect) -> None:
    kind = double.store.kind("", "nodes")
    arm: dict[str, Any] = double.store.get(kind, "", "gpu-arm64-1")
    arm["metadata"]["labels"] = {"kubernetes.io/arch": "arm64"}
    arm["status"]["allocatable"] = {}
    snapshot, values, doubts = taken(double, connect)
    assert not doubts
    assert snapshot.reading("OS", "sysctl", "/proc/sys/kernel/osrelease") == "6.8.0-1030-aws"
    label = snapshot.reading("NodeTopology", "label", "nvidia.com/gpu.product")
    assert label == "NVIDIA-H100-80GB-HBM3|gpu-amd64-1,gpu-amd64-2"
    nodes = values["nodes"]
    assert isinstance(nodes, list)
    assert [node["name"] for node in nodes] == ["gpu-amd64-1", "gpu-amd64-2", "gpu-arm64-1"]
    assert nodes[1]["unschedulable"] is True


@pytest.mark.parametrize(
    ("image", "name", "version"),
    [
        ("Ubuntu 22.04.5 LTS", "ubuntu", "22.04"),
        ("Red Hat Enterprise Linux CoreOS 418.94.202501221327-0", "rhel", "418.94.202501221327"),
        ("Red Hat Enterprise Linux 9.4 (Plow)", "rhel", "9.4"),
        ("Amazon Linux 2023.6.20250115", "amzn", "2023.6.20250115"),
        ("Container-Optimized OS from Google", "cos", None),
        ("Talos (v1.9.1)", "talos", "1.9.1"),
        ("Oracle Linux Server 8.10", "ol", "8.10"),
        ("Something else 1", None, None),
    ],
)
def test_operating_systems(
    image: str, name: str | None, version: str | None, double: KubeDouble, connect: Connect
) -> None:
    for node in double.store.all(double.store.kind("", "nodes")):
        node["status"]["nodeInfo"]["osImage"] = image
    snapshot, _, _ = taken(double, connect)
    assert snapshot.reading("OS", "release", "ID") == name
    assert snapshot.reading("OS", "release", "VERSION_ID") == version
    assert snapshot.reading("K8s", "node", "os-image") == image
