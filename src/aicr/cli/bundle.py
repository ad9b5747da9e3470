"""``aicr bundle``: a recipe in, what a deployer applies out."""

from __future__ import annotations

from aicr.artifact.deployers import DEPLOYERS
from aicr.cli.flags import (
    add_bool,
    add_catalog_flags,
    add_cluster_flags,
    add_config_flag,
    cluster_for,
    open_catalog_of,
)
from aicr.cli.output import note, warn, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.bundle.build import Bundle
    from aicr.charts.source import Charts
    from aicr.documents.fields import Problem

_EPILOG = """\
Examples:
  aicr bundle -r recipe.yaml --deployer helm -o ./bundles
  aicr bundle -r recipe.yaml --deployer helm --set gpu-operator:driver.version=580.126.20
  aicr bundle -r recipe.yaml --deployer helm --set nfd:enabled=false --overwrite
  aicr bundle -r recipe.yaml --deployer helm --accelerated-node-selector pool=gpu \\
    --accelerated-node-toleration nvidia.com/gpu=present:NoSchedule --nodes 32
  aicr bundle -r recipe.yaml --deployer flux --dynamic gpu-operator:driver.version
  aicr bundle -r recipe.yaml --deployer argocd --repo https://git.example/gpu.git -o ./gpu
  aicr bundle -r recipe.yaml --deployer helm --vendor-charts --charts-dir ./charts -o gpu.tar.gz
  aicr bundle -r recipe.yaml --deployer flux -o oci://registry.example:5000/gpu/bundle:v1

The folder is replaced as a whole: an intact bundle without a flag, one with edited files with
--overwrite, a folder with other files never. What stands in a cluster-values.yaml is kept.
An archive holds the content of that folder at its top; same input, same bytes and same digest.

--vendor-charts fetches charts with helm on PATH or the charts extra; --charts-dir needs neither.
With --charts-dir alone, overrides that a chart does not know are pointed out.

Exit codes: 0 written; 2 the recipe, an override, the catalog, a chart or the output is at fault; 3
a chart or a ConfigMap is not there; 4 not allowed to read, fetch or push; 5 too slow; 6 not
reachable.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "-r", "--recipe", metavar="RECIPE", required=True,
        help="a recipe, a bundle's folder, or cm://",
    )  # fmt: skip
    parser.add_argument(
        "--deployer", choices=DEPLOYERS, metavar="NAME", required=True,
        help=f"what will apply it: {', '.join(DEPLOYERS)}",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="DIR|FILE.tar.gz|oci://HOST/REPOSITORY:TAG", default="./bundles",
        help="a folder, an archive, or a tag of a registry (default: ./bundles)",
    )  # fmt: skip
    parser.add_argument(
        "--set", metavar="COMPONENT:PATH=VALUE", action="append", default=[], dest="sets",
        help="change a value; COMPONENT:enabled=false leaves a component out; can be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--set-json", metavar="COMPONENT:PATH=JSON", action="append", default=[],
        help="the same with lists and maps; a map changes the keys that it names",
    )  # fmt: skip
    parser.add_argument(
        "--set-file", metavar="COMPONENT:PATH=FILE", action="append", default=[],
        dest="set_files", help="set a value to the text of a file",
    )  # fmt: skip
    parser.add_argument(
        "--dynamic", metavar="COMPONENT:PATH", action="append", default=[],
        help="leave a value to install time (not argocd); the README says where it is said then",
    )  # fmt: skip
    _add_scheduling_flags(parser)
    parser.add_argument(
        "--repo", metavar="URL", default="",
        help="the Git repository that will hold the bundle (argocd, argocd-helm, flux)",
    )  # fmt: skip
    parser.add_argument(
        "--target-revision", metavar="REF", default="",
        help="its branch, tag or commit (default: main)",
    )  # fmt: skip
    add_bool(parser, "--vendor-charts", help="put the archives of upstream charts into the bundle")
    parser.add_argument(
        "--charts-dir", metavar="DIR", default="",
        help="where upstream charts lie, as archives or folders; nothing is fetched then",
    )  # fmt: skip
    add_bool(parser, "--plain-http", help="speak to registries (oci://) without TLS")
    add_bool(parser, "--overwrite", help="replace a bundle whose files were edited")
    add_config_flag(parser)
    add_cluster_flags(parser)
    add_catalog_flags(parser)


def _add_scheduling_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "the whole cluster (lands at the paths that the registry lists for each component)"
    )
    for flag, metavar, what in (
        ("--system-node-selector", "KEY=VALUE", "label of the nodes for operators and services"),
        ("--system-node-toleration", "KEY=VALUE:EFFECT", "taint of these nodes"),
        ("--accelerated-node-selector", "KEY=VALUE", "label of the nodes with GPUs"),
        ("--accelerated-node-toleration", "KEY=VALUE:EFFECT", "taint of these nodes"),
        ("--workload-selector", "KEY=VALUE", "label of the pods of workloads"),
    ):
        group.add_argument(
            flag, metavar=metavar, action="append", default=[], help=f"{what}; can be repeated"
        )
    group.add_argument(
        "--workload-gate", metavar="KEY=VALUE:EFFECT", default="",
        help="taint that new GPU nodes join with, and that is taken away once they are set up",
    )  # fmt: skip
    group.add_argument("--nodes", metavar="N", default="", help="how many nodes; 0 is not stated")
    group.add_argument(
        "--storage-class", metavar="NAME", default="", help="StorageClass of persistent volumes"
    )


def run(args: argparse.Namespace) -> int:
    from aicr.artifact.read import open_artifact
    from aicr.bundle.build import Request, build_bundle
    from aicr.bundle.given import read_files
    from aicr.bundle.kept import check_kept, kept_values
    from aicr.bundle.scheduling import Scheduling
    from aicr.bundle.target import check_target, write_bundle
    from aicr.recipe.document import recipe_from

    def on_warning(problem: Problem) -> None:
        warn(str(problem))

    check_target(args.output)
    charts = _charts(args)
    artifact = open_artifact(args.recipe, "--recipe", cluster_for(args, args.recipe))
    recipe = recipe_from(artifact.document, artifact.where, on_warning=on_warning)
    catalog = open_catalog_of(args)
    kept = kept_values(args.output)
    bundle = build_bundle(
        recipe,
        catalog,
        Request(
            args.deployer,
            sets=args.sets,
            set_json=args.set_json,
            set_files=read_files(args.set_files),
            dynamic=args.dynamic,
            scheduling=Scheduling(**{name: getattr(args, name) for name in Scheduling.__slots__}),
            repo=args.repo,
            target_revision=args.target_revision,
            charts=charts,
            vendor_charts=args.vendor_charts,
        ),
        where=artifact.where,
        kept=kept,
        made_with=artifact.info.settings if artifact.info is not None else None,
    )
    dropped = check_kept(args.output, kept, bundle, overwrite=args.overwrite)
    for notice in bundle.notices:
        (note if notice.severity == "info" else warn)(notice.message)
    for name in dropped:
        warn(f"the values in cluster-values.yaml of {name} are dropped: they have no place")
    place = write_bundle(
        bundle.files, args.output, overwrite=args.overwrite, plain_http=args.plain_http
    )
    write(_summary(bundle, place))
    return 0


def _charts(args: argparse.Namespace) -> Charts | None:
    """Where upstream charts are looked up; None where none is wanted."""
    if not (args.vendor_charts or args.charts_dir):
        return None
    from aicr.charts.source import Charts

    return Charts(args.charts_dir, plain_http=args.plain_http)


def _summary(bundle: Bundle, output: str) -> str:
    import os

    from aicr.bundle.layout import README_FILE
    from aicr.documents.safe import cell

    count = len(bundle.plan.releases)
    begin = os.path.join(output, bundle.entrypoint)
    lines = [f"{cell(output)}: {count} release{'' if count == 1 else 's'}, in this order:\n"]
    lines += [
        f"  {release.index:3}  {release.name} {release.version}".rstrip() + "\n"
        for release in bundle.plan.releases
    ]
    if os.path.isdir(output):
        read = cell(os.path.join(output, README_FILE))
        lines.append(f"Next: read {read}; applying starts from {cell(begin)}\n")
    else:
        lines.append(
            f"Next: unpack it and read {README_FILE}; applying starts from {bundle.entrypoint}\n"
        )
    return "".join(lines)
