"""How Argo CD applies a plan from a Git repository: ``app-of-apps.yaml`` and an Application each.

The bundle is the content of the repository's root. An upstream chart takes its values from there
through a second source.
"""

from __future__ import annotations

from aicr.bundle.charts import chart_files
from aicr.bundle.stepwise import Stepwise
from aicr.bundle.writers.applications import (
    API_VERSION,
    IN_CLUSTER,
    NAMESPACE,
    STOPPED,
    WAVES,
    application,
    chart_source,
    held,
)
from aicr.documents.emit import yaml_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.bundle.plan import DeploymentPlan, PlannedRelease
    from aicr.bundle.writers import Files, Options

ENTRYPOINT = "app-of-apps.yaml"
ROOT = "aicr-bundle"


def usage(plan: DeploymentPlan, options: Options) -> str:
    """How the bundle is deployed, for its README."""
    del plan
    return f"""\
Needs Argo CD 2.8 or newer in the namespace `{NAMESPACE}`. Commit the content of this folder to the
root of `{options.repo}` ({options.revision}), to which Argo CD has
access (`argocd repo list`), then:

```bash
kubectl apply -f {ENTRYPOINT}
```

{WAVES}
Values and generated charts are read at `{options.revision}`. Where that is a branch, a push reaches
all Applications at once, before their new chart versions and in no order. To keep the order in an
upgrade too, write each bundle for a tag of its own (`--target-revision`), push both, and apply
`{ENTRYPOINT}` again.
"""


def stepwise(plan: DeploymentPlan, options: Options) -> Stepwise:
    """How an upgrade is taken one release at a time."""
    del options
    before = f"""\
Every Application syncs itself as soon as the repository changes, and `{ROOT}` puts back what
is changed in the cluster. Stop both before you push this bundle (an app-of-apps of another tool has
another name; what is not there yet is not found, which is no harm):

```bash
kubectl -n {NAMESPACE} patch application {ROOT} --type merge \\
  -p '{STOPPED}'
{held(plan)}```

Push it. Nothing changes in the cluster yet: the command of a release gives Argo CD its new
Application, which syncs itself again, alone.
"""
    after = f"""\
`kubectl -n {NAMESPACE} get applications` shows what is synced and healthy. Last, let `{ROOT}`
keep the Applications again:

```bash
kubectl apply -f {ENTRYPOINT}
```
"""
    return Stepwise(before, lambda one: f"kubectl apply -f {one.folder}/application.yaml", after)


def release_path(release: PlannedRelease) -> str:
    """Where a release is in the bundle."""
    return release.folder


def write(plan: DeploymentPlan, options: Options) -> Files:
    """The files of the deployer, by path in the bundle."""
    files: Files = {ENTRYPOINT: (yaml_text(_root(plan, options)).encode("utf-8"), False)}
    for release in plan.releases:
        if release.chart is None:
            own = chart_files(release)
        else:
            own = {"values.yaml": yaml_text(release.values).encode("utf-8")}
        own["application.yaml"] = yaml_text(_application(release, options)).encode("utf-8")
        for name, data in own.items():
            files[f"{release.folder}/{name}"] = (data, False)
    return files


def _application(release: PlannedRelease, options: Options) -> dict[str, object]:
    document = application(release)
    spec = document["spec"]
    assert isinstance(spec, dict)
    git = {"repoURL": options.repo, "targetRevision": options.revision}
    if release.chart is None:
        helm = {"releaseName": release.name, "valueFiles": ["values.yaml"]}
        spec["source"] = {**git, "path": release.folder, "helm": helm}
    else:
        values = [f"$values/{release.folder}/values.yaml"]
        helm = {"releaseName": release.name, "valueFiles": values}
        source: dict[str, object] = dict(chart_source(release))
        if release.is_in_bundle:
            source = {**git, "path": release.chart.unpacked}
        spec["sources"] = [{**source, "helm": helm}, {**git, "ref": "values"}]
    return document


def _root(plan: DeploymentPlan, options: Options) -> dict[str, object]:
    # By name: in Argo CD's patterns "*" takes "/" too, and with it what charts bring.
    listed = [f"{release_path(release)}/application.yaml" for release in plan.releases]
    return {
        "apiVersion": API_VERSION,
        "kind": "Application",
        "metadata": {"name": ROOT, "namespace": NAMESPACE},
        "spec": {
            "project": "default",
            "source": {
                "repoURL": options.repo,
                "targetRevision": options.revision,
                "path": ".",
                "directory": {"recurse": True, "include": f"{{{','.join(listed)}}}"},
            },
            "destination": {"server": IN_CLUSTER, "namespace": NAMESPACE},
            "syncPolicy": {"automated": {"selfHeal": True}},
        },
    }
