"""The upstream charts that are put into a bundle, and where each one came from.

``provenance.yaml`` lists them: name, version, source and SHA-256 of the archive.
"""

from __future__ import annotations

from aicr.documents.emit import yaml_text
from aicr.documents.fields import Fields, Problems
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.bundle.plan import DeploymentPlan, PlannedRelease
    from aicr.bundle.writers import Files
    from aicr.charts.archive import ChartArchive
    from aicr.charts.source import Charts

PROVENANCE_FILE = "provenance.yaml"
FOLDER = "vendor"
API_VERSION = "aicr.run/v1"
KIND = "ChartProvenance"


class VendoredChart:
    """A line of ``provenance.yaml``; ``path`` is the archive's in the bundle, ``sha256`` its digest
    in hexadecimal digits, ``origin`` what it was read from."""

    __slots__ = ("name", "origin", "path", "release", "sha256", "source", "version")

    def __init__(
        self,
        name: str,
        *,
        version: str,
        source: str,
        sha256: str,
        path: str,
        release: str,
        origin: str,
    ) -> None:
        self.name = name
        self.version = version
        self.source = source
        self.sha256 = sha256
        self.path = path
        self.release = release
        self.origin = origin


def chart_archives(plan: DeploymentPlan, charts: Charts) -> dict[str, ChartArchive]:
    """The archive of each release with an upstream chart. Raises one error for all that are
    missing or bad."""
    found: dict[str, ChartArchive] = {}
    errors: list[AicrError] = []
    for release in plan.releases:
        if release.chart is None:
            continue
        chart = release.chart
        try:
            found[release.name] = charts.get(chart.repository, chart.name, chart.version)
        except AicrError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    if errors:
        lines = "\n  ".join(error.message for error in errors)
        # A chart that is not there is the caller's to provide; else what the network said.
        codes = {error.code for error in errors}
        code = codes.pop() if len(codes) == 1 else "INVALID_REQUEST"
        raise AicrError(
            code, f"{len(errors)} charts cannot be had:\n  {lines}", hint=errors[0].hint
        )
    return found


def with_archives(
    plan: DeploymentPlan, archives: Mapping[str, ChartArchive], *, unpacked: bool
) -> tuple[DeploymentPlan, Files]:
    """The plan with its charts in the bundle, and the files that this takes.

    ``unpacked`` where the deployer reads charts out of a repository: it wants their files.
    """
    from copy import copy

    from aicr.bundle.plan import Chart, DeploymentPlan

    files: Files = {}
    listed: list[object] = []
    releases: list[PlannedRelease] = []
    for release in plan.releases:
        archive = archives.get(release.name)
        if release.chart is None or archive is None:
            releases.append(release)
            continue
        path = f"{FOLDER}/{archive.file_name}"
        if files.get(path, (archive.data, False))[0] != archive.data:
            # Two repositories with different charts of one name and version.
            path = f"{FOLDER}/{release.name}/{archive.file_name}"
        files[path] = (archive.data, False)
        folder = path.removesuffix(".tgz") if unpacked else ""
        if unpacked:
            files |= {f"{folder}/{name}": (data, False) for name, data in archive.files.items()}
        source = release.chart
        moved = copy(release)
        moved.chart = Chart(
            source.repository, source.name, source.version, archive=path, unpacked=folder
        )
        releases.append(moved)
        listed.append(
            {
                "name": archive.name,
                "origin": archive.origin,
                "path": path,
                "release": release.name,
                "sha256": archive.digest.removeprefix("sha256:"),
                "source": source.repository,
                "version": archive.version,
            }
        )
    document = {"apiVersion": API_VERSION, "charts": listed, "kind": KIND}
    files[PROVENANCE_FILE] = (yaml_text(document).encode("utf-8"), False)
    return DeploymentPlan(plan.recipe, releases), files


def read_provenance(data: bytes, where: str) -> Sequence[VendoredChart]:
    """What a ``provenance.yaml`` lists. Raises INVALID_REQUEST with every problem found."""
    from aicr.documents.reader import read_yaml

    problems = Problems()
    fields = Fields(read_yaml(data, where), where, "", problems)
    if fields.text("apiVersion") != API_VERSION or fields.text("kind") != KIND:
        raise invalid(f"{where}: expected kind {KIND} of {API_VERSION}")
    found: list[VendoredChart] = []
    for item in fields.items("charts"):
        path = item.required("path")
        if path.startswith("/") or "\\" in path or ".." in path.split("/"):
            item.problem(f'"{path}" is not a path inside the bundle', "path")
        found.append(
            VendoredChart(
                item.required("name"),
                version=item.required("version"),
                source=item.required("source"),
                sha256=item.required("sha256"),
                path=path,
                release=item.required("release"),
                origin=item.text("origin"),
            )
        )
        item.done()
    fields.done()
    problems.raise_any()
    return found
