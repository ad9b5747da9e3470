"""``aicr query``: one value of a recipe, with the values of its components computed."""

from __future__ import annotations

from aicr.cli.output import write
from aicr.cli.resolution import configure as add_resolution_flags
from aicr.cli.resolution import resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

_EPILOG = """\
Examples:
  aicr query --service eks --gpu h100 --intent training \\
    --selector components.gpu-operator.values.driver.version
  aicr query --service eks --gpu h100 --intent training --selector components.gpu-operator.version
  aicr query --service eks --gpu h100 --intent training --selector 'deploymentOrder[0]'
  aicr query --service eks --gpu h100 --intent training --selector . --format json
  aicr query --service eks --gpu h100 --intent training --selector components.nfd \\
    --inherit-from ./bundles

Selectors:
  components.NAME.values.PATH   a value of a component    components.NAME.FIELD   a field of it
  criteria  constraints  deploymentOrder  metadata        .                       all of it
  A number indexes a list (deploymentOrder.0 or [0]); a key with dots is quoted: a."b.c".d

A single value prints bare, all else as YAML or JSON.

Exit codes: 0 found; 2 the selector, the criteria or an input is at fault; 3 nothing is there (the
keys that are there are listed); 4 to 7 the address of --snapshot is forbidden, too slow, down or
overloaded.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "-s", "--selector", required=True, metavar="PATH", help="what to print, such as "
        "components.gpu-operator.version",
    )  # fmt: skip
    add_resolution_flags(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    parser.add_argument(
        "-t", "--format", choices=("yaml", "json"), default="yaml", help="default: yaml"
    )


def run(args: argparse.Namespace) -> int:
    from aicr.recipe.query import query

    resolution = resolved(args)
    found = query(resolution.catalog, resolution.recipe, args.selector)
    write(rendered(found, args.format), args.output)
    return 0


def rendered(value: object, form: str) -> str:
    """A single value bare, all else as a document."""
    if isinstance(value, str):
        return value + "\n"
    from aicr.documents.emit import json_text, yaml_text

    if form == "json" and isinstance(value, dict | list):
        return json_text(value)
    return yaml_text(value)
