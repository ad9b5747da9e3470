"""What one side of the comparison is, and what two sides must agree on before they are compared:
their criteria, and whose deployer's steps are shown."""

from __future__ import annotations

from aicr.artifact.deployers import DEPLOYERS, check_deployer
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.catalog.layers import Catalog
    from aicr.recipe.criteria import Criteria
    from aicr.recipe.model import Recipe

_CLUSTER_DIMENSIONS = ("service", "accelerator", "intent", "os")


class Side:
    """One side of the comparison, as an artifact states it.

    ``values`` are the values of each component on disk, None where there are none or not all could
    be read: ``values_missing`` says why, and ``readable`` has those of the others. ``deployer`` is
    what a bundle says of itself, and ``settings`` is what it was made with.
    """

    __slots__ = (
        "deployer", "is_bundle", "label", "readable", "recipe", "settings", "values",
        "values_missing",
    )  # fmt: skip

    def __init__(
        self,
        label: str,
        recipe: Recipe,
        *,
        is_bundle: bool = False,
        deployer: str = "",
        values: Mapping[str, object] | None = None,
        values_missing: str = "",
        readable: Mapping[str, object] | None = None,
        settings: Mapping[str, str | list[str]] | None = None,
    ) -> None:
        self.label = label
        self.recipe = recipe
        self.is_bundle = is_bundle
        self.deployer = deployer
        self.values = values
        self.settings = settings or {}
        self.values_missing = values_missing
        self.readable = values if readable is None else readable


def choose_deployer(given: str, old: Side, new: Side) -> tuple[str, list[str]]:
    """The deployer whose steps are shown, "" where nobody named one, and warnings.

    A bundle's own deployer counts where none is given. Raises INVALID_REQUEST where the given one
    is unknown or contradicts the bundle to be applied.
    """
    check_deployer(given)
    if given and new.deployer and given != new.deployer:
        raise invalid(
            f"--deployer {given} contradicts the bundle {new.label}, which was built for "
            f"{new.deployer}",
            hint=f"leave --deployer out, or build the bundle with --deployer {given}",
        )
    chosen = given or (new.deployer if new.is_bundle else "") or old.deployer
    if chosen and chosen not in DEPLOYERS:
        label = new.label if chosen == new.deployer else old.label
        raise invalid(
            f'{label}: bundle-info.yaml names the deployer "{chosen}"; expected '
            f"{', '.join(DEPLOYERS)}"
        )
    warnings = []
    if old.deployer and chosen != old.deployer:
        warnings.append(
            f"{old.label} was built for {old.deployer}, and the steps shown are for {chosen}: "
            "this is also a change of deployer"
        )
    return chosen, warnings


def criteria_warnings(old: Side, new: Side, *, allowed: bool) -> list[str]:
    """A warning where the two are for different clusters; INVALID_REQUEST unless ``allowed``."""
    conflicts = criteria_conflicts(old.recipe.criteria, new.recipe.criteria)
    if not conflicts:
        return []
    listed = "; ".join(f"{name} {was} and {now}" for name, was, now in conflicts)
    message = f"{old.label} and {new.label} are for different clusters ({listed})"
    if allowed:
        return [message]
    raise invalid(
        message,
        hint="an upgrade keeps its criteria; --allow-different-criteria compares them all the same",
        details={"conflicts": [{"field": n, "from": a, "to": b} for n, a, b in conflicts]},
    )


def criteria_conflicts(old: Criteria, new: Criteria) -> list[tuple[str, str, str]]:
    """(dimension, old, new) where both sides state one and they differ."""
    was, now = old.stated(), new.stated()
    return [
        (name, was[name], now[name])
        for name in _CLUSTER_DIMENSIONS
        if name in was and name in now and was[name] != now[name]
    ]


def values_of_both(
    old: Side, new: Side, catalog: Catalog
) -> tuple[tuple[Mapping[str, object], Mapping[str, object]] | None, str]:
    """The values on both sides, of the components of which they are known, and why object names
    of others cannot be compared; None where none are known."""
    if not old.is_bundle:
        return None, f"{old.label} is not a bundle, so the deployed names are not known"
    why: list[str] = []
    for side in (old, new) if new.is_bundle else (old,):
        if side.readable is None or (side.values_missing and not side.readable):
            return None, side.values_missing or f"{side.label} has no values on disk"
        why += _unknown(side, old, new)
    assert old.readable is not None
    if new.is_bundle:
        assert new.readable is not None
        return (old.readable, new.readable), "; ".join(why)
    from aicr.recipe.values import component_values

    values: dict[str, object] = {}
    for ref in new.recipe.components:
        if ref.enabled and ref.name in old.readable:
            try:
                values[ref.name] = component_values(catalog, ref)
            except AicrError as error:
                why.append(
                    f"the values of {ref.name} in {new.label} could not be computed: "
                    f"{error.message}"
                )
    return (old.readable, values), "; ".join(why)


def _unknown(side: Side, old: Side, new: Side) -> list[str]:
    """Why the values of components of both are not known of this side; [] where all are."""
    shared = {ref.name for ref in old.recipe.components if ref.enabled}
    shared &= {ref.name for ref in new.recipe.components if ref.enabled}
    missing = ", ".join(sorted(shared - set(side.readable or ())))
    if not missing:
        return []
    if side.values_missing:
        return [f"{side.values_missing} (not compared: {missing})"]
    return [f"{side.label} does not say where the values of {missing} are"]
