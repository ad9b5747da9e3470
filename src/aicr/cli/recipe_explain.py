"""``aicr recipe explain``: where a field of a recipe comes from."""

from __future__ import annotations

from aicr.cli.output import columns, write
from aicr.cli.resolution import configure as add_resolution_flags
from aicr.cli.resolution import resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.recipe.explain import Explained, Step

_EPILOG = """\
Examples:
  aicr recipe explain --service eks --gpu h100 --intent training \\
    --selector components.gpu-operator.version
  aicr recipe explain --service eks --gpu h100 --intent training \\
    --selector components.gpu-operator.values.driver
  aicr recipe explain --service eks --gpu h100 --intent training --selector constraints
  aicr recipe explain --config aicr-config.yaml --selector . --format json

For each field: the overlay, mixin, values file or registry default that set it, with file and
line, and what it replaced. Selectors are those of aicr query.

Exit codes: 0 explained; 2 the selector, the criteria or an input is at fault; 3 there is no such
field (the keys that are there are listed); 4 to 7 the address of --snapshot is forbidden, too
slow, down or overloaded.
"""
_WIDTH = 48


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "-s", "--selector", required=True, metavar="PATH", help="what to explain, such as "
        "components.gpu-operator.version",
    )  # fmt: skip
    add_resolution_flags(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    parser.add_argument(
        "-t", "--format", choices=("table", "json"), default="table", help="default: table"
    )


def run(args: argparse.Namespace) -> int:
    from aicr.recipe.explain import Past, explain

    found = resolved(args)
    prior = None
    if found.artifact is not None:
        prior = (found.artifact.document, found.artifact.where, found.artifact.location)
    past = Past(
        found.catalog, found.recipe, resolved=found.resolved, origins=found.origins, prior=prior
    )
    explained = explain(past, args.selector)
    if args.format == "json":
        from aicr.documents.emit import json_text

        text = json_text({"fields": [_values(one) for one in explained]})
    elif len(explained) == 1:
        text = _block(explained[0])
    else:
        text = _table(explained)
    write(text, args.output)
    return 0


def _values(one: Explained) -> dict[str, object]:
    from aicr.recipe.explain import ABSENT, field_name

    def step_values(step: Step) -> dict[str, object]:
        values: dict[str, object] = {"kind": step.kind, "name": step.name}
        if step.where:
            values["where"] = step.where
        values["deletes" if step.value is ABSENT else "value"] = (
            True if step.value is ABSENT else step.value
        )
        return values

    values: dict[str, object] = {"field": field_name(one)}
    if one.value is not ABSENT:
        values["value"] = one.value
    values["setBy"] = step_values(one.steps[-1]) if one.steps else None
    values["replaced"] = [step_values(step) for step in reversed(one.steps[:-1])]
    return values


def _block(one: Explained) -> str:
    """One field, in full."""
    from aicr.documents.safe import cell
    from aicr.recipe.explain import field_name

    lines = [f"{cell(field_name(one))}: {_shown(one.value)}"]
    for index, step in enumerate(reversed(one.steps)):
        lead = f"replaced  {_shown(step.value)}, of" if index else "set by   "
        place = f" ({cell(step.where)})" if step.where else ""
        lines.append(f"  {lead} {cell(_layer(step))}{place}")
    return "\n".join(lines) + "\n"


def _table(explained: list[Explained]) -> str:
    from aicr.documents.safe import cell
    from aicr.recipe.explain import field_name

    rows = [["FIELD", "VALUE", "SET BY", "WHERE", "REPLACED"]]
    for one in explained:
        last = one.steps[-1] if one.steps else None
        replaced = ", ".join(_short(step.value) for step in reversed(one.steps[:-1]))
        rows.append(
            [
                cell(field_name(one)),
                _short(one.value),
                cell(_layer(last)) if last is not None else "-",
                (cell(last.where) if last is not None else "") or "-",
                replaced or "-",
            ]
        )
    return columns(rows)


def _layer(step: Step) -> str:
    if step.kind in ("overlay", "mixin"):
        return f'{step.kind} "{step.name}"'
    if step.kind == "values file":
        return "values file"
    return step.name


def _short(value: object) -> str:
    text = _shown(value)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 2] + ".."


def _shown(value: object) -> str:
    from aicr.documents.emit import json_text
    from aicr.documents.safe import cell
    from aicr.recipe.explain import ABSENT

    if value is ABSENT:
        return "(nothing)"
    if isinstance(value, str):
        return cell(value)
    return cell(json_text(value, indent=None).rstrip("\n"))
