"""What flags for the whole cluster ask for: node selectors, tolerations, node count, storage class.

The registry lists for each component the paths in its values that such a flag reaches; keys of an
entry name these lists here (``aicr.bundle.landings`` reads them).
"""

from __future__ import annotations

import re

from aicr.bundle.names import shown
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Keys = tuple[str, ...]

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
_PREFIX = r"(?=.{1,253}/)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?/"
_KEY = rf"(?:{_PREFIX})?{_NAME}"
_STORAGE_CLASS = r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?"

_SYSTEM = ("nodeScheduling", "system")
_ACCELERATED = ("nodeScheduling", "accelerated")
_WORKLOAD = ("podScheduling", "workload")


class Scheduling:
    """The flags as they were given; the names of the attributes are those of the flags."""

    __slots__ = (
        "accelerated_node_selector",
        "accelerated_node_toleration",
        "nodes",
        "storage_class",
        "system_node_selector",
        "system_node_toleration",
        "workload_gate",
        "workload_selector",
    )

    def __init__(
        self,
        *,
        system_node_selector: Sequence[str] = (),
        system_node_toleration: Sequence[str] = (),
        accelerated_node_selector: Sequence[str] = (),
        accelerated_node_toleration: Sequence[str] = (),
        workload_selector: Sequence[str] = (),
        workload_gate: str = "",
        nodes: str = "",
        storage_class: str = "",
    ) -> None:
        self.system_node_selector = system_node_selector
        self.system_node_toleration = system_node_toleration
        self.accelerated_node_selector = accelerated_node_selector
        self.accelerated_node_toleration = accelerated_node_toleration
        self.workload_selector = workload_selector
        self.workload_gate = workload_gate
        self.nodes = nodes
        self.storage_class = storage_class

    def settings(self) -> dict[str, str | list[str]]:
        """The flags as ``bundle-info.yaml`` records them, those that ask for nothing left out."""
        given: dict[str, str | list[str]] = {
            "systemNodeSelector": list(self.system_node_selector),
            "systemNodeToleration": list(self.system_node_toleration),
            "acceleratedNodeSelector": list(self.accelerated_node_selector),
            "acceleratedNodeToleration": list(self.accelerated_node_toleration),
            "workloadSelector": list(self.workload_selector),
            "workloadGate": self.workload_gate,
            "nodes": "" if self.nodes.strip("0") == "" else self.nodes,
            "storageClass": self.storage_class,
        }
        return {key: value for key, value in given.items() if value}


class Wish:
    """What one flag asks for: a value, for every path below ``keys`` of a registry entry."""

    __slots__ = ("flag", "given", "keys", "value")

    def __init__(self, flag: str, given: str, keys: Keys, value: object) -> None:
        self.flag = flag
        self.given = given
        self.keys = keys
        self.value = value


def wishes_of(scheduling: Scheduling) -> list[Wish]:
    """What the flags ask for. Raises INVALID_REQUEST with all that are wrong."""
    problems: list[str] = []
    found: list[Wish] = []

    def wish(flag: str, texts: Sequence[str], keys: Keys, value: object) -> None:
        if value:
            given = " ".join(f"{flag} {text}" for text in texts)
            found.append(Wish(flag, given, keys, value))

    for flag, texts, keys in (
        ("--system-node-selector", scheduling.system_node_selector,
         (*_SYSTEM, "nodeSelectorPaths")),
        ("--accelerated-node-selector", scheduling.accelerated_node_selector,
         (*_ACCELERATED, "nodeSelectorPaths")),
        ("--workload-selector", scheduling.workload_selector,
         (*_WORKLOAD, "workloadSelectorPaths")),
    ):  # fmt: skip
        wish(flag, texts, keys, _selector(flag, texts, problems))
    for flag, texts, keys in (
        ("--system-node-toleration", scheduling.system_node_toleration,
         (*_SYSTEM, "tolerationPaths")),
        ("--accelerated-node-toleration", scheduling.accelerated_node_toleration,
         (*_ACCELERATED, "tolerationPaths")),
    ):  # fmt: skip
        wish(flag, texts, keys, _tolerations(flag, texts, problems))
    gate = scheduling.workload_gate
    taint = _taint(f"--workload-gate {gate}", gate, problems) if gate else None
    if taint is not None:
        wish("--workload-gate", [gate], (*_ACCELERATED, "taintStrPaths"), gate)
        wish("--workload-gate", [gate], (*_ACCELERATED, "taintPaths"), taint)
    if scheduling.nodes:
        nodes = scheduling.nodes
        if not re.fullmatch(r"[0-9]{1,9}", nodes, re.ASCII):
            problems.append(f"--nodes {shown(nodes)}: expected a whole number, 0 or more")
        else:
            wish("--nodes", [nodes], ("nodeScheduling", "nodeCountPaths"), int(nodes))
    if scheduling.storage_class:
        name = scheduling.storage_class
        if not re.fullmatch(_STORAGE_CLASS, name):
            problems.append(f"--storage-class {shown(name)}: expected the name of a StorageClass")
        else:
            wish("--storage-class", [name], ("storageClassPaths",), name)
    if problems:
        raise invalid("\n  ".join(problems), details={"problems": problems})
    return found


def _selector(flag: str, texts: Sequence[str], problems: list[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not _is_label(key, value):
            problems.append(f"{flag} {shown(text)}: expected a label of nodes as key=value")
        elif found.setdefault(key, value) != value:
            problems.append(
                f"{flag} {key}={found[key]} and {flag} {text} contradict each other: a label has "
                "one value"
            )
    return found


def _tolerations(flag: str, texts: Sequence[str], problems: list[str]) -> list[object]:
    found: list[object] = []
    for text in texts:
        taint = _taint(f"{flag} {text}", text, problems)
        if taint is None:
            continue
        toleration: dict[str, object] = {
            "key": taint["key"],
            "operator": "Equal" if "value" in taint else "Exists",
            **taint,
        }
        if toleration not in found:
            found.append(toleration)
    return found


def _taint(given: str, text: str, problems: list[str]) -> dict[str, object] | None:
    """A taint as ``key=value:Effect`` or ``key:Effect``."""
    rest, _, effect = text.rpartition(":")
    key, equals, value = rest.partition("=")
    if effect not in EFFECTS or not _is_label(key, value):
        problems.append(
            f"{shown(given)}: expected key=value:Effect, the effect one of {', '.join(EFFECTS)}"
        )
        return None
    return {"key": key, **({"value": value} if equals else {}), "effect": effect}


def _is_label(key: str, value: str) -> bool:
    return bool(re.fullmatch(_KEY, key)) and (not value or bool(re.fullmatch(_NAME, value)))
