"""A catalog and a folder of its charts, for lists of what a mirror needs."""

from __future__ import annotations

from pathlib import Path

from bundles import stack
from small_charts import write_chart

CRD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\n"
DAEMON = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers: [{name: c, image: 'r.example/{{ index .Values "plain" "size" }}:1'}]
"""


def mirrored(folder: Path) -> Path:
    """The stack of the bundle tests in ``catalog``, with an image in the manifest of ``plain``, and
    ``charts``; ``folder`` itself."""
    stack().add("components/plain/manifests/only.yaml", DAEMON).write(folder / "catalog")
    write_chart(folder / "charts", "chart", "1.2.3")
    write_chart(
        folder / "charts", "oci-chart", "26.10.0",
        {"templates/deployment.yaml": "", "values.yaml": {"replicas": 1}, "crds/x.yaml": CRD},
    )  # fmt: skip
    return folder
