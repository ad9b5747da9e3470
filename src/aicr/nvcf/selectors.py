"""Whether labels match a Kubernetes label selector.

    selector    = requirement {"," requirement}
    requirement = key | "!" key | key ("=" | "==" | "!=") value
                | key ("in" | "notin") "(" value {"," value} ")"

``!=`` and ``notin`` hold where the key is absent, as the API server has it.
"""

from __future__ import annotations

import re

from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_KEY = r"[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?"
_ONE = re.compile(
    rf"\s*(?:(?P<absent>!\s*)?(?P<key>{_KEY})"
    rf"(?:\s*(?P<op>==|=|!=)\s*(?P<value>{_VALUE})"
    rf"|\s+(?P<set>in|notin)\s*\((?P<values>[^()]*)\))?)\s*"
)


class Selector:
    """A parsed selector."""

    __slots__ = ("_requirements", "text")

    def __init__(self, text: str) -> None:
        """Raises INVALID_REQUEST."""
        self.text = text
        self._requirements: list[tuple[str, bool, frozenset[str] | None]] = []
        for part in re.split(r",(?![^()]*\))", text):
            found = _ONE.fullmatch(part)
            if found is None or (found["absent"] and (found["op"] or found["set"])):
                raise invalid(f'"{text}" is no label selector: "{part.strip()}" cannot be read')
            values: frozenset[str] | None = None
            if found["op"]:
                values = frozenset((found["value"],))
            elif found["set"]:
                values = frozenset(one.strip() for one in found["values"].split(","))
            wanted = not found["absent"] and found["op"] != "!=" and found["set"] != "notin"
            self._requirements.append((found["key"], wanted, values))

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether every requirement holds."""
        for key, wanted, values in self._requirements:
            holds = key in labels and (values is None or labels[key] in values)
            if holds != wanted:
                return False
        return True
