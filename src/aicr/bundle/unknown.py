"""Which overrides name a path that the component's chart does not know."""

from __future__ import annotations

from aicr.bundle.setpath import spell
from aicr.bundle.validations import Notice
from aicr.charts.known import KnownPaths
from aicr.errors import AicrError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aicr.bundle.overrides import Override
    from aicr.bundle.plan import DeploymentPlan
    from aicr.charts.archive import ChartArchive
    from aicr.charts.source import Charts


def charts_at_hand(
    plan: DeploymentPlan, charts: Charts, components: Iterable[str]
) -> tuple[dict[str, ChartArchive], list[Notice]]:
    """The charts of these components by release, and why some are not there."""
    wanted = set(components)
    found: dict[str, ChartArchive] = {}
    notices: list[Notice] = []
    for release in plan.releases:
        if release.chart is None or release.component not in wanted:
            continue
        chart = release.chart
        try:
            found[release.name] = charts.get(chart.repository, chart.name, chart.version)
        except AicrError as error:
            message = f"overrides of {release.component} are not compared with its chart"
            notices.append(Notice("warning", f"{message}: {error.message}"))
    return found, notices


def unknown_paths(
    plan: DeploymentPlan,
    archives: Mapping[str, ChartArchive],
    overrides: Mapping[str, Sequence[Override]],
) -> list[Notice]:
    """A warning for each override of a component that its chart does not know, with the nearest
    path that it does."""
    notices: list[Notice] = []
    for release in plan.releases:
        archive = archives.get(release.name)
        given = overrides.get(release.component, ())
        if archive is None or not given:
            continue
        known = KnownPaths(archive)
        for one in given:
            if known.knows(one.path):
                continue
            message = (
                f"{one.given}: the chart {archive.name} {archive.version} does not know the value "
                f"{spell(one.path)}"
            )
            near = known.nearest(one.path)
            notices.append(
                Notice("warning", f"{message}; the nearest one is {near}" if near else message)
            )
    return notices
