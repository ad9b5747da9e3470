"""Is the move safe for many clusters at once: a report each, and what they have in common."""

from __future__ import annotations

from aicr.upgrade.match import UNKNOWN, UNVERSIONED
from aicr.upgrade.model import BLOCKED, MANUAL, SAFE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.errors import AicrError
    from aicr.upgrade.check import Report
    from aicr.upgrade.rows import Row

# Worst first; a row without a verdict (added, removed) has nothing to judge.
_WORST = {BLOCKED: 0, UNKNOWN: 1, UNVERSIONED: 2, MANUAL: 3, SAFE: 4, "": 5}
_UNCHANGED = 6
UNREADABLE = "unreadable"
NO_LABEL = "(none)"


class Entry:
    """A cluster as it was asked about; ``after`` and the rest are "" where not stated."""

    __slots__ = ("after", "before", "context", "deployer", "kubeconfig", "labels", "name")

    def __init__(
        self,
        name: str,
        before: str,
        *,
        after: str = "",
        deployer: str = "",
        kubeconfig: str = "",
        context: str = "",
        labels: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.before = before
        self.after = after
        self.deployer = deployer
        self.kubeconfig = kubeconfig
        self.context = context
        self.labels = labels or {}


class ClusterReport:
    """The answer for one cluster: its report, or why there is none."""

    __slots__ = ("entry", "error", "report")

    def __init__(
        self, entry: Entry, report: Report | None = None, error: AicrError | None = None
    ) -> None:
        self.entry = entry
        self.report = report
        self.error = error

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def rows(self) -> Sequence[Row]:
        return self.report.rows if self.report is not None else ()

    @property
    def deployer(self) -> str:
        return self.report.deployer if self.report is not None else self.entry.deployer

    @property
    def failing(self) -> bool:
        """Whether something in it needs attention."""
        report = self.report
        if report is None:
            return False
        return bool(report.failing or (report.source is not None and report.source.failures))

    @property
    def unread_because(self) -> str:
        """Why there is no report, and what to do about that; "" where there is one."""
        if self.error is None:
            return ""
        return (
            f"{self.error.message} ({self.error.hint})" if self.error.hint else self.error.message
        )

    @property
    def verdict(self) -> str:
        """The worst verdict in it; "" where nothing was to judge."""
        if self.error is not None:
            return UNREADABLE
        return min((row.verdict for row in self.rows), key=_WORST.__getitem__, default="")

    def row(self, component: str) -> Row | None:
        return next((row for row in self.rows if row.component == component), None)


class Move:
    """One move that clusters have in common."""

    __slots__ = ("clusters", "deployer", "row")

    def __init__(self, row: Row, deployer: str) -> None:
        self.row = row
        self.deployer = deployer
        self.clusters: list[str] = []


class Fleet:
    """All clusters, worst first, those that could not be read last; ``to`` is what all move to,
    where they do. ``shown`` are those that were asked for."""

    __slots__ = ("clusters", "group_by", "shown", "to")

    def __init__(
        self,
        clusters: Sequence[ClusterReport],
        *,
        to: str = "",
        only_failing: bool = False,
        group_by: str = "",
    ) -> None:
        self.clusters = sorted(clusters, key=_cluster_order)
        self.shown = [
            one for one in self.clusters if not only_failing or one.failing or one.error is not None
        ]
        self.to = to
        self.group_by = group_by

    @property
    def read(self) -> list[ClusterReport]:
        """The shown clusters that have a report."""
        return [one for one in self.shown if one.error is None]

    @property
    def unread(self) -> list[ClusterReport]:
        return [one for one in self.clusters if one.error is not None]

    @property
    def failing(self) -> int:
        return sum(one.failing for one in self.clusters)

    def components(self) -> list[str]:
        """The components that change somewhere in what is shown, worst first."""
        worst: dict[str, tuple[int, int]] = {}
        for one in self.read:
            for row in one.rows:
                rank, count = worst.get(row.component, (_UNCHANGED, 0))
                worst[row.component] = min(rank, _WORST[row.verdict]), count - 1
        return sorted(worst, key=lambda name: (*worst[name], name))

    def moves(self) -> list[Move]:
        """The distinct moves in what is shown, worst first, each with its clusters."""
        found: dict[tuple[object, ...], Move] = {}
        keys: dict[int, tuple[object, ...]] = {}
        for one in self.read:
            for row in one.rows:
                key = keys.get(id(row))
                if key is None:
                    key = keys[id(row)] = _move_key(row, one.deployer)
                if key not in found:
                    found[key] = Move(row, one.deployer if row.step_groups else "")
                found[key].clusters.append(one.name)
        return sorted(
            found.values(),
            key=lambda m: (
                _WORST[m.row.verdict], -len(m.clusters), m.row.component, m.row.before,
                m.row.after, m.deployer,
            ),
        )  # fmt: skip

    def groups(self) -> list[tuple[str, list[ClusterReport]]]:
        """What is shown, by the label that was asked for; one group without one. Those that could
        not be read are in their groups too."""
        if not self.group_by:
            return [("", self.shown)]
        found: dict[str, list[ClusterReport]] = {}
        for one in self.shown:
            found.setdefault(label_of(one, self.group_by), []).append(one)
        return sorted(found.items())


def label_of(one: ClusterReport, label: str) -> str:
    return one.entry.labels.get(label, NO_LABEL)


def _cluster_order(one: ClusterReport) -> tuple[bool, int, int, str]:
    failing = sum(row.fails_run for row in one.rows)
    rank = _WORST.get(one.verdict, 0) if one.rows else _UNCHANGED
    return one.error is not None, rank, -failing, one.name


def _move_key(row: Row, deployer: str) -> tuple[object, ...]:
    return (
        row.component, row.change, row.before, row.after, row.replaces, row.verdict, row.reason,
        tuple((c.field, c.before, c.after) for c in row.identity_changes),
        deployer if row.step_groups else "",
    )  # fmt: skip
