"""Which objects a crossed boundary puts at risk: the kinds that its records name, as they are in
the cluster and in nobody's care. Advisory."""

from __future__ import annotations

from aicr.errors import AicrError
from aicr.upgrade.check import AtRisk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from aicr.cluster.connection import Connection
    from aicr.upgrade.rows import Row

SWITCHED_OFF = "switched off with --scan-cluster=false"
NOTHING_NAMED = "no record of a crossed boundary names affected resources"
NOTHING_FOUND = "nothing found: every object of these kinds belongs to Helm or Argo CD"


def kinds_named(rows: Iterable[Row]) -> list[tuple[str, str]]:
    """The (group, kind) that records of crossed boundaries name, sorted."""
    return sorted(
        {
            (affected.group, kind)
            for row in rows
            if row.judgement is not None
            for record in row.judgement.crossed
            for affected in record.affected_resources
            for kind in affected.kinds
        }
    )


def scan(rows: Sequence[Row], connect: Callable[[], Connection]) -> AtRisk:
    """What is at risk; ``connect`` is called only where there is something to look for."""
    kinds = kinds_named(rows)
    if not kinds:
        return AtRisk(reason=NOTHING_NAMED)
    names = [shown(group, kind) for group, kind in kinds]
    try:
        from aicr.cluster.unmanaged import find_unmanaged

        found, absent = find_unmanaged(connect(), kinds)
    except AicrError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return AtRisk(reason=f"failed: {error.message}{hint}", kinds=names)
    reason = "" if found else NOTHING_FOUND
    if absent:
        missing = ", ".join(shown(group, kind) for group, kind in absent)
        reason = f"{reason + '; ' if reason else ''}not served by this cluster: {missing}"
    findings = [
        {"group": one.group, "kind": one.kind, "namespace": one.namespace, "name": one.name}
        for one in found
    ]
    return AtRisk(scanned=True, reason=reason, kinds=names, findings=findings)


def shown(group: str, kind: str) -> str:
    return f"{kind}.{group}" if group else kind
