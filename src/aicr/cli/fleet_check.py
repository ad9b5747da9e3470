"""``aicr fleet check``: the upgrade check over many clusters, as one answer."""

from __future__ import annotations

from aicr.cli.connect import cluster_of
from aicr.cli.flags import (
    add_bool,
    add_catalog_flags,
    add_cluster_flags,
    open_catalog_of,
    whole,
)
from aicr.cli.output import warn, write
from aicr.cli.verdict_flags import add_verdict_flags
from aicr.cli.verdict_flags import failure_code as failure_code
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.upgrade.fleet import Fleet

FORMATS = ("table", "json", "yaml", "csv", "markdown", "html", "junit")

_EPILOG = """\
Examples:
  aicr fleet check ./clusters --deployer helm
      each recipe and bundle in the folder, against its own criteria on the current catalog
  aicr fleet check 'prod-*/recipe.yaml' --to new-recipe.yaml --deployer argocd --only failing
  aicr fleet check --clusters fleet.yaml --group-by region --format html -o monday.html

A file of clusters (paths are relative to it; "cluster" reads what is installed in that context):
  clusters:
    - {name: west, from: west.yaml, deployer: helm, labels: {region: us}}
    - {name: east, from: cluster, context: prod-east, to: new.yaml, deployer: flux}

Exit codes: 0 nothing needs attention; 2 something does, a cluster that could not be read counted;
only where none could be read, the code that all share. With --detailed-exit-code: 0 nothing, 1 a
cluster could not be read, 2 something needs attention.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "locations",
        nargs="*",
        metavar="CLUSTERS",
        help="recipe files, bundles, folders of them, quoted globs, cm://NAMESPACE/NAME, "
        "or what aicr inventory --format recipe wrote",
    )
    parser.add_argument("--clusters", metavar="FILE", help="a file that lists clusters")
    parser.add_argument(
        "--to",
        dest="after",
        metavar="ARTIFACT",
        help="what is wanted everywhere; left out: each one's criteria on the current catalog",
    )
    parser.add_argument(
        "--deployer", metavar="NAME", default="", help="of clusters that do not name their own"
    )
    parser.add_argument(
        "--group-by", metavar="LABEL", default="", help="one matrix for each value of this label"
    )
    parser.add_argument(
        "--only", choices=("failing",), help="show only what needs attention; all are counted"
    )
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file, or to cm://")
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=float, default=60.0,
        help="for each cluster; default: 60",
    )  # fmt: skip
    parser.add_argument(
        "--parallel",
        metavar="N",
        type=whole(1, 1000),
        default=8,
        help="how many at once; default: 8",
    )
    add_bool(
        parser,
        "--allow-different-criteria",
        help="compare artifacts for different clusters, with a warning",
    )
    add_bool(parser, "--allow-empty", help="with from: cluster: a bare cluster is no fault")
    add_verdict_flags(
        parser, attention="if anything needs attention", failed="something could not be read"
    )
    add_cluster_flags(parser)
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    import gc

    from aicr.artifact.deployers import check_deployer
    from aicr.cli.fleet_inputs import entries
    from aicr.cli.fleet_reading import Reading, read_fleet
    from aicr.upgrade.fleet import Fleet

    check_deployer(args.deployer)
    if not 0 < args.timeout < 1e6:
        raise invalid(f"--timeout {args.timeout:g}: expected seconds, more than 0")
    found = entries(args.locations, args.clusters)
    gc.disable()  # documents are trees: to look for cycles in a thousand takes half the time
    reading = Reading(
        open_catalog_of(args),
        cluster_of(args),
        after=args.after or "",
        deployer=args.deployer,
        allow_different_criteria=args.allow_different_criteria,
        allow_empty=args.allow_empty,
    )
    clusters = read_fleet(found, reading, at_once=args.parallel, seconds=args.timeout)
    fleet = Fleet(
        clusters,
        to=args.after or "",
        only_failing=args.only == "failing",
        group_by=args.group_by,
    )
    for one in fleet.clusters:
        for warning in one.report.warnings if one.report is not None else ():
            warn(f"{one.name}: {warning}")
    ending = {"table": "txt", "markdown": "md", "junit": "xml"}.get(args.format, args.format)
    write(_rendered(fleet, args.format), args.output, name=f"fleet.{ending}",
          cluster=cluster_of(args))  # fmt: skip
    return _code(fleet, args)


def _code(fleet: Fleet, args: argparse.Namespace) -> int:
    unread = [one.error for one in fleet.unread if one.error is not None]
    if len(unread) == len(fleet.clusters):
        codes = {error.exit_code for error in unread}
        return 1 if args.detailed_exit_code else codes.pop() if len(codes) == 1 else 2
    if not args.fail_on_error or not (unread or fleet.failing):
        return 0
    return 1 if unread and args.detailed_exit_code else 2


def _rendered(fleet: Fleet, form: str) -> str:
    if form in ("table", "markdown"):
        from aicr.upgrade.fleet_table import fleet_markdown, fleet_table

        return fleet_table(fleet) if form == "table" else fleet_markdown(fleet)
    if form == "html":
        from aicr.upgrade.fleet_html import fleet_html

        return fleet_html(fleet)
    if form == "junit":
        from aicr.upgrade.junit import fleet_junit

        return fleet_junit(fleet)
    from aicr.upgrade.fleet_report import fleet_csv, fleet_values

    if form == "csv":
        return fleet_csv(fleet)
    from aicr.documents.emit import json_text, yaml_text

    return json_text(fleet_values(fleet)) if form == "json" else yaml_text(fleet_values(fleet))
