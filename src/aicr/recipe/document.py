"""How a recipe is written and read: ``kind: RecipeResult``."""

from __future__ import annotations

from aicr.catalog.schema import (
    WRITTEN_API_VERSION,
    constraint_values,
    open_document,
    read_components,
    read_constraints,
    read_validation,
)
from aicr.documents.emit import yaml_text
from aicr.documents.fields import Fields, Problems
from aicr.documents.nodes import Map
from aicr.recipe.criteria import Criteria, read_criteria
from aicr.recipe.model import ConstraintWarning, Recipe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from aicr.catalog.model import ComponentRef
    from aicr.documents.fields import Problem
    from aicr.documents.nodes import Node

KIND = "RecipeResult"


def recipe_values(recipe: Recipe) -> dict[str, object]:
    """The recipe as native values, in the order in which it is written; empty fields are absent."""
    metadata: dict[str, object] = {}
    if recipe.version:
        metadata["version"] = recipe.version
    if recipe.catalog_digest:
        metadata["catalogDigest"] = recipe.catalog_digest
    if recipe.applied_overlays:
        metadata["appliedOverlays"] = list(recipe.applied_overlays)
    if recipe.excluded_overlays:
        metadata["excludedOverlays"] = list(recipe.excluded_overlays)
    if recipe.constraint_warnings:
        metadata["constraintWarnings"] = [_warning(one) for one in recipe.constraint_warnings]
    if recipe.inventory is not None:
        metadata["inventory"] = dict(recipe.inventory)
    values: dict[str, object] = {"kind": KIND, "apiVersion": WRITTEN_API_VERSION}
    if metadata:
        values["metadata"] = metadata
    criteria = recipe.criteria.values()
    if criteria:
        values["criteria"] = criteria
    if recipe.constraints:
        values["constraints"] = [constraint_values(one) for one in recipe.constraints]
    values["componentRefs"] = [component_fields(ref) for ref in recipe.components]
    values["deploymentOrder"] = list(recipe.deployment_order)
    if recipe.validation:
        values["validation"] = dict(recipe.validation)
    return values


_WRITTEN = (
    ("name", "name"), ("namespace", "namespace"), ("chart", "chart"), ("type", "type"),
    ("source", "source"), ("version", "version"), ("tag", "tag"), ("path", "path"),
    ("valuesFile", "values_file"),
)  # fmt: skip
_WRITTEN_LISTS = (
    ("patches", "patches"), ("manifestFiles", "manifest_files"),
    ("preManifestFiles", "pre_manifest_files"), ("dependencyRefs", "dependency_refs"),
)  # fmt: skip


def component_fields(ref: ComponentRef) -> dict[str, object]:
    """A component reference as native values; empty fields are absent."""
    values: dict[str, object] = {}
    for key, slot in _WRITTEN:
        value = getattr(ref, slot)
        if value:
            values[key] = value
    if ref.install is not None:
        values["install"] = ref.install
    if ref.overrides:
        values["overrides"] = dict(ref.overrides)
    for key, slot in _WRITTEN_LISTS:
        items = getattr(ref, slot)
        if items:
            values[key] = list(items)
    if ref.expected_resources:
        values["expectedResources"] = [dict(one) for one in ref.expected_resources]
    if ref.health_check_asserts:
        values["healthCheckAsserts"] = ref.health_check_asserts
    if ref.cleanup:
        values["cleanup"] = True
    return values


def write_recipe(recipe: Recipe) -> str:
    """The recipe as YAML; same recipe, same bytes."""
    return yaml_text(recipe_values(recipe))


def read_recipe(
    data: bytes | str, where: str, *, on_warning: Callable[[Problem], None] | None = None
) -> Recipe:
    """The recipe in a YAML or JSON document; ``where`` names it in messages.

    Keys that this version does not know are given to ``on_warning``: another edition may write
    more. Raises INVALID_REQUEST with every problem found.
    """
    from aicr.documents.reader import read_yaml

    return recipe_from(read_yaml(data, where), where, on_warning=on_warning)


def recipe_from(
    node: Node, where: str, *, on_warning: Callable[[Problem], None] | None = None
) -> Recipe:
    """As ``read_recipe``, of a parsed document."""
    problems = Problems(allow_unknown=True)
    fields = open_document(node, where, (KIND,), problems)
    if problems.errors and not isinstance(node, Map):
        problems.raise_any()
    if problems.errors:
        raise _wrong_kind(problems, fields)
    metadata = fields.mapping("metadata") or Fields(Map(), where, "metadata", problems)
    criteria = fields.mapping("criteria")
    recipe = Recipe(
        api_version=fields.text("apiVersion"),
        version=metadata.text("version"),
        catalog_digest=metadata.text("catalogDigest"),
        criteria=read_criteria(criteria) if criteria is not None else Criteria(),
        constraints=read_constraints(fields),
        components=sorted(read_components(fields), key=lambda ref: ref.name),
        deployment_order=fields.texts("deploymentOrder"),
        applied_overlays=metadata.texts("appliedOverlays"),
        excluded_overlays=_excluded(metadata),
        constraint_warnings=[_read_warning(one) for one in metadata.items("constraintWarnings")],
        validation=read_validation(fields),
        inventory=metadata.free_map("inventory"),
    )
    metadata.done()
    fields.done()
    if not recipe.components and not problems.errors:
        fields.problem("the recipe has no components", "componentRefs")
    problems.raise_any()
    if on_warning is not None:
        for warning in problems.warnings:
            on_warning(warning)
    return recipe


def _wrong_kind(problems: Problems, fields: Fields) -> Exception:
    from aicr.documents.fields import problems_error

    error = problems_error(problems.errors)
    if fields.text("kind") != KIND:
        error.hint = "a recipe that aicr recipe wrote was expected"
    return error


def _excluded(metadata: Fields) -> list[str]:
    """Names; editions that write the reason beside the name are read as well."""
    names: list[str] = []
    for index, node in enumerate(metadata.sequence("excludedOverlays")):
        if isinstance(node, Map):
            at = f"metadata.excludedOverlays[{index}]"
            item = Fields(node, metadata.where, at, metadata.problems)
            names.append(item.required("name"))
            item.text("reason")
            item.done()
        elif isinstance(node, str):
            names.append(node)
        else:
            metadata.problem("expected text", "excludedOverlays")
    return names


def _warning(one: ConstraintWarning) -> dict[str, object]:
    values: dict[str, object] = {
        "overlay": one.overlay,
        "constraint": one.constraint,
        "expected": one.expected,
    }
    if one.actual:
        values["actual"] = one.actual
    values["reason"] = one.reason
    return values


def _read_warning(fields: Fields) -> ConstraintWarning:
    warning = ConstraintWarning(
        overlay=fields.text("overlay"),
        constraint=fields.text("constraint"),
        expected=fields.text("expected"),
        actual=fields.text("actual"),
        reason=fields.text("reason"),
    )
    fields.done()
    return warning
