"""Whether a cluster, as a snapshot has it, meets a constraint.

    constraint = name value
    name       = type "." subtype "." key        key may hold dots; a subtype of SystemD may too
    value      = [ operator ] ( version | literal )
    operator   = ">=" | "<=" | "!=" | "==" | ">" | "<"

Versions are compared by the numbers before the first ``-`` or ``+`` (``6.8.0-1021-aws`` is
6.8.0). An order is decided by the parts that both have, so that 1.34.2 is neither above nor
below 1.34; ``==`` and ``!=`` compare all parts, missing ones as 0, or text where one is no
version. A literal without operator is equal as written.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.catalog.model import Constraint
    from aicr.recipe.snapshot import Snapshot

_OPERATORS = (">=", "<=", "!=", "==", ">", "<")


class ConstraintError(ValueError):
    """A constraint that no cluster could meet, since it cannot be read."""


class Outcome:
    """Whether a constraint holds; ``actual`` is "" where the snapshot does not say."""

    __slots__ = ("actual", "holds", "reason")

    def __init__(self, holds: bool, actual: str = "", reason: str = "") -> None:
        self.holds = holds
        self.actual = actual
        self.reason = reason


def evaluate(constraint: Constraint, snapshot: Snapshot) -> Outcome:
    """Whether the snapshot meets the constraint; what it does not state, it does not meet.

    Raises ConstraintError for a name or a value that cannot be read.
    """
    kind, subtype, key = path_of(constraint.name)
    operator, wanted = expression(constraint.value)
    actual = snapshot.reading(kind, subtype, key)
    if actual is None:
        return Outcome(False, "", f"the snapshot has no {constraint.name}")
    actual = actual.strip()
    if operator in ("", "==", "!="):
        equal = actual == wanted
        if operator:
            left, right = version_of(actual), version_of(wanted)
            if left is not None and right is not None:
                equal = _padded(left) == _padded(right)
        holds = equal is not (operator == "!=")
    else:
        left, right = version_of(actual), version_of(wanted)
        if right is None:
            raise ConstraintError(f'"{wanted}" is no version, which {operator} needs')
        if left is None:
            return Outcome(False, actual, f'"{actual}" is no version, which {operator} needs')
        parts = min(len(left), len(right))
        holds = _ordered(left[:parts], operator, right[:parts])
    reason = "" if holds else f"expected {constraint.value}, found {actual}"
    return Outcome(holds, actual, reason)


def path_of(name: str) -> tuple[str, str, str]:
    """Type, subtype and key of a constraint's name. Raises ConstraintError."""
    kind, _, rest = name.partition(".")
    if kind == "SystemD":
        subtype, _, key = rest.rpartition(".")
    else:
        subtype, _, key = rest.partition(".")
    if not (kind and subtype and key):
        raise ConstraintError(f'"{name}" is not of the form type.subtype.key')
    if "[" in subtype:
        raise ConstraintError(f'"{name}" selects an item, which only newer editions do')
    return kind, subtype, key


def expression(value: str) -> tuple[str, str]:
    """The operator ("" for none) and what follows it. Raises ConstraintError."""
    text = value.strip()
    operator = next((one for one in _OPERATORS if text.startswith(one)), "")
    wanted = text[len(operator) :].strip()
    if not wanted:
        raise ConstraintError(f'"{value}" says nothing to compare with')
    return operator, wanted


def version_of(text: str) -> tuple[int, ...] | None:
    """The numbers of a version; None where it is none."""
    body = text[1:] if text.startswith("v") else text
    body = body.partition("-")[0].partition("+")[0]
    parts = body.split(".")
    if not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
        return None
    return tuple(int(part) for part in parts)


def _padded(version: tuple[int, ...]) -> tuple[int, ...]:
    end = len(version)
    while end and version[end - 1] == 0:
        end -= 1
    return version[:end]


def _ordered(left: tuple[int, ...], operator: str, right: tuple[int, ...]) -> bool:
    if operator == ">=":
        return left >= right
    if operator == "<=":
        return left <= right
    return left > right if operator == ">" else left < right
