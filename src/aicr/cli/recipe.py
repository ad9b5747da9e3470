"""``aicr recipe``: criteria in, recipe out."""

from __future__ import annotations

from aicr.cli.connect import cluster_of
from aicr.cli.output import columns, write
from aicr.cli.resolution import configure as add_resolution_flags
from aicr.cli.resolution import resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.recipe.model import Recipe

_EPILOG = """\
Examples:
  aicr recipe --service eks --accelerator h100 --intent training -o new-recipe.yaml
  aicr recipe --service gke --gpu h100 --intent inference --os cos --platform dynamo -t table
  aicr recipe --service eks --intent training --data ./my-catalog
  aicr recipe --service eks --intent training --inherit-from old-recipe.yaml
      keep everything where it is deployed: namespaces, charts, from a bundle also object names
  aicr recipe --snapshot snapshot.yaml --intent training
  aicr recipe --config aicr-config.yaml

A flag wins over its environment variable, that over --config, that over --snapshot.

Exit codes: 0 done; 2 the criteria, an input or the output path are at fault; 4 to 7 the address
of --snapshot is forbidden, too slow, down or overloaded.
See also: aicr recipe list, aicr recipe explain, aicr query.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_resolution_flags(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file, or to cm://")
    parser.add_argument(
        "-t", "--format", choices=("yaml", "json", "table"), default="yaml", help="default: yaml"
    )


def run(args: argparse.Namespace) -> int:
    name = "recipe.txt" if args.format == "table" else f"recipe.{args.format}"
    text = _rendered(resolved(args).recipe, args.format)
    write(text, args.output, name=name, cluster=cluster_of(args))
    return 0


def _rendered(recipe: Recipe, form: str) -> str:
    from aicr.recipe.document import recipe_values, write_recipe

    if form == "yaml":
        return write_recipe(recipe)
    if form == "json":
        from aicr.documents.emit import json_text

        return json_text(recipe_values(recipe))
    return _table(recipe)


def _table(recipe: Recipe) -> str:
    from aicr.documents.safe import cell

    rows = [["#", "COMPONENT", "VERSION", "NAMESPACE", "TYPE", "SOURCE"]]
    position = {name: index + 1 for index, name in enumerate(recipe.deployment_order)}
    components = sorted(
        recipe.components, key=lambda ref: (position.get(ref.name, len(position) + 1), ref.name)
    )
    for ref in components:
        place = str(position.get(ref.name, "off"))
        row = [place, ref.name, ref.pin, ref.namespace, ref.type, ref.source]
        rows.append([cell(text) or "-" for text in row])
    lines = [
        "RECIPE\n",
        f"  criteria  {cell(str(recipe.criteria))}\n",
        f"  overlays  {cell(' -> '.join(recipe.applied_overlays))}\n",
        "\n",
        columns(rows),
    ]
    if recipe.constraints:
        lines.append("\nCONSTRAINTS\n")
        lines += [f"  {cell(one.name)} {cell(one.value)}\n" for one in recipe.constraints]
    return "".join(lines)
