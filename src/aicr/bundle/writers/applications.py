"""What an Argo CD Application of a release looks like, for both Argo CD writers."""

from __future__ import annotations

from aicr.bundle.charts import COMPONENT_VERSION, GENERATED_BY, chart_version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.bundle.plan import PlannedRelease

API_VERSION = "argoproj.io/v1alpha1"
NAMESPACE = "argocd"
IN_CLUSTER = "https://kubernetes.default.svc"
WAVE = "argocd.argoproj.io/sync-wave"

WAVES = """\
Each Application has a sync wave, so the releases are installed in the order of the table. Argo CD
waits for one wave before it begins the next only if it knows the health of Applications; in its
`argocd-cm` ConfigMap:

```yaml
resource.customizations.health.argoproj.io_Application: |
  hs = {status = "Progressing", message = ""}
  if obj.status ~= nil and obj.status.health ~= nil then
    hs.status = obj.status.health.status
    hs.message = obj.status.health.message or ""
  end
  return hs
```

An Application that is no longer in the bundle is not deleted, nor is what it installed.
"""


def application(release: PlannedRelease) -> dict[str, object]:
    """The Application of a release, without its sources."""
    version = chart_version()
    return {
        "apiVersion": API_VERSION,
        "kind": "Application",
        "metadata": {
            "name": release.name,
            "namespace": NAMESPACE,
            "labels": {"aicr.run/component": release.component},
            "annotations": {
                WAVE: str(release.index),
                COMPONENT_VERSION: release.version or version,
                GENERATED_BY: f"aicr {version}",
            },
        },
        "spec": {
            "project": "default",
            "destination": {"server": IN_CLUSTER, "namespace": release.namespace},
            "syncPolicy": {
                "automated": {"prune": True, "selfHeal": True},
                "syncOptions": [
                    "CreateNamespace=true",
                    "ServerSideApply=true",
                    "SkipDryRunOnMissingResource=true",
                ],
                "retry": {
                    "limit": 10,
                    "backoff": {"duration": "15s", "factor": 2, "maxDuration": "5m"},
                },
            },
        },
    }


def chart_source(release: PlannedRelease) -> dict[str, object]:
    """The source that is the upstream chart of a release; an OCI registry stands without scheme."""
    chart = release.chart
    assert chart is not None
    return {
        "repoURL": chart.repository.removeprefix("oci://"),
        "chart": chart.name,
        "targetRevision": chart.version,
    }
