"""Helm's records as Helm writes them, for the Kubernetes double."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any


def record(
    name: str,
    namespace: str,
    revision: int = 1,
    *,
    status: str = "deployed",
    chart: str = "",
    version: str = "1.0.0",
    annotations: Mapping[str, str] | None = None,
    padding: str = "",
) -> dict[str, Any]:
    """What Helm records of a revision; ``padding`` is in its values and manifest."""
    return {
        "name": name,
        "info": {
            "first_deployed": "2026-11-01T00:00:00.5Z",
            "last_deployed": "2026-11-02T00:00:00.5Z",
            "description": padding[:100],
            "status": status,
        },
        "chart": {
            "metadata": {
                "name": chart or name,
                "version": version,
                "annotations": dict(annotations or {}),
            },
            "values": {"password": padding},
        },
        "config": {"password": padding},
        "manifest": padding,
        "version": revision,
        "namespace": namespace,
    }


def stored(
    release: Mapping[str, Any],
    *,
    kind: str = "Secret",
    stored_in: str = "",
    payload: bytes | None = None,
    labels: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The Secret or ConfigMap of a record; ``payload`` is other content for it."""
    name, revision = release["name"], release["version"]
    text = json.dumps(release).encode()
    data = base64.b64encode(gzip.compress(text, 1)) if payload is None else payload
    if kind == "Secret":
        data = base64.b64encode(data)
    own = {
        "name": name,
        "owner": "helm",
        "status": release["info"]["status"],
        "version": str(revision),
    }
    item: dict[str, Any] = {
        "metadata": {
            "name": f"sh.helm.release.v1.{name}.v{revision}",
            "namespace": stored_in or release["namespace"],
            "labels": own if labels is None else dict(labels),
        },
        "data": {"release": data.decode()},
    }
    if kind == "Secret":
        item["type"] = "helm.sh/release.v1"
    return item
