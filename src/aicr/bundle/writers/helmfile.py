"""How Helmfile applies a plan: ``helmfile.yaml``, and one file a level of dependencies.

Helmfile compares all releases of a file with the cluster before it installs one, and its ``needs``
cannot name a release of another file. So what depends on something is in a later file, and inside
one ``needs`` puts a component's own releases in order.
"""

from __future__ import annotations

from aicr.bundle.stepwise import Stepwise
from aicr.bundle.writers.local import CLUSTER_VALUES, release_folders
from aicr.documents.emit import yaml_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.bundle.plan import DeploymentPlan, PlannedRelease
    from aicr.bundle.writers import Files, Options

ENTRYPOINT = "helmfile.yaml"

_TIMEOUT_SECONDS = 900


def usage(plan: DeploymentPlan, options: Options) -> str:
    """How the bundle is deployed, for its README."""
    del plan, options
    return f"""\
Needs Helmfile 1.0 or newer (0.160 works too), Helm and the helm-diff plugin.

```bash
helmfile apply
```

Releases that depend on others are in `level-N.yaml` files, which Helmfile applies one after the
other. One release alone: `helmfile --selector name=NAME apply`.

Values of this cluster alone belong into `NNN-<release>/{CLUSTER_VALUES}`, which is read after
`values.yaml`. What you write there is kept when the bundle is written again.
"""


def stepwise(plan: DeploymentPlan, options: Options) -> Stepwise:
    """How an upgrade is taken one release at a time."""
    del plan, options
    before = """\
`helmfile apply` goes through all releases without a stop; with a selector it takes one.
"""
    return Stepwise(before, lambda one: f"helmfile --selector name={one.name} apply")


def release_path(release: PlannedRelease) -> str:
    """Where a release is in the bundle."""
    return release.folder


def install_values(release: PlannedRelease) -> str:
    """Where a value that is left to install time is said."""
    return f"{release.folder}/{CLUSTER_VALUES}"


def write(plan: DeploymentPlan, options: Options) -> Files:
    """The files of the deployer, by path in the bundle."""
    files = release_folders(plan, options)
    levels = sorted({release.level for release in plan.releases})
    if len(levels) == 1:
        files[ENTRYPOINT] = (_state(plan.releases), False)
        return files
    names = [f"level-{level}.yaml" for level in levels]
    index = {"helmfiles": [{"path": name} for name in names]}
    files[ENTRYPOINT] = (yaml_text(index).encode("utf-8"), False)
    for level, name in zip(levels, names, strict=True):
        releases = [release for release in plan.releases if release.level == level]
        files[name] = (_state(releases), False)
    return files


def _state(releases: Sequence[PlannedRelease]) -> bytes:
    repositories: dict[str, str] = {}
    for release in releases:
        if release.chart is not None and not (release.is_in_bundle or release.chart.is_oci):
            repositories.setdefault(release.chart.repository, f"aicr-{release.component}")
    document: dict[str, object] = {}
    if repositories:
        document["repositories"] = [
            {"name": name, "url": url} for url, name in repositories.items()
        ]
    document["helmDefaults"] = {
        "createNamespace": True,
        "reuseValues": False,
        "wait": True,
        "timeout": _TIMEOUT_SECONDS,
    }
    here = {release.name: release for release in releases}
    document["releases"] = [_release(release, repositories, here) for release in releases]
    return yaml_text(document).encode("utf-8")


def _release(
    release: PlannedRelease, repositories: dict[str, str], here: dict[str, PlannedRelease]
) -> dict[str, object]:
    entry: dict[str, object] = {"name": release.name, "namespace": release.namespace}
    chart = release.chart
    if chart is None:
        entry["chart"] = f"./{release.folder}"
        # Its objects may be of kinds that the chart before it brings.
        entry["disableValidation"] = True
    else:
        if chart.archive:
            entry["chart"] = f"./{chart.archive}"
        elif chart.is_oci:
            entry["chart"] = f"{chart.repository}/{chart.name}"
        else:
            entry["chart"] = f"{repositories[chart.repository]}/{chart.name}"
        if not chart.archive:
            entry["version"] = chart.version
        entry["disableValidationOnInstall"] = True
    needs = [f"{here[name].namespace}/{name}" for name in release.needs if name in here]
    if needs:
        entry["needs"] = needs
    entry["labels"] = {"component": release.component}
    entry["values"] = [f"{release.folder}/values.yaml", f"{release.folder}/{CLUSTER_VALUES}"]
    return entry
