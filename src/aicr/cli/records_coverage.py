"""``aicr records coverage``: which moves between releases have a verdict, and which have none."""

from __future__ import annotations

from aicr.cli.flags import add_bool, add_catalog_flags, open_catalog_of
from aicr.cli.output import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

_EPILOG = """\
Examples:
  aicr records coverage
  aicr records coverage --all-pairs
      also for those who skip releases
  aicr records coverage --data ./catalog --format json

A move is a pair of versions that a component had in one release and in the next; it counts once.
GATE says of what is pinned now: recorded, allowed (without a record, for a reason) or missing.

Exit codes: 0 counted; 2 a record does not load, or the catalog is at fault.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_bool(parser, "--all-pairs", help="moves from each release to every later one")
    parser.add_argument(
        "-t", "--format", choices=("table", "json", "markdown"), default="table",
        help="default: table",
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.upgrade.coverage import coverage
    from aicr.upgrade.coverage_report import coverage_markdown, coverage_text, coverage_values
    from aicr.upgrade.records import load_records

    catalog = open_catalog_of(args)
    records = load_records(catalog, catalog.registry)
    found = coverage(catalog, records, all_pairs=args.all_pairs)
    if args.format == "json":
        from aicr.documents.emit import json_text

        text = json_text(coverage_values(found))
    elif args.format == "markdown":
        text = coverage_markdown(found)
    else:
        text = coverage_text(found)
    write(text, args.output)
    return 0
