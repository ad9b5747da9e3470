"""What an Argo CD Application of a release looks like, for both Argo CD writers."""

from __future__ import annotations

from aicr.bundle.charts import COMPONENT_VERSION, GENERATED_BY, chart_version
from aicr.bundle.stepwise import names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.bundle.plan import DeploymentPlan, PlannedRelease

API_VERSION = "argoproj.io/v1alpha1"
NAMESPACE = "argocd"
IN_CLUSTER = "https://kubernetes.default.svc"
WAVE = "argocd.argoproj.io/sync-wave"
STOPPED = '{"spec":{"syncPolicy":{"automated":null}}}'

WAVES = """\
Each Application has a sync wave, which puts the releases in the order of the table. Argo CD waits
for one wave before it begins the next only if it knows the health of Applications; in its
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


def held(plan: DeploymentPlan) -> str:
    """The commands that stop Applications from syncing themselves. What an Application looks like
    in the bundle lets it begin again."""
    return f"""\
for name in \\
{names_of(plan)}; do
  kubectl -n {NAMESPACE} patch application "$name" --type merge \\
    -p '{STOPPED}'
done
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
                    # Else what is ignored is no difference, and is applied all the same.
                    *(["RespectIgnoreDifferences=true"] if release.foreign_crds else []),
                ],
                "retry": {
                    "limit": 10,
                    "backoff": {"duration": "15s", "factor": 2, "maxDuration": "5m"},
                },
            },
            **(
                {"ignoreDifferences": [*map(_left_alone, release.foreign_crds)]}
                if release.foreign_crds
                else {}
            ),
        },
    }


def _left_alone(crd: str) -> dict[str, object]:
    """The schema of a CRD is the business of another Application, which applies it too."""
    return {
        "group": "apiextensions.k8s.io",
        "kind": "CustomResourceDefinition",
        "name": crd,
        "jsonPointers": ["/spec/versions/0/schema"],
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
