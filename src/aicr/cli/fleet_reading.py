"""How each cluster of a fleet is read and checked, exactly as ``aicr upgrade-check`` would."""

from __future__ import annotations

import sys

from aicr.artifact.config_map import ClusterRef
from aicr.artifact.read import Artifact, open_artifact
from aicr.cli.in_processes import WORTH_IT, in_processes, processes
from aicr.cli.output import warn
from aicr.cli.side_by_side import side_by_side
from aicr.cli.two_sides import ONE_ARTIFACT, are_one, resolved_again, side_of
from aicr.errors import AicrError, invalid
from aicr.upgrade.check import Report, check
from aicr.upgrade.fleet import ClusterReport, Entry
from aicr.upgrade.judging import Judging
from aicr.upgrade.sides import Side, choose_deployer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aicr.catalog.layers import Catalog
    from aicr.upgrade.check import AtRisk
    from aicr.upgrade.rows import Row
    from aicr.upgrade.source import SourceBlock

_CLUSTER = "cluster"


class _Read:
    """What was read of one cluster, before it is compared."""

    __slots__ = ("artifact", "look", "notes", "side", "source")

    def __init__(
        self,
        side: Side,
        notes: Sequence[str],
        *,
        artifact: Artifact | None = None,
        source: SourceBlock | None = None,
        look: Callable[[Sequence[Row]], AtRisk] | None = None,
    ) -> None:
        self.side = side
        self.notes = notes
        self.artifact = artifact
        self.source = source
        self.look = look


class Reading:
    """What all clusters of one run share: the catalog, the targets, and what was judged before."""

    def __init__(
        self,
        catalog: Catalog,
        cluster: ClusterRef,
        *,
        after: str,
        deployer: str,
        allow_different_criteria: bool,
        allow_empty: bool,
    ) -> None:
        self._catalog = catalog
        self._cluster = cluster
        self._after = after
        self._deployer = deployer
        self._allow_different_criteria = allow_different_criteria
        self._allow_empty = allow_empty
        self._judging = Judging(catalog)
        self._targets: dict[str, tuple[Artifact, Side] | AicrError] = {}
        self._resolved: dict[str, Side] = {}
        if after:
            self._target(after)

    def read(self, entry: Entry) -> _Read:
        """What one cluster runs. Raises AicrError where that cannot be said."""
        notes: list[str] = []
        if entry.before == _CLUSTER:
            return self._installed(entry)
        artifact = open_artifact(entry.before, "--from", self._ref(entry, notes))
        side = side_of(artifact, notes.append)
        # Where it is, without what was in it: a fleet has many.
        place = Artifact(
            artifact.location, where=artifact.where, document="", root=artifact.root, info=None
        )
        return _Read(side, notes, artifact=place)

    def check(self, entry: Entry, read: _Read) -> Report:
        """The report of one cluster, as for it alone."""
        old = read.side
        location = entry.after or self._after
        if location:
            target = self._target(location)
            if read.artifact is not None and are_one(read.artifact, target[0]):
                return Report(entry.before, location, (), note=ONE_ARTIFACT,
                              warnings=[ONE_ARTIFACT])  # fmt: skip
            new = target[1]
        else:
            new = self._resolved_again(old)
        return check(
            old,
            new,
            self._catalog,
            deployer=self._deployer_of(entry, old),
            allow_different_criteria=self._allow_different_criteria,
            source=read.source,
            look=read.look,
            judging=self._judging,
        )

    def _deployer_of(self, entry: Entry, old: Side) -> str:
        return entry.deployer or (self._deployer if not old.deployer else "")

    def _ref(self, entry: Entry, notes: list[str]) -> ClusterRef:
        return ClusterRef(
            entry.kubeconfig or self._cluster.kubeconfig,
            entry.context or self._cluster.context,
            on_note=notes.append,
        )

    def _installed(self, entry: Entry) -> _Read:
        from aicr.upgrade.at_risk import scan
        from aicr.upgrade.cluster_side import installed_recipe, read_installed
        from aicr.upgrade.installed import known_components
        from aicr.upgrade.source import SourceBlock

        location = entry.after or self._after
        if not location:
            raise invalid("--to is required with --from cluster: a cluster carries no criteria")
        _, new = self._target(location)
        deployer, _ = choose_deployer(entry.deployer or self._deployer, new, new)
        if not deployer:
            raise invalid(
                "--deployer is required with --from cluster: each deployer keeps its own record"
            )
        refs = new.recipe.components
        known = known_components(self._catalog, refs)
        notes: list[str] = []
        connection = self._ref(entry, notes).connect("docs/rbac/upgrade-check.yaml")
        installed = read_installed(connection, deployer, known)
        recipe, said = installed_recipe(installed, known, {ref.name: ref for ref in refs})
        notes += [*installed.notes, *said]
        source = SourceBlock(installed, installed.failures(allow_empty=self._allow_empty))
        return _Read(
            Side(_CLUSTER, recipe), notes, source=source,
            look=lambda rows: scan(rows, lambda: connection),
        )  # fmt: skip

    def _target(self, location: str) -> tuple[Artifact, Side]:
        found = self._targets.get(location)
        if found is None:
            try:
                artifact = open_artifact(location, "--to", self._cluster)
                found = artifact, side_of(artifact)
            except AicrError as error:
                found = error
            self._targets[location] = found
        if isinstance(found, AicrError):
            raise found
        return found

    def _resolved_again(self, old: Side) -> Side:
        key = str(old.recipe.criteria)
        if key not in self._resolved:
            self._resolved[key] = resolved_again(old, self._catalog)
        return self._resolved[key]


def read_fleet(
    entries: Sequence[Entry], reading: Reading, *, at_once: int, seconds: float
) -> list[ClusterReport]:
    """A report, or an error, for each cluster, in the order given."""
    found: list[ClusterReport | None] = [None] * len(entries)
    show = sys.stderr.isatty()
    results = _results(entries, reading, at_once=at_once, seconds=seconds)
    for count, (index, read, error) in enumerate(results, 1):
        found[index] = _checked(entries[index], reading, read, error)
        if show:
            sys.stderr.write(f"\r{count} of {len(entries)} clusters read")
            sys.stderr.flush()
    if show:
        sys.stderr.write("\r\x1b[K")
    return [one for one in found if one is not None]


def _results(
    entries: Sequence[Entry], reading: Reading, *, at_once: int, seconds: float
) -> Iterator[tuple[int, _Read | None, AicrError | None]]:
    """What was read of each entry: many files in processes, then the rest, which waits for
    others more than it works, in threads."""
    local = [i for i, entry in enumerate(entries) if _is_local(entry)]
    many = min(processes(), at_once) if len(local) >= WORTH_IT else 1
    if many < 2:
        local = []
    else:
        files = [entries[i] for i in local]
        for i, read, error in in_processes(files, reading.read, at_once=many, seconds=seconds):
            yield local[i], read, error
    done = set(local)
    rest = [i for i in range(len(entries)) if i not in done]
    others = [entries[i] for i in rest]
    for i, read, error in side_by_side(others, reading.read, at_once=at_once, seconds=seconds):
        yield rest[i], read, error


def _is_local(entry: Entry) -> bool:
    return entry.before != _CLUSTER and not entry.before.startswith("cm://")


def _checked(
    entry: Entry, reading: Reading, read: _Read | None, error: AicrError | None
) -> ClusterReport:
    if read is None:
        return ClusterReport(entry, error=error)
    for note in read.notes:
        warn(f"{entry.name}: {note}")
    try:
        return ClusterReport(entry, reading.check(entry, read))
    except AicrError as failure:
        return ClusterReport(entry, error=failure)
