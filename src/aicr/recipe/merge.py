"""How one overlay, mixin or registry default lands on what is there already.

Nothing that came from the catalog is changed: a merge makes new values.
(Rules: resolving a recipe, section 3, points 4 to 6, and section 7.)
"""

from __future__ import annotations

from aicr.catalog.model import ComponentRef
from aicr.errors import invalid
from aicr.recipe.values import copied

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.catalog.model import Constraint, Mixin, Overlay, RegistryEntry

_SCALARS = (
    "namespace", "chart", "type", "source", "version", "tag", "path", "values_file",
    "health_check_asserts",
)  # fmt: skip
_REPLACED_LISTS = ("dependency_refs", "patches", "expected_resources")
_UNITED_LISTS = ("manifest_files", "pre_manifest_files")


class Draft:
    """A recipe while its overlays merge: the parts by name, and where each first came from."""

    __slots__ = ("components", "constraints", "mixins", "origins", "validation")

    def __init__(self) -> None:
        self.components: dict[str, ComponentRef] = {}
        self.constraints: dict[str, Constraint] = {}
        self.validation: dict[str, object] = {}
        self.mixins: dict[str, str] = {}
        self.origins: dict[tuple[str, str], str] = {}

    def add_overlay(self, overlay: Overlay) -> None:
        for constraint in overlay.constraints:
            self.constraints[constraint.name] = constraint
            self.origins.setdefault(("constraint", constraint.name), overlay.where)
        for ref in overlay.components:
            known = self.components.get(ref.name)
            self.components[ref.name] = ref if known is None else merge_component(known, ref)
            self.origins.setdefault(("component", ref.name), overlay.where)
        self.validation.update(overlay.validation)
        for name in overlay.mixins:
            self.mixins.setdefault(name, overlay.where)

    def add_mixin(self, mixin: Mixin) -> None:
        """Raises INVALID_REQUEST where it brings what is there already, naming both files."""
        for constraint in mixin.constraints:
            self._claim("constraint", constraint.name, mixin)
            self.constraints[constraint.name] = constraint
        for ref in mixin.components:
            self._claim("component", ref.name, mixin)
            self.components[ref.name] = ref

    def _claim(self, kind: str, name: str, mixin: Mixin) -> None:
        other = self.origins.get((kind, name))
        if other is not None:
            raise invalid(
                f'{mixin.where}: the mixin "{mixin.name}" brings the {kind} "{name}", which '
                f"{other} brings already",
                hint="a mixin only adds; change the overlay, or leave one of the two out",
            )
        self.origins[kind, name] = mixin.where


def merge_component(lower: ComponentRef, upper: ComponentRef) -> ComponentRef:
    """``upper`` over ``lower``, field by field; an empty value never clears."""
    changed: dict[str, object] = {}
    for field in _SCALARS:
        value = getattr(upper, field)
        if value:
            changed[field] = value
    for field in _REPLACED_LISTS:
        value = getattr(upper, field)
        if value:
            changed[field] = value
    for field in _UNITED_LISTS:
        value = getattr(upper, field)
        if value:
            changed[field] = list(dict.fromkeys([*getattr(lower, field), *value]))
    if upper.cleanup:
        changed["cleanup"] = True
    if upper.install is not None:
        changed["install"] = upper.install
    if upper.overrides:
        changed["overrides"] = (
            merge_overrides(lower.overrides, upper.overrides)
            if lower.overrides
            else upper.overrides
        )
    return lower.replace(**changed)


def merge_overrides(lower: Mapping[str, object], upper: Mapping[str, object]) -> dict[str, object]:
    """Maps merge deeply, all else replaces; a null stays, so that it deletes later on."""
    merged = dict(lower)
    for key, value in upper.items():
        known = merged.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[key] = merge_overrides(known, value)
        else:
            merged[key] = value
    return merged


def with_defaults(ref: ComponentRef, entry: RegistryEntry | None, origin: str) -> ComponentRef:
    """The component with the registry's defaults where it states nothing itself.

    It shares nothing with the catalog that somebody could change. Raises INVALID_REQUEST for one
    that the registry does not know and that does not say what it is, and for a chart without a
    version (it would install whatever is latest).
    """
    if entry is None:
        _must_stand_alone(ref, origin)
        entry_type = ref.type
    else:
        entry_type = ref.type or ("Kustomize" if entry.is_kustomize else "Helm")
    changed: dict[str, object] = {
        "type": entry_type,
        "overrides": copied(ref.overrides) if ref.overrides else None,
        "patches": list(ref.patches),
        "manifest_files": list(ref.manifest_files),
        "pre_manifest_files": list(ref.pre_manifest_files),
        "dependency_refs": list(ref.dependency_refs),
        "expected_resources": [dict(one) for one in ref.expected_resources],
    }
    if entry is not None:
        if entry_type == "Helm":
            defaults = {
                "source": entry.repository,
                "chart": entry.chart.rpartition("/")[2],
                "version": entry.version,
                "namespace": entry.namespace,
            }
        else:
            defaults = {"source": entry.source, "tag": entry.tag, "path": entry.path}
        for field, value in defaults.items():
            if value and not getattr(ref, field):
                changed[field] = value
        if entry.manifest_files and not ref.manifest_files:
            changed["manifest_files"] = list(entry.manifest_files)
    full = ref.replace(**changed)
    if full.type == "Helm" and full.source and not full.version:
        raise invalid(
            f'{origin}: the component "{ref.name}" has a source and no version, and would '
            "install whatever is latest",
            hint="state its version, or give the registry entry a defaultVersion",
        )
    return full


def _must_stand_alone(ref: ComponentRef, origin: str) -> None:
    needed: Sequence[str] = ("type", "source", "tag" if ref.type == "Kustomize" else "version")
    missing = [field for field in needed if not getattr(ref, field)]
    if missing:
        raise invalid(
            f'{origin}: the component "{ref.name}" is not in the registry and does not state its '
            f"{', '.join(missing)}",
            hint="add it to registry.yaml, or state type, source and version",
        )
