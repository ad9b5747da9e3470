"""What a person asks for: service, accelerator, intent, os, platform, and how many nodes."""

from __future__ import annotations

from aicr.catalog.model import DIMENSIONS
from aicr.catalog.schema import normal_criterion
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.catalog.layers import Catalog
    from aicr.documents.fields import Fields

# What this version knows without any catalog (Resolving a recipe, section 2).
KNOWN = {
    "service": ("eks", "gke", "aks", "oke", "ocp", "kind", "lke", "bcm", "metal3", "rke2",
                "generic"),
    "accelerator": ("h100", "h200", "gb200", "gb300", "b200", "a100", "l40", "l40s",
                    "rtx-pro-6000", "vr200"),
    "intent": ("training", "inference"),
    "os": ("ubuntu", "rhel", "cos", "amazonlinux", "ol", "talos"),
    "platform": ("dynamo", "kubeflow", "nim", "runai", "slurm", "kueue"),
}  # fmt: skip


class Criteria:
    """What is stated, in normal form; "" is "any". ``nodes`` is advisory, 0 is "not stated"."""

    __slots__ = ("accelerator", "intent", "nodes", "os", "platform", "service")

    def __init__(
        self,
        *,
        service: str = "",
        accelerator: str = "",
        intent: str = "",
        os: str = "",
        platform: str = "",
        nodes: int = 0,
    ) -> None:
        self.service = service
        self.accelerator = accelerator
        self.intent = intent
        self.os = os
        self.platform = platform
        self.nodes = nodes

    @classmethod
    def of(cls, stated: Mapping[str, str], nodes: int = 0) -> Criteria:
        """The criteria with these dimensions, which are in normal form."""
        criteria = cls(nodes=nodes)
        for dimension, value in stated.items():
            setattr(criteria, dimension, value)
        return criteria

    def stated(self) -> dict[str, str]:
        """The stated dimensions (``nodes`` aside), in their fixed order."""
        found: dict[str, str] = {}
        for dimension in DIMENSIONS:
            value: str = getattr(self, dimension)
            if value:
                found[dimension] = value
        return found

    def values(self) -> dict[str, object]:
        """What is stated, as a recipe writes it."""
        values: dict[str, object] = dict(self.stated())
        if self.nodes:
            values["nodes"] = self.nodes
        return values

    def __str__(self) -> str:
        stated = [f"{key}={value}" for key, value in self.values().items()]
        return ", ".join(stated) if stated else "any"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Criteria) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash(tuple(self.values().items()))


def admitted(catalog: Catalog, *, strict: bool = False) -> dict[str, list[str]]:
    """The valid values of each dimension, sorted: the known ones, and what the catalog uses."""
    values = {dimension: set(KNOWN[dimension]) for dimension in DIMENSIONS}
    if not strict:
        for head in catalog.heads.values():
            for dimension, value in (head.criteria or {}).items():
                if dimension in values:
                    values[dimension].add(value)
    return {dimension: sorted(values[dimension]) for dimension in DIMENSIONS}


def make_criteria(
    stated: Mapping[str, str], catalog: Catalog, *, nodes: int = 0, strict: bool = False
) -> Criteria:
    """The criteria that ``stated`` asks for (dimension to word; case and aliases do not matter).

    Raises INVALID_REQUEST for an unknown value, with the valid ones and the closest match; for
    ``nodes`` below 0; and where no dimension is stated.
    """
    if nodes < 0:
        raise invalid(f"nodes: expected 0 or more, found {nodes}")
    normal: dict[str, str] = {}
    for dimension, word in stated.items():
        value = normal_criterion(dimension, word)
        if not value:
            continue
        if value not in KNOWN[dimension] or strict:
            check_value(dimension, value, catalog, strict=strict)
        normal[dimension] = value
    if not normal:
        raise invalid(
            "no criteria were given",
            hint="state at least one of --service, --accelerator, --intent, --os, --platform",
        )
    return Criteria.of(normal, nodes)


def check_value(dimension: str, value: str, catalog: Catalog, *, strict: bool = False) -> None:
    """Raise INVALID_REQUEST unless ``value``, in normal form, is valid for ``dimension``."""
    valid = admitted(catalog, strict=strict)[dimension]
    if value in valid:
        return
    from difflib import get_close_matches

    near = get_close_matches(value, valid, 1)
    hint = f'did you mean "{near[0]}"?' if near else ""
    raise invalid(
        f'{dimension} "{value}" is not known; valid are {", ".join(valid)}, or any',
        hint=hint,
        details={"dimension": dimension, "value": value, "valid": list(valid)},
    )


def read_criteria(fields: Fields) -> Criteria:
    """The ``criteria`` of a recipe document, taken as written: another tool may know more values.

    Problems of the schema are collected in ``fields.problems``.
    """
    normal: dict[str, str] = {}
    for dimension in DIMENSIONS:
        value = fields.text(dimension)
        if dimension == "accelerator" and fields.has("gpu"):
            if value:
                fields.problem("accelerator and its alias gpu are both stated", "gpu")
            value = fields.text("gpu")
        normal[dimension] = normal_criterion(dimension, value)
    nodes = fields.integer("nodes") or 0
    if nodes < 0:
        fields.problem(f"expected 0 or more, found {nodes}", "nodes")
        nodes = 0
    fields.done()
    return Criteria.of(normal, nodes)
