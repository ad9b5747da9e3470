"""What the folder of a release holds where Helm itself reads it: values, chart, ``install.sh``.

Everything that reaches a script was checked before (``aicr.bundle.names``), and is quoted anyway.
"""

from __future__ import annotations

from aicr.bundle.charts import chart_files
from aicr.bundle.dynamic import fixed_values, missing_paths, open_values
from aicr.documents.digest import sha256_hex
from aicr.documents.emit import yaml_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.bundle.plan import DeploymentPlan, PlannedRelease
    from aicr.bundle.writers import Files, Options

CLUSTER_VALUES = "cluster-values.yaml"

SCRIPT_HEAD = """\
#!/usr/bin/env bash
# {purpose}
set -euo pipefail

here="$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)"
"""

_COMMENT = """\
# Values of this cluster for the release {name}, read after values.yaml.
# Yours: what you write here is kept when the bundle is written again.
"""
_UNDER = "# They stand under the component's name:  {component}: {{...}}\n"
_OPEN = "# The values below are the recipe's, and wait for yours. As written: {mark}\n"
_MISSING = "# No value so far, so the chart's own holds: {path}\n"
_MARK = b" As written: "


def release_folders(plan: DeploymentPlan, options: Options) -> Files:
    """The folders of all releases, by path in the bundle."""
    files: Files = {}
    for release in plan.releases:
        own = chart_files(release) if release.chart is None else _upstream_files(release)
        kept = options.kept.get(release.name)
        given = _given(release, kept) if kept and release.dynamic else None
        own["values.yaml"] = yaml_text(fixed_values(release, given)).encode("utf-8")
        own[CLUSTER_VALUES] = kept or cluster_values(release)
        for name, data in own.items():
            files[f"{release.folder}/{name}"] = (data, False)
        files[f"{release.folder}/install.sh"] = (_install(release), True)
    return files


def _given(release: PlannedRelease, kept: bytes) -> dict[str, object]:
    from aicr.bundle.kept import read_kept

    return read_kept({release.name: kept})[release.name]


def cluster_values(release: PlannedRelease) -> bytes:
    """``cluster-values.yaml`` as it is first written."""
    text = _COMMENT.format(name=release.name)
    if release.chart is None:
        text += _UNDER.format(component=release.component)
    if release.dynamic:
        values = open_values(release)
        body = "".join(_MISSING.format(path=path) for path in missing_paths(release))
        body += yaml_text(values) if values else ""
        text += _OPEN.format(mark=_mark(body.encode("utf-8"))) + body
    return text.encode("utf-8")


def is_written_to(data: bytes) -> bool:
    """Whether somebody wrote values into a ``cluster-values.yaml``."""
    head, found, rest = data.partition(_MARK)
    mark, _, body = rest.partition(b"\n")
    as_written = found and mark.decode("ascii", "replace") == _mark(body)
    if as_written and all(line.startswith(b"#") for line in head.splitlines()):
        return False
    lines = (line.strip() for line in data.splitlines())
    return any(line and not line.startswith(b"#") and line not in (b"---", b"{}") for line in lines)


def _mark(body: bytes) -> str:
    return sha256_hex(body)[:16]


def quoted(text: str) -> str:
    """``text`` as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _install(release: PlannedRelease) -> bytes:
    name, namespace = quoted(release.name), quoted(release.namespace)
    purpose = f"Installs or upgrades the release {release.name}. Arguments are passed on to helm."
    lines = [SCRIPT_HEAD.format(purpose=purpose)]
    if release.chart is None:
        lines.append(f'\nexec helm upgrade --install {name} "${{here}}" \\\n')
    else:
        lines.append('\n# shellcheck source=/dev/null\n. "${here}/upstream.env"\n')
        lines.append(f'\nexec helm upgrade --install {name} "${{CHART}}" \\\n')
        if not release.is_in_bundle:
            if not release.chart.is_oci:
                lines.append('  --repo "${REPO}" \\\n')
            lines.append('  --version "${VERSION}" \\\n')
    lines.append(f"  --namespace {namespace} --create-namespace \\\n")
    # The files say all: values that an earlier run was given by hand are not taken over.
    lines.append('  --reset-values --values "${here}/values.yaml" \\\n')
    lines.append(f'  --values "${{here}}/{CLUSTER_VALUES}" \\\n')
    lines.append('  --wait --timeout "${AICR_HELM_TIMEOUT:-15m}" \\\n  "$@"\n')
    return "".join(lines).encode("utf-8")


def _upstream_files(release: PlannedRelease) -> dict[str, bytes]:
    chart = release.chart
    assert chart is not None
    if chart.archive:
        lines = [f'CHART="${{here}}/../"{quoted(chart.archive)}']
    elif chart.is_oci:
        lines = [f"CHART={quoted(f'{chart.repository}/{chart.name}')}"]
    else:
        lines = [f"CHART={quoted(chart.name)}", f"REPO={quoted(chart.repository)}"]
    lines.append(f"VERSION={quoted(chart.version)}")
    return {"upstream.env": ("\n".join(lines) + "\n").encode("utf-8")}
