"""A fleet's answer for people: the matrix, the distinct moves, their steps, what was not read."""

from __future__ import annotations

from aicr.documents.safe import cell, escaped
from aicr.upgrade.markdown import work_lines
from aicr.upgrade.step_lines import step_lines
from aicr.upgrade.table import change_text, heading
from aicr.upgrade.wrap import wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.fleet import ClusterReport, Fleet, Move
    from aicr.upgrade.rows import Row

LEGEND = (
    ("B", "blocked"), ("U", "unknown"), ("V", "unversioned"), ("M", "manual"), ("s", "safe"),
    ("+", "added"), ("-", "removed"), (".", "no change"),
)  # fmt: skip
_SIGNS = {word: sign for sign, word in LEGEND}
_SHOWN = 8


def sign(row: Row | None) -> str:
    """A row as one character of the matrix."""
    if row is None:
        return "."
    return _SIGNS[row.verdict or row.change]


def counted(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else one + 's'}"


def summary(fleet: Fleet) -> str:
    """The last line."""
    failing, unread = fleet.failing, len(fleet.unread)
    said = f"{counted(len(fleet.clusters), 'cluster')}: {failing} need" + "s" * (failing == 1)
    return f"{said} attention, {unread} could not be read"


def move_line(move: Move) -> str:
    """A distinct move and on how many clusters it is made."""
    row = move.row
    name = (
        f"{row.component} (replaces {row.replaces})"
        if row.change == "replaced"
        else (row.component)
    )
    if row.change == "identity":
        said = f"{row.after or '-'}, moved"
    else:
        said = f"{row.before or '-'} -> {row.after or '-'}"
    verdict = row.verdict or row.change
    by = f" (deployer {move.deployer})" if move.deployer else ""
    return f"{name} {said}: {verdict}, on {counted(len(move.clusters), 'cluster')}{by}"


def some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def with_work(fleet: Fleet) -> list[Move]:
    """The moves that have something to do by hand."""
    return [move for move in fleet.moves() if move.row.steps or move.row.precondition]


def of_group(group: Sequence[ClusterReport]) -> str:
    """How many clusters a group has, and how many of them need a look."""
    failing = sum(one.failing for one in group)
    unread = sum(one.error is not None for one in group)
    more = f", {unread} could not be read" if unread else ""
    return f"{counted(len(group), 'cluster')}, {failing} failing{more}"


def fleet_table(fleet: Fleet) -> str:
    """The whole answer as text."""
    lines = ["FLEET CHECK"]
    if fleet.to:
        lines.append(f"  to  {cell(fleet.to)}")
    components = fleet.components()
    if components:
        lines += ["", "MATRIX (" + ", ".join(f"{s} {word}" for s, word in LEGEND) + ")"]
        width = len(str(len(components)))
        lines += [f"  {i:>{width}}  {cell(name)}" for i, name in enumerate(components, 1)]
    for value, group in fleet.groups():
        if fleet.group_by:
            lines += ["", f"{cell(fleet.group_by)}={cell(value)}: {of_group(group)}"]
        group = [one for one in group if one.error is None]
        if group:
            lines += ["", *_matrix(group, components)]
    moves = fleet.moves()
    if moves:
        lines += ["", "MOVES"]
        for move in moves:
            lines.append(f"  {cell(move_line(move))}")
            if move.row.fails_run:
                lines += wrapped(some(move.clusters), "      ")
    for move in with_work(fleet):
        lines += ["", *_work(move)]
    unread = fleet.unread
    if unread:
        lines += ["", "COULD NOT BE READ"]
        lines += [f"  {cell(one.name)}: {cell(one.unread_because)}" for one in unread]
    lines += ["", summary(fleet)]
    return "\n".join(lines) + "\n"


def _matrix(group: Sequence[ClusterReport], components: Sequence[str]) -> list[str]:
    columns = [str(i) for i in range(1, len(components) + 1)]
    wide = len(columns[-1]) if columns else 1
    names = [cell(one.name) for one in group]
    width = max(len("CLUSTER"), *(len(name) for name in names))
    lines = ["  " + " ".join(["CLUSTER".ljust(width), "", *(c.rjust(wide) for c in columns)])]
    for name, one in zip(names, group, strict=True):
        rows = {row.component: row for row in one.rows}
        signs = [sign(rows.get(component)).rjust(wide) for component in components]
        mark = "!" if one.failing else " "
        lines.append(f"{mark} " + " ".join([name.ljust(width), "", *signs]).rstrip())
    return lines


def _work(move: Move) -> list[str]:
    row = move.row
    lines = [heading(row)]
    lines += wrapped(f"on {', '.join(move.clusters)}", "  ")
    if row.identity_changes:
        lines += ["", "  MOVED"]
        lines += [line for c in row.identity_changes for line in wrapped(change_text(c), "    ")]
    if row.precondition:
        lines += ["", "  PRECONDITION", *wrapped(row.precondition, "    ")]
    if row.steps:
        lines += ["", *step_lines(row.steps, move.deployer)]
    return lines


def fleet_markdown(fleet: Fleet) -> str:
    """The whole answer as Markdown."""
    lines = ["# Fleet check", ""]
    if fleet.to:
        lines += [f"- To: {escaped(fleet.to)}", ""]
    lines.append(f"**{escaped(summary(fleet))}**")
    everywhere = fleet.components()
    for value, group in fleet.groups():
        changed = {row.component for one in group for row in one.rows}
        components = [name for name in everywhere if name in changed]
        if fleet.group_by:
            said = f"{escaped(value)} ({of_group(group)})"
            lines += ["", f"## {escaped(fleet.group_by)}: {said}"]
        group = [one for one in group if one.error is None]
        if group and components:
            lines += ["", "| Cluster | " + " | ".join(map(escaped, components)) + " |"]
            lines.append("| --- " * (len(components) + 1) + "|")
        for one in group if components else ():
            rows = {row.component: row for row in one.rows}
            cells = [
                (rows[name].verdict or rows[name].change) if name in rows else ""
                for name in components
            ]
            lines.append("| " + " | ".join([escaped(one.name), *cells]) + " |")
    moves = fleet.moves()
    if moves:
        lines += ["", "## Moves", ""]
        lines += [f"- {escaped(move_line(move))}: {escaped(some(move.clusters))}" for move in moves]
    for move in with_work(fleet):
        row = move.row
        lines += ["", f"## {escaped(heading(row))}", "", f"On {escaped(', '.join(move.clusters))}"]
        lines += work_lines(row, move.deployer)
    if fleet.unread:
        lines += ["", "## Could not be read", ""]
        lines += [f"- {escaped(one.name)}: {escaped(one.unread_because)}" for one in fleet.unread]
    return "\n".join(lines) + "\n"
