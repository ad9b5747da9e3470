"""The schemas that ``/openapi.json`` is made of: requests, answers, errors."""

from __future__ import annotations

from aicr.artifact.deployers import DEPLOYERS
from aicr.catalog.model import DIMENSIONS
from aicr.errors import HTTP_STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Schema = dict[str, object]

TEXT: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
TEXTS: Schema = {"type": "array", "items": TEXT}
DEPLOYER: Schema = {"type": "string", "enum": list(DEPLOYERS)}
NODES: Schema = {"type": "integer", "minimum": 0, "maximum": 1_000_000_000}
OBJECT: Schema = {"type": "object"}
DOCUMENT_SCHEMA: Schema = {"$ref": "#/components/schemas/Document"}
CRITERIA_SCHEMA: Schema = {"$ref": "#/components/schemas/Criteria"}


def mapping(
    fields: Mapping[str, object], required: Iterable[str] = (), *, closed: bool = False
) -> Schema:
    found: Schema = {"type": "object", "properties": dict(fields)}
    if list(required):
        found["required"] = list(required)
    if closed:
        found["additionalProperties"] = False
    return found


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def criteria_fields() -> dict[str, object]:
    return {**dict.fromkeys(DIMENSIONS, TEXT), "gpu": TEXT, "nodes": NODES}


def schemas() -> dict[str, object]:
    row = mapping(
        {
            "component": TEXT, "change": {"enum": ["version", "identity", "added", "removed",
                                                    "replaced"]},
            "from": TEXT, "to": TEXT,
            "verdict": {"enum": ["safe", "manual", "blocked", "unknown", "unversioned"]},
            "notes": TEXT, "reason": TEXT, "explanation": TEXT, "breaking": BOOLEAN,
            "downgrade": BOOLEAN, "failsRun": BOOLEAN,
            "steps": {"type": "array", "items": mapping({"id": TEXT, "description": TEXT,
                                                         "reason": TEXT})},
            "references": TEXTS, "path": TEXTS, "landAt": TEXT, "stoppedAt": TEXT,
            "precondition": TEXT,
        },
        ["component", "change", "notes", "breaking", "downgrade", "failsRun"],
    )  # fmt: skip
    return {
        "Criteria": mapping(criteria_fields(), closed=True),
        "Document": {
            "description": "A recipe as a document, its text (YAML or JSON), or a bundle's archive",
            "anyOf": [OBJECT, TEXT, mapping({"archive": {"type": "string",
                                                           "contentEncoding": "base64"}},
                                              ["archive"])],
        },
        "Recipe": mapping(
            {"kind": {"const": "RecipeResult"}, "apiVersion": TEXT, "metadata": OBJECT,
             "criteria": OBJECT, "componentRefs": {"type": "array"}, "deploymentOrder": TEXTS},
            ["kind", "apiVersion", "componentRefs", "deploymentOrder"],
        ),
        "Report": mapping(
            {"from": TEXT, "to": TEXT, "deployer": TEXT,
             "components": {"type": "array", "items": row}, "atRisk": OBJECT,
             "summary": mapping({"components": {"type": "integer"},
                                 "failing": {"type": "integer"}}, ["components", "failing"])},
            ["from", "to", "objectNamesCompared", "components", "atRisk", "summary"],
        ),
        "Why": mapping(
            {"component": TEXT, "change": TEXT, "verdict": TEXT, "reason": TEXT,
             "decided": TEXT, "records": {"type": "array"}, "rules": {"type": "array"}},
            ["component", "change", "decided"],
        ),
        "MirrorList": mapping(
            {"kind": {"const": "MirrorList"}, "apiVersion": TEXT,
             "metadata": mapping({"complete": BOOLEAN, "criteria": OBJECT}, ["complete"]),
             "images": TEXTS, "charts": {"type": "array"},
             "components": {"type": "array", "items": mapping(
                 {"component": TEXT, "type": TEXT, "images": TEXTS, "warnings": TEXTS},
                 ["component", "type", "images"])}},
            ["kind", "apiVersion", "metadata", "images", "charts", "components"],
        ),
        "Plan": mapping(
            {"from": TEXT, "to": TEXT, "mode": TEXT, "stages": {"type": "array"},
             "held": {"type": "array"}, "summary": OBJECT},
            ["from", "to", "mode", "stages", "held", "summary"],
        ),
        "Error": mapping(
            {"code": {"enum": sorted(HTTP_STATUSES)}, "message": TEXT, "details": OBJECT,
             "requestId": TEXT, "timestamp": TEXT, "retryable": BOOLEAN},
            ["code", "message", "details", "requestId", "timestamp", "retryable"],
        ),
    }  # fmt: skip
