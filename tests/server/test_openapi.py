"""The API does what its own document says, whatever it is sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from live_server import PATIENCE, LiveServer

FIXED = {"/", "/metrics", "/openapi.json", "/healthz", "/readyz"}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


def test_the_document_names_every_address(server: LiveServer) -> None:
    document = server.get("/openapi.json").values
    assert document["openapi"] == "3.1.0"
    paths = document["paths"]
    assert isinstance(paths, dict)
    for path in FIXED:
        assert path in paths
        assert server.get(path).status == 200


@pytest.mark.parametrize("mode", ["POSITIVE", "NEGATIVE"])
def test_as_the_document_says(server: LiveServer, mode: str) -> None:
    schema: Any = schemathesis.openapi.from_dict(json.loads(server.get("/openapi.json").body))
    generation = getattr(schemathesis.GenerationMode, mode)
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path in FIXED or (mode == "NEGATIVE" and operation.method == "get"):
            continue

        @settings(
            max_examples=10, phases=(Phase.generate,), derandomize=True, database=None,
            deadline=None, suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(case=operation.as_strategy(generation_mode=generation))
        def answers(case: Any) -> None:
            response = case.call(base_url=server.url, timeout=PATIENCE)
            case.validate_response(response, checks=CHECKS)

        answers()
