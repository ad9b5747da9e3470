"""What a Helm release or an Application says is installed: the records of a cluster in, installs
out.

A version counts only where it is established: a Helm release whose newest revision is deployed, an
Application revision that a sync completed. "" is a version that is not known.
"""

from __future__ import annotations

from aicr.upgrade.installed import APPLICATION, Install, chart_name
from aicr.versions.semver import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aicr.cluster.applications import Application, Source
    from aicr.cluster.helm_releases import Release

DEPLOYED = "deployed"
SYNCED = "synced"
_UNINSTALLED = "uninstalled"


def installs_of_releases(releases: Iterable[Release]) -> tuple[list[Install], int]:
    """What Helm has installed, and how many releases are uninstalled with their history kept."""
    found: list[Install] = []
    gone = 0
    for one in releases:
        if one.state == _UNINSTALLED and not one.problem:
            gone += 1
            continue
        recorded = one.component_version or one.chart_version
        settled = one.state == DEPLOYED and not one.problem
        note = one.problem
        if not settled and not note:
            named = f"; the record names {recorded}" if recorded else ""
            note = f"revision {one.revision} is {one.state}{named}"
        found.append(
            Install(
                one.name,
                namespace=one.namespace,
                storage=one.storage,
                stored_in=one.stored_in,
                revision=str(one.revision),
                state="unreadable" if one.problem else one.state,
                settled=settled,
                version=recorded if settled else "",
                recorded=recorded,
                since=one.since,
                chart="" if one.stamped else one.chart,
                stamped=one.stamped,
                note=note,
            )
        )
    return found, gone


def installs_of_applications(
    applications: Iterable[Application],
) -> tuple[list[Install], list[Application]]:
    """What Argo CD has installed in this cluster, and the Applications for other clusters."""
    found: list[Install] = []
    elsewhere: list[Application] = []
    for one in applications:
        if not one.local:
            elsewhere.append(one)
            continue
        state, note = _application_state(one)
        source, unclear = _main_source(one.completed if one.completed is not None else one.wanted)
        version = source.version if source is not None and one.completed is not None else ""
        wanted, _ = _main_source(one.wanted)
        found.append(
            Install(
                one.name,
                namespace=one.namespace,
                storage=APPLICATION,
                stored_in=one.stored_in,
                revision=str(one.history_id) if one.history_id >= 0 else "",
                state=state,
                settled=state in (SYNCED, "out-of-sync"),
                version=version,
                recorded=wanted.version if wanted is not None else "",
                since=one.since,
                chart=source.chart if source is not None else "",
                source=source.repository if source is not None else "",
                note=note or unclear,
            )
        )
    return found, elsewhere


def _application_state(one: Application) -> tuple[str, str]:
    """The state in one word, and what a person should know about it."""
    if one.completed is None:
        return "never-synced", "no sync has completed"
    if one.phase in ("Failed", "Error"):
        return "failed", "its last sync failed; the version is of the sync before that completed"
    if one.phase in ("Running", "Terminating"):
        return "syncing", "a sync is running; the version is of the last one that completed"
    if one.sync == "Synced":
        return SYNCED, ""
    return "out-of-sync" if one.sync == "OutOfSync" else "unknown", ""


class _Main:
    __slots__ = ("chart", "repository", "version")

    def __init__(self, repository: str, chart: str, version: str) -> None:
        self.repository = repository
        self.chart = chart
        self.version = version


def _main_source(sources: Sequence[Source]) -> tuple[_Main | None, str]:
    """The source that the component comes from: its chart, else its only path."""
    charts = [one for one in sources if one.chart]
    candidates = charts or [one for one in sources if one.path]
    if len(candidates) != 1:
        return None, "it has several sources, or none" if sources else ""
    one = candidates[0]
    # A range was resolved to the revision that is recorded; a digest or a commit is no version.
    version = one.resolved if one.chart and parse(one.resolved) is not None else one.revision
    return _Main(one.repository, chart_name(one.chart), version), ""
