"""``aicr recipe list``: the criteria that resolve on a catalog."""

from __future__ import annotations

from aicr.cli.flags import (
    add_catalog_flags,
    add_criteria_flags,
    open_catalog_of,
    stated_criteria,
)
from aicr.cli.output import columns, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

_EPILOG = """\
Examples:
  aicr recipe list
  aicr recipe list --service eks --intent training
  aicr recipe list --format json

A filter keeps the combinations that state exactly that value; any keeps those that leave it open.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_criteria_flags(parser)
    add_catalog_flags(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    parser.add_argument(
        "-t", "--format", choices=("table", "json"), default="table", help="default: table"
    )


def run(args: argparse.Namespace) -> int:
    from aicr.catalog.model import DIMENSIONS
    from aicr.catalog.schema import normal_criterion
    from aicr.recipe.criteria import check_value
    from aicr.recipe.listing import resolvable

    catalog = open_catalog_of(args)
    wanted = {key: normal_criterion(key, value) for key, value in stated_criteria(args).items()}
    for dimension, value in wanted.items():
        if value:
            check_value(dimension, value, catalog)
    found = [
        (criteria, components)
        for criteria, components in resolvable(catalog)
        if all(getattr(criteria, key) == value for key, value in wanted.items())
    ]
    if args.format == "json":
        from aicr.documents.emit import json_text

        values = [
            {"criteria": criteria.values(), "components": components}
            for criteria, components in found
        ]
        write(json_text({"recipes": values}), args.output)
        return 0
    rows = [[dimension.upper() for dimension in DIMENSIONS] + ["COMPONENTS"]]
    for criteria, components in found:
        row = [getattr(criteria, dimension) or "-" for dimension in DIMENSIONS]
        rows.append([*row, str(components)])
    text = columns(rows) if found else ""
    write(f"{text}{len(found)} combinations resolve\n", args.output)
    return 0
