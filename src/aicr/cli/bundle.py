"""``aicr bundle``: a recipe in, what a deployer applies out."""

from __future__ import annotations

from aicr.artifact.bundle_info import DEPLOYERS
from aicr.cli.flags import add_bool, add_catalog_flags, add_config_flag, open_catalog_of
from aicr.cli.output import note, warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.bundle.build import Bundle
    from aicr.documents.fields import Problem

_EPILOG = """\
Examples:
  aicr bundle -r recipe.yaml --deployer helm -o ./bundles
  aicr bundle -r recipe.yaml --deployer helm --set gpu-operator:driver.version=580.126.20
  aicr bundle -r recipe.yaml --deployer helm --set nfd:enabled=false --overwrite
  aicr bundle -r recipe.yaml --deployer argocd --repo https://git.example/gpu.git -o ./gpu

The folder is replaced as a whole: an intact bundle without a flag, one with edited files with
--overwrite, a folder with other files never. What stands in a cluster-values.yaml is kept.

Exit codes: 0 written; 2 the recipe, an override, the catalog or the folder is at fault.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "-r", "--recipe", metavar="RECIPE", required=True, help="a recipe, or a bundle's folder"
    )
    parser.add_argument(
        "--deployer", choices=DEPLOYERS, metavar="NAME", required=True,
        help=f"what will apply it: {', '.join(DEPLOYERS)}",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="DIR", default="./bundles", help="default: ./bundles"
    )
    parser.add_argument(
        "--set", metavar="COMPONENT:PATH=VALUE", action="append", default=[], dest="sets",
        help="change a value; COMPONENT:enabled=false leaves a component out; can be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--repo", metavar="URL", default="",
        help="the Git repository that will hold the bundle (argocd, argocd-helm, flux)",
    )  # fmt: skip
    parser.add_argument(
        "--target-revision", metavar="REF", default="",
        help="its branch, tag or commit (default: main)",
    )  # fmt: skip
    add_bool(parser, "--overwrite", help="replace a bundle whose files were edited")
    add_config_flag(parser)
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.artifact.atomic import replace_directory
    from aicr.artifact.read import open_artifact
    from aicr.bundle.build import Request, build_bundle
    from aicr.bundle.kept import check_kept, kept_values
    from aicr.bundle.layout import SIGN
    from aicr.recipe.document import recipe_from

    def on_warning(problem: Problem) -> None:
        warn(str(problem))

    artifact = open_artifact(args.recipe, "--recipe")
    recipe = recipe_from(artifact.document, artifact.where, on_warning=on_warning)
    catalog = open_catalog_of(args)
    kept = kept_values(args.output)
    bundle = build_bundle(
        recipe,
        catalog,
        Request(
            args.deployer,
            sets=args.sets,
            repo=args.repo,
            target_revision=args.target_revision,
        ),
        where=artifact.where,
        kept=kept,
    )
    dropped = check_kept(args.output, kept, bundle, overwrite=args.overwrite)
    for notice in bundle.notices:
        (note if notice.severity == "info" else warn)(notice.message)
    for name in dropped:
        warn(f"the values in cluster-values.yaml of {name} are dropped: they have no place")
    replace_directory(args.output, bundle.files, sign=SIGN, overwrite=args.overwrite)
    print(_summary(bundle, args.output), end="")
    return 0


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
    read = cell(os.path.join(output, README_FILE))
    lines.append(f"Next: read {read}; it begins with {cell(begin)}\n")
    return "".join(lines)
