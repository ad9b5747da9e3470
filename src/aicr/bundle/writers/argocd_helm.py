"""How Argo CD applies a plan through a chart of Applications, a template a release.

The chart's ``values.yaml`` has each release's values under its name. Where the bundle itself is
kept (``repoURL``) is said when the chart is installed.
"""

from __future__ import annotations

from aicr.bundle.charts import GENERATED_BY, chart_files, chart_version
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
from aicr.documents.emit import json_text, yaml_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.bundle.plan import DeploymentPlan, PlannedRelease
    from aicr.bundle.writers import Files, Options

ENTRYPOINT = "Chart.yaml"
CHART_NAME = "aicr-bundle"
EXAMPLE_REPO = "https://git.example/bundles.git"

# The generated charts are for Argo CD, not part of this one.
_IGNORED = (
    b"/[0-9]*/\n/vendor/\n/provenance.yaml\n/*.md\n/recipe.yaml\n/bundle-info.yaml\n"
    b"/checksums.txt\n"
)
_REPO = "{{ .Values.repoURL | quote }}"
_REVISION = "{{ .Values.targetRevision | quote }}"


def usage(plan: DeploymentPlan, options: Options) -> str:
    """How the bundle is deployed, for its README."""
    flags = _install_flags(plan, options)
    where = "This folder is a chart; no copy of it in a repository is needed."
    if flags:
        where = (
            "This folder is a chart. Commit its content to the root of a Git repository, from\n"
            "which Argo CD reads the generated charts, and say which one it is:"
        )
    elif _is_read_from_git(plan):
        where = (
            f"This folder is a chart. Commit its content to the root of `{options.repo}`\n"
            f"({options.revision}), from which Argo CD reads the generated charts, then:"
        )
    return f"""\
Needs Argo CD 2.8 or newer in the namespace `{NAMESPACE}`.
{where}

```bash
helm upgrade --install {CHART_NAME} . --namespace {NAMESPACE}{flags}
```

`values.yaml` has the values of each release under the release's name; `--values FILE` changes them
for one cluster.

Installed like that, all Applications begin at once, and each one tries again until what it needs is
there. For one after the other, let Argo CD install the chart, from the repository that it is
committed to:

```yaml
{yaml_text(_root(options))}```

{WAVES}"""


def _root(options: Options) -> dict[str, object]:
    """The Application that installs this chart, where Argo CD does."""
    git = {"repoURL": options.repo if options.has_repo else EXAMPLE_REPO}
    git["targetRevision"] = options.revision
    parameters = [{"name": name, "value": value} for name, value in git.items()]
    return {
        "apiVersion": API_VERSION,
        "kind": "Application",
        "metadata": {"name": CHART_NAME, "namespace": NAMESPACE},
        "spec": {
            "project": "default",
            "source": {**git, "path": ".", "helm": {"parameters": parameters}},
            "destination": {"server": IN_CLUSTER, "namespace": NAMESPACE},
            "syncPolicy": {"automated": {"selfHeal": True}},
        },
    }


def stepwise(plan: DeploymentPlan, options: Options) -> Stepwise:
    """How an upgrade is taken one release at a time."""
    flags = _install_flags(plan, options)
    push = ", before you push the folder or run it" if _is_read_from_git(plan) else ""
    before = f"""\
`helm upgrade` changes all Applications at once, and each one syncs itself. Stop them
first{push} (what is not there yet is not found, which is no harm;
the first command is for where Argo CD installs this chart):

```bash
kubectl -n {NAMESPACE} patch application {CHART_NAME} --type merge \\
  -p '{STOPPED}'
{held(plan)}```

This gives Argo CD the new Application of one release, which syncs itself again, alone. Add the
`--set` and `--values` of your own `helm upgrade`:

```bash
release() {{
  helm template {CHART_NAME} . --namespace {NAMESPACE} --show-only "templates/$1.yaml"{flags} |
    kubectl apply -f -
}}
```
"""
    after = f"""\
`kubectl -n {NAMESPACE} get applications` shows what is synced and healthy. Last, run the
`helm upgrade` of the README with `--take-ownership` (Helm 3.17 or newer; new releases did not come
from Helm), or apply the Application that stands there, whichever you use. It changes nothing more.
"""
    return Stepwise(before, lambda one: f"release {one.name}", after)


def _install_flags(plan: DeploymentPlan, options: Options) -> str:
    """What has to be said when the chart is installed, and is not in its values yet."""
    if options.has_repo or not _is_read_from_git(plan):
        return ""
    return f" \\\n    --set repoURL={EXAMPLE_REPO} --set targetRevision={options.revision}"


def _is_read_from_git(plan: DeploymentPlan) -> bool:
    return any(release.is_in_bundle for release in plan.releases)


def release_path(release: PlannedRelease) -> str:
    """Where a release is in the bundle."""
    return f"templates/{release.name}.yaml"


def install_values(release: PlannedRelease) -> str:
    """Where a value that is left to install time is said."""
    return f"under {release.name}: in a file for --values"


def write(plan: DeploymentPlan, options: Options) -> Files:
    """The files of the deployer, by path in the bundle."""
    files: Files = {
        ENTRYPOINT: (yaml_text(_chart()).encode("utf-8"), False),
        "values.yaml": (yaml_text(_values(plan, options)).encode("utf-8"), False),
        "values.schema.json": (json_text(_schema(plan)).encode("utf-8"), False),
        ".helmignore": (_IGNORED, False),
    }
    for release in plan.releases:
        files[release_path(release)] = (_template(release), False)
        if release.chart is None:
            for name, data in chart_files(release).items():
                files[f"{release.folder}/{name}"] = (data, False)
    return files


def _chart() -> dict[str, object]:
    version = chart_version()
    return {
        "apiVersion": "v2",
        "name": CHART_NAME,
        "description": "Argo CD Applications of a bundle",
        "type": "application",
        "version": version,
        "appVersion": version,
        "annotations": {GENERATED_BY: f"aicr {version}"},
    }


def _values(plan: DeploymentPlan, options: Options) -> dict[str, object]:
    values: dict[str, object] = {}
    if options.has_repo:
        values["repoURL"] = options.repo
    values["targetRevision"] = options.revision
    return values | {release.name: release.values for release in plan.releases}


def _schema(plan: DeploymentPlan) -> dict[str, object]:
    text = {"type": "string", "minLength": 1}
    properties: dict[str, object] = {
        "repoURL": {**text, "description": "The Git repository that has this bundle at its root"},
        "targetRevision": {**text, "description": "Branch, tag or commit of that repository"},
        "global": {"type": "object"},
    }
    properties |= {release.name: {"type": "object"} for release in plan.releases}
    needs_repo = _is_read_from_git(plan)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": False,
        "required": ["repoURL", "targetRevision"] if needs_repo else ["targetRevision"],
        "properties": properties,
    }


def _template(release: PlannedRelease) -> bytes:
    document = application(release)
    spec = document["spec"]
    assert isinstance(spec, dict)
    if release.is_in_bundle:
        chart = release.chart
        source: dict[str, object] = {"path": release.folder if chart is None else chart.unpacked}
        placed = [f"    repoURL: {_REPO}\n", f"    targetRevision: {_REVISION}\n"]
    else:
        source = chart_source(release)
        placed = []
    # The name was checked: in the template it is a plain word in quotes.
    values = f'{{{{ toYaml (index .Values "{release.name}") | nindent 8 }}}}'
    # The values end with their own line breaks (|+), so something must come behind them: Helm cuts
    # what a document ends with.
    document["spec"] = {"source": source | {"helm": {"releaseName": release.name}}, **spec}
    text = yaml_text(document).rstrip("\n").split("\n")
    at = text.index("  source:") + 1
    lines = [line + "\n" for line in text]
    helm = lines.index("    helm:\n", at) + 2
    # As text and not as an object: an applied object loses the nulls that switch off defaults.
    lines[helm:helm] = [f"      values: |+{values}\n"]
    lines[at:at] = placed
    return "".join(lines).encode("utf-8")
