"""What changed between two artifacts, and is it safe: two tables and records in, rows out."""

from __future__ import annotations

from aicr.artifact.deployers import DEPLOYERS
from aicr.errors import invalid
from aicr.upgrade.inventory import identity_changes, inventory_of
from aicr.upgrade.match import IDENTITY_CHANGED, UNKNOWN, Judge
from aicr.upgrade.path import Walks, pins_of
from aicr.upgrade.records import load_records
from aicr.upgrade.rows import Row, replaced_row, version_row
from aicr.upgrade.sides import choose_deployer, criteria_warnings, values_of_both
from aicr.versions.semver import same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import Release
    from aicr.recipe.model import Recipe
    from aicr.upgrade.inventory import Identity
    from aicr.upgrade.judging import Judging
    from aicr.upgrade.kept_records import KeptJudging
    from aicr.upgrade.model import Records, Replacement
    from aicr.upgrade.sides import Side
    from aicr.upgrade.source import SourceBlock

NOT_REQUESTED = "no cluster access was requested"


class AtRisk:
    """What a scan of the cluster for unmanaged objects found, or why there was none."""

    __slots__ = ("findings", "kinds", "reason", "scanned")

    def __init__(
        self,
        *,
        scanned: bool = False,
        reason: str = NOT_REQUESTED,
        kinds: Sequence[str] = (),
        findings: Sequence[Mapping[str, str]] = (),
    ) -> None:
        self.scanned = scanned
        self.reason = reason
        self.kinds = kinds
        self.findings = findings


class Report:
    """The answer for two artifacts. ``warnings`` are for stderr, ``note`` for people;
    ``records`` are those that were loaded to judge the rows; ``source`` is how the FROM side was
    read, where it was read from a cluster; ``recipe`` is that of the TO side."""

    __slots__ = (
        "after",
        "at_risk",
        "before",
        "deployer",
        "names_compared",
        "names_skipped",
        "note",
        "recipe",
        "records",
        "rows",
        "source",
        "warnings",
    )

    def __init__(
        self,
        before: str,
        after: str,
        rows: Sequence[Row],
        *,
        deployer: str = "",
        names_compared: bool = False,
        names_skipped: str = "",
        at_risk: AtRisk | None = None,
        warnings: Sequence[str] = (),
        note: str = "",
        records: Mapping[str, Records] | None = None,
        source: SourceBlock | None = None,
        recipe: Recipe | None = None,
    ) -> None:
        self.before = before
        self.after = after
        self.rows = rows
        self.deployer = deployer
        self.names_compared = names_compared
        self.names_skipped = names_skipped
        self.at_risk = at_risk or AtRisk()
        self.warnings = warnings
        self.note = note
        self.records = records or {}
        self.source = source
        self.recipe = recipe

    @property
    def failing(self) -> int:
        return sum(row.fails_run for row in self.rows)


class Rules:
    """The judge and the recorded ways of each component, made once."""

    __slots__ = ("_judges", "_walks", "records", "releases")

    def __init__(self, records: Mapping[str, Records], releases: Sequence[Release] = ()) -> None:
        self.records = records
        self.releases = releases
        self._judges: dict[str, Judge] = {}
        self._walks: dict[str, Walks] = {}

    def judge(self, component: str) -> Judge:
        if component not in self._judges:
            self._judges[component] = Judge(self.records.get(component))
        return self._judges[component]

    def walks(self, component: str) -> Walks:
        if component not in self._walks:
            self._walks[component] = Walks(self.judge(component), pins_of(self.releases, component))
        return self._walks[component]


def check(
    old: Side,
    new: Side,
    catalog: Catalog,
    *,
    deployer: str = "",
    allow_different_criteria: bool = False,
    source: SourceBlock | None = None,
    look: Callable[[Sequence[Row]], AtRisk] | None = None,
    judging: Judging | KeptJudging | None = None,
) -> Report:
    """The report for a move from ``old`` to ``new``; ``look`` finds what is at risk by the rows.
    ``judging`` judges them where equal moves of many clusters are judged once.

    Raises INVALID_REQUEST where the two are different clusters, where deployers contradict, where
    steps are needed for an unknown deployer, and where a record does not load.
    """
    warnings = criteria_warnings(old, new, allowed=allow_different_criteria)
    deployer, said = choose_deployer(deployer, old, new)
    warnings += said
    names, skipped = values_of_both(old, new, catalog)
    before = table(old, names[0] if names else None)
    if judging is not None and names is None:
        after = judging.table(new)
    else:
        after = table(new, names[1] if names else None)
    if old.recipe.inventory is not None:
        before = _as_pinned(before, after)
    if judging is None:
        rules = Rules(load_records(catalog, records_needed(before, after)), catalog.releases)
        rows = compare(before, after, rules, deployer=deployer, with_names=names is not None)
    else:
        rows = judging.rows(before, after, deployer, with_names=names is not None)
        rules = judging.rules
    return Report(
        old.label,
        new.label,
        rows,
        deployer=deployer,
        names_compared=names is not None and not skipped,
        names_skipped=skipped,
        at_risk=look(rows) if look is not None else None,
        warnings=warnings,
        records=rules.records,
        source=source,
        recipe=new.recipe,
    )


def table(side: Side, names: Mapping[str, object] | None) -> dict[str, Identity]:
    """What a side deploys; ``names`` are the values of its components, where they count."""
    file_sets = side.recipe.inventory is None
    return inventory_of(side.recipe.components, names, file_sets=file_sets)


def _as_pinned(
    before: Mapping[str, Identity], after: Mapping[str, Identity]
) -> dict[str, Identity]:
    """What is installed, without the versions of components that the other side does not pin."""
    return {
        name: old.without_version() if name in after and not after[name].version else old
        for name, old in before.items()
    }


def compare(
    before: Mapping[str, Identity],
    after: Mapping[str, Identity],
    rules: Rules,
    *,
    deployer: str = "",
    with_names: bool = False,
) -> list[Row]:
    """A row for each component that changed, by name."""
    rows: list[Row] = []
    joined, outdone = _replacements(before, after, rules.records)
    departed = {block.component for block in joined.values()}
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None and new is not None:
            block = joined.get(name)
            if block is not None:
                rows.append(
                    replaced_row(name, before[block.component], new, block, deployer=deployer)
                )
                continue
            other, winner = outdone.get(name, ("", ""))
            rows.append(Row(name, "added", after=new.version, replaces=other, outdone_by=winner))
        elif new is None and old is not None:
            if name not in departed:
                rows.append(Row(name, "removed", before=old.version))
        elif old is not None and new is not None:
            changes = identity_changes(old, new, with_names=with_names)
            if not same(old.version, new.version):
                rows.append(
                    version_row(
                        name,
                        old,
                        new,
                        rules.judge(name),
                        rules.walks,
                        changes=changes,
                        deployer=deployer,
                    )
                )
            elif changes:
                rows.append(
                    Row(
                        name,
                        "identity",
                        before=old.version,
                        after=new.version,
                        verdict=UNKNOWN,
                        reason=IDENTITY_CHANGED,
                        identity_changes=changes,
                    )
                )
    require_deployer(rows, deployer)
    return rows


def records_needed(before: Mapping[str, Identity], after: Mapping[str, Identity]) -> list[str]:
    """The components whose records decide a row: those that changed version or arrive."""
    return [
        name
        for name in sorted(after)
        if name not in before or not same(before[name].version, after[name].version)
    ]


def _replacements(
    before: Mapping[str, Identity], after: Mapping[str, Identity], records: Mapping[str, Records]
) -> tuple[dict[str, Replacement], dict[str, tuple[str, str]]]:
    """Which arrival takes the place of which departure; the first by name wins.

    Of those that lost: the departure, and who took it.
    """
    joined: dict[str, Replacement] = {}
    outdone: dict[str, tuple[str, str]] = {}
    taken: dict[str, str] = {}
    for name in sorted(after.keys() - before.keys()):
        found = records.get(name)
        block = found.replaces if found is not None else None
        if block is None or block.component not in before or block.component in after:
            continue
        if block.component in taken:
            outdone[name] = (block.component, taken[block.component])
        else:
            taken[block.component] = name
            joined[name] = block
    return joined, outdone


def require_deployer(rows: Iterable[Row], deployer: str) -> None:
    if deployer:
        return
    with_steps = [row.component for row in rows if row.step_groups]
    if with_steps:
        raise invalid(
            f"--deployer is required: steps differ by deployer, and {', '.join(with_steps)} "
            f"{'has' if len(with_steps) == 1 else 'have'} steps",
            hint=f"pass the one that you pass to aicr bundle: {', '.join(DEPLOYERS)}",
            details={"components": list(with_steps)},
        )
