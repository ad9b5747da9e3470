"""The rows of many comparisons, where equal moves are judged once.

A row depends on nothing but its own component on both sides (and, for what arrives and departs,
on all that do), so the rows are those of a comparison by itself, shared between clusters.
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
    from aicr.upgrade.model import Records
    from aicr.upgrade.rows import Row
    from aicr.upgrade.sides import Side

    Key = tuple[object, ...]


class Judging:
    """Judges comparisons on one catalog; records are loaded as they are needed."""

    __slots__ = (
        "_broken",
        "_catalog",
        "_known",
        "_loaded",
        "_others",
        "_records",
        "_tables",
        "rules",
    )

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._records: dict[str, Records] = {}
        self._loaded: set[str] = set()
        self._broken: set[str] = set()
        self._known: dict[Key, Row | None] = {}
        self._others: dict[Key, list[Row]] = {}
        self._tables: dict[int, tuple[Side, dict[str, Identity]]] = {}
        self.rules = Rules(self._records, catalog.releases)

    def table(self, side: Side) -> dict[str, Identity]:
        """What a side deploys that many are compared with."""
        found = self._tables.get(id(side))
        if found is None:
            found = self._tables[id(side)] = side, table(side, None)
        return found[1]

    def rows(
        self,
        before: Mapping[str, Identity],
        after: Mapping[str, Identity],
        deployer: str,
        *,
        with_names: bool,
    ) -> list[Row]:
        """As ``compare`` has them, after loading the records that they need."""
        needed = records_needed(before, after)
        self._load(needed)
        try:
            found = self._shared(before, after, deployer, with_names=with_names)
            found += self._coming_and_going(before, after, deployer)
        except AicrError:
            # What is said of one component alone is not the whole message.
            return compare(before, after, self.rules, deployer=deployer, with_names=with_names)
        found.sort(key=lambda row: row.component)
        return found

    def _load(self, components: Iterable[str]) -> None:
        needed = list(components)
        for name in needed:
            if name not in self._loaded and name not in self._broken:
                try:
                    self._records.update(load_records(self._catalog, [name]))
                    self._loaded.add(name)
                except AicrError:
                    self._broken.add(name)
        if not self._broken.isdisjoint(needed):
            load_records(self._catalog, needed)

    def _shared(
        self,
        before: Mapping[str, Identity],
        after: Mapping[str, Identity],
        deployer: str,
        *,
        with_names: bool,
    ) -> list[Row]:
        found: list[Row] = []
        for name, old in before.items():
            new = after.get(name)
            if new is None:
                continue
            key = (name, _key(old), _key(new), deployer, with_names)
            if key in self._known:
                row = self._known[key]
            else:
                rows = compare(
                    {name: old}, {name: new}, self.rules, deployer=deployer, with_names=with_names
                )
                row = self._known[key] = rows[0] if rows else None
            if row is not None:
                found.append(row)
        return found

    def _coming_and_going(
        self, before: Mapping[str, Identity], after: Mapping[str, Identity], deployer: str
    ) -> list[Row]:
        going = {name: old for name, old in before.items() if name not in after}
        coming = {name: new for name, new in after.items() if name not in before}
        key: Key = (
            tuple((name, going[name].version) for name in sorted(going)),
            tuple((name, coming[name].version) for name in sorted(coming)),
            deployer,
        )
        if key not in self._others:
            self._others[key] = compare(going, coming, self.rules, deployer=deployer)
        return self._others[key]


def _key(one: Identity) -> Key:
    names = None if one.names is None else tuple(sorted(one.names.items()))
    return (
        one.version, one.namespace, one.chart, one.source, one.path, one.type,
        one.manifest_files, one.pre_manifest_files, names,
    )  # fmt: skip
