"""``aicr records show``: the records of a component, or what they answer to one move."""

from __future__ import annotations

from aicr.cli.flags import add_catalog_flags, open_catalog_of
from aicr.cli.output import write
from aicr.errors import invalid, not_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.catalog.layers import Catalog
    from aicr.upgrade.model import Records
    from aicr.upgrade.rows import Row

_EPILOG = """\
Examples:
  aicr records show kueue
  aicr records show gpu-operator --from v26.3.3 --to v26.7.0 --deployer argocd
      what is answered to this move, and the records whose boundary it crosses
  aicr records show kueue --format json

Exit codes: 0 shown; 2 a record does not load; 3 the catalog has no such component.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    from aicr.artifact.deployers import DEPLOYERS

    parser.epilog = _EPILOG
    parser.add_argument("component", metavar="COMPONENT", help="a name of the registry")
    parser.add_argument("--from", dest="before", metavar="VERSION", help="the version that runs")
    parser.add_argument("--to", dest="after", metavar="VERSION", help="the version that is wanted")
    parser.add_argument("--deployer", choices=DEPLOYERS, help="only the steps for this deployer")
    parser.add_argument(
        "-t", "--format", choices=("text", "json"), default="text", help="default: text"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.upgrade.records import load_records
    from aicr.upgrade.shown import records_text, records_values

    if (args.before is None) != (args.after is None):
        raise invalid("--from and --to go together: a move has both ends")
    catalog = open_catalog_of(args)
    if args.component not in catalog.registry:
        raise _unknown(args.component, catalog)
    records = load_records(catalog, [args.component]).get(args.component)
    row = _row(args, catalog, records) if args.before is not None else None
    transitions = records.transitions if records is not None else ()
    if row is not None:
        transitions = row.judgement.crossed if row.judgement is not None else ()
    if args.format == "json":
        from aicr.documents.emit import json_text
        from aicr.upgrade.model import Records

        values = records_values(records or Records(args.component), transitions)
        if row is not None:
            values["answer"] = {"verdict": row.verdict, "reason": row.reason, "notes": row.notes}
        write(json_text(values), args.output)
        return 0
    text = _answer(row) if row is not None else ""
    if records is None:
        text += f"{args.component} has no record: every move of it is unknown.\n"
    else:
        text += records_text(
            records, transitions, replaces=row is None, deployer=args.deployer or ""
        )
    write(text, args.output)
    return 0


def _unknown(component: str, catalog: Catalog) -> Exception:
    from difflib import get_close_matches

    near = get_close_matches(component, list(catalog.registry), 1)
    return not_found(
        f'the registry has no component "{component}"',
        hint=f"did you mean {near[0]}?" if near else "aicr records coverage lists them",
    )


def _row(args: argparse.Namespace, catalog: Catalog, records: Records | None) -> Row:
    from aicr.upgrade.check import Rules
    from aicr.upgrade.inventory import Identity
    from aicr.upgrade.rows import version_row

    rules = Rules({args.component: records} if records is not None else {}, catalog.releases)
    return version_row(
        args.component,
        Identity(args.before),
        Identity(args.after),
        rules.judge(args.component),
        rules.walks,
        deployer=args.deployer or "",
    )


def _answer(row: Row) -> str:
    from aicr.documents.safe import cell
    from aicr.upgrade.wrap import wrapped

    head = cell(f"{row.component} {row.before} -> {row.after}  ({row.verdict}, {row.reason})")
    return "\n".join([head, *wrapped(row.explanation, "  "), "", ""])
