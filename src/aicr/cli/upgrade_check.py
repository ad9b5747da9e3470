"""``aicr upgrade-check``: is the move from what is deployed safe, and what must be done?"""

from __future__ import annotations

from aicr.cli.connect import add_exclude_flag, cluster_of
from aicr.cli.flags import add_bool, add_catalog_flags, add_cluster_flags
from aicr.cli.output import warn, write
from aicr.cli.two_sides import add_sides_flags, read_sides, report_of
from aicr.cli.verdict_flags import add_verdict_flags
from aicr.cli.verdict_flags import failure_code as failure_code
from aicr.upgrade.formats import REPORT_FORMATS, report_text, why_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from aicr.cluster.connection import Connection
    from aicr.upgrade.check import AtRisk, Report
    from aicr.upgrade.rows import Row

_ENDINGS = {"table": "txt", "markdown": "md", "junit": "xml"}

_EPILOG = """\
Examples:
  aicr upgrade-check --from old-recipe.yaml --to new-recipe.yaml --deployer helm
  aicr upgrade-check --from ./bundles --deployer argocd
      without --to: the criteria inside --from, resolved again on the current catalog
  aicr upgrade-check --from old-recipe.yaml --to ./new-bundles --format json -o report.json
  aicr upgrade-check --from old.yaml --to new.yaml --deployer flux --why gpu-operator
  aicr upgrade-check --from old.yaml --to new.yaml --deployer helm --fail-on-error=false
  aicr upgrade-check --from cluster --to ./new-bundles --context prod-west
      from what is really installed; with artifacts, --scan-cluster only looks at what is at risk

Verdicts:
  safe         a record says so: apply the new bundle
  manual       run the steps that are shown; they say when to apply the new bundle
  blocked      not in one go: the report says where to land first, aicr upgrade-plan how to go on
  unknown      nothing is recorded about this move; it is not a "safe"
  unversioned  a version that cannot be compared

Exit codes: 0 nothing needs attention; 2 something does, or a bad invocation.
With --detailed-exit-code: 0 nothing, 1 the check could not run, 2 something needs attention.
See also: aicr upgrade-plan, aicr records show, aicr diff.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_sides_flags(parser, steps="steps are shown")
    parser.add_argument(
        "--why",
        metavar="COMPONENT",
        help="explain one verdict instead: rules, records, their lines; exits as the whole check",
    )
    add_bool(
        parser,
        "--allow-different-criteria",
        help="compare artifacts for different clusters, with a warning",
    )
    add_bool(
        parser,
        "--scan-cluster",
        default=None,
        help="look in the cluster for objects that a crossed boundary puts at risk (advisory); "
        "on with --from cluster",
    )
    add_exclude_flag(parser)
    add_bool(parser, "--allow-empty", help="with --from cluster: a bare cluster is no fault")
    parser.add_argument("--format", choices=REPORT_FORMATS, default="table", help="default: table")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file, or to cm://")
    add_verdict_flags(
        parser, attention="if anything needs attention", failed="the check could not run"
    )
    add_cluster_flags(parser)
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    report = _report(args)
    for warning in report.warnings:
        warn(warning)
    if args.why is not None:
        write(why_report(report, args.why, args.format), args.output)
    else:
        name = f"report.{_ENDINGS.get(args.format, args.format)}"
        write(report_text(report, args.format), args.output, name=name, cluster=cluster_of(args))
    failing = report.failing or (report.source is not None and report.source.failures)
    return 2 if failing and args.fail_on_error else 0


def _report(args: argparse.Namespace) -> Report:
    sides = read_sides(args)
    return report_of(args, sides, _look(args, sides.connection) if sides is not None else None)


def _look(
    args: argparse.Namespace, connection: Connection | None
) -> Callable[[Sequence[Row]], AtRisk] | None:
    """How to find what is at risk; None where nobody asked."""
    if args.scan_cluster is None and connection is None:
        return None
    from aicr.cli.connect import connect
    from aicr.upgrade.at_risk import SWITCHED_OFF, scan
    from aicr.upgrade.check import AtRisk

    def look(rows: Sequence[Row]) -> AtRisk:
        if args.scan_cluster is False:
            return AtRisk(reason=SWITCHED_OFF)
        return scan(rows, lambda: connection or connect(args, "upgrade-check"))

    return look
