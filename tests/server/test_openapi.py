"""The API does what its own document says, whatever it is sent."""

from __future__ import annotations

import json

import pytest

from live_server import LiveServer

schemathesis = pytest.importorskip("schemathesis")
from hypothesis import HealthCheck, Phase, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

NEVER = {"/", "/metrics", "/openapi.json", "/healthz", "/readyz"}


def test_the_document_names_every_address(server: LiveServer) -> None:
    document = server.get("/openapi.json").values
    assert document["openapi"] == "3.1.0"
    paths = document["paths"]
    assert isinstance(paths, dict)
    for path in NEVER:
        assert path in paths
        assert server.get(path).status == 200


@settings(
    max_examples=12, phases=(Phase.generate,), derandomize=True, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
@given(data=st.data())
def test_as_the_document_says(server: LiveServer, data: st.DataObject) -> None:
    document = json.loads(server.get("/openapi.json").body)
    schema = schemathesis.openapi.from_dict(document)
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path in NEVER:
            continue
        case = data.draw(operation.as_strategy())
        response = case.call(base_url=server.url, timeout=30)
        case.validate_response(
            response,
            excluded_checks=[
                # An unknown name of a criterion or a document that is no recipe is no less a text.
                schemathesis.checks.positive_data_acceptance,
                schemathesis.checks.unsupported_method,
            ]
            if hasattr(schemathesis.checks, "positive_data_acceptance")
            else [],
        )
