"""What a resolved recipe is made of, and what can be asked of it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.catalog.model import ComponentRef, Constraint
    from aicr.recipe.criteria import Criteria


class ConstraintWarning:
    """Why an overlay was left out: the constraint of it that the snapshot did not meet."""

    __slots__ = ("actual", "constraint", "expected", "overlay", "reason")

    def __init__(
        self, *, overlay: str, constraint: str, expected: str, actual: str, reason: str
    ) -> None:
        self.overlay = overlay
        self.constraint = constraint
        self.expected = expected
        self.actual = actual
        self.reason = reason


class Recipe:
    """What a cluster should run: components by name, in which order, under which constraints.

    ``version`` is that of the tool that wrote it, ``catalog_digest`` that of its catalog; both
    are "" where the document does not say.
    """

    __slots__ = (
        "api_version",
        "applied_overlays",
        "catalog_digest",
        "components",
        "constraint_warnings",
        "constraints",
        "criteria",
        "deployment_order",
        "excluded_overlays",
        "inventory",
        "validation",
        "version",
    )

    def __init__(
        self,
        *,
        api_version: str,
        version: str,
        catalog_digest: str,
        criteria: Criteria,
        components: Sequence[ComponentRef],
        deployment_order: Sequence[str],
        constraints: Sequence[Constraint] = (),
        applied_overlays: Sequence[str] = (),
        excluded_overlays: Sequence[str] = (),
        constraint_warnings: Sequence[ConstraintWarning] = (),
        validation: Mapping[str, object] | None = None,
        inventory: Mapping[str, object] | None = None,
    ) -> None:
        self.api_version = api_version
        self.version = version
        self.catalog_digest = catalog_digest
        self.criteria = criteria
        self.components = components
        self.deployment_order = deployment_order
        self.constraints = constraints
        self.applied_overlays = applied_overlays
        self.excluded_overlays = excluded_overlays
        self.constraint_warnings = constraint_warnings
        self.validation = validation or {}
        self.inventory = inventory

    def component(self, name: str) -> ComponentRef | None:
        for ref in self.components:
            if ref.name == name:
                return ref
        return None

    def replace(self, **fields: object) -> Recipe:
        """A copy in which the named fields have other values."""
        copy = Recipe.__new__(Recipe)
        for slot in Recipe.__slots__:
            setattr(copy, slot, fields[slot] if slot in fields else getattr(self, slot))
        return copy
