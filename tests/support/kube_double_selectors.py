"""Which objects the Kubernetes double takes a label or field selector to mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any


def labels_match(selector: str, labels: Mapping[str, str]) -> bool:
    return all(_one_label(part.strip(), labels) for part in _parts(selector))


def _parts(selector: str) -> list[str]:
    """The requirements of a selector; a comma inside brackets separates values."""
    return [part for part in re.split(r",(?![^()]*\))", selector) if part.strip()]


def _one_label(text: str, labels: Mapping[str, str]) -> bool:
    found = re.fullmatch(r"(\S+)\s+(in|notin)\s*\(([^)]*)\)", text)
    if found:
        values = [value.strip() for value in found[3].split(",")]
        inside = labels.get(found[1]) in values
        return inside if found[2] == "in" else not inside
    if "!=" in text:
        key, _, value = text.partition("!=")
        return labels.get(key) != value
    if "=" in text:
        key, _, value = text.partition("=")
        return labels.get(key) == value.lstrip("=")
    return text[1:] not in labels if text.startswith("!") else text in labels


def fields_match(selector: str, item: Mapping[str, Any]) -> bool:
    for part in _parts(selector):
        negated = "!=" in part
        path, _, wanted = part.partition("!=" if negated else "=")
        value: Any = item
        for word in path.split("."):
            value = value.get(word, "") if isinstance(value, dict) else ""
        if (str(value) == wanted.lstrip("=")) == negated:
            return False
    return True
