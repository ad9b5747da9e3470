"""``aicr records new``: a skeleton for the record of a move, with the questions to answer."""

from __future__ import annotations

from aicr.cli.flags import add_catalog_flags, open_catalog_of
from aicr.cli.output import note, write
from aicr.errors import not_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

_EPILOG = """\
Examples:
  aicr records new kueue --from 0.18.2 --to 0.19.3
  aicr records new mycomponent --from 1.2.0 --to 2.0.0 --data ./catalog \\
      -o ./catalog/components/mycomponent/upgrades.yaml

The output is the whole record file, with the skeleton behind the records that are there already.
It does not load until the questions in it are answered, and the upgrade check refuses it: a record
that nobody wrote judges nothing. docs/writing-records.md says how far a record may reach.

Exit codes: 0 written; 2 not a move forward; 3 the catalog has no such component.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("component", metavar="COMPONENT", help="a name of the registry")
    parser.add_argument(
        "--from", dest="before", metavar="VERSION", required=True, help="where the move starts"
    )
    parser.add_argument(
        "--to", dest="after", metavar="VERSION", required=True, help="where the move ends"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.upgrade.records import load_records
    from aicr.upgrade.skeleton import added_to, new_file, skeleton

    catalog = open_catalog_of(args)
    entry = catalog.registry.get(args.component)
    if entry is None:
        raise not_found(
            f'the registry has no component "{args.component}"',
            hint="add it to registry.yaml first: records belong to an entry of the registry",
        )
    path = entry.upgrades_file
    begun = bool(path) and catalog.has(path)
    # A file that the registry names and that is not there yet is the one to be written.
    records = load_records(catalog, [args.component]).get(args.component) if begun else None
    item = skeleton(args.component, records, args.before, args.after)
    if records is None:
        write(new_file(args.component, item), args.output)
        if not path:
            wanted = f"components/{args.component}/upgrades.yaml"
            note(f"name the file in registry.yaml: upgrades: {{file: {wanted}}}")
        return 0
    text = catalog.file(path).decode("utf-8-sig")
    whole = added_to(text, catalog.node(path), item)
    write(whole if whole is not None else item, args.output)
    if whole is None:
        note(f"add this under transitions in {catalog.where(path)}")
    return 0
