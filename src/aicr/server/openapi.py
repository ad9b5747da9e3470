"""What ``/openapi.json`` says: the API, as a document."""

from __future__ import annotations

from aicr.catalog.model import DIMENSIONS
from aicr.server.endpoints import SCHEDULING_LISTS, SCHEDULING_TEXTS
from aicr.server.negotiation import ARCHIVE, DOCUMENT, MIRROR, PLAN, RECIPE, REPORT, VALUE
from aicr.server.schemas import (
    BOOLEAN,
    CRITERIA_SCHEMA,
    DEPLOYER,
    DOCUMENT_SCHEMA,
    NODES,
    OBJECT,
    TEXT,
    TEXTS,
    criteria_fields,
    mapping,
    ref,
    schemas,
)
from aicr.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aicr.server.schemas import Schema


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
            "components": {"schemas": schemas()},
        }
    ).encode()


def _paths() -> dict[str, object]:
    criteria = [*_criteria_parameters(), _parameter("criteriaStrict", BOOLEAN)]
    selector = _parameter(
        "selector", TEXT, required=True, example="components.gpu-operator.version"
    )
    resolving = {**criteria_fields(), "criteria": CRITERIA_SCHEMA, "criteriaStrict": BOOLEAN}
    again = {"from": DOCUMENT_SCHEMA, "fromName": _name()}
    recipe = {"recipe": DOCUMENT_SCHEMA, "recipeName": _name(), "criteria": CRITERIA_SCHEMA,
              "criteriaStrict": BOOLEAN, "set": TEXTS}  # fmt: skip
    sides = {
        "from": DOCUMENT_SCHEMA, "fromName": _name(), "to": DOCUMENT_SCHEMA, "toName": _name(),
        "criteria": CRITERIA_SCHEMA, "criteriaStrict": BOOLEAN, "deployer": DEPLOYER,
        "allowDifferentCriteria": BOOLEAN,
    }  # fmt: skip
    why_schema: Schema = {**TEXT, "description": "A component that changed: why it got its "
                          "verdict, instead of the report (JSON, YAML or text)"}  # fmt: skip
    why = _parameter("why", why_schema)
    report, plan = ref("Report"), ref("Plan")
    bundle = {
        **recipe,
        **again,
        "deployer": DEPLOYER,
        "repo": TEXT,
        "targetRevision": TEXT,
        "setJson": TEXTS,
        "dynamic": TEXTS,
        **dict.fromkeys(SCHEDULING_LISTS, TEXTS),
        **dict.fromkeys(SCHEDULING_TEXTS, TEXT),
    }
    deployer = _parameter("deployer", DEPLOYER)
    sets = _parameter("set", TEXTS)
    return {
        "/v1/recipe": {
            "get": _operation("resolve", "What a cluster with these criteria should run",
                              RECIPE, ref("Recipe"), parameters=criteria),
            "post": _operation("resolveFrom", "The same, criteria in the body",
                               RECIPE, ref("Recipe"), body=_body({**resolving, **again})),
        },
        "/v1/query": {
            "get": _operation("query", "One value of a recipe", VALUE, {},
                              parameters=[selector, *criteria], missing=True),
            "post": _operation("queryFrom", "The same, criteria in the body", VALUE, {},
                               body=_body({**resolving, "selector": TEXT}, ["selector"]),
                               missing=True),
        },
        "/v1/bundle": {
            "post": _operation("bundle", "What a deployer applies, as an archive", ARCHIVE, None,
                               parameters=[deployer, sets],
                               body=_body(bundle), archives=True),
        },
        "/v1/upgrade-check": {
            "post": _operation("check", "Is the move from what is deployed safe?", REPORT,
                               {"anyOf": [report, ref("Why")]}, parameters=[deployer, why],
                               body=_body({**sides, "why": why_schema}), archives=True,
                               missing=True),
        },
        "/v1/upgrade-plan": {
            "post": _operation(
                "plan", "By which hops to get from what is deployed to a target; as an archive, "
                "with the recipe of each stage", PLAN, plan,
                parameters=[deployer],
                body=_body({**sides, "stages": {"type": "string", "enum": ["hops", "releases"]},
                            "includeUnplanned": BOOLEAN}),
                archives=True,
            ),
        },
        "/v1/mirror-list": {
            "post": _operation(
                "mirrorList", "The images and charts of a recipe: all of them where the "
                "server has the charts, else with allowIncomplete those that are known", MIRROR,
                {"anyOf": [ref("MirrorList"), OBJECT]},
                body=_body({**recipe, "format": {"type": "string",
                                                 "enum": ["yaml", "json", "hauler", "zarf"]},
                            "platforms": TEXTS, "allowIncomplete": BOOLEAN, **again}),
                archives=True,
            ),
        },
        "/v1/criteria": {
            "get": _operation("criteria", "The valid criteria, and those that resolve", DOCUMENT,
                              mapping({"values": OBJECT, "recipes": {"type": "array"}},
                                      ["values", "recipes"]), unbounded=False),
        },
        "/v1/components": {
            "get": _operation("components", "What the registry knows", DOCUMENT,
                              mapping({"components": {"type": "array"}}, ["components"]),
                              unbounded=False),
        },
        "/v1/records/{component}": {
            "get": _operation("records", "The transition records of a component", DOCUMENT,
                              mapping({"component": TEXT, "transitions": {"type": "array"}},
                                      ["component", "transitions"]),
                              parameters=[{"name": "component", "in": "path", "required": True,
                                           "schema": TEXT}],
                              missing=True),
        },
        "/healthz": {"get": _status("healthz", "Is the process alive?")},
        "/readyz": {"get": {**_status("readyz", "May it be sent requests?")}},
        "/metrics": {
            "get": {
                "operationId": "metrics",
                "summary": "Counters for Prometheus",
                "responses": {"200": {"description": "The counters", "content":
                                      {"text/plain": {"schema": TEXT}}}},
            }
        },
        "/openapi.json": {
            "get": {
                "operationId": "openapi",
                "summary": "This document",
                "responses": {"200": {"description": "The document", "content":
                                      {"application/json": {"schema": OBJECT}}}},
            }
        },
        "/": {
            "get": {
                "operationId": "page",
                "summary": "The page for people",
                "responses": {"200": {"description": "The page", "content":
                                      {"text/html": {"schema": TEXT}}}},
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
        if schema is None or form in ARCHIVE.values():
            content[media] = {}
        else:
            content[media] = {"schema": schema if structured else TEXT}
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
    media = {"application/json": {"schema": mapping({"status": TEXT}, ["status"])}}
    return {
        "operationId": name,
        "summary": summary,
        "responses": {"200": {"description": "Yes", "content": media}, "503": _refusal("503")},
    }


def _refusal(status: str) -> Schema:
    found: Schema = {
        "description": "Why it is refused",
        "content": {name: {"schema": ref("Error")} for name in DOCUMENT},
    }
    if status in ("503", "504"):
        found["headers"] = {"Retry-After": {"schema": {"type": "integer"},
                                            "description": "Seconds to wait"}}  # fmt: skip
    return found


def _body(fields: Mapping[str, object], required: Iterable[str] = ()) -> Schema:
    return mapping(fields, required, closed=True)


def _name() -> Schema:
    return {"type": "string", "maxLength": 200}


def _parameter(name: str, schema: Schema, *, required: bool = False, example: str = "") -> Schema:
    found: Schema = {"name": name, "in": "query", "schema": schema}
    if required:
        found["required"] = True
    if example:
        found["example"] = example
    return found


def _criteria_parameters() -> list[Schema]:
    found = [_parameter(name, TEXT) for name in (*DIMENSIONS, "gpu")]
    return [*found, _parameter("nodes", NODES)]
