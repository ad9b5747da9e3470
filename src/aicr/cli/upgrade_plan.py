"""``aicr upgrade-plan``: by which hops does what is deployed get to what is wanted?"""

from __future__ import annotations

from aicr.cli.connect import add_exclude_flag
from aicr.cli.flags import add_bool, add_catalog_flags, add_cluster_flags
from aicr.cli.output import warn, write
from aicr.cli.two_sides import add_sides_flags, read_sides, refuse_without, report_of
from aicr.cli.verdict_flags import add_verdict_flags
from aicr.cli.verdict_flags import failure_code as failure_code
from aicr.errors import AicrError, invalid
from aicr.upgrade.formats import PLAN_FORMATS, plan_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from aicr.catalog.layers import Catalog
    from aicr.upgrade.check import Report
    from aicr.upgrade.plan import Plan
    from aicr.upgrade.plan_page import Commands
    from aicr.upgrade.sides import Side
    from aicr.upgrade.stage_recipes import StageRecipe

_MODES = ("hops", "releases")

_EPILOG = """\
Examples:
  aicr upgrade-plan --from old-recipe.yaml --deployer helm
  aicr upgrade-plan --from ./bundles --to new-recipe.yaml -o ./plan
      plan.md to walk through, plan.json, and the recipe of each stage for aicr bundle
  aicr upgrade-plan --from old-recipe.yaml --deployer flux --stages releases
      through past releases of the stack only
  aicr upgrade-plan --from old.yaml --deployer helm --from-catalog ./old-catalog -o ./plan

Every hop is judged by the rules of aicr upgrade-check. What they do not let through is held: it
stays as it is in every stage, or goes as far as records lead, and the plan says why.

Exit codes: 0 nothing is held and every hop is safe; 2 anything else, or a bad invocation.
With --detailed-exit-code: 0 nothing, 1 the plan could not be made, 2 something needs attention.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_sides_flags(parser, steps="a hop has steps")
    parser.add_argument(
        "--stages",
        choices=_MODES,
        default="hops",
        help="each component by its own hops (default), or all through past releases of the stack",
    )
    add_bool(
        parser,
        "--include-unplanned",
        help="let the last stage be the target as it is, held components included",
    )
    parser.add_argument(
        "--from-catalog",
        metavar="DIR",
        help="the catalog that --from was resolved from, for the values of earlier stages",
    )
    add_bool(
        parser,
        "--allow-different-criteria",
        help="plan between artifacts for different clusters, with a warning",
    )
    parser.add_argument(
        "--format", choices=PLAN_FORMATS, default="table", help="of what is printed; default: table"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="write plan.md, plan.json and stage-N/recipe.yaml (with --format html, plan.html)",
    )
    add_bool(parser, "--overwrite", help="replace a plan whose files were edited")
    add_verdict_flags(
        parser, attention="if anything needs attention", failed="the plan could not be made"
    )
    add_exclude_flag(parser)
    add_bool(parser, "--allow-empty", help="with --from cluster: a bare cluster is no fault")
    add_cluster_flags(parser)
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.upgrade.plan import Plan, make_plan

    if args.output is not None and "://" in args.output:
        raise invalid(f"--output {args.output}: a plan is written to a folder")
    if args.output is None:
        refuse_without(args, "overwrite", "from_catalog", where="-o")
    sides = read_sides(args)
    report = report_of(args, sides)
    for warning in report.warnings:
        warn(warning)
    if sides is None:
        return _say(args, Plan(report, args.stages, (), ()), (), {}, ())
    old, new, catalog = sides.old, sides.new, sides.catalog
    if args.output is None:
        unplanned = args.include_unplanned
        plan = make_plan(report, old, new, catalog, mode=args.stages, unplanned=unplanned)
        return _say(args, plan, (), {}, ())
    return _with_folder(args, catalog, old, new, report)


def _with_folder(
    args: argparse.Namespace, catalog: Catalog, old: Side, new: Side, report: Report
) -> int:
    from aicr.artifact.atomic import replace_directory
    from aicr.upgrade.plan_files import Places, commands_of, plan_files, staged_plan
    from aicr.upgrade.plan_page import SIGN

    staged = staged_plan(
        report, old, new, catalog, mode=args.stages, unplanned=args.include_unplanned,
        from_catalog=_open_old(args.from_catalog) if args.from_catalog is not None else None,
    )  # fmt: skip
    for note in staged.notes:
        warn(note)
    places = Places(
        args.output,
        before=args.before,
        after=args.after or "",
        deployer=report.deployer,
        catalog=_catalog_flags(args),
        from_catalog=args.from_catalog or "",
        cluster=_cluster_flags(args),
        different=args.allow_different_criteria,
    )
    files = plan_files(staged, places, html=args.format == "html")
    sign = ("plan.md", SIGN.encode("utf-8"))
    replace_directory(args.output, files, sign=sign, overwrite=args.overwrite)
    return _say(args, staged.plan, staged.recipes, commands_of(staged, places), staged.notes)


def _open_old(folder: str) -> Catalog:
    from aicr.catalog.open import open_catalog

    try:
        return open_catalog(catalog=folder)
    except AicrError as error:
        if error.message.startswith("--catalog"):
            error.message = f"--from-{error.message[2:]}"
        raise


def _catalog_flags(args: argparse.Namespace) -> list[str]:
    flags: list[str] = []
    for name in ("data", "catalog"):
        value = getattr(args, name)
        if value is not None:
            flags += [f"--{name}", value]
    return [*flags, *(["--allow-unknown-fields"] if args.allow_unknown_fields else [])]


def _cluster_flags(args: argparse.Namespace) -> list[str]:
    flags: list[str] = []
    for name in ("kubeconfig", "context"):
        value = getattr(args, name)
        if value:
            flags += [f"--{name}", value]
    return flags


def _say(
    args: argparse.Namespace,
    plan: Plan,
    recipes: Sequence[StageRecipe],
    commands: Mapping[int, Commands],
    notes: Sequence[str],
) -> int:
    write(plan_text(plan, args.format, recipes, commands, notes))
    source = plan.report.source
    failing = plan.needs_attention or (source is not None and source.failures)
    return 2 if failing and args.fail_on_error else 0
