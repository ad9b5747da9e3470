"""Which identity a new recipe takes over from what is deployed, so that nothing moves.

Namespace, chart, source, path and manifests come from the prior artifact, object names from the
values of a bundle; versions and all other values come from the current catalog.
(Rules: resolving a recipe, section 6.)
"""

from __future__ import annotations

from aicr.errors import invalid
from aicr.recipe.object_names import object_names, shown
from aicr.recipe.values import component_values, copied

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import ComponentRef
    from aicr.recipe.model import Recipe
    from aicr.recipe.object_names import Path

_OWN_CLUSTER = ("service", "accelerator", "intent", "os")
_KEPT = ("namespace", "chart", "source", "path")
_KEPT_FILES = ("manifest_files", "pre_manifest_files")
_SPELLED = {"manifest_files": "manifestFiles", "pre_manifest_files": "preManifestFiles"}
_ABSENT = object()


class Prior:
    """What is deployed, as an artifact states it.

    ``values`` are the values of each component on disk; None where there are none, and
    ``values_missing`` says why.
    """

    __slots__ = ("is_bundle", "location", "recipe", "values", "values_missing")

    def __init__(
        self,
        location: str,
        recipe: Recipe,
        *,
        is_bundle: bool = False,
        values: Mapping[str, object] | None = None,
        values_missing: str = "",
    ) -> None:
        self.location = location
        self.recipe = recipe
        self.is_bundle = is_bundle
        self.values = values
        self.values_missing = values_missing


class Inherited:
    """A recipe with the identity of what is deployed; ``warnings`` and ``notes`` for a person."""

    __slots__ = ("notes", "recipe", "warnings")

    def __init__(self, recipe: Recipe, warnings: Sequence[str], notes: Sequence[str]) -> None:
        self.recipe = recipe
        self.warnings = warnings
        self.notes = notes


def inherit(catalog: Catalog, recipe: Recipe, prior: Prior) -> Inherited:
    """``recipe`` with the identity that ``prior`` has for each component that both have.

    Raises INVALID_REQUEST where the two are for different clusters.
    """
    _require_same_cluster(recipe, prior)
    warnings: list[str] = []
    components: list[ComponentRef] = []
    first_deploys: list[str] = []
    for ref in recipe.components:
        old = prior.recipe.component(ref.name)
        if old is None:
            first_deploys.append(ref.name)
            components.append(ref)
            continue
        kept = _with_identity(ref, old, catalog, warnings)
        if prior.values is not None and _same_type(ref, old):
            kept = _with_names(kept, prior.values.get(ref.name), catalog, warnings)
        components.append(kept)
    if prior.values is None:
        warnings.append(_names_left_alone(prior))
    return Inherited(recipe.replace(components=components), warnings, _notes(first_deploys, prior))


def _require_same_cluster(recipe: Recipe, prior: Prior) -> None:
    for dimension in _OWN_CLUSTER:
        new = getattr(recipe.criteria, dimension)
        old = getattr(prior.recipe.criteria, dimension)
        if new and old and new != old:
            raise invalid(
                f"--inherit-from {prior.location}: it is for {dimension}={old}, and the recipe "
                f"that is asked for is for {dimension}={new}: another cluster",
                hint="inherit from what is deployed on the cluster that the new recipe is for",
            )


def _with_identity(
    ref: ComponentRef, old: ComponentRef, catalog: Catalog, warnings: list[str]
) -> ComponentRef:
    if not _same_type(ref, old):
        warnings.append(
            f"{ref.name}: was {old.type} and is {ref.type} now, so only its namespace is kept"
        )
        return ref.replace(namespace=old.namespace) if old.namespace else ref
    # A chart is kept for a chart only: on manifests alone it would be one without a version.
    kept = _KEPT if ref.source or not old.source else ("namespace",)
    changed: dict[str, object] = {
        field: getattr(old, field) for field in kept if getattr(old, field)
    }
    for field in _KEPT_FILES:
        files = getattr(old, field)
        if files:
            changed[field] = list(files)
            warnings += [
                f'{ref.name}: {_SPELLED[field]} keeps "{path}", which the catalog no longer has'
                for path in files
                if not catalog.has(path)
            ]
    for field in ("chart", "source"):
        was, now = getattr(old, field), getattr(ref, field)
        if field in changed and now and was != now:
            warnings.append(
                f"{ref.name}: keeps the {field} {was} (the catalog has {now}); nothing checks that "
                f"it serves version {ref.pin or 'that is wanted'}"
            )
    return ref.replace(**changed)


def _same_type(ref: ComponentRef, old: ComponentRef) -> bool:
    return not (ref.type and old.type) or ref.type.lower() == old.type.lower()


def _with_names(
    ref: ComponentRef, deployed: object, catalog: Catalog, warnings: list[str]
) -> ComponentRef:
    """The component with overrides that keep the object names as they are deployed."""
    wanted = object_names(deployed)
    now = object_names(component_values(catalog, ref))
    differing = sorted(
        (path for path in wanted.keys() | now.keys() if _differ(path, wanted, now)), key=shown
    )
    if not differing:
        return ref
    overrides = copied(dict(ref.overrides or {}))
    assert isinstance(overrides, dict)
    for path in differing:
        _write(overrides, path, wanted.get(path))
    kept = ref.replace(overrides=overrides)
    # A null that finds nothing below it to delete would stay: there the key itself must go.
    after = object_names(component_values(catalog, kept))
    for path in differing:
        if path not in wanted and path in after:
            _remove(overrides, path)
    after = object_names(component_values(catalog, kept))
    warnings += [
        f"{ref.name}: the name at {shown(path)} could not be kept as it is deployed "
        f"({_said(wanted, path)})"
        for path in differing
        if _differ(path, wanted, after)
    ]
    return kept


def _differ(path: Path, one: Mapping[Path, object], other: Mapping[Path, object]) -> bool:
    left, right = one.get(path, _ABSENT), other.get(path, _ABSENT)
    return left != right or type(left) is not type(right)


def _said(names: Mapping[Path, object], path: Path) -> str:
    return f'"{names[path]}"' if path in names else "none"


def _write(overrides: dict[str, object], path: Path, value: object) -> None:
    """Set ``path``, making maps on the way; a path through a list or a single value is left."""
    place = overrides
    for step in path[:-1]:
        if isinstance(step, int):
            return
        below = place.setdefault(step, {})
        if not isinstance(below, dict):
            return
        place = below
    place[str(path[-1])] = value


def _remove(overrides: dict[str, object], path: Path) -> None:
    places: list[dict[str, object]] = [overrides]
    for step in path[:-1]:
        below = places[-1].get(str(step))
        if not isinstance(below, dict):
            return
        places.append(below)
    places[-1].pop(str(path[-1]), None)


def _names_left_alone(prior: Prior) -> str:
    # Why a bundle's values are missing names the bundle already.
    why = prior.values_missing if prior.is_bundle else ""
    why = why or f"{prior.location} is a recipe, which does not have the values as deployed"
    return (
        "object names (fullnameOverride, nameOverride) are left alone: "
        f"{why}; inherit from the bundle that was deployed to keep them"
    )


def _notes(first_deploys: list[str], prior: Prior) -> list[str]:
    if not first_deploys:
        return []
    said = f"{', '.join(first_deploys)}: not in {prior.location}, so the catalog's defaults hold"
    if prior.is_bundle:
        said += (
            "; one that was left out of the bundle with --set NAME:enabled=false looks the same "
            "(inherit from the recipe to keep its place)"
        )
    return [said]
