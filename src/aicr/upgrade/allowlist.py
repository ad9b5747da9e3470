"""Which pins and starting points may go without a record, and why: ``records-allowlist.yaml``.

An entry is a decision with a reason. It closes what it covers of a gap and no more, and one that
closes nothing any more is itself an error, so that the list can only shrink to what is needed.
"""

from __future__ import annotations

from aicr.catalog.folder import ALLOWLIST
from aicr.catalog.schema import open_document
from aicr.documents.fields import Problems
from aicr.errors import AicrError
from aicr.upgrade.violations import Violation
from aicr.versions.ranges import RangeError, parse_range
from aicr.versions.semver import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.catalog.layers import Catalog
    from aicr.documents.fields import Fields
    from aicr.upgrade.model import Records
    from aicr.versions.intervals import Interval

KIND = "RecordAllowlist"


class Allowed:
    """One entry. ``versions`` is a range, or a pin that is no version, as written.

    ``own`` is whether the entry is of the topmost folder, whose author can remove it.
    """

    __slots__ = ("component", "file", "interval", "line", "own", "reason", "used", "versions")

    def __init__(
        self,
        component: str,
        versions: str,
        interval: Interval | None,
        *,
        reason: str,
        file: str,
        line: int,
        own: bool,
    ) -> None:
        self.component = component
        self.versions = versions
        self.interval = interval
        self.reason = reason
        self.file = file
        self.line = line
        self.own = own
        self.used = False

    def covers(self, pin: str, records: Records) -> bool:
        """Whether the entry speaks of this pin."""
        version = records.version(pin)
        if version is None or self.interval is None:
            return pin == self.versions
        return self.interval.contains(version)


class Allowlist:
    """The entries of every folder of a catalog."""

    __slots__ = ("entries",)

    def __init__(self, entries: list[Allowed]) -> None:
        self.entries = entries

    def of(self, component: str) -> list[Allowed]:
        return [entry for entry in self.entries if entry.component == component]


def read_allowlist(
    catalog: Catalog, records: Mapping[str, Records]
) -> tuple[Allowlist, list[Violation]]:
    """The allowlist, and what is wrong with it. ``records`` say how versions are ordered."""
    entries: list[Allowed] = []
    problems = Problems()
    for where, own, node in catalog.each_layer(ALLOWLIST):
        try:
            fields = open_document(node(), where, (KIND,), problems)
        except AicrError as error:
            return Allowlist([]), [Violation(where, 0, "allowlist", error.message)]
        for item in fields.items("entries"):
            entry = _entry(item, catalog, records, own=own)
            if entry is not None:
                entries.append(entry)
        fields.done()
    violations = [
        Violation(p.file, p.line, "allowlist", f"{p.field}: {p.message}" if p.field else p.message)
        for p in problems.errors
    ]
    return Allowlist(entries), violations


def _entry(
    item: Fields, catalog: Catalog, records: Mapping[str, Records], *, own: bool
) -> Allowed | None:
    component = item.required("component")
    if component and component not in catalog.registry:
        item.problem(f'"{component}" is not in the registry', "component")
    versions = item.required("versions")
    reason = item.required("reason")
    if reason and not reason.strip():
        item.problem("is blank; say why there is no record", "reason")
    item.done()
    if not component or not versions:
        return None
    known = records.get(component)
    interval = None
    try:
        lines = known.lines if known is not None else None
        written = lines.range(versions) if lines is not None else parse_range(versions)
        interval = written.interval
        if interval.is_empty():
            item.problem(f'"{versions}" holds no version', "versions")
    except RangeError as error:
        # A branch or a commit is pinned as it is written, and no range can hold it.
        if parse(versions) is not None or any(c in versions for c in "<>=^~*|, "):
            item.problem(str(error), "versions")
            return None
    return Allowed(
        component,
        versions,
        interval,
        reason=reason,
        file=item.where,
        line=item.line(),
        own=own,
    )
