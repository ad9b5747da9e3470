"""``aicr upgrade-check``: is the move from what is deployed safe, and what must be done?"""

from __future__ import annotations

from aicr.cli.flags import add_bool, add_catalog_flags, open_catalog_of
from aicr.cli.output import warn, write
from aicr.errors import AicrError, invalid, not_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.artifact.read import Artifact
    from aicr.catalog.layers import Catalog
    from aicr.recipe.model import Recipe
    from aicr.upgrade.check import Report
    from aicr.upgrade.sides import Side

FORMATS = ("table", "json", "yaml", "markdown")
ONE_ARTIFACT = "--from and --to name one artifact, so there is nothing to compare."

_EPILOG = """\
Examples:
  aicr upgrade-check --from old-recipe.yaml --to new-recipe.yaml --deployer helm
  aicr upgrade-check --from ./bundles --deployer argocd
      without --to: the criteria inside --from, resolved again on the current catalog
  aicr upgrade-check --from old-recipe.yaml --to ./new-bundles --format json -o report.json
  aicr upgrade-check --from old.yaml --to new.yaml --deployer flux --why gpu-operator
  aicr upgrade-check --from old.yaml --to new.yaml --deployer helm --fail-on-error=false

Verdicts:
  safe         a record says so: apply the new bundle
  manual       run the steps that are shown, then apply the new bundle
  blocked      not in one go: the report says where it stops and how to go on
  unknown      nothing is recorded about this move; it is not a "safe"
  unversioned  a version that cannot be compared

Exit codes: 0 nothing needs attention; 2 something does, or a bad invocation.
With --detailed-exit-code: 0 nothing, 1 the check could not run, 2 something needs attention.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "--from",
        dest="before",
        required=True,
        metavar="ARTIFACT",
        help="what is deployed: a recipe file, or a bundle folder",
    )
    parser.add_argument(
        "--to",
        dest="after",
        metavar="ARTIFACT",
        help="what is wanted; left out: the criteria of --from on the current catalog",
    )
    parser.add_argument(
        "--deployer",
        metavar="NAME",
        default="",
        help="helm, helmfile, argocd, argocd-helm or flux; needed as soon as steps are shown, "
        "unless a bundle names it",
    )
    parser.add_argument(
        "--why",
        metavar="COMPONENT",
        help="explain one verdict instead: rules, records, their lines",
    )
    add_bool(
        parser,
        "--allow-different-criteria",
        help="compare artifacts for different clusters, with a warning",
    )
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    add_bool(
        parser,
        "--fail-on-error",
        default=True,
        help="exit 2 if anything needs attention (default); =false only reports",
    )
    add_bool(
        parser,
        "--detailed-exit-code",
        help="exit 1 if the check could not run, so that 2 only means: needs attention",
    )
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    report = _report(args)
    for warning in report.warnings:
        warn(warning)
    if args.why is not None:
        write(_why(report, args), args.output)
    else:
        write(_rendered(report, args.format), args.output)
    return 2 if report.failing and args.fail_on_error else 0


def failure_code(arguments: list[str], code: int) -> int:
    """The exit code where the check could not run."""
    given = [a for a in arguments if a.partition("=")[0] == "--detailed-exit-code"]
    return 1 if given and not given[-1].lower().endswith("=false") else code


def _report(args: argparse.Namespace) -> Report:
    from aicr.artifact.read import open_artifact
    from aicr.upgrade.check import Report, check

    before = open_artifact(args.before, "--from")
    after = open_artifact(args.after, "--to") if args.after is not None else None
    catalog = open_catalog_of(args)
    old = _side(before)
    if after is not None and _are_one(before, after):
        return Report(args.before, args.after, (), note=ONE_ARTIFACT, warnings=[ONE_ARTIFACT])
    new = _side(after) if after is not None else _resolved_again(old, catalog)
    return check(
        old,
        new,
        catalog,
        deployer=args.deployer,
        allow_different_criteria=args.allow_different_criteria,
    )


def _side(artifact: Artifact) -> Side:
    from aicr.recipe.document import recipe_from
    from aicr.upgrade.sides import Side

    recipe = recipe_from(
        artifact.document, artifact.where, on_warning=lambda problem: warn(str(problem))
    )
    if artifact.kind != "bundle":
        return Side(artifact.location, recipe)
    from aicr.artifact.values import bundle_values

    values, missing = bundle_values(artifact)
    return Side(
        artifact.location,
        recipe,
        is_bundle=True,
        deployer=artifact.deployer,
        values=values,
        values_missing=missing,
    )


def _are_one(before: Artifact, after: Artifact) -> bool:
    from os.path import samefile

    return before.kind == after.kind and samefile(before.where, after.where)


def _resolved_again(old: Side, catalog: Catalog) -> Side:
    """What the criteria of the old side resolve to now."""
    from aicr.recipe.resolve import resolve
    from aicr.upgrade.sides import Side

    hint = "pass --to with the recipe or bundle that you intend to move to"
    criteria = old.recipe.criteria
    if not criteria.stated():
        raise invalid(
            f"--from {old.label} states no criteria, so it cannot be resolved again", hint=hint
        )
    try:
        recipe: Recipe = resolve(catalog, criteria)
    except AicrError as error:
        raise AicrError(
            error.code,
            f"the criteria of --from {old.label} ({criteria}) no longer resolve on the current "
            f"catalog: {error.message}",
            hint=hint,
            details=error.details,
        ) from None
    return Side(f"the current catalog ({criteria})", recipe)


def _rendered(report: Report, form: str) -> str:
    if form == "table":
        from aicr.upgrade.table import table_text

        return table_text(report)
    if form == "markdown":
        from aicr.upgrade.markdown import markdown_text

        return markdown_text(report)
    from aicr.upgrade.report import report_values

    return _document(report_values(report), form)


def _document(values: dict[str, object], form: str) -> str:
    from aicr.documents.emit import json_text, yaml_text

    return json_text(values) if form == "json" else yaml_text(values)


def _why(report: Report, args: argparse.Namespace) -> str:
    from aicr.upgrade.why import why, why_text, why_values

    for row in report.rows:
        if row.component == args.why:
            found = why(row, report.records.get(row.component))
            if args.format in ("json", "yaml"):
                return _document(why_values(found), args.format)
            return why_text(found)
    changed = ", ".join(row.component for row in report.rows) or "none"
    raise not_found(
        f"--why {args.why}: nothing changed in a component of that name",
        hint=f"components that changed: {changed}",
    )
