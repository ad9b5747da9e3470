"""The kubeconfig for a server of the tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml


def write_kubeconfig(
    folder: Path, name: str, user: Mapping[str, Any], cluster: Mapping[str, Any]
) -> Path:
    """A kubeconfig with one cluster, user and context of this name; empty fields are left out."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": {k: v for k, v in cluster.items() if v != ""}}],
        "users": [{"name": name, "user": dict(user)}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }
    path = folder / f"{name}.kubeconfig"
    path.write_text(yaml.safe_dump(document))
    return path
