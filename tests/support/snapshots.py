"""Snapshots of clusters, as the public tool writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from small_catalog import SmallCatalog, helm

VERSION = "K8s.server.version"

EKS_H100 = """\
kind: Snapshot
apiVersion: aicr.run/v1alpha2
metadata:
  timestamp: "2026-05-01T10:30:00Z"
  version: v0.16.0
  source-node: gpu-node-1
measurements:
  - type: K8s
    subtypes:
      - subtype: server
        data:
          version: v1.33.5-eks-ba24e9c
          platform: linux/amd64
          goVersion: go1.24.6
      - subtype: node
        data:
          source-node: gpu-node-1
          provider: eks
          provider-id: aws:///us-west-2a/i-0123456789abcdef0
          kernel-version: 6.8.0-1021-aws
  - type: GPU
    subtypes:
      - subtype: hardware
        data:
          gpu-present: true
          gpu-count: 8
          driver-loaded: true
          model: h100
  - type: OS
    subtypes:
      - subtype: release
        data:
          ID: ubuntu
          VERSION_ID: 24.04
      - subtype: sysctl
        data:
          /proc/sys/kernel/osrelease: 6.8.0-1021-aws
  - type: SystemD
    subtypes:
      - subtype: containerd.service
        data:
          ActiveState: active
  - type: NodeTopology
    subtypes:
      - subtype: summary
        data:
          node-count: 3
      - subtype: label
        data:
          nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3|gpu-node-1,gpu-node-2
"""


def snapshot_of(readings: Mapping[str, Mapping[str, object]]) -> dict[str, Any]:
    """A snapshot with these readings, by ``type.subtype``."""
    measurements: dict[str, dict[str, Any]] = {}
    for name, data in readings.items():
        kind, _, subtype = name.partition(".")
        one = measurements.setdefault(kind, {"type": kind, "subtypes": []})
        one["subtypes"].append({"subtype": subtype, "data": dict(data)})
    return {"kind": "Snapshot", "measurements": list(measurements.values())}


def requires(value: str) -> list[dict[str, str]]:
    return [{"name": VERSION, "value": value}]


def constrained_stack() -> SmallCatalog:
    """``eks`` below ``h100-eks`` below ``h100-eks-ubuntu`` (which brings a mixin)."""
    return (
        SmallCatalog()
        .registry(helm("a"), helm("m"))
        .overlay("base", componentRefs=[{"name": "a"}], constraints=requires(">= 1.25"))
        .overlay("eks", criteria={"service": "eks"}, constraints=requires(">= 1.28"))
        .overlay(
            "h100-eks",
            base="eks",
            criteria={"service": "eks", "accelerator": "h100"},
            constraints=requires(">= 1.32"),
        )
        .overlay(
            "h100-eks-ubuntu",
            base="h100-eks",
            criteria={"service": "eks", "accelerator": "h100", "os": "ubuntu"},
            mixins=["ubuntu"],
        )
        .mixin(
            "ubuntu",
            constraints=[{"name": "OS.release.VERSION_ID", "value": "24.04"}],
            componentRefs=[{"name": "m"}],
        )
    )
