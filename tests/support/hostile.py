"""A recipe that says something harmful in every field that is free to say something."""

from __future__ import annotations

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>"


def hostile(version: str) -> dict[str, object]:
    """A recipe that says it in every field that is free to say something."""
    component = {
        key: f"{HOSTILE}{key}"
        for key in ("name", "namespace", "chart", "source", "path", "valuesFile")
    }
    return {
        "kind": "RecipeResult",
        "apiVersion": "aicr.run/v1beta1",
        "metadata": {"version": HOSTILE, "appliedOverlays": [HOSTILE]},
        "criteria": {"service": HOSTILE, "intent": HOSTILE},
        "constraints": [{"name": HOSTILE, "value": HOSTILE}],
        "componentRefs": [
            {**component, "type": "Helm", "version": version + HOSTILE,
             "manifestFiles": [HOSTILE + version], "dependencyRefs": [HOSTILE]},
            {"name": "gpu-operator", "type": "Helm", "source": "s",
             "version": "v26.3.3" if version == "1" else "v26.7.0"},
            {"name": f"only-{version}{HOSTILE}", "type": "Helm", "source": "s", "version": "1.0.0"},
        ],
        "deploymentOrder": [f"{HOSTILE}name", "gpu-operator"],
    }  # fmt: skip
