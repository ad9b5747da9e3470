"""``aicr diff``: what differs between two recipes or bundles."""

from __future__ import annotations

from aicr.cli.flags import (
    add_bool,
    add_catalog_flags,
    add_cluster_flags,
    cluster_for,
    open_catalog_of,
)
from aicr.cli.output import columns, note, warn, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from aicr.artifact.read import Artifact
    from aicr.catalog.layers import Catalog
    from aicr.recipe.difference import Difference
    from aicr.recipe.model import Recipe

    Values = dict[str, Mapping[str, object]]

_EPILOG = """\
Examples:
  aicr diff old-recipe.yaml new-recipe.yaml
  aicr diff ./old-bundles ./bundles --format patch
  aicr diff old-recipe.yaml new-recipe.yaml --format json --exit-code

Compared are criteria, constraints, components (version, identity, values and the rest), the
deployment order and the validation; not the metadata. A bundle's values are those on disk, a
recipe's those that the catalog in use gives it: what changed in the values files of two catalogs
shows between bundles alone.

Exit codes: 0 compared; 2 an artifact or the catalog is at fault; with cm:// also 3 not there, 4 not
allowed to read, 5 too slow, 6 not reachable.
With --exit-code: 0 no difference, 1 some difference, 2 as above.
"""
_WIDTH = 60


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("before", metavar="A", help="a recipe, the folder of a bundle, or cm://")
    parser.add_argument("after", metavar="B", help="the same")
    parser.add_argument(
        "-t", "--format", choices=("table", "json", "patch"), default="table",
        help="default: table; patch is a unified diff",
    )  # fmt: skip
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    add_bool(parser, "--exit-code", help="exit 1 if there is a difference")
    add_cluster_flags(parser)
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.recipe.difference import differences, side_tree

    catalog = open_catalog_of(args)
    (old, old_values), (new, new_values) = (
        _side(args, location, flag, catalog)
        for location, flag in ((args.before, "A"), (args.after, "B"))
    )
    if old_values is not None and new_values is not None:
        # What only one side has values of is compared by what they are made of.
        for name in old_values.keys() ^ new_values.keys():
            if old.component(name) is not None and new.component(name) is not None:
                old_values.pop(name, None)
                new_values.pop(name, None)
    else:
        old_values = new_values = None
    before, after = side_tree(old, old_values), side_tree(new, new_values)
    found = differences(before, after)
    write(_rendered(args, found, before, after), args.output)
    return 1 if found and args.exit_code else 0


def _side(
    args: argparse.Namespace, location: str, flag: str, catalog: Catalog
) -> tuple[Recipe, Values | None]:
    from aicr.artifact.read import open_artifact
    from aicr.recipe.document import recipe_from

    artifact = open_artifact(location, flag, cluster_for(args, location))
    recipe = recipe_from(
        artifact.document, artifact.where, on_warning=lambda problem: warn(str(problem))
    )
    if artifact.kind == "bundle":
        return recipe, _values_on_disk(artifact, recipe)
    return recipe, _values_of_recipe(location, recipe, catalog)


def _values_on_disk(artifact: Artifact, recipe: Recipe) -> Values | None:
    from aicr.artifact.values import bundle_values

    values, missing = bundle_values(artifact)
    if missing:
        note(f"values are not compared: {artifact.location}: {missing}")
        return None
    found: Values = {}
    for ref in recipe.components:
        own = values.get(ref.name)
        found[ref.name] = own if isinstance(own, dict) else {}
    return found


def _values_of_recipe(location: str, recipe: Recipe, catalog: Catalog) -> Values:
    from aicr.errors import AicrError
    from aicr.recipe.values import component_values

    if recipe.catalog_digest != catalog.digest:
        said = (
            "of another catalog" if recipe.catalog_digest else "of a catalog that it does not name"
        )
        warn(f"{location} is {said}; its values files are taken from the catalog in use")
    found: Values = {}
    for ref in recipe.components:
        try:
            found[ref.name] = component_values(catalog, ref)
        except AicrError as error:
            note(f"{location}: {error.message}; its values are compared by file and overrides")
    return found


def _rendered(
    args: argparse.Namespace,
    found: list[Difference],
    before: Mapping[str, object],
    after: Mapping[str, object],
) -> str:
    if args.format == "json":
        from aicr.documents.emit import json_text

        return json_text(
            {
                "from": args.before,
                "to": args.after,
                "differences": [_values(one) for one in found],
                "summary": {
                    change: sum(one.change == change for one in found)
                    for change in ("added", "removed", "changed")
                },
            }
        )
    if args.format == "patch":
        return _patch(args.before, args.after, before, after)
    if not found:
        return "no difference\n"
    from aicr.documents.safe import cell

    rows = [["FIELD", "CHANGE", "A", "B"]]
    rows += [[cell(one.field), one.change, *_cells(one)] for one in found]
    count = f"{len(found)} difference{'' if len(found) == 1 else 's'}\n"
    return columns(rows) + count


def _values(one: Difference) -> dict[str, object]:
    from aicr.recipe.difference import ABSENT

    values: dict[str, object] = {"field": one.field, "change": one.change}
    if one.before is not ABSENT:
        values["from"] = one.before
    if one.after is not ABSENT:
        values["to"] = one.after
    return values


def _shown(one: Difference, side: int) -> str:
    """A side in one line; of a whole component its version."""
    from aicr.documents.emit import json_text
    from aicr.documents.safe import cell
    from aicr.recipe.difference import ABSENT

    value = one.after if side else one.before
    if value is ABSENT:
        return "-"
    if isinstance(value, dict) and len(one.path) == 2 and one.path[0] == "components":
        value = value.get("version") or value.get("tag") or "(no version)"
    text = value if isinstance(value, str) else json_text(value, indent=None).rstrip("\n")
    return cell(text) or '""'


def _cells(one: Difference) -> list[str]:
    """Both sides, what is too long cut down to where they part."""
    before, after = _shown(one, 0), _shown(one, 1)
    start = 0
    if max(len(before), len(after)) > _WIDTH:
        pairs = enumerate(zip(before, after, strict=False))
        start = max(0, next((at for at, (a, b) in pairs if a != b), 0) - _WIDTH // 3)
    cut = [f"..{text[start:]}" if start else text for text in (before, after)]
    return [text if len(text) <= _WIDTH else text[: _WIDTH - 2] + ".." for text in cut]


def _patch(old: str, new: str, before: Mapping[str, object], after: Mapping[str, object]) -> str:
    from difflib import unified_diff

    from aicr.documents.emit import yaml_text
    from aicr.documents.safe import cell

    lines = unified_diff(
        yaml_text(_sorted(before)).splitlines(keepends=True),
        yaml_text(_sorted(after)).splitlines(keepends=True),
        cell(old),
        cell(new),
    )
    return "".join(lines)


def _sorted(value: object) -> object:
    """Maps by key, so that the order in which two files say the same is no difference."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value
