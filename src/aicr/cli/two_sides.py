"""What the two sides of a comparison are: artifacts of the command line, as a check takes them."""

from __future__ import annotations

from aicr.cli.output import warn
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from aicr.artifact.read import Artifact
    from aicr.catalog.layers import Catalog
    from aicr.recipe.model import Recipe
    from aicr.upgrade.sides import Side

ONE_ARTIFACT = "--from and --to name one artifact, so there is nothing to compare."


def side_of(artifact: Artifact, on_warning: Callable[[str], None] = warn) -> Side:
    """The side that an artifact states; what a person should know of it goes to ``on_warning``."""
    from aicr.recipe.document import recipe_from
    from aicr.upgrade.sides import Side

    recipe = recipe_from(
        artifact.document, artifact.where, on_warning=lambda problem: on_warning(str(problem))
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


def are_one(before: Artifact, after: Artifact) -> bool:
    """Whether two names lead to the same artifact."""
    if "cm://" in (before.location[:5], after.location[:5]):
        return before.location == after.location
    from os.path import samefile

    return before.kind == after.kind and samefile(before.where, after.where)


def resolved_again(old: Side, catalog: Catalog) -> Side:
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
