"""What a side of a comparison is where it comes from an artifact, or from criteria alone."""

from __future__ import annotations

from aicr.errors import AicrError, invalid
from aicr.upgrade.sides import Side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from aicr.artifact.packed import Packed
    from aicr.artifact.read import Artifact
    from aicr.catalog.layers import Catalog
    from aicr.recipe.model import Recipe


def side_of(artifact: Artifact, on_warning: Callable[[str], None]) -> Side:
    """The side that an artifact states; what a person should know of it goes to ``on_warning``."""
    recipe = _recipe(artifact, on_warning)
    if artifact.kind != "bundle":
        return Side(artifact.location, recipe)
    from aicr.artifact.values import bundle_values

    values, missing = bundle_values(artifact)
    return Side(
        artifact.location,
        recipe,
        is_bundle=True,
        deployer=artifact.deployer,
        values=None if missing else values,
        values_missing=missing,
        readable=values,
        settings=artifact.info.settings if artifact.info is not None else None,
    )


def side_of_packed(packed: Packed, on_warning: Callable[[str], None]) -> Side:
    """As ``side_of``, of a bundle out of an archive."""
    artifact = packed.artifact
    return Side(
        artifact.location,
        _recipe(artifact, on_warning),
        is_bundle=True,
        deployer=artifact.deployer,
        values=None if packed.values_missing else packed.values,
        values_missing=packed.values_missing,
        readable=packed.values,
        settings=artifact.info.settings if artifact.info is not None else None,
    )


def _recipe(artifact: Artifact, on_warning: Callable[[str], None]) -> Recipe:
    from aicr.recipe.document import recipe_from

    return recipe_from(
        artifact.document, artifact.where, on_warning=lambda problem: on_warning(str(problem))
    )


def resolved_again(old: Side, catalog: Catalog) -> Side:
    """What the criteria of the old side resolve to now."""
    from aicr.recipe.resolve import resolve

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
