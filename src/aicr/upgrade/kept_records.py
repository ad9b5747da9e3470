"""The records of a catalog, read once for many comparisons, and safe to share between threads.

Nothing that a comparison names is kept: what is here grows with the catalog alone.
"""

from __future__ import annotations

from aicr.errors import AicrError
from aicr.upgrade.check import Rules, compare, records_needed, table
from aicr.upgrade.records import load_records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aicr.catalog.layers import Catalog
    from aicr.upgrade.inventory import Identity
    from aicr.upgrade.match import Judge
    from aicr.upgrade.model import Records
    from aicr.upgrade.path import Walks
    from aicr.upgrade.rows import Row
    from aicr.upgrade.sides import Side


class KeptRecords:
    """The records of every component that has some that load, and their judges."""

    __slots__ = ("_broken", "_catalog", "_records", "_shared")

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._records: dict[str, Records] = {}
        self._broken: set[str] = set()
        for name in sorted(catalog.registry):
            try:
                self._records.update(load_records(catalog, [name]))
            except AicrError:
                self._broken.add(name)
        self._shared = Rules(self._records, catalog.releases)
        for name in self._records:
            self._shared.walks(name)

    def get(self, component: str) -> Records | None:
        """The records of a component, None where it has none. Raises INVALID_REQUEST where they do
        not load."""
        if component in self._broken:
            load_records(self._catalog, [component])
        return self._records.get(component)

    def rules(self, components: Iterable[str]) -> Rules:
        """The rules for these components alone, as a check loads them.

        Raises INVALID_REQUEST with every problem of their records.
        """
        needed = list(components)
        if not self._broken.isdisjoint(needed):
            load_records(self._catalog, needed)
        records = {name: self._records[name] for name in needed if name in self._records}
        return _SharedRules(records, self._shared)

    def judging(self) -> KeptJudging:
        """For one check: its rows, judged by these records."""
        return KeptJudging(self)


class _SharedRules(Rules):
    """Rules whose judges of known components are those of all."""

    __slots__ = ("_all",)

    def __init__(self, records: Mapping[str, Records], shared: Rules) -> None:
        super().__init__(records, shared.releases)
        self._all = shared

    def judge(self, component: str) -> Judge:
        if component in self.records:
            return self._all.judge(component)
        return super().judge(component)

    def walks(self, component: str) -> Walks:
        if component in self.records:
            return self._all.walks(component)
        return super().walks(component)


class KeptJudging:
    """What a check asks for its rows; made anew for each check."""

    __slots__ = ("_kept", "rules")

    def __init__(self, kept: KeptRecords) -> None:
        self._kept = kept
        self.rules: Rules = kept.rules(())

    def table(self, side: Side) -> dict[str, Identity]:
        return table(side, None)

    def rows(
        self,
        before: Mapping[str, Identity],
        after: Mapping[str, Identity],
        deployer: str,
        *,
        with_names: bool,
    ) -> list[Row]:
        self.rules = self._kept.rules(records_needed(before, after))
        return compare(before, after, self.rules, deployer=deployer, with_names=with_names)
