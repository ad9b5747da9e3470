"""The two sides of a comparison: their flags, and what a check takes of the artifacts they name."""

from __future__ import annotations

from aicr.cli.connect import cluster_of
from aicr.cli.flags import open_catalog_of
from aicr.cli.output import warn
from aicr.errors import invalid
from aicr.upgrade.artifact_sides import resolved_again
from aicr.upgrade.artifact_sides import side_of as side_with_warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from aicr.artifact.read import Artifact
    from aicr.catalog.layers import Catalog
    from aicr.cluster.connection import Connection
    from aicr.upgrade.check import AtRisk, Report
    from aicr.upgrade.rows import Row
    from aicr.upgrade.sides import Side
    from aicr.upgrade.source import SourceBlock

__all__ = [
    "ONE_ARTIFACT",
    "Sides",
    "add_sides_flags",
    "are_one",
    "read_sides",
    "refuse_without",
    "report_of",
    "resolved_again",
    "side_of",
]

ONE_ARTIFACT = "--from and --to name one artifact, so there is nothing to compare."


def add_sides_flags(parser: argparse.ArgumentParser, *, steps: str) -> None:
    """``steps`` is from when on a deployer has to be known."""
    parser.add_argument(
        "--from",
        dest="before",
        required=True,
        metavar="ARTIFACT",
        help="what is deployed: a recipe file, a bundle folder, cm://NAMESPACE/NAME, or the word "
        "cluster (a folder of that name is ./cluster)",
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
        help=f"helm, helmfile, argocd, argocd-helm or flux; needed as soon as {steps}, "
        "unless a bundle names it",
    )


class Sides:
    """What is compared on which catalog; ``source`` and ``connection`` where the old side was read
    from a cluster."""

    __slots__ = ("catalog", "connection", "deployer", "new", "old", "source")

    def __init__(
        self,
        old: Side,
        new: Side,
        catalog: Catalog,
        deployer: str,
        source: SourceBlock | None = None,
        connection: Connection | None = None,
    ) -> None:
        self.old = old
        self.new = new
        self.catalog = catalog
        self.deployer = deployer
        self.source = source
        self.connection = connection


def read_sides(args: argparse.Namespace) -> Sides | None:
    """The sides that the flags name; None where they are one artifact."""
    from aicr.artifact.read import open_artifact

    cluster = cluster_of(args)
    if args.before == "cluster":
        from aicr.cli.from_cluster import require, side
        from aicr.upgrade.sides import choose_deployer

        require(args)
        new = side_of(open_artifact(args.after, "--to", cluster))
        deployer, _ = choose_deployer(args.deployer, new, new)
        catalog = open_catalog_of(args)
        old, source, connection = side(args, new, catalog, deployer)
        return Sides(old, new, catalog, deployer, source, connection)
    refuse_without(args, "exclude", "allow_empty", where="--from cluster")
    before = open_artifact(args.before, "--from", cluster)
    after = open_artifact(args.after, "--to", cluster) if args.after is not None else None
    catalog = open_catalog_of(args)
    old = side_of(before)
    if after is not None and are_one(before, after):
        return None
    new = side_of(after) if after is not None else resolved_again(old, catalog)
    return Sides(old, new, catalog, args.deployer)


def refuse_without(args: argparse.Namespace, *names: str, where: str) -> None:
    """Flags that mean nothing without what ``where`` names: on a command line they are a mistake,
    in the environment and in ``--config`` they may be meant for other commands."""
    for name in names:
        if getattr(args, name, None) and name not in args.sources:
            raise invalid(f"--{name.replace('_', '-')}: is for {where} alone")


def report_of(
    args: argparse.Namespace,
    sides: Sides | None,
    look: Callable[[Sequence[Row]], AtRisk] | None = None,
) -> Report:
    """The check of what ``read_sides`` gave; ``look`` finds what is at risk in a cluster."""
    from aicr.upgrade.check import Report, check

    if sides is None:
        return Report(args.before, args.after, (), note=ONE_ARTIFACT, warnings=[ONE_ARTIFACT])
    return check(
        sides.old,
        sides.new,
        sides.catalog,
        deployer=sides.deployer,
        allow_different_criteria=args.allow_different_criteria,
        source=sides.source,
        look=look,
    )


def side_of(artifact: Artifact, on_warning: Callable[[str], None] = warn) -> Side:
    """The side that an artifact states; what a person should know of it goes to ``on_warning``."""
    return side_with_warnings(artifact, on_warning)


def are_one(before: Artifact, after: Artifact) -> bool:
    """Whether two names lead to the same artifact."""
    if "cm://" in (before.location[:5], after.location[:5]):
        return before.location == after.location
    from os.path import samefile

    if before.kind != after.kind:
        return False
    # A bundle is its folder: files of a copy may be hard links to those of the other.
    if before.kind == "bundle":
        return samefile(before.root, after.root)
    return samefile(before.where, after.where)
