"""``aicr mirror list``: the images and charts that a recipe needs, for a mirror."""

from __future__ import annotations

import argparse
import os

from aicr.cli.flags import add_bool, open_catalog_of, stated_criteria
from aicr.cli.output import note, warn, write
from aicr.cli.resolution import configure as add_resolution_flags
from aicr.cli.resolution import resolved
from aicr.errors import invalid
from aicr.mirror.formats import FORMATS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.catalog.layers import Catalog
    from aicr.recipe.model import Recipe

_EPILOG = """\
Examples:
  aicr mirror list --recipe recipe.yaml
  aicr mirror list --recipe recipe.yaml --format hauler -o hauler-manifest.yaml
  aicr mirror list --service eks --accelerator h100 --intent training --format zarf -o zarf.yaml
  aicr mirror list --recipe recipe.yaml --charts-dir ./charts --image-platform linux/amd64
      charts from a folder (archives or folders), nothing is fetched
  aicr mirror list --recipe recipe.yaml --set gpu-operator:driver.enabled=false

Every chart is rendered with the values of the recipe, by helm on PATH or the charts extra. Without
--charts-dir the charts are fetched. A component whose images cannot be found is an error: inside
the air gap it would be too late. --allow-incomplete makes it a warning, which is in the output.

Exit codes: 0 listed; 2 something could not be found, or an input is at fault; 4 to 7 the address
of --snapshot is forbidden, too slow, down or overloaded.
"""


class PlatformFlag(argparse.Action):
    """``--platform`` is a criterion, and what has a slash in it the platforms of images."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        text = str(values)
        if "/" in text:
            namespace.image_platform = text
            namespace.platform_has_slash = True
        else:
            setattr(namespace, self.dest, text)


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "-r", "--recipe", metavar="RECIPE",
        help="a recipe, a bundle's folder, or cm://; or give criteria",
    )  # fmt: skip
    add_resolution_flags(parser, platform=PlatformFlag)
    parser.add_argument(
        "--set", metavar="COMPONENT:PATH=VALUE", action="append", default=[], dest="sets",
        help="change a value; COMPONENT:enabled=false leaves a component out; can be repeated",
    )  # fmt: skip
    parser.add_argument("--charts-dir", metavar="DIR", default="", help="take the charts from here")
    add_bool(parser, "--plain-http", help="fetch charts of OCI registries without TLS")
    parser.add_argument(
        "--image-platform", metavar="OS/ARCH,...", default="",
        help="only these, such as linux/amd64,linux/arm64, where the format can say so; "
        "--platform takes them too",
    )  # fmt: skip
    parser.set_defaults(platform_has_slash=False)
    add_bool(parser, "--allow-incomplete", help="list what could be found, with a warning")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    parser.add_argument("-t", "--format", choices=FORMATS, default="yaml", help="default: yaml")


def run(args: argparse.Namespace) -> int:
    from aicr.charts.source import Charts
    from aicr.mirror.collect import collect
    from aicr.mirror.formats import written

    platforms = _platforms(args)
    charts = Charts(args.charts_dir, plain_http=args.plain_http)
    recipe, catalog, where = _recipe(args)
    found = collect(recipe, catalog, charts, sets=args.sets, where=where)
    for text in found.notes:
        note(text)
    if not args.allow_incomplete:
        found.check_complete(
            hint="--allow-incomplete lists the others; it is then for you to find these"
        )
    for reason in found.reasons:
        warn(f"incomplete: {reason}")
    write(written(found, args.format, platforms), args.output)
    return 0


def _recipe(args: argparse.Namespace) -> tuple[Recipe, Catalog, str]:
    if args.recipe is None:
        resolution = resolved(args)
        return resolution.recipe, resolution.catalog, "the resolved recipe"
    stated = [name for name in sorted(stated_criteria(args)) if name not in args.sources]
    stated += [name for name in ("nodes", "snapshot", "inherit_from")
               if getattr(args, name) and name not in args.sources]  # fmt: skip
    if stated:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in stated)
        raise invalid(f"--recipe and {flags}: a recipe is given or resolved, not both")
    from aicr.artifact.read import open_artifact
    from aicr.bundle.build import catalog_notice
    from aicr.cli.connect import cluster_of
    from aicr.recipe.document import recipe_from

    artifact = open_artifact(args.recipe, "--recipe", cluster_of(args))
    recipe = recipe_from(
        artifact.document, artifact.where, on_warning=lambda problem: warn(str(problem))
    )
    catalog = open_catalog_of(args)
    for notice in catalog_notice(recipe, catalog):
        warn(notice.message)
    return recipe, catalog, artifact.where


def _platforms(args: argparse.Namespace) -> list[str]:
    text: str = args.image_platform
    elsewhere = args.config is not None or os.environ.get("AICR_PLATFORM")
    given = args.platform_has_slash and "platform" not in args.sources
    if given and args.platform is None and elsewhere:
        # A --platform on the command line hides the one from elsewhere, which is the criterion.
        raise invalid(
            f"--platform {text}: could hide the platform that --config or AICR_PLATFORM states",
            hint=f"write --image-platform {text}, and --platform NAME for the criterion",
        )
    from aicr.mirror.formats import checked_platforms

    words = [one.strip() for one in text.split(",") if one.strip()]
    return checked_platforms(words, "--image-platform")
