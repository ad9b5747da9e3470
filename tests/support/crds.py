"""Whether a custom resource has the fields that its controller knows, with values of their types.

``tests/data/crds`` says which, in the notation of its README.
"""

from __future__ import annotations

from pathlib import Path

import yaml
from jsonschema import Draft202012Validator

_FOLDER = Path(__file__).parent.parent / "data" / "crds"
_TYPES: dict[str, dict[str, object]] = {
    "text": {"type": "string"},
    "bool": {"type": "boolean"},
    "int": {"type": "integer"},
    "free": {},
    "texts": {"type": "object", "additionalProperties": {"type": "string"}},
    "duration": {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"},
}


def check(document: object) -> None:
    """Fails where ``document`` has a field that is not listed, lacks one, or has it wrong.

    A server drops fields that it does not know without a word.
    """
    assert isinstance(document, dict)
    known = yaml.safe_load((_FOLDER / f"{document['kind'].lower()}.yaml").read_text())
    assert document["apiVersion"] == f"{known['group']}/{known['version']}"
    assert document["kind"] == known["kind"]
    assert set(document) == {"apiVersion", "kind", "metadata", "spec"}
    assert set(document["metadata"]) <= {"name", "namespace", "labels", "annotations"}
    _check(document["spec"], known["spec"])


def check_state(document: object) -> None:
    """The same of a state file of Helmfile."""
    _check(document, yaml.safe_load((_FOLDER / "helmfile.yaml").read_text()))


def _check(document: object, written: object) -> None:
    problems = Draft202012Validator(_schema(written)).iter_errors(document)
    assert [f"{problem.json_path}: {problem.message}" for problem in problems] == []


def _schema(written: object) -> dict[str, object]:
    if isinstance(written, list):
        (item,) = written
        return {"type": "array", "items": _schema(item)}
    if isinstance(written, dict):
        return {
            "type": "object",
            "additionalProperties": False,
            "required": [name[:-1] for name in written if name.endswith("!")],
            "properties": {name.rstrip("!"): _schema(item) for name, item in written.items()},
        }
    assert isinstance(written, str)
    if written.startswith("~"):
        return {"type": "string", "pattern": written[1:]}
    if "|" in written:
        return {"enum": written.split("|")}
    return _TYPES[written]
