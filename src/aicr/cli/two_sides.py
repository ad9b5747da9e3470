"""The two sides of a comparison: their flags, and what a check takes of the artifacts they name."""

from __future__ import annotations

from aicr.cli.output import warn
from aicr.upgrade.artifact_sides import resolved_again
from aicr.upgrade.artifact_sides import side_of as side_with_warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from aicr.artifact.read import Artifact
    from aicr.upgrade.sides import Side

__all__ = ["ONE_ARTIFACT", "add_sides_flags", "are_one", "resolved_again", "side_of"]

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


def side_of(artifact: Artifact, on_warning: Callable[[str], None] = warn) -> Side:
    """The side that an artifact states; what a person should know of it goes to ``on_warning``."""
    return side_with_warnings(artifact, on_warning)


def are_one(before: Artifact, after: Artifact) -> bool:
    """Whether two names lead to the same artifact."""
    if "cm://" in (before.location[:5], after.location[:5]):
        return before.location == after.location
    from os.path import samefile

    return before.kind == after.kind and samefile(before.where, after.where)
