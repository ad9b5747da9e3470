"""How a report says where its FROM side was read: which cluster, what was read, and how much of it
was attributed to components."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.cluster_side import Installed
    from aicr.upgrade.installed import Install


class SourceBlock:
    """``failures`` are the reasons for which what was read cannot be relied on."""

    __slots__ = ("failures", "installed")

    def __init__(self, installed: Installed, failures: Sequence[str]) -> None:
        self.installed = installed
        self.failures = failures


def source_values(block: SourceBlock) -> dict[str, object]:
    """The block as JSON-ready values."""
    one = block.installed
    values: dict[str, object] = {
        "kind": "cluster",
        "server": one.server,
        "context": one.context,
        "deployer": one.deployer,
        "readAt": one.read_at,
        "helmRecords": one.records,
        "applications": one.applications,
        "installs": len(one.installs) + len(one.others),
        "attributed": len(one.installs),
        "components": len(one.components),
        "unattributed": [_named(other) for other in one.others],
        "elsewhere": [str(app) for app in one.elsewhere],
        "uninstalled": one.uninstalled,
        "orphans": [_named(orphan) for orphan in one.orphans],
        "failures": list(block.failures),
    }
    return {name: value for name, value in values.items() if value not in ("", None)}


def source_lines(block: SourceBlock) -> list[tuple[str, str]]:
    """The block for people: what it is about, and the text."""
    one = block.installed
    what: list[str] = []
    if one.records is not None:
        what.append(_counted(one.records, "Helm record"))
    if one.applications is not None:
        what.append(_counted(one.applications, "Application"))
    read = f"{' and '.join(what) or 'nothing'}; {_counted(_total(one), 'install')}"
    apart: list[str] = []
    if one.elsewhere:
        apart.append(f"{len(one.elsewhere)} deploy to other clusters")
    if one.uninstalled:
        apart.append(f"{one.uninstalled} uninstalled")
    if apart:
        read += f" ({', '.join(apart)}, left out)"
    attributed = (
        f"{len(one.installs)} of {_total(one)}, {_counted(len(one.components), 'component')}"
    )
    return [
        ("server", one.server),
        ("context", one.context),
        ("read", read),
        ("attributed", attributed),
    ]


def _total(one: Installed) -> int:
    return len(one.installs) + len(one.others)


def _named(one: Install) -> dict[str, object]:
    values = {
        "release": one.release,
        "namespace": one.namespace,
        "storedIn": one.storage,
        "chart": one.chart,
        "version": one.version,
        "state": one.state,
    }
    return {name: value for name, value in values.items() if value}


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
