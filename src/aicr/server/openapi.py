"""What ``/openapi.json`` says: the API, as a document."""

from __future__ import annotations

from aicr.catalog.model import DIMENSIONS
from aicr.errors import HTTP_STATUSES
from aicr.server.endpoints import SCHEDULING_LISTS, SCHEDULING_TEXTS
from aicr.server.negotiation import ARCHIVE, DOCUMENT, MIRROR, PLAN, RECIPE, REPORT, VALUE
from aicr.upgrade.model import DEPLOYERS
from aicr.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Schema = dict[str, object]

_TEXT: Schema = {"type": "string"}
_BOOLEAN: Schema = {"type": "boolean"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_DEPLOYER: Schema = {"type": "string", "enum": list(DEPLOYERS)}
_NODES: Schema = {"type": "integer", "minimum": 0, "maximum": 1_000_000_000}
_OBJECT: Schema = {"type": "object"}
_DOCUMENT: Schema = {"$ref": "#/components/schemas/Document"}
_CRITERIA: Schema = {"$ref": "#/components/schemas/Criteria"}


def document() -> bytes:
    """The whole document; same version, same bytes."""
    from aicr.documents.emit import json_text

    return json_text(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "aicr",
                "version": __version__,
                "summary": "Upgrade safety for GPU clusters: recipes, upgrade checks, bundles",
                "description": "The functions of the command aicr over HTTP, all but what names a "
                "path, a cluster or an address (inheritFrom, snapshot, data).",
                "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
            },
            "paths": _paths(),
            "components": {"schemas": _schemas()},
        }
    ).encode()


def _paths() -> dict[str, object]:
    criteria = [*_criteria_parameters(), _parameter("criteriaStrict", _BOOLEAN)]
    selector = _parameter(
        "selector", _TEXT, required=True, example="components.gpu-operator.version"
    )
    resolving = {**_criteria_fields(), "criteria": _CRITERIA, "criteriaStrict": _BOOLEAN}
    again = {"from": _DOCUMENT, "fromName": _name()}
    recipe = {"recipe": _DOCUMENT, "recipeName": _name(), "criteria": _CRITERIA,
              "criteriaStrict": _BOOLEAN, "set": _TEXTS}  # fmt: skip
    sides = {
        "from": _DOCUMENT, "fromName": _name(), "to": _DOCUMENT, "toName": _name(),
        "criteria": _CRITERIA, "criteriaStrict": _BOOLEAN, "deployer": _DEPLOYER,
        "allowDifferentCriteria": _BOOLEAN,
    }  # fmt: skip
    report, plan = _ref("Report"), _ref("Plan")
    bundle = {
        **recipe,
        **again,
        "deployer": _DEPLOYER,
        "repo": _TEXT,
        "targetRevision": _TEXT,
        "setJson": _TEXTS,
        "dynamic": _TEXTS,
        **dict.fromkeys(SCHEDULING_LISTS, _TEXTS),
        **dict.fromkeys(SCHEDULING_TEXTS, _TEXT),
    }
    deployer = _parameter("deployer", _DEPLOYER)
    sets = _parameter("set", _TEXTS)
    return {
        "/v1/recipe": {
            "get": _operation("resolve", "What a cluster with these criteria should run",
                              RECIPE, _ref("Recipe"), parameters=criteria),
            "post": _operation("resolveFrom", "The same, criteria in the body",
                               RECIPE, _ref("Recipe"), body=_body({**resolving, **again})),
        },
        "/v1/query": {
            "get": _operation("query", "One value of a recipe", VALUE, {},
                              parameters=[selector, *criteria], missing=True),
            "post": _operation("queryFrom", "The same, criteria in the body", VALUE, {},
                               body=_body({**resolving, "selector": _TEXT}, ["selector"]),
                               missing=True),
        },
        "/v1/bundle": {
            "post": _operation("bundle", "What a deployer applies, as an archive", ARCHIVE, None,
                               parameters=[deployer, sets],
                               body=_body(bundle), archives=True),
        },
        "/v1/upgrade-check": {
            "post": _operation("check", "Is the move from what is deployed safe?", REPORT, report,
                               parameters=[deployer],
                               body=_body(sides), archives=True),
        },
        "/v1/upgrade-plan": {
            "post": _operation(
                "plan", "By which hops to get from what is deployed to a target", PLAN, plan,
                parameters=[deployer],
                body=_body({**sides, "stages": {"type": "string", "enum": ["hops", "releases"]},
                            "includeUnplanned": _BOOLEAN}),
                archives=True,
            ),
        },
        "/v1/mirror-list": {
            "post": _operation(
                "mirrorList", "The images and charts of a recipe", MIRROR, _OBJECT,
                body=_body({**recipe, "format": {"type": "string",
                                                 "enum": ["yaml", "json", "hauler", "zarf"]},
                            "platforms": _TEXTS, "allowIncomplete": _BOOLEAN, **again}),
                archives=True,
            ),
        },
        "/v1/criteria": {
            "get": _operation("criteria", "The valid criteria, and those that resolve", DOCUMENT,
                              _object({"values": _OBJECT, "recipes": {"type": "array"}},
                                      ["values", "recipes"]), unbounded=False),
        },
        "/v1/components": {
            "get": _operation("components", "What the registry knows", DOCUMENT,
                              _object({"components": {"type": "array"}}, ["components"]),
                              unbounded=False),
        },
        "/v1/records/{component}": {
            "get": _operation("records", "The transition records of a component", DOCUMENT,
                              _object({"component": _TEXT, "transitions": {"type": "array"}},
                                      ["component", "transitions"]),
                              parameters=[{"name": "component", "in": "path", "required": True,
                                           "schema": _TEXT}],
                              missing=True),
        },
        "/healthz": {"get": _status("healthz", "Is the process alive?")},
        "/readyz": {"get": {**_status("readyz", "May it be sent requests?")}},
        "/metrics": {
            "get": {
                "operationId": "metrics",
                "summary": "Counters for Prometheus",
                "responses": {"200": {"description": "The counters", "content":
                                      {"text/plain": {"schema": _TEXT}}}},
            }
        },
        "/openapi.json": {
            "get": {
                "operationId": "openapi",
                "summary": "This document",
                "responses": {"200": {"description": "The document", "content":
                                      {"application/json": {"schema": _OBJECT}}}},
            }
        },
        "/": {
            "get": {
                "operationId": "page",
                "summary": "The page for people",
                "responses": {"200": {"description": "The page", "content":
                                      {"text/html": {"schema": _TEXT}}}},
            }
        },
    }  # fmt: skip


def _operation(
    name: str,
    summary: str,
    offered: Mapping[str, str],
    schema: Schema | None,
    *,
    parameters: Sequence[Schema] = (),
    body: Schema | None = None,
    archives: bool = False,
    missing: bool = False,
    unbounded: bool = True,
) -> Schema:
    content: dict[str, object] = {}
    for media, form in offered.items():
        structured = form in ("json", "yaml")
        if schema is None:
            content[media] = {}
        else:
            content[media] = {"schema": schema if structured else _TEXT}
    found: Schema = {"operationId": name, "summary": summary}
    if parameters:
        found["parameters"] = list(parameters)
    statuses = ["400", "406", "500", "503", "504"]
    if body is not None:
        taken: dict[str, Schema] = {
            "application/json": {"schema": body},
            "application/yaml": {"schema": body},
        }
        if archives:
            binary: Schema = {"schema": {"type": "string", "format": "binary"}}
            taken |= {"application/zip": binary, "application/gzip": binary}
        found["requestBody"] = {"required": True, "content": taken}
        statuses += ["408", "413", "415"]
    if missing:
        statuses.append("404")
    found["responses"] = {
        "200": {"description": "The answer", "content": content},
        **{status: _refusal(status) for status in sorted(statuses)},
    }
    return found


def _status(name: str, summary: str) -> Schema:
    media = {"application/json": {"schema": _object({"status": _TEXT}, ["status"])}}
    return {
        "operationId": name,
        "summary": summary,
        "responses": {"200": {"description": "Yes", "content": media}, "503": _refusal("503")},
    }


def _refusal(status: str) -> Schema:
    found: Schema = {
        "description": "Why it is refused",
        "content": {name: {"schema": _ref("Error")} for name in DOCUMENT},
    }
    if status in ("503", "504"):
        found["headers"] = {"Retry-After": {"schema": {"type": "integer"},
                                            "description": "Seconds to wait"}}  # fmt: skip
    return found


def _body(fields: Mapping[str, object], required: Iterable[str] = ()) -> Schema:
    return _object(fields, required, closed=True)


def _object(
    fields: Mapping[str, object], required: Iterable[str] = (), *, closed: bool = False
) -> Schema:
    found: Schema = {"type": "object", "properties": dict(fields)}
    if list(required):
        found["required"] = list(required)
    if closed:
        found["additionalProperties"] = False
    return found


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _name() -> Schema:
    return {"type": "string", "maxLength": 200}


def _parameter(name: str, schema: Schema, *, required: bool = False, example: str = "") -> Schema:
    found: Schema = {"name": name, "in": "query", "schema": schema}
    if required:
        found["required"] = True
    if example:
        found["example"] = example
    return found


def _criteria_fields() -> dict[str, object]:
    return {**dict.fromkeys(DIMENSIONS, _TEXT), "gpu": _TEXT, "nodes": _NODES}


def _criteria_parameters() -> list[Schema]:
    found = [_parameter(name, _TEXT) for name in (*DIMENSIONS, "gpu")]
    return [*found, _parameter("nodes", _NODES)]


def _schemas() -> dict[str, object]:
    row = _object(
        {
            "component": _TEXT, "change": {"enum": ["version", "identity", "added", "removed",
                                                    "replaced"]},
            "from": _TEXT, "to": _TEXT,
            "verdict": {"enum": ["safe", "manual", "blocked", "unknown", "unversioned"]},
            "notes": _TEXT, "reason": _TEXT, "explanation": _TEXT, "breaking": _BOOLEAN,
            "downgrade": _BOOLEAN, "failsRun": _BOOLEAN,
            "steps": {"type": "array", "items": _object({"id": _TEXT, "description": _TEXT,
                                                         "reason": _TEXT})},
            "references": _TEXTS, "path": _TEXTS, "landAt": _TEXT, "stoppedAt": _TEXT,
            "precondition": _TEXT,
        },
        ["component", "change", "notes", "breaking", "downgrade", "failsRun"],
    )  # fmt: skip
    return {
        "Criteria": _object(_criteria_fields(), closed=True),
        "Document": {
            "description": "A recipe as a document, its text (YAML or JSON), or a bundle's archive",
            "anyOf": [_OBJECT, _TEXT, _object({"archive": {"type": "string",
                                                           "contentEncoding": "base64"}},
                                              ["archive"])],
        },
        "Recipe": _object(
            {"kind": {"const": "RecipeResult"}, "apiVersion": _TEXT, "metadata": _OBJECT,
             "criteria": _OBJECT, "componentRefs": {"type": "array"}, "deploymentOrder": _TEXTS},
            ["kind", "apiVersion", "componentRefs", "deploymentOrder"],
        ),
        "Report": _object(
            {"from": _TEXT, "to": _TEXT, "deployer": _TEXT,
             "components": {"type": "array", "items": row}, "atRisk": _OBJECT,
             "summary": _object({"components": {"type": "integer"},
                                 "failing": {"type": "integer"}}, ["components", "failing"])},
            ["from", "to", "objectNamesCompared", "components", "atRisk", "summary"],
        ),
        "Plan": _object(
            {"from": _TEXT, "to": _TEXT, "mode": _TEXT, "stages": {"type": "array"},
             "held": {"type": "array"}, "summary": _OBJECT},
            ["from", "to", "mode", "stages", "held", "summary"],
        ),
        "Error": _object(
            {"code": {"enum": sorted(HTTP_STATUSES)}, "message": _TEXT, "details": _OBJECT,
             "requestId": _TEXT, "timestamp": _TEXT, "retryable": _BOOLEAN},
            ["code", "message", "details", "requestId", "timestamp", "retryable"],
        ),
    }  # fmt: skip
