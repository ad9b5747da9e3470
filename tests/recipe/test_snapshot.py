from __future__ import annotations

import json
from typing import Any

import pytest

from aicr.catalog.layers import Catalog
from aicr.errors import AicrError
from aicr.recipe.criteria import admitted
from aicr.recipe.snapshot import Detected, Snapshot, detect, read_snapshot
from small_catalog import simple
from snapshots import EKS_H100, snapshot_of


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return simple({"name": "a"}).overlay("own", criteria={"accelerator": "x-9 pro"}).in_memory()


def detected(catalog: Catalog, document: object) -> Detected:
    snapshot = read_snapshot(json.dumps(document).encode(), "s.yaml")
    return detect(snapshot, admitted(catalog))


def test_a_snapshot_as_the_public_tool_writes_it(catalog: Catalog) -> None:
    snapshot = read_snapshot(EKS_H100.encode(), "s.yaml")
    assert snapshot.reading("OS", "release", "VERSION_ID") == "24.04"
    assert snapshot.reading("GPU", "hardware", "gpu-count") == "8"
    assert snapshot.reading("SystemD", "containerd.service", "ActiveState") == "active"
    found = detect(snapshot, admitted(catalog))
    assert found.criteria == {"service": "eks", "accelerator": "h100", "os": "ubuntu"}
    assert found.doubts == []


@pytest.mark.parametrize(
    ("readings", "criteria"),
    [
        ({"K8s.node": {"provider-id": "gce://project/zone/name"}}, {"service": "gke"}),
        ({"K8s.node": {"provider-id": "azure:///subscriptions/x"}}, {"service": "aks"}),
        ({"K8s.node": {"provider-id": "ocid1.instance.oc1.iad.x"}}, {"service": "oke"}),
        ({"K8s.node": {"provider-id": "oci://x"}}, {"service": "oke"}),
        ({"K8s.node": {"provider-id": "kind://docker/kind/node"}}, {"service": "kind"}),
        ({"K8s.node": {"provider": "eks"}}, {"service": "eks"}),
        ({"K8s.server": {"version": "v1.34.1-gke.5"}}, {"service": "gke"}),
        ({"K8s.server": {"version": "v1.34.1+rke2r1"}}, {"service": "rke2"}),
        ({"K8s.server": {"version": "v1.34.1"}}, {}),
        ({"OS.release": {"ID": "amzn"}}, {"os": "amazonlinux"}),
        ({"OS.release": {"ID": "rhel"}}, {"os": "rhel"}),
        ({"NodeTopology.label": {"nvidia.com/gpu.product": "NVIDIA-L40S|n1,n2"}},
         {"accelerator": "l40s"}),
        ({"NodeTopology.label": {"nvidia.com/gpu.product": "NVIDIA-L40|n1"}},
         {"accelerator": "l40"}),
        ({"NodeTopology.label": {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb|n"}},
         {"accelerator": "a100"}),
        ({"NodeTopology.label": {"nvidia.com/gpu.product": "NVIDIA-RTX-PRO-6000-Blackwell|n"}},
         {"accelerator": "rtx-pro-6000"}),
        ({"NodeTopology.label": {
            "nvidia.com/gpu.product.NVIDIA-H100-PCIe": "NVIDIA-H100-PCIe|a",
            "nvidia.com/gpu.product.NVIDIA-H100-80GB-HBM3": "NVIDIA-H100-80GB-HBM3|b"}},
         {"accelerator": "h100"}),
        ({"GPU.hardware": {"device-id": "10de:2330"}}, {"accelerator": "h100"}),
        ({"GPU.hardware": {"pci-id": "0x2901"}}, {"accelerator": "b200"}),
        ({"GPU.hardware": {"model": "gb200"}}, {"accelerator": "gb200"}),
        ({"GPU.smi": {"gpu.model": "NVIDIA H100 80GB HBM3"}}, {"accelerator": "h100"}),
        ({"GPU.smi": {"gpu-count": 0}}, {}),
    ],
)  # fmt: skip
def test_detection(catalog: Catalog, readings: dict[str, Any], criteria: dict[str, str]) -> None:
    found = detected(catalog, snapshot_of(readings))
    assert (found.criteria, found.doubts) == (criteria, [])


@pytest.mark.parametrize(
    ("readings", "doubt"),
    [
        ({"K8s.node": {"provider-id": "aws:///x"}, "K8s.server": {"version": "v1+rke2r1"}},
         "the service is left open, since the snapshot shows eks"),
        ({"K8s.node": {"provider-id": "vsphere://x"}}, 'since "vsphere" (K8s.node.provider-id)'),
        ({"NodeTopology.label": {"nvidia.com/gpu.product": "NVIDIA-GH200-480GB|n"}},
         'since "NVIDIA-GH200-480GB"'),
        ({"NodeTopology.label": {"nvidia.com/gpu.product.A": "NVIDIA-H100|a",
                                 "nvidia.com/gpu.product.B": "NVIDIA-L40S|b"}},
         "the accelerator is left open, since the snapshot shows"),
        ({"GPU.hardware": {"model": "b300"}}, 'since "b300"'),
        ({"OS.release": {"ID": "gentoo"}}, 'since "gentoo" (OS.release.ID)'),
    ],
)  # fmt: skip
def test_doubts(catalog: Catalog, readings: dict[str, Any], doubt: str) -> None:
    found = detected(catalog, snapshot_of(readings))
    assert found.criteria == {}
    assert len(found.doubts) == 1
    assert doubt in found.doubts[0]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"kind": "RecipeResult"}, "s.yaml:1: kind: expected Snapshot"),
        ({"kind": "Snapshot", "apiVersion": "aicr.run/v9"}, "apiVersion"),
        ({"kind": "Snapshot"}, "measurements"),
        ([], "expected a map"),
        ({"measurements": [{"subtypes": []}]}, "type"),
        ({"measurements": [{"type": "OS", "subtypes": [{"data": []}]}]}, "data"),
    ],
)
def test_documents_that_are_no_snapshot(document: object, said: str) -> None:
    with pytest.raises(AicrError) as caught:
        read_snapshot(json.dumps(document).encode(), "s.yaml")
    assert caught.value.code == "INVALID_REQUEST"
    assert said in caught.value.message


def test_what_is_not_known_is_kept(catalog: Catalog) -> None:
    document = snapshot_of({"NetworkTopology.identity": {"pf-count": 8, "deep": {"a": 1}}})
    document["fingerprint"] = {"x": 1}
    snapshot: Snapshot = read_snapshot(json.dumps(document).encode(), "s.yaml")
    assert dict(snapshot.readings("NetworkTopology", "identity")) == {"pf-count": "8"}
