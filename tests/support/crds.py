"""Whether a custom resource is what its CustomResourceDefinition allows, field by field."""

from __future__ import annotations

import json
from pathlib import Path

from jsonschema import Draft202012Validator

_FOLDER = Path(__file__).parent.parent / "data" / "crds"


def check(document: object) -> None:
    """Fails where ``document`` does not match its CRD, or has a field that the CRD lacks."""
    assert isinstance(document, dict)
    schema = json.loads((_FOLDER / f"{document['kind'].lower()}.json").read_text())
    assert document["apiVersion"] == f"{schema['group']}/{schema['version']}"
    assert set(document) == {"apiVersion", "kind", "metadata", "spec"}
    assert set(document["metadata"]) <= {"name", "namespace", "labels", "annotations"}
    closed = _closed(schema["spec"])
    assert isinstance(closed, dict)
    problems = Draft202012Validator(closed).iter_errors(document["spec"])
    assert [f"{problem.json_path}: {problem.message}" for problem in problems] == []


def _closed(node: object) -> object:
    """A server drops fields that it does not know without a word; here they are an error."""
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    closed = {key: _closed(item) for key, item in node.items()}
    if node.get("x-kubernetes-int-or-string"):
        closed["type"] = ["integer", "string"]
    open_ended = node.get("x-kubernetes-preserve-unknown-fields")
    if isinstance(node.get("properties"), dict) and "type" in node and not open_ended:
        closed.setdefault("additionalProperties", False)
    return closed
