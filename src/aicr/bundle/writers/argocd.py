"""How Argo CD applies a plan from a Git repository: ``app-of-apps.yaml`` and an Application each.

The bundle is the content of the repository's root. An upstream chart takes its values from there
through a second source.
"""

from __future__ import annotations

from aicr.bundle.charts import chart_files
from aicr.bundle.writers.applications import (
    API_VERSION,
    IN_CLUSTER,
    NAMESPACE,
    WAVES,
    application,
    chart_source,
)
from aicr.documents.emit import yaml_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.bundle.plan import DeploymentPlan, PlannedRelease
    from aicr.bundle.writers import Files, Options

ENTRYPOINT = "app-of-apps.yaml"


def usage(plan: DeploymentPlan, options: Options) -> str:
    """How the bundle is deployed, for its README."""
    del plan
    return f"""\
Needs Argo CD 2.8 or newer in the namespace `{NAMESPACE}`. Commit the content of this folder to the
root of `{options.repo}` ({options.revision}), then:

```bash
kubectl apply -f {ENTRYPOINT}
```

{WAVES}"""


def release_path(release: PlannedRelease) -> str:
    """Where a release is in the bundle."""
    return release.folder


def write(plan: DeploymentPlan, options: Options) -> Files:
    """The files of the deployer, by path in the bundle."""
    files: Files = {ENTRYPOINT: (yaml_text(_root(options)).encode("utf-8"), False)}
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


def _root(options: Options) -> dict[str, object]:
    return {
        "apiVersion": API_VERSION,
        "kind": "Application",
        "metadata": {"name": "aicr-bundle", "namespace": NAMESPACE},
        "spec": {
            "project": "default",
            "source": {
                "repoURL": options.repo,
                "targetRevision": options.revision,
                "path": ".",
                "directory": {"recurse": True, "include": "*/application.yaml"},
            },
            "destination": {"server": IN_CLUSTER, "namespace": NAMESPACE},
            "syncPolicy": {"automated": {"selfHeal": True}},
        },
    }
