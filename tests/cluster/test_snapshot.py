from __future__ import annotations

from typing import Any

import pytest

from aicr.cluster.nodes import read_nodes, read_version
from aicr.documents.emit import yaml_text
from aicr.recipe.measure import snapshot_values
from aicr.recipe.snapshot import Snapshot, read_snapshot
from kube_double_fixtures import Connect
from kube_servers import Server, change


def taken(server: Server, connect: Connect) -> tuple[Snapshot, dict[str, object], list[str]]:
    connection = connect(server)
    values, doubts = snapshot_values(
        read_version(connection), read_nodes(connection), "2026-11-30T16:00:00Z"
    )
    return read_snapshot(yaml_text(values).encode(), "snapshot.yaml"), values, doubts


def test_what_the_nodes_agree_on(server: Server, connect: Connect) -> None:
    snapshot, _, doubts = taken(server, connect)
    assert (snapshot.reading("K8s", "server", "version") or "").startswith("v1.36.")
    assert snapshot.reading("K8s", "node", "provider") == "aws"
    assert snapshot.reading("K8s", "node", "container-runtime-version") == "2.1.4"
    assert snapshot.reading("OS", "release", "ID") == "ubuntu"
    assert snapshot.reading("OS", "release", "VERSION_ID") == "24.04"
    assert snapshot.reading("NodeTopology", "summary", "node-count") == "3"
    taint = snapshot.reading("NodeTopology", "taint", "dedicated")
    assert taint == "NoExecute|tasks|gpu-arm64-1"
    assert snapshot.reading("OS", "sysctl", "/proc/sys/kernel/osrelease") is None
    [doubt] = doubts
    assert doubt == (
        "the nodes differ in kernel-version and /proc/sys/kernel/osrelease, so the snapshot has no "
        "one reading: 6.8.0-1030-aws (2), 6.8.0-1030-nvidia-64k (1)"
    )


def test_nodes_without_gpus_do_not_speak(server: Server, connect: Connect) -> None:
    kind = server.store.kind("", "nodes")

    def without_gpus(arm: dict[str, Any]) -> None:
        arm["metadata"]["labels"] = {"kubernetes.io/arch": "arm64"}
        arm["status"] |= {"allocatable": {}, "capacity": {}}  # one is the default of the other

    change(server, kind, "", "gpu-arm64-1", without_gpus)
    snapshot, values, doubts = taken(server, connect)
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
    image: str, name: str | None, version: str | None, server: Server, connect: Connect
) -> None:
    kind = server.store.kind("", "nodes")
    for node in server.store.all(kind):
        change(
            server,
            kind,
            "",
            node["metadata"]["name"],
            lambda one: one["status"]["nodeInfo"].update(osImage=image),
        )
    snapshot, _, _ = taken(server, connect)
    assert snapshot.reading("OS", "release", "ID") == name
    assert snapshot.reading("OS", "release", "VERSION_ID") == version
    assert snapshot.reading("K8s", "node", "os-image") == image
