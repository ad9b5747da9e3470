"""What is wrong with the records of a catalog: every rule, every file, all in one run.

Also what is wrong for want of a record: pins that nobody assessed, and what a change since a base
revision lost.
"""

from __future__ import annotations

from aicr.catalog.folder import is_yaml
from aicr.documents.fields import Problems
from aicr.documents.nodes import Map, Seq
from aicr.errors import AicrError
from aicr.upgrade.allowlist import read_allowlist
from aicr.upgrade.gate import unassessed, unneeded, vanished
from aicr.upgrade.holes import holes
from aicr.upgrade.model import Records
from aicr.upgrade.pins import current_pins, highest
from aicr.upgrade.records import KIND, read_what_loads
from aicr.upgrade.violations import Violation, of_problems
from aicr.upgrade.wellformed import (
    backward,
    high_ceilings,
    holes_open,
    overlapping,
    unsatisfiable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import RegistryEntry
    from aicr.documents.nodes import Node
    from aicr.upgrade.pins import Pin


class Reading:
    """What could be read of a component's records; ``complete`` where no transition is missing."""

    __slots__ = ("complete", "records")

    def __init__(self, records: Records, *, complete: bool) -> None:
        self.records = records
        self.complete = complete


def lint(catalog: Catalog, base: Catalog | None = None) -> list[Violation]:
    """Every violation, by place. With ``base`` also what the change since then broke."""
    readings, violations = read_all(catalog)
    pins = current_pins(catalog)
    old = _Base(base) if base is not None else None
    allowlist, wrong = read_allowlist(catalog, {n: r.records for n, r in readings.items()})
    violations += wrong
    for name, entry in catalog.registry.items():
        reading = readings.get(name) or Reading(Records(name), complete=True)
        records = reading.records
        here = pins.get(name, [])
        pin = highest(here, records)
        violations += unsatisfiable(records) + backward(records) + overlapping(records)
        violations += _replaces(records, catalog)
        if catalog.is_own(entry.upgrades_file):
            violations += high_ceilings(records, pin)
        if not reading.complete:
            continue
        allowed = allowlist.of(name)
        found = holes(records, pin)
        violations += holes_open(found, [e.interval for e in allowed if e.interval is not None])
        violations += unassessed(here, records, allowed, old.pins_of(name) if old else None)
        violations += unneeded(allowed, here, records, found)
        if old is not None:
            violations += _lost(entry, old, records)
    violations += _strangers(pins, catalog)
    violations += _orphans(catalog)
    return sorted(violations, key=lambda v: v.order)


def read_all(catalog: Catalog) -> tuple[dict[str, Reading], list[Violation]]:
    """The records of every registry entry that names a file, and what keeps them from loading."""
    readings: dict[str, Reading] = {}
    violations: list[Violation] = []
    for name, entry in catalog.registry.items():
        path = entry.upgrades_file
        if not path:
            if isinstance(entry.raw.get("upgrades"), Map):
                violations.append(
                    _at(entry, f"{name}.upgrades has no file", "name one, or drop it")
                )
            continue
        if not catalog.has(path):
            violations.append(
                _at(entry, f'{name}.upgrades.file "{path}" is not in the catalog', "add the file")
            )
            readings[name] = Reading(Records(name), complete=False)
            continue
        reading, wrong = _read(catalog, name, path)
        readings[name] = reading
        violations += wrong
    return readings, violations


def _read(catalog: Catalog, name: str, path: str) -> tuple[Reading, list[Violation]]:
    where = catalog.where(path)
    try:
        node = catalog.node(path)
    except AicrError as error:
        return Reading(Records(name), complete=False), [_unreadable(where, error.message)]
    problems = Problems()
    records = read_what_loads(node, where, name, problems)
    complete = not problems.errors or len(records.transitions) == _written(node)
    return Reading(records, complete=complete), of_problems(problems.errors)


def _written(node: Node) -> int:
    """How many transitions the file has, whether or not they can be read; -1 if that is unclear."""
    transitions = node.get("transitions") if isinstance(node, Map) else None
    return len(transitions) if isinstance(transitions, Seq) else -1


def _unreadable(where: str, message: str) -> Violation:
    rest = message.removeprefix(f"{where}:")
    line, colon, said = rest.partition(":")
    if rest != message and colon and line.strip().isdigit():
        return Violation(where, int(line), "document", said.strip())
    return Violation(where, 0, "document", rest.strip())


def _at(entry: RegistryEntry, message: str, instead: str) -> Violation:
    file, _, line = entry.where.rpartition(":")
    return Violation(file, int(line), "file", message, instead)


def _replaces(records: Records, catalog: Catalog) -> list[Violation]:
    block = records.replaces
    if block is None or not block.component:
        return []
    name = block.component
    known = name in catalog.registry or any(name in release.pins for release in catalog.releases)
    if known and name != records.component:
        return []
    what = "is the component itself" if known else "is in no registry and no release"
    return [
        Violation(
            block.file,
            block.line,
            "replaces",
            f'replaces.component "{name}" {what}, so the block never applies',
            "name the component that departs",
        )
    ]


def _strangers(pins: Mapping[str, list[Pin]], catalog: Catalog) -> list[Violation]:
    return [
        Violation(
            pin.file,
            pin.line,
            "coverage",
            f'"{name}" is pinned at {pin.text} and not in the registry, so it can have no record',
            "add it to the registry",
        )
        for name, found in pins.items()
        if name not in catalog.registry
        for pin in found
    ]


def _orphans(catalog: Catalog) -> list[Violation]:
    named = {entry.upgrades_file for entry in catalog.registry.values()}
    found = []
    for path in catalog.paths():
        if path in named or not path.startswith("components/") or not _is_records(catalog, path):
            continue
        component = path.split("/")[1]
        found.append(
            Violation(
                catalog.where(path),
                0,
                "file",
                "no registry entry names this record file, so nothing reads it",
                f"name it as upgrades.file of {component}, or remove it",
            )
        )
    return found


def _is_records(catalog: Catalog, path: str) -> bool:
    """Whether a file is one of records, by its name or by what it says of itself."""
    if path.rpartition("/")[2] in ("upgrades.yaml", "upgrades.yml"):
        return True
    if not is_yaml(path) or KIND.encode() not in _bytes(catalog, path):
        return False
    try:
        node = catalog.node(path)
    except AicrError:
        return False
    return isinstance(node, Map) and node.get("kind") == KIND


def _bytes(catalog: Catalog, path: str) -> bytes:
    try:
        return catalog.file(path)
    except AicrError:
        return b""


class _Base:
    """The base revision: its pins and what could be read of its records."""

    __slots__ = ("catalog", "pins", "readings")

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.pins = current_pins(catalog)
        self.readings, _ = read_all(catalog)

    def pins_of(self, component: str) -> list[str]:
        return [pin.text for pin in self.pins.get(component, ())]


def _lost(entry: RegistryEntry, old: _Base, records: Records) -> list[Violation]:
    before = old.readings.get(entry.name)
    if before is None:
        return []
    file, _, line = entry.where.rpartition(":")
    return vanished(entry.name, before.records, records, (file, int(line)))
