"""What a component's chart is given: values files and overrides, merged.

(Rules: resolving a recipe, sections 5 and 7.)
"""

from __future__ import annotations

from aicr.documents.nodes import Map, kind_of
from aicr.documents.scalars import plain
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import ComponentRef


def component_values(catalog: Catalog, ref: ComponentRef) -> dict[str, object]:
    """The component's values, without what a command line sets.

    ``components/<name>/values.yaml`` (where it exists and another values file is named), then
    ``valuesFile``, then ``overrides``; {} where the component has neither of the two.
    Raises INVALID_REQUEST for a values file that is not there or is no map.
    """
    return with_overrides(file_values(catalog, ref), ref.overrides)


def file_values(catalog: Catalog, ref: ComponentRef) -> dict[str, object]:
    """What the values files of the component say; a null in the lowest of them stays."""
    values: dict[str, object] = {}
    for index, path in enumerate(values_files(catalog, ref)):
        own = values_file(catalog, path, ref)
        values = merge_values(values, own) if index else own
    return values


def values_files(catalog: Catalog, ref: ComponentRef) -> list[str]:
    """The values files of a component, the lowest first."""
    if not ref.values_file:
        return []
    default = f"components/{ref.name}/values.yaml"
    if ref.values_file != default and catalog.has(default):
        return [default, ref.values_file]
    return [ref.values_file]


def with_overrides(
    values: dict[str, object], overrides: Mapping[str, object] | None
) -> dict[str, object]:
    """The values with ``overrides`` over them; ``enabled`` is no value of the chart."""
    if not overrides:
        return values
    own = {key: value for key, value in overrides.items() if key != "enabled"}
    return merge_values(values, own)


def values_file(catalog: Catalog, path: str, ref: ComponentRef) -> dict[str, object]:
    """The content of a values file of the catalog."""
    if not catalog.has(path):
        raise invalid(
            f'the component "{ref.name}" names the values file "{path}", which is not in the '
            "catalog",
            hint="a recipe of another catalog needs that catalog: --data or --catalog",
        )
    node = catalog.node(path)
    if not isinstance(node, Map):
        raise invalid(f"{catalog.where(path)}: expected a map of values, found {kind_of(node)}")
    return {key: plain(value) for key, value in node.items()}


def merge_values(lower: Mapping[str, object], upper: Mapping[str, object]) -> dict[str, object]:
    """``upper`` over ``lower``: maps merge, all else replaces, a null deletes.

    A null for a key that ``lower`` lacks is dropped; in a map that arrives new it stays, which is
    how a chart's own default is switched off.
    """
    merged = dict(lower)
    for key, value in upper.items():
        known = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif isinstance(known, dict) and isinstance(value, dict):
            merged[key] = merge_values(known, value)
        else:
            merged[key] = copied(value)
    return merged


def copied(value: object) -> object:
    """A native value that shares no map and no list with the one given."""
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copied(item) for item in value]
    return value
