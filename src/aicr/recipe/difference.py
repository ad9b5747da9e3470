"""What differs between two recipes, field by field: components, versions, values, order.

A side is a tree of native values, made by ``side_tree``; components and constraints are by name,
so that order in a document is no difference.
"""

from __future__ import annotations

from aicr.catalog.schema import constraint_values
from aicr.recipe.document import component_fields
from aicr.recipe.selector import spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from aicr.recipe.model import Recipe

    Path = tuple[str, ...]


class _Absent:
    __slots__ = ()


ABSENT = _Absent()


class Difference:
    """A field that is not the same; ABSENT where a side does not have it."""

    __slots__ = ("after", "before", "path")

    def __init__(self, path: Path, before: object, after: object) -> None:
        self.path = path
        self.before = before
        self.after = after

    @property
    def field(self) -> str:
        return spelled(self.path)

    @property
    def change(self) -> str:
        if self.before is ABSENT:
            return "added"
        return "removed" if self.after is ABSENT else "changed"


def side_tree(
    recipe: Recipe, values: Mapping[str, Mapping[str, object]] | None
) -> dict[str, object]:
    """A recipe as a tree to compare; ``values`` of components, where they are known.

    Where they are, what they were made of (values files and overrides) is left out. What only
    says how the recipe came about (metadata) is no part of it.
    """
    components: dict[str, object] = {}
    for ref in sorted(recipe.components, key=lambda one: one.name):
        fields = component_fields(ref)
        del fields["name"]
        if values is not None and ref.name in values:
            fields.pop("valuesFile", None)
            overrides = fields.pop("overrides", None)
            if isinstance(overrides, dict) and overrides.get("enabled") is False:
                fields["enabled"] = False
            if values[ref.name]:
                fields["values"] = values[ref.name]
        components[ref.name] = fields
    constraints: dict[str, object] = {}
    for one in sorted(recipe.constraints, key=lambda one: one.name):
        constraint = constraint_values(one)
        del constraint["name"]
        constraints[one.name] = constraint
    tree: dict[str, object] = {"criteria": recipe.criteria.values(), "constraints": constraints}
    tree["components"] = components
    tree["deploymentOrder"] = list(recipe.deployment_order)
    tree["validation"] = dict(recipe.validation or {})
    return tree


def differences(before: Mapping[str, object], after: Mapping[str, object]) -> list[Difference]:
    """Every field that differs, in the order of the trees."""
    return list(_compare(before, after, ()))


def _compare(before: object, after: object, path: Path) -> Iterator[Difference]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in _keys(before, after):
            yield from _compare(before.get(key, ABSENT), after.get(key, ABSENT), (*path, key))
        return
    if before == after and _same_kind(before, after):
        return
    # A whole component that comes or goes is one difference, not one for each of its fields.
    if len(path) != 2 or path[0] != "components":
        if isinstance(before, dict) and before and after is ABSENT:
            for key, value in before.items():
                yield from _compare(value, ABSENT, (*path, key))
            return
        if isinstance(after, dict) and after and before is ABSENT:
            for key, value in after.items():
                yield from _compare(ABSENT, value, (*path, key))
            return
    yield Difference(path, before, after)


def _keys(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """The keys of both; those of ``after`` that are new come last."""
    return list(dict.fromkeys([*before, *after]))


def _same_kind(before: object, after: object) -> bool:
    """To Python 1, 1.0 and True are equal; in a chart they are not."""
    if isinstance(before, list) and isinstance(after, list):
        return all(_same_kind(one, other) for one, other in zip(before, after, strict=True))
    if isinstance(before, dict) and isinstance(after, dict):
        return all(_same_kind(before[key], after[key]) for key in before)
    return type(before) is type(after)
