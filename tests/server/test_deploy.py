"""The manifests and the image: no privileges, no token, nothing that could be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]


def documents() -> dict[str, Any]:
    text = (ROOT / "deploy" / "serve.yaml").read_text("utf-8")
    return {one["kind"]: one for one in yaml.safe_load_all(text)}


def test_the_pod_is_restricted() -> None:
    pod = documents()["Deployment"]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    (container,) = pod["containers"]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "volumes" not in pod
    assert documents()["NetworkPolicy"]["spec"]["egress"] == []


def test_the_objects_belong_together() -> None:
    found = documents()
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert found["Service"]["spec"]["selector"] == labels
    assert found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert found["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"] == labels
    pod = found["Deployment"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["args"][0] == "serve"


def test_the_image_runs_as_nobody() -> None:
    lines = (ROOT / "Dockerfile").read_text("utf-8").splitlines()
    assert "USER 65532:65532" in lines
    assert any(line.startswith('CMD ["serve"') for line in lines)
