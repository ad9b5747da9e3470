"""What the two sides of a comparison are: artifacts of the command line, as a check takes them."""

from __future__ import annotations

from aicr.cli.output import warn
from aicr.upgrade.artifact_sides import resolved_again
from aicr.upgrade.artifact_sides import side_of as side_with_warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from aicr.artifact.read import Artifact
    from aicr.upgrade.sides import Side

__all__ = ["ONE_ARTIFACT", "are_one", "resolved_again", "side_of"]

ONE_ARTIFACT = "--from and --to name one artifact, so there is nothing to compare."


def side_of(artifact: Artifact, on_warning: Callable[[str], None] = warn) -> Side:
    """The side that an artifact states; what a person should know of it goes to ``on_warning``."""
    return side_with_warnings(artifact, on_warning)


def are_one(before: Artifact, after: Artifact) -> bool:
    """Whether two names lead to the same artifact."""
    if "cm://" in (before.location[:5], after.location[:5]):
        return before.location == after.location
    from os.path import samefile

    return before.kind == after.kind and samefile(before.where, after.where)
