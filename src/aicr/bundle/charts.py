"""What a generated local chart consists of: ``Chart.yaml``, ``values.yaml``, ``templates/``.

Manifests are Helm templates and are copied as they are; what kustomize built is no template, and
is escaped so that Helm renders it to itself.
"""

from __future__ import annotations

from aicr.documents.emit import yaml_text
from aicr.documents.nodes import first_twice
from aicr.errors import invalid
from aicr.version import __version__
from aicr.versions.semver import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.bundle.plan import PlannedRelease

COMPONENT_VERSION = "aicr.run/component-version"
GENERATED_BY = "aicr.run/generated-by"


class Manifest:
    """A file of a generated chart's ``templates/``."""

    __slots__ = ("data", "name")

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.data = data


def chart_version(version: str = __version__) -> str:
    """The version of generated charts: this tool's, ``0.0.0-dev`` where that is no SemVer 2."""
    strict = parse(version) is not None and is_whole(version) and not version.startswith("v")
    return version if strict else "0.0.0-dev"


def is_whole(version: str) -> bool:
    """Whether a version has all of its three numbers."""
    return version.partition("+")[0].partition("-")[0].count(".") == 2


def manifest_names(paths: Sequence[str]) -> list[str]:
    """A name in ``templates/`` for each path: its last part, the whole path where two share it.

    All are whole paths where one of these would be the name of another. Raises INVALID_REQUEST
    where two paths are one name all the same.
    """
    short = [path.rpartition("/")[2] for path in paths]
    whole = [path.replace("/", "-") for path in paths]
    names = [
        name if short.count(name) == 1 else full for name, full in zip(short, whole, strict=True)
    ]
    if len(set(names)) == len(names):
        return names
    twice = first_twice(whole)
    if twice:
        both = " and ".join(path for path, name in zip(paths, whole, strict=True) if name == twice)
        raise invalid(f'{both}: the manifests would both be "{twice}" in the chart')
    return whole


def is_no_template(name: str) -> bool:
    """Whether Helm makes no object of a file of this name in ``templates/``."""
    return name.startswith((".", "_")) or name == "NOTES.txt"


def chart_files(release: PlannedRelease) -> dict[str, bytes]:
    """The files of the generated chart of ``release``, by path in the chart."""
    files = {
        "Chart.yaml": yaml_text(chart_metadata(release)).encode("utf-8"),
        "values.yaml": yaml_text(release.values).encode("utf-8"),
    }
    for manifest in release.manifests:
        files[f"templates/{manifest.name}"] = manifest.data
    return files


def chart_metadata(release: PlannedRelease) -> dict[str, object]:
    """``Chart.yaml`` of the generated chart of ``release``."""
    version = chart_version()
    payload = release.version or version
    return {
        "apiVersion": "v2",
        "name": release.name,
        "description": f"Generated chart of the component {release.component}",
        "type": "application",
        "version": version,
        "appVersion": payload,
        "annotations": {COMPONENT_VERSION: payload, GENERATED_BY: f"aicr {version}"},
    }


def literal(data: bytes) -> bytes:
    """``data`` as a Helm template that renders to it."""
    import re

    return re.sub(rb"\{\{|\}\}", lambda found: b'{{"' + found.group() + b'"}}', data)
