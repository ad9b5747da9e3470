"""How plain Helm applies a plan: ``deploy.sh`` and a folder with an ``install.sh`` a release.

Everything that reaches a script was checked before (``aicr.bundle.names``), and is quoted anyway.
"""

from __future__ import annotations

from aicr.bundle.stepwise import Stepwise
from aicr.bundle.writers.local import CLUSTER_VALUES, SCRIPT_HEAD, quoted, release_folders

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.bundle.plan import DeploymentPlan, PlannedRelease
    from aicr.bundle.writers import Files, Options

ENTRYPOINT = "deploy.sh"

_NEEDS_HELM = """
if ! command -v helm >/dev/null 2>&1; then
  echo '{script}: helm is not on PATH' >&2
  exit 1
fi
"""

_RELEASE = """
release() {{
  local name="$1" namespace="$2" folder="$3"
  shift 3
  printf '==> {doing} %s (namespace %s)\\n' "${{name}}" "${{namespace}}"
  local status=0
  {command} || status=$?
  if [ "${{status}}" -ne 0 ]; then
    printf '{script}: the release %s failed (exit code %s); nothing after it was touched\\n' \\
      "${{name}}" "${{status}}" >&2
    exit "${{status}}"
  fi
}}

"""


def usage(plan: DeploymentPlan, options: Options) -> str:
    """How the bundle is deployed, for its README."""
    del plan, options
    return f"""\
Needs bash and Helm 3.14 or newer (Helm 4 too), and a kubeconfig that points at the cluster.

```bash
./deploy.sh
```

It installs or upgrades the releases in the order of the table, waits for each one, stops at the
first that fails and names it. It can be run again at any time, and from any directory. Further
arguments go to every `helm upgrade`: `./deploy.sh --dry-run=server` changes nothing,
`./deploy.sh --kube-context NAME` picks a cluster. `AICR_HELM_TIMEOUT` (default `15m`) is how long
it waits for one release. One release alone: `NNN-<release>/install.sh`.

`./undeploy.sh` uninstalls the releases in reverse order. Namespaces, volumes and CRDs stay.

Values of this cluster alone belong into `NNN-<release>/{CLUSTER_VALUES}`, which is read after
`values.yaml`. What you write there is kept when the bundle is written again.
"""


def stepwise(plan: DeploymentPlan, options: Options) -> Stepwise:
    """How an upgrade is taken one release at a time."""
    del plan, options
    before = """\
`./deploy.sh` goes through all releases without a stop. Take the `install.sh` of each one in its
place; they take the same arguments.
"""
    return Stepwise(before, lambda one: f"{one.folder}/install.sh")


def release_path(release: PlannedRelease) -> str:
    """Where a release is in the bundle."""
    return release.folder


def install_values(release: PlannedRelease) -> str:
    """Where a value that is left to install time is said."""
    return f"{release.folder}/{CLUSTER_VALUES}"


def write(plan: DeploymentPlan, options: Options) -> Files:
    """The files of the deployer, by path in the bundle."""
    files: Files = {
        "deploy.sh": (_deploy(plan), True),
        "undeploy.sh": (_undeploy(plan), True),
    }
    return files | release_folders(plan, options)


def _deploy(plan: DeploymentPlan) -> bytes:
    purpose = "Installs or upgrades every release of this bundle, in order. Can be run again."
    command = 'bash "${here}/${folder}/install.sh" "$@"'
    lines = [
        SCRIPT_HEAD.format(purpose=purpose),
        _NEEDS_HELM.format(script="deploy.sh"),
        _RELEASE.format(script="deploy.sh", doing="deploying", command=command),
    ]
    lines += [_call(release) for release in plan.releases]
    lines.append(f"printf 'deploy.sh: %s releases deployed\\n' {len(plan.releases)}\n")
    return "".join(lines).encode("utf-8")


def _undeploy(plan: DeploymentPlan) -> bytes:
    purpose = "Uninstalls every release of this bundle, last one first. Can be run again."
    command = (
        'helm uninstall "${name}" --namespace "${namespace}" \\\n'
        '    --ignore-not-found --wait --timeout "${AICR_HELM_TIMEOUT:-15m}" "$@"'
    )
    # Nothing of the bundle is read here, so no folder is needed.
    lines = [
        f"#!/usr/bin/env bash\n# {purpose}\nset -euo pipefail\n",
        _NEEDS_HELM.format(script="undeploy.sh"),
        _RELEASE.format(script="undeploy.sh", doing="removing", command=command)
        .replace(' folder="$3"', "")
        .replace("shift 3", "shift 2"),
    ]
    lines += [_call(release, folder=False) for release in reversed(plan.releases)]
    lines.append(f"printf 'undeploy.sh: %s releases removed\\n' {len(plan.releases)}\n")
    return "".join(lines).encode("utf-8")


def _call(release: PlannedRelease, *, folder: bool = True) -> str:
    words = [release.name, release.namespace, *([release.folder] if folder else [])]
    return f'release {" ".join(map(quoted, words))} "$@"\n'
