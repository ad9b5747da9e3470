"""Where a field of a recipe comes from: which layer set it, in which line, and what it replaced.

The layers are merged by the same functions as in ``resolve``; a layer set a field if the field
differs before and after it.
"""

from __future__ import annotations

from aicr.errors import not_found
from aicr.recipe.document import component_fields
from aicr.recipe.places import document_place, overlay_place, registry_place, tree_place
from aicr.recipe.query import hydrated
from aicr.recipe.resolve import complete, merged
from aicr.recipe.selector import parse_selector, select, spelled
from aicr.recipe.values import file_values, merge_values, values_file, values_files, with_overrides

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import ComponentRef, Mixin, Overlay
    from aicr.documents.nodes import Node
    from aicr.recipe.merge import Draft
    from aicr.recipe.model import Recipe

    Path = tuple[str, ...]


class _Absent:
    __slots__ = ()


ABSENT = _Absent()


class Layer:
    """What may set a field: ``tree`` is what stands once it has merged; ``place`` says where in
    the layer's own file a field is."""

    __slots__ = ("kind", "name", "place", "tree")

    def __init__(
        self, kind: str, name: str, tree: Mapping[str, object], place: Callable[[Path], str]
    ) -> None:
        self.kind = kind
        self.name = name
        self.tree = tree
        self.place = place


class Step:
    """A layer that changed a field, where it says so, and what the field then was."""

    __slots__ = ("kind", "name", "value", "where")

    def __init__(self, kind: str, name: str, where: str, value: object) -> None:
        self.kind = kind
        self.name = name
        self.where = where
        self.value = value


class Explained:
    """A field, its value (ABSENT where it was deleted) and the steps that led to it, first to
    last."""

    __slots__ = ("path", "steps", "value")

    def __init__(self, path: Path, value: object, steps: Sequence[Step]) -> None:
        self.path = path
        self.value = value
        self.steps = steps


class Past:
    """What is to be explained: a recipe, the same before it inherited, and what decided both.

    ``origins`` says where each criterion came from; ``prior`` is the document of the artifact
    that it inherited from, with the name of its file and of the artifact.
    """

    __slots__ = ("catalog", "origins", "prior", "recipe", "resolved")

    def __init__(
        self,
        catalog: Catalog,
        recipe: Recipe,
        *,
        resolved: Recipe,
        origins: Mapping[str, str],
        prior: tuple[Node, str, str] | None = None,
    ) -> None:
        self.catalog = catalog
        self.recipe = recipe
        self.resolved = resolved
        self.origins = origins
        self.prior = prior


def explain(past: Past, selector: str) -> list[Explained]:
    """Every field at or below ``selector``, with where it comes from.

    Raises NOT_FOUND, with the keys that are there, where there never was such a field.
    """
    steps = parse_selector(selector)
    layers = list(_layers(past))
    tree = hydrated(past.catalog, past.recipe, steps)
    tree["constraints"] = layers[-1].tree["constraints"] if layers else {}
    steps = _by_name(steps, past.recipe)
    found: list[Explained] = []
    for path in _leaves_at(tree, steps, layers, past):
        value = _get(tree, path)
        found.append(Explained(path, value, _steps(past, layers, path, value)))
    if not found:
        select(tree, steps, selector)
        raise not_found(f'the selector "{selector}" finds an empty map')
    return found


def _by_name(steps: list[str], recipe: Recipe) -> list[str]:
    """Constraints are explained by name; they may be asked for by number, as in a query."""
    if len(steps) > 1 and steps[0] == "constraints" and steps[1].isdigit():
        index = int(steps[1])
        if index < len(recipe.constraints):
            return ["constraints", recipe.constraints[index].name, *steps[2:]]
    return steps


def _leaves_at(
    tree: Mapping[str, object], steps: Sequence[str], layers: Sequence[Layer], past: Past
) -> list[Path]:
    """The paths of single values and lists at or below ``steps``; those that were deleted count
    only where nothing else is there."""
    start = tuple(steps)
    value = _get(tree, start)
    if value is not ABSENT:
        return list(_leaves(value, start))
    histories: list[Sequence[Layer]] = [layers]
    if len(start) > 3 and start[0] == "components" and start[2] == "values":
        histories.append(_value_layers(past, layers, start[1]))
    if any(_get(layer.tree, start) is not ABSENT for one in histories for layer in one):
        return [start]
    return []


def _leaves(value: object, path: Path) -> Iterator[Path]:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    else:
        yield path


def _get(tree: object, path: Sequence[str]) -> object:
    for step in path:
        if isinstance(tree, dict) and step in tree:
            tree = tree[step]
        elif isinstance(tree, list) and step.isdigit() and int(step) < len(tree):
            tree = tree[int(step)]
        else:
            return ABSENT
    return tree


def _steps(past: Past, layers: Sequence[Layer], path: Path, value: object) -> list[Step]:
    if path[0] == "criteria" and len(path) > 1:
        return [Step("given", past.origins.get(path[1], "the criteria"), "", value)]
    if path[0] in ("metadata", "deploymentOrder", "kind", "apiVersion"):
        source = "the dependencyRefs" if path[0] == "deploymentOrder" else "the rest"
        return [Step("computed", f"computed from {source}", "", value)]
    if path[0] == "components" and len(path) > 2 and path[2] == "values":
        return _changes(_value_layers(past, layers, path[1]), path)
    return _changes(layers, path)


def _changes(layers: Sequence[Layer], path: Path) -> list[Step]:
    before: object = ABSENT
    found: list[Step] = []
    for layer in layers:
        after = _get(layer.tree, path)
        if after is before or (after == before and type(after) is type(before)):
            continue
        found.append(Step(layer.kind, layer.name, layer.place(path), after))
        before = after
    return found


def _layers(past: Past) -> Iterator[Layer]:
    """Overlays and mixins in merge order, the registry's defaults, what is inherited."""
    catalog = past.catalog
    found: list[Layer] = []

    def watch(layer: Overlay | Mixin, draft: Draft) -> None:
        is_overlay = layer.name in catalog.heads and catalog.overlay(layer.name) is layer
        found.append(
            Layer(
                "overlay" if is_overlay else "mixin",
                layer.name,
                _tree(draft.components, draft),
                overlay_place(catalog, layer.name, layer.where, is_overlay=is_overlay),
            )
        )

    draft = merged(catalog, past.resolved.applied_overlays, watch)
    yield from found
    full = {name: complete(catalog, draft, name) for name in draft.components}
    yield Layer("default", "default of the registry", _tree(full, draft), registry_place(catalog))
    if past.prior is not None:
        document, where, location = past.prior
        kept = {ref.name: ref for ref in past.recipe.components}
        stated = document_place(document, where)

        def place(path: Path) -> str:
            # Object names are no part of the document: they come from the values on disk.
            return location if path[2:3] == ("overrides",) else stated(path)

        yield Layer("inherited", f"inherited from {location}", _tree(kept, draft), place)


def _tree(components: Mapping[str, ComponentRef], draft: Draft) -> dict[str, object]:
    from aicr.catalog.schema import constraint_values

    return {
        "components": {name: component_fields(ref) for name, ref in components.items()},
        "constraints": {
            name: constraint_values(draft.constraints[name]) for name in sorted(draft.constraints)
        },
        "validation": dict(draft.validation),
    }


def _value_layers(past: Past, layers: Sequence[Layer], component: str) -> list[Layer]:
    """The values files of a component, then every layer that overrides values of it."""
    ref = past.recipe.component(component)
    if ref is None:
        return []
    catalog = past.catalog
    found: list[Layer] = []
    values: dict[str, object] = {}
    for index, path in enumerate(values_files(catalog, ref)):
        own = values_file(catalog, path, ref)
        values = merge_values(values, own) if index else own
        place = tree_place(catalog, path, skip=3)
        found.append(Layer("values file", path, _values_tree(component, values), place))
    files = file_values(catalog, ref)
    for layer in layers:
        overrides = _get(layer.tree, ("components", component, "overrides"))
        merged_values = with_overrides(files, overrides if isinstance(overrides, dict) else None)
        found.append(
            Layer(
                layer.kind,
                layer.name,
                _values_tree(component, merged_values),
                _as_overrides(layer.place),
            )
        )
    return found


def _values_tree(component: str, values: Mapping[str, object]) -> dict[str, object]:
    return {"components": {component: {"values": values}}}


def _as_overrides(place: Callable[[Path], str]) -> Callable[[Path], str]:
    return lambda path: place((*path[:2], "overrides", *path[3:]))


def field_name(one: Explained) -> str:
    """The selector that names the field."""
    return spelled(one.path)
