"""How Flux applies a plan: plain Kustomize over HelmReleases and the sources that they name.

All objects are in Flux's own namespace; a release goes to its target namespace, and Flux composes
its Helm name from both.
"""

from __future__ import annotations

import re

from aicr.bundle.charts import COMPONENT_VERSION, GENERATED_BY, chart_files, chart_version
from aicr.bundle.dynamic import fixed_values, open_values
from aicr.bundle.stepwise import Stepwise, names_of
from aicr.documents.emit import yaml_text
from aicr.errors import invalid
from aicr.versions.semver import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.bundle.plan import DeploymentPlan, PlannedRelease
    from aicr.bundle.writers import Files, Options

ENTRYPOINT = "kustomization.yaml"
NAMESPACE = "flux-system"
BUNDLE_SOURCE = "aicr-bundle"

_HELM = "helm.toolkit.fluxcd.io/v2"
_SOURCE = "source.toolkit.fluxcd.io/v1"
_INTERVAL = "10m"
# What the recipe says at paths that are left to install time; the cluster's own values win.
DEFAULTS_FILE = "defaults.yaml"
_VALUES_KEY = "values.yaml"
_CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"


_LOGIN = f"""
A repository that is not public needs a login. The bundle says nothing of it, so this stays:

```bash
flux create secret git {BUNDLE_SOURCE} --namespace={NAMESPACE} --url=... # and its --help
kubectl -n {NAMESPACE} patch gitrepository {BUNDLE_SOURCE} --type merge \\
  -p '{{"spec":{{"secretRef":{{"name":"{BUNDLE_SOURCE}"}}}}}}'
```
"""


def usage(plan: DeploymentPlan, options: Options) -> str:
    """How the bundle is deployed, for its README."""
    if any(release.is_in_bundle for release in plan.releases):
        place = f"Commit the content of this folder to the root of `{options.repo}`\n"
        place += f"({options.revision}), from which Flux reads the generated charts, then:"
        login = _LOGIN
    else:
        place = "Put this folder where a Kustomization of Flux reads it, or:"
        login = ""
    return f"""\
Needs Flux 2.6 or newer in the namespace `{NAMESPACE}`.
{place}

```bash
kubectl apply -k .
```

`dependsOn` puts the releases in the order of the table. Releases that depend on nothing start
together. `flux get helmreleases -n {NAMESPACE}` shows where they stand.
{login}{_install_time(plan)}"""


def stepwise(plan: DeploymentPlan, options: Options) -> Stepwise:
    """How an upgrade is taken one release at a time."""
    del options
    before = f"""\
Flux upgrades every HelmRelease as soon as it changes. Suspend them before you push or apply this
bundle; it says nothing of `suspend`, so they stay suspended. Releases that are new are not found
here and cannot be held: they begin when what they depend on is ready.

```bash
for name in \\
{names_of(plan)}; do
  kubectl -n {NAMESPACE} patch helmrelease "$name" --type merge -p '{{"spec":{{"suspend":true}}}}'
done
```

Push it and `kubectl apply -k .`. Each command waits until its release is upgraded.
"""
    return Stepwise(before, lambda one: f"flux resume helmrelease {one.name} -n {NAMESPACE}")


def release_path(release: PlannedRelease) -> str:
    """Where a release is in the bundle."""
    return release.name


def install_values(release: PlannedRelease) -> str:
    """Where a value that is left to install time is said."""
    return f"ConfigMap or Secret {_cluster_values(release)}"


def _cluster_values(release: PlannedRelease) -> str:
    return f"{release.name}-values"


def _install_time(plan: DeploymentPlan) -> str:
    """How values of the cluster are said; "" where nothing is left to install time."""
    release = next((one for one in plan.releases if one.dynamic), None)
    if release is None:
        return ""
    return f"""
Values of this cluster alone are read from the ConfigMap or Secret `<release>-values` in
`{NAMESPACE}`, from its key `{_VALUES_KEY}`; neither has to be there. They are yours and not part of
the bundle:

```bash
kubectl create configmap {_cluster_values(release)} --namespace {NAMESPACE} \\
  --from-file={_VALUES_KEY}=my-values.yaml
```

Flux takes a change of them at its next reconciliation, or with
`flux reconcile helmrelease {release.name} -n {NAMESPACE}`.
"""


def write(plan: DeploymentPlan, options: Options) -> Files:
    """The files of the deployer, by path in the bundle."""
    sources = _sources(plan, options)
    documents: dict[str, Mapping[str, object]] = {
        f"sources/{name}.yaml": source for name, source in sorted(sources.values())
    }  # fmt: skip
    for release in plan.releases:
        source = sources[_source_key(release)]
        defaults = open_values(release)
        if defaults:
            documents[f"{release.name}/{DEFAULTS_FILE}"] = _defaults(release, defaults)
        documents[f"{release.name}/helmrelease.yaml"] = _helm_release(release, source)
    index = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": list(documents),
    }
    files: Files = {ENTRYPOINT: (yaml_text(index).encode("utf-8"), False)}
    for path, document in documents.items():
        files[path] = (yaml_text(document).encode("utf-8"), False)
    for release in plan.releases:
        if release.chart is None:
            for name, data in chart_files(release).items():
                files[f"{release.name}/{name}"] = (data, False)
    return files


def _source_key(release: PlannedRelease) -> tuple[str, str]:
    """Releases with the same key share a source: its URL, and what of it is taken."""
    chart = release.chart
    if chart is None or chart.archive:
        return "", ""
    if chart.is_oci:
        return f"{chart.repository}/{chart.name}", chart.version
    return chart.repository, ""


def _sources(
    plan: DeploymentPlan, options: Options
) -> dict[tuple[str, str], tuple[str, dict[str, object]]]:
    """The name and the document of each source that the releases need."""
    sources: dict[tuple[str, str], tuple[str, dict[str, object]]] = {}
    names: set[str] = set()
    for release in plan.releases:
        key = _source_key(release)
        if key in sources:
            continue
        if release.chart is None or release.is_in_bundle:
            name, kind = BUNDLE_SOURCE, "GitRepository"
            spec: dict[str, object] = {
                "url": git_url(options.repo),
                "ref": git_ref(options.revision),
            }
        elif release.chart.is_oci:
            name, kind = _slug(key[0]), "OCIRepository"
            spec = {
                "url": key[0],
                # Registries have no "+" in tags; Helm puts "_" there.
                "ref": {"tag": key[1].replace("+", "_")},
                "layerSelector": {"mediaType": _CHART_LAYER, "operation": "copy"},
            }
        else:
            name, kind = _slug(key[0]), "HelmRepository"
            spec = {"url": key[0]}
        while name in names:
            name += "-x"
        names.add(name)
        sources[key] = (
            name,
            {
                "apiVersion": _SOURCE,
                "kind": kind,
                "metadata": {"name": name, "namespace": NAMESPACE},
                "spec": {"interval": _INTERVAL, **spec},
            },
        )
    return sources


def git_url(repo: str) -> str:
    """A repository as Flux takes it: with its scheme. Raises INVALID_REQUEST for a local one."""
    if repo.startswith("file://"):
        raise invalid(f"--repo {repo}: Flux reads repositories over https, http and ssh")
    if repo.startswith("git@"):
        host, _, path = repo.partition(":")
        return f"ssh://{host}/{path}"
    return repo if "://" in repo else f"https://{repo}"


def git_ref(revision: str) -> dict[str, object]:
    """A revision as Flux wants it told apart: commit, full reference, tag or branch."""
    if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", revision):
        return {"commit": revision}
    if revision.startswith("refs/"):
        return {"name": revision}
    if parse(revision) is not None:
        return {"tag": revision}
    return {"branch": revision}


def _helm_release(
    release: PlannedRelease, source: tuple[str, dict[str, object]]
) -> dict[str, object]:
    name, document = source
    reference: dict[str, object] = {"kind": document["kind"], "name": name}
    version = chart_version()
    # Without releaseName, which leaves it to Flux: another name than that of the bundles that run
    # would be a second release beside them.
    spec: dict[str, object] = {
        "interval": _INTERVAL,
        "timeout": "15m",
        "targetNamespace": release.namespace,
        "install": {"createNamespace": True, "remediation": {"retries": 3}},
        "upgrade": {"remediation": {"retries": 3}},
    }
    if release.owns_crds:
        for action in ("install", "upgrade"):
            settings = spec[action]
            assert isinstance(settings, dict)
            settings["crds"] = "CreateReplace"
    chart = release.chart
    if chart is None:
        # The chart's version is the tool's and stays when a manifest changes.
        wanted: dict[str, object] = {
            "chart": f"./{release.name}",
            "reconcileStrategy": "Revision",
            "sourceRef": reference,
        }
        spec["chart"] = {"spec": wanted}
    elif chart.archive:
        spec["chart"] = {"spec": {"chart": f"./{chart.unpacked}", "sourceRef": reference}}
    elif chart.is_oci:
        spec["chartRef"] = reference
    else:
        spec["chart"] = {
            "spec": {"chart": chart.name, "version": chart.version, "sourceRef": reference}
        }
    if release.needs:
        spec["dependsOn"] = [{"name": needed} for needed in release.needs]
    if release.dynamic:
        # Later ones win, and spec.values over all; so what is left open is not in it.
        own = _cluster_values(release)
        references = [("ConfigMap", own), ("Secret", own)]
        spec["valuesFrom"] = [
            *(
                [_values_from("ConfigMap", _default_values(release))]
                if open_values(release)
                else []
            ),
            *({**_values_from(kind, name), "optional": True} for kind, name in references),
        ]
    spec["values"] = fixed_values(release)
    return {
        "apiVersion": _HELM,
        "kind": "HelmRelease",
        "metadata": {
            "name": release.name,
            "namespace": NAMESPACE,
            "labels": {"aicr.run/component": release.component},
            "annotations": {
                COMPONENT_VERSION: release.version or version,
                GENERATED_BY: f"aicr {version}",
            },
        },
        "spec": spec,
    }


def _defaults(release: PlannedRelease, values: Mapping[str, object]) -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": _default_values(release), "namespace": NAMESPACE},
        "data": {_VALUES_KEY: yaml_text(values)},
    }


def _default_values(release: PlannedRelease) -> str:
    # No release has a dot in its name, so this is nobody's "<release>-values".
    return f"{release.name}.defaults"


def _values_from(kind: str, name: str) -> dict[str, object]:
    return {"kind": kind, "name": name, "valuesKey": _VALUES_KEY}


def _slug(url: str) -> str:
    """A name for a source: its URL in the letters that Kubernetes allows."""
    words = re.sub(r"[^a-z0-9]+", "-", url.partition("://")[2].lower()).strip("-")
    return words[:50].strip("-") or "source"
