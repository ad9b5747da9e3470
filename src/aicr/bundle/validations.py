"""What a catalog wants checked before a bundle is written: the registry's ``validations[]``."""

from __future__ import annotations

from aicr.catalog.model import DIMENSIONS
from aicr.catalog.schema import registry_values
from aicr.documents.safe import cell
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.bundle.plan import DeploymentPlan
    from aicr.catalog.layers import Catalog

SEVERITIES = ("info", "warning", "error")

# A selector is missing where no value stands at any of these paths of the registry entry.
_SELECTORS = {
    "CheckWorkloadSelectorMissing": ("podScheduling", "workload", "workloadSelectorPaths"),
    "CheckAcceleratedSelectorMissing": ("nodeScheduling", "accelerated", "nodeSelectorPaths"),
}


class Notice:
    """Something a person should know about a bundle, with its severity."""

    __slots__ = ("message", "severity")

    def __init__(self, severity: str, message: str) -> None:
        self.severity = severity
        self.message = message


def validate(plan: DeploymentPlan, catalog: Catalog) -> list[Notice]:
    """The notices of every validation that applies.

    Raises INVALID_REQUEST for those of severity ``error``, and for a validation that this version
    does not know.
    """
    notices: list[Notice] = []
    unknown: list[str] = []
    stated = plan.recipe.criteria.stated()
    for component in plan.components:
        entry = catalog.registry.get(component)
        if entry is None or "validations" not in entry.raw:
            continue
        raw = registry_values(entry)
        assert isinstance(raw, dict)
        for number, check in enumerate(_list(raw["validations"])):
            at = f"{entry.where}: {component}.validations[{number}]"
            problem = _unknown(check)
            if problem:
                unknown.append(f"{at}: {problem}")
                continue
            assert isinstance(check, dict)
            path = _SELECTORS[check["function"]]
            if _applies(check.get("conditions"), stated) and _missing(plan, component, raw, path):
                message = check.get("message") or f"{check['function']} does not hold"
                notices.append(Notice(str(check["severity"]), f"{component}: {cell(str(message))}"))
    errors = unknown + [one.message for one in notices if one.severity == "error"]
    if errors:
        raise invalid("\n  ".join(errors))
    return notices


def _unknown(check: object) -> str:
    if not isinstance(check, dict):
        return "expected a map"
    function = check.get("function")
    if function not in _SELECTORS:
        known = ", ".join(_SELECTORS)
        return f'the function "{function}" is not known to this version (it knows {known})'
    if check.get("severity") not in SEVERITIES:
        return f'the severity "{check.get("severity")}" is not one of {", ".join(SEVERITIES)}'
    conditions = check.get("conditions") or {}
    if not isinstance(conditions, dict) or set(conditions) - set(DIMENSIONS):
        return f"conditions: expected a map of {', '.join(DIMENSIONS)}"
    return ""


def _applies(conditions: object, stated: Mapping[str, str]) -> bool:
    if not isinstance(conditions, dict):
        return True
    return all(
        stated.get(dimension, "") in (values if isinstance(values, list) else [values])
        for dimension, values in conditions.items()
    )


def _missing(
    plan: DeploymentPlan, component: str, raw: Mapping[str, object], at: tuple[str, ...]
) -> bool:
    paths = _below(raw, at)
    if not isinstance(paths, list) or not paths:
        return False
    values = plan.values(component)
    return not any(_below(values, str(path).split(".")) for path in paths)


def _below(node: object, keys: Sequence[str]) -> object:
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return node


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
