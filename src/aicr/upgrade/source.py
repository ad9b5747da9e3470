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
        "unsettled": [_unsettled(install) for install in one.unsettled],
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
    lines = [("server", one.server), ("context", one.context), ("read at", one.read_at)]
    lines += [("read", read), ("attributed", attributed)]
    return [line for line in lines if line[1]]


def doubt_lines(block: SourceBlock) -> list[tuple[str, str]]:
    """What a person should know before relying on it, where the installs are not listed."""
    one = block.installed
    lines = [("unsettled", f"{i.component}: {i}: {i.note}") for i in one.unsettled]
    if one.others:
        many = _counted(len(one.others), "install")
        lines.append(("left out", f"{many} of no component; aicr inventory lists them"))
    return lines


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


def _unsettled(one: Install) -> dict[str, object]:
    values = {
        "component": one.component,
        **_named(one),
        "recordedVersion": one.recorded if one.recorded != one.version else "",
        "note": one.note,
    }
    return {name: value for name, value in values.items() if value}


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
