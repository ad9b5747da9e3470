"""Which CRDs in a component's chart are another component's: the registry's ``sharedCRDs``.

Helm installs a chart's CRDs once. Argo CD applies them at every sync, so two charts with different
copies of one CRD undo each other's for ever; the component that is not its owner then leaves it
alone.
"""

from __future__ import annotations

import re

from aicr.bundle.names import shown
from aicr.bundle.plan import DeploymentPlan
from aicr.catalog.schema import registry_values
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

    from aicr.bundle.plan import PlannedRelease
    from aicr.catalog.layers import Catalog
    from aicr.catalog.model import RegistryEntry

KEY = "sharedCRDs"
_CRD_NAME = r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])"


def with_foreign_crds(plan: DeploymentPlan, catalog: Catalog) -> DeploymentPlan:
    """The plan, its releases with the CRDs in their charts that another component of it owns.

    Raises INVALID_REQUEST for a registry entry that cannot be read.
    """
    from copy import copy

    components = set(plan.components)
    releases: list[PlannedRelease] = []
    for release in plan.releases:
        entry = catalog.registry.get(release.component)
        found = _foreign(entry, components) if release.chart and entry else []
        if found:
            release = copy(release)
            release.foreign_crds = found
        releases.append(release)
    return DeploymentPlan(plan.recipe, releases)


def _foreign(entry: RegistryEntry, components: Container[str]) -> list[str]:
    if KEY not in entry.raw:
        return []
    raw = registry_values(entry)
    assert isinstance(raw, dict)
    at = f"{entry.where}: {entry.name}.{KEY}"
    shared = raw[KEY]
    if not isinstance(shared, list):
        raise invalid(f"{at}: expected a list of name and owners")
    found: list[str] = []
    for number, one in enumerate(shared):
        name = one.get("name") if isinstance(one, dict) else None
        owners = one.get("owners") if isinstance(one, dict) else None
        if not isinstance(name, str) or not isinstance(owners, list) or len(one) != 2:
            raise invalid(f"{at}[{number}]: expected the name of a CRD and its owners (components)")
        # It reaches a template of Helm.
        if re.fullmatch(_CRD_NAME, name) is None:
            raise invalid(f"{at}[{number}].name: {shown(name)} is no name of a CRD")
        if any(owner in components for owner in owners):
            found.append(name)
    return found
