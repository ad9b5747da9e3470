"""The kustomize of the field: kubectl's, else the program of that name."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import yaml

from tools import find_tool, tool


def builder() -> list[str]:
    """The command that builds a folder. Skips the test where there is none."""
    kubectl = find_tool("kubectl", "KUBECTL_BIN")
    if kubectl is not None:
        return [kubectl, "kustomize"]
    return [tool("kustomize", "KUSTOMIZE_BIN"), "build"]


def built(root: Path) -> list[dict[str, Any]]:
    """What the kustomization in ``root`` builds."""
    done = subprocess.run([*builder(), str(root)], capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))
