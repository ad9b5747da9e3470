"""``aicr inventory``: what is installed in a cluster, by itself."""

from __future__ import annotations

from aicr.cli.connect import add_exclude_flag, cluster_of, connect
from aicr.cli.flags import add_bool, add_catalog_flags, add_cluster_flags, open_catalog_of
from aicr.cli.output import columns, note, warn, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from aicr.upgrade.cluster_side import Installed
    from aicr.upgrade.installed import Install

_HEAD = ["VERSION", "NAMESPACE", "RELEASE", "REVISION", "STATE", "SINCE", "RECORD"]
_EPILOG = """\
Examples:
  aicr inventory
  aicr inventory --deployer argocd --context prod-west --format json
  aicr inventory --deployer helm --format recipe -o prod-west.yaml
      a recipe-shaped file: aicr upgrade-check --from prod-west.yaml --to new-recipe.yaml ...

Reads only: list and get of Helm's records, list of Argo CD's Applications. Nothing is changed.

Exit codes: 0 done; 2 a bad invocation, or nothing that was read is a component (--allow-empty
accepts that); 4 not allowed to read; 5 too slow; 6 not reachable.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "--deployer",
        metavar="NAME",
        default="",
        help="read only what helm, helmfile, argocd, argocd-helm or flux recorded; "
        "left out: whatever is recorded",
    )
    add_exclude_flag(parser)
    add_bool(parser, "--allow-empty", help="a cluster without any component is fine")
    parser.add_argument(
        "--format", choices=("table", "json", "recipe"), default="table", help="default: table"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file, or to cm://")
    add_cluster_flags(parser)
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.artifact.deployers import check_deployer
    from aicr.upgrade.cluster_side import installed_recipe, read_installed
    from aicr.upgrade.installed import known_components

    check_deployer(args.deployer)
    known = known_components(open_catalog_of(args))
    connection = connect(args, "inventory")
    installed = read_installed(connection, args.deployer, known, excluded=args.exclude)
    for message in installed.notes:
        warn(message)
    name = "inventory.json" if args.format == "json" else "inventory.txt"
    if args.format == "recipe":
        from aicr.recipe.document import write_recipe

        recipe, notes = installed_recipe(installed, known, {})
        for message in notes:
            note(message)
        text, name = write_recipe(recipe), "recipe.yaml"
    elif args.format == "json":
        from aicr.documents.emit import json_text

        text = json_text(_values(installed))
    else:
        text = _table(installed)
    write(text, args.output, name=name, cluster=cluster_of(args))
    failures = installed.failures(allow_empty=args.allow_empty)
    for message in failures:
        warn(message)
    return 2 if failures else 0


def _values(installed: Installed) -> dict[str, object]:
    from aicr.upgrade.source import SourceBlock, source_values

    values = source_values(SourceBlock(installed, installed.failures()))
    del values["unattributed"]
    return {
        "source": values,
        "components": [_row_values(one) for one in installed.installs],
        "others": [_row_values(one) for one in installed.others],
    }


def _row_values(one: Install) -> dict[str, object]:
    values: dict[str, object] = {
        "component": one.component,
        "version": one.version,
        "recordedVersion": one.recorded if one.recorded != one.version else "",
        "namespace": one.namespace,
        "release": one.release,
        "part": one.part,
        "revision": one.revision,
        "state": one.state,
        "since": one.since,
        "storage": one.storage,
        "storedIn": one.stored_in,
        "chart": one.chart,
        "note": one.note,
    }
    return {name: value for name, value in values.items() if value != ""}


def _table(installed: Installed) -> str:
    from aicr.upgrade.source import SourceBlock, source_lines

    lines = ["INVENTORY\n"]
    for name, value in source_lines(SourceBlock(installed, ())):
        lines.append(f"  {name:<12}{_cell(value)}\n")
    if installed.installs:
        lines += ["\n", _rows("COMPONENT", [(one.component, one) for one in installed.installs])]
    if installed.others:
        others = _rows("CHART", [(one.chart, one) for one in installed.others])
        lines += ["\nOF NO COMPONENT\n", others]
    notes = [one for one in (*installed.installs, *installed.others) if one.note]
    if notes:
        lines.append("\nNOTES\n")
        lines += [f"  {_cell(f'{one}: {one.note}')}\n" for one in notes]
    return "".join(lines)


def _rows(first: str, installs: Sequence[tuple[str, Install]]) -> str:
    rows = [[first, *_HEAD]]
    for name, one in installs:
        texts = [
            name,
            one.version,
            one.namespace,
            one.release,
            one.revision,
            one.state,
            _seconds(one.since),
            one.storage if one.stored_in == one.namespace else f"{one.storage} in {one.stored_in}",
        ]
        rows.append([_cell(text) or "-" for text in texts])
    return columns(rows)


def _seconds(time: str) -> str:
    """A time without the fraction that Go writes."""
    whole, point, fraction = time.partition(".")
    return f"{whole}Z" if point and fraction.endswith("Z") else time


def _cell(text: str) -> str:
    from aicr.documents.safe import cell

    return cell(text)
