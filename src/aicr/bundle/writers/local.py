"""What the folder of a release holds where Helm itself reads it: values, and a generated chart."""

from __future__ import annotations

from aicr.bundle.charts import chart_files
from aicr.documents.emit import yaml_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.bundle.plan import PlannedRelease
    from aicr.bundle.writers import Options

CLUSTER_VALUES = "cluster-values.yaml"

_COMMENT = """\
# Values of this cluster for the release {name}, read after values.yaml.
# Yours: what you write here is kept when the bundle is written again.
"""
_UNDER = "# They stand under the component's name:  {component}: {{...}}\n"


def release_files(release: PlannedRelease, options: Options) -> dict[str, bytes]:
    """``values.yaml``, ``cluster-values.yaml`` and the generated chart, by path in the folder."""
    if release.chart is None:
        files = chart_files(release)
    else:
        files = {"values.yaml": yaml_text(release.values).encode("utf-8")}
    files[CLUSTER_VALUES] = options.kept.get(release.name) or cluster_values(release)
    return files


def cluster_values(release: PlannedRelease) -> bytes:
    """``cluster-values.yaml`` as it is first written."""
    text = _COMMENT.format(name=release.name)
    if release.chart is None:
        text += _UNDER.format(component=release.component)
    return text.encode("utf-8")


def is_written_to(data: bytes) -> bool:
    """Whether somebody wrote values into a ``cluster-values.yaml``."""
    lines = (line.strip() for line in data.splitlines())
    return any(line and not line.startswith(b"#") and line not in (b"---", b"{}") for line in lines)
