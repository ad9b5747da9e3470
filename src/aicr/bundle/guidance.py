"""What the records say to whoever upgrades to the versions in a bundle.

A bundle has no source version, so nothing is judged: a pinned version inside the ``to`` of a
``manual`` or ``blocked`` record is pointed out, with the steps for the bundle's own deployer.
"""

from __future__ import annotations

from aicr.errors import AicrError
from aicr.upgrade.model import SAFE, choose_steps
from aicr.upgrade.records import load_records
from aicr.versions.semver import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.bundle.plan import DeploymentPlan
    from aicr.catalog.layers import Catalog
    from aicr.upgrade.model import Step, Transition


class Advice:
    """One record that speaks of a pinned version, with the steps for one deployer."""

    __slots__ = ("component", "record", "steps", "version")

    def __init__(
        self, component: str, version: str, record: Transition, steps: Sequence[Step]
    ) -> None:
        self.component = component
        self.version = version
        self.record = record
        self.steps = steps


def find_advice(
    plan: DeploymentPlan, catalog: Catalog, deployer: str
) -> tuple[list[Advice], list[str]]:
    """The records that apply, by component and boundary; and why some could not be read.

    Records never stop a bundle, so those that do not load are reported instead of raised.
    """
    found: list[Advice] = []
    unreadable: list[str] = []
    pins = {ref.name: ref.pin for ref in plan.recipe.components}
    for component in sorted(plan.components):
        if parse(pins[component]) is None:
            continue
        try:
            records = load_records(catalog, [component]).get(component)
        except AicrError as error:
            unreadable.append(error.message)
            continue
        version = records.version(pins[component]) if records is not None else None
        if records is None or version is None:
            continue
        found += [
            Advice(component, pins[component], one, choose_steps(one.step_groups, deployer))
            for one in records.transitions
            if one.verdict != SAFE and one.to.contains(version)
        ]
    return found, unreadable
