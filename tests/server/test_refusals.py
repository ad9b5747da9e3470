"""What may not be asked, and how the refusal reads."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from live_server import Answer, LiveServer

RECIPE = b"kind: RecipeResult\ncomponentRefs: [{name: a, type: Helm, source: s, version: 1.0.0}]\n"
YAML = "application/yaml"


def refused(answer: Answer, status: int, code: str, *parts: str) -> dict[str, object]:
    assert answer.status == status, answer.text
    values = answer.values
    assert set(values) == {"code", "message", "details", "requestId", "timestamp", "retryable"}
    assert values["code"] == code
    assert values["requestId"] == answer.headers["x-request-id"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(values["timestamp"]))
    for part in parts:
        assert part in json.dumps(values, ensure_ascii=False)
    return values


@pytest.mark.parametrize(
    "field", ["inherit-from", "inheritFrom", "snapshot", "data", "catalog", "kubeconfig", "setFile"]
)
def test_what_names_a_path_is_not_taken(server: LiveServer, field: str) -> None:
    said = (field, "command line")
    refused(server.get(f"/v1/recipe?service=eks&{field}=x"), 400, "INVALID_REQUEST", *said)
    body = {"service": "eks", field: "x"}
    refused(server.post("/v1/recipe", body), 400, "INVALID_REQUEST", *said)
    body = {"from": RECIPE.decode(), field: "x"}
    refused(server.post("/v1/upgrade-check", body), 400, "INVALID_REQUEST", *said)


@pytest.mark.parametrize("field", ["data", "inheritFrom", "snapshot"])
@pytest.mark.parametrize(
    "verb", ["recipe", "query", "bundle", "upgrade-check", "upgrade-plan", "mirror-list"]
)
def test_nor_by_any_address(server: LiveServer, verb: str, field: str) -> None:
    said = (f"{field}: names something", "use the command aicr there")
    body = {"criteria": {"service": "eks"}, field: "x"}
    for media, sent in (("application/json", json.dumps(body)), (YAML, f"{field}: x\n")):
        answer = server.post(f"/v1/{verb}", sent.encode(), media=media)
        refused(answer, 400, "INVALID_REQUEST", *said)
    answer = server.post(f"/v1/{verb}?{field}=x", RECIPE, media=YAML)
    refused(answer, 400, "INVALID_REQUEST", *said)


@pytest.mark.parametrize("path", ["query", "criteria", "components", "records/nfd"])
def test_nor_where_nothing_is_sent(server: LiveServer, path: str) -> None:
    answer = server.get(f"/v1/{path}?data=x")
    refused(answer, 400, "INVALID_REQUEST", "data: names something")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"kind": "RecipeCriteria", "data": "x", "spec": {"service": "eks"}}, "data: names some"),
        ({"kind": "RecipeCriteria", "spec": {"service": "eks", "data": "x"}}, "data: names some"),
        ({"criteria": {"service": "eks", "snapshot": "x"}}, "snapshot: names some"),
        ({"kind": "RecipeCriteria", "colour": "red", "spec": {"service": "eks"}}, "colour: not kn"),
    ],
)
def test_nor_further_in(server: LiveServer, body: dict[str, object], said: str) -> None:
    refused(server.post("/v1/recipe", body), 400, "INVALID_REQUEST", said)


def test_criteria_beside_the_recipe_that_has_them(server: LiveServer, old_recipe: Path) -> None:
    body: dict[str, object] = {"from": old_recipe.read_text("utf-8")}
    assert server.post("/v1/recipe", body).status == 200
    for more in ({"service": "gke"}, {"criteria": {"service": "gke"}}, {"criteriaStrict": True}):
        answer = server.post("/v1/recipe", {**body, **more})
        refused(answer, 400, "INVALID_REQUEST", f"from and {next(iter(more))}: ", "not both")
    answer = server.post("/v1/query", {**body, "service": "eks", "selector": "."})
    refused(answer, 400, "INVALID_REQUEST", "from: not known here")


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("/v1/recipe", ("no criteria", "service")),
        ("/v1/recipe?service=eksx", ("did you mean", "eks")),
        ("/v1/recipe?service=eks&colour=red", ("colour", "not known here")),
        ("/v1/recipe?service=eks&service=gke", ("service: is there twice",)),
        ("/v1/recipe?service=eks&nodes=many", ("nodes", "whole number")),
        ("/v1/recipe?service=eks&nodes=-1", ("nodes",)),
        ("/v1/recipe?service=%ff", ("query cannot be read",)),
        ("/v1/recipe?service=%00", ("NUL",)),
        ("/v1/query?service=eks", ("selector: is missing",)),
        ("/v1/recipe?service=" + "x" * 9000, ("longer than",)),
    ],
)
def test_a_query_that_is_wrong(server: LiveServer, path: str, parts: tuple[str, ...]) -> None:
    refused(server.get(path), 400, "INVALID_REQUEST", *parts)


def test_what_is_not_there(server: LiveServer) -> None:
    refused(server.get("/v2/recipe"), 404, "NOT_FOUND")
    refused(server.get("/v1/records/nothing"), 404, "NOT_FOUND", "nothing")
    refused(server.get("/v1/records/..%2f..%2fetc%2fpasswd"), 404, "NOT_FOUND")
    path = "/v1/query?service=eks&intent=training&selector=components.nothing"
    refused(server.get(path), 404, "NOT_FOUND", "available keys")


def test_methods_and_media(server: LiveServer) -> None:
    answer = server.ask("PUT", "/v1/recipe")
    refused(answer, 405, "INVALID_REQUEST")
    assert "POST" in answer.headers["allow"]
    refused(server.get("/v1/recipe?service=eks", accept="image/png"), 406, "INVALID_REQUEST")
    body = RECIPE
    form = "application/x-www-form-urlencoded"
    refused(server.post("/v1/upgrade-check", body, media=form), 415, "INVALID_REQUEST", "use")
    packed = server.post("/v1/upgrade-check", body, media=YAML, content_encoding="br")
    refused(packed, 415, "INVALID_REQUEST", "gzip")


@pytest.mark.parametrize(
    ("media", "body", "parts"),
    [
        ("application/json", b"{", ("body:1", "not valid JSON")),
        ("application/json", b'{"from": 1, "from": 2}', ("twice",)),
        ("application/json", b"[1]", ("expected a map",)),
        ("application/json", b'{"from": NaN}', ("NaN",)),
        ("application/json", b'{"from": "\\ud800"}', ("surrogate",)),
        ("application/json", b'{"from": ' + b"[" * 60_000, ("body",)),
        ("application/json", b'{"from": ' + b'{"a":' * 70 + b"1" + b"}" * 71, ("nested deeper",)),
        ("application/json", b"\xff\xfe", ("UTF-8",)),
        ("application/json", b'{"from": {"archive": "AAAA"}}', ("base64",)),
        ("application/json", b"{}", ("from: is missing",)),
        ("application/json", b'{"from": "/etc/passwd"}', ("expected a map",)),
        ("application/json", b'{"from": "cm://ns/name"}', ("expected a map",)),
        ("application/json", b'{"from": "cluster"}', ("expected a map",)),
        ("application/json", b'{"from": {"path": "/etc/passwd"}}', ("kind",)),
        (YAML, b"a: [", ("body",)),
        (YAML, b"a: &x [*x]", ("stands inside",)),
        (YAML, b"&a [&b [&c [c, c], *c, *c], *b]", ("expected a map",)),
        (YAML, b"[" * 100, ("nested deeper",)),
        (YAML, b"kind: RecipeResult\n", ("no components",)),
        ("application/zip", b"PK\x03\x04garbage", ("zip",)),
        ("application/gzip", b"\x1f\x8bgarbage", ("gzip",)),
        ("application/gzip", gzip.compress(b"no tar at all", mtime=0), ("tar",)),
    ],
)  # fmt: skip
def test_a_body_that_is_wrong(
    server: LiveServer, media: str, body: bytes, parts: tuple[str, ...]
) -> None:
    answer = server.post("/v1/upgrade-check", body, media=media)
    refused(answer, 400, "INVALID_REQUEST", *parts)


def test_a_body_that_is_too_large(server: LiveServer) -> None:
    large = b" " * (4 * 1024 * 1024 + 1)
    refused(server.post("/v1/upgrade-check", large), 413, "INVALID_REQUEST", "4194304")
    bomb = gzip.compress(large)
    answer = server.post("/v1/upgrade-check", bomb, content_encoding="gzip")
    refused(answer, 413, "INVALID_REQUEST")
    archive = gzip.compress(b"\0" * (64 * 1024 * 1024))
    answer = server.post("/v1/upgrade-check", archive, media="application/gzip")
    refused(answer, 400, "INVALID_REQUEST", "unpacks to more")


def test_a_body_may_be_packed(server: LiveServer, old_recipe: Path) -> None:
    data = old_recipe.read_bytes()
    path = "/v1/upgrade-check?deployer=helm"
    plain = server.post(path, data, media=YAML)
    packed = server.post(path, gzip.compress(data), media=YAML, content_encoding="gzip")
    assert plain.status == packed.status == 200
    assert plain.body == packed.body


def test_flags_are_named_as_fields(server: LiveServer, old_recipe: Path) -> None:
    answer = server.post("/v1/upgrade-check", old_recipe.read_bytes(), media=YAML)
    values = refused(answer, 400, "INVALID_REQUEST", "deployer is required")
    assert "--" not in str(values["message"])


def test_a_kustomize_component_is_not_fetched(server: LiveServer) -> None:
    recipe = {"kind": "RecipeResult", "componentRefs": [
        {"name": "a", "type": "Kustomize", "source": "https://169.254.169.254/x", "tag": "v1"}],
        "deploymentOrder": ["a"]}  # fmt: skip
    body = {"recipe": recipe, "deployer": "helm"}
    refused(server.post("/v1/bundle", body), 400, "INVALID_REQUEST", "Kustomize", "fetches nothing")


def test_charts_are_not_fetched(server: LiveServer) -> None:
    answer = server.post("/v1/mirror-list", {"criteria": {"service": "eks"}})
    refused(answer, 400, "INVALID_REQUEST", "charts-dir")


def test_a_values_file_outside_the_catalog_is_not_read(server: LiveServer) -> None:
    ref = {"name": "nfd", "type": "Helm", "source": "https://x.example", "chart": "c",
           "version": "1.0.0"}  # fmt: skip
    for field in ({"valuesFile": "/etc/passwd"}, {"manifestFiles": ["../../../etc/passwd"]}):
        recipe = {"kind": "RecipeResult", "componentRefs": [{**ref, **field}],
                  "deploymentOrder": ["nfd"]}  # fmt: skip
        answer = server.post("/v1/bundle", {"recipe": recipe, "deployer": "helm"})
        refused(answer, 400, "INVALID_REQUEST", "etc/passwd")


def test_it_listens_on_this_machine_alone(server: LiveServer) -> None:
    table = Path(f"/proc/{server.process.pid}/net/tcp").read_text("ascii").splitlines()[1:]
    listening = {line.split()[1] for line in table if line.split()[3] == "0A"}
    port = f"{server.port:04X}"
    assert {one.split(":")[0] for one in listening if one.endswith(port)} == {"0100007F"}


def test_a_refusal_in_yaml(server: LiveServer) -> None:
    answer = server.get("/v1/recipe?service=eksx", accept=YAML)
    assert answer.headers["content-type"] == YAML
    assert answer.text.startswith("code: INVALID_REQUEST\n")


def test_request_ids(server: LiveServer) -> None:
    assert server.get("/healthz", x_request_id="abc-1").headers["x-request-id"] == "abc-1"
    assert server.get("/healthz", x_request_id="a b<").headers["x-request-id"] != "a b<"


def test_every_answer_is_guarded(server: LiveServer) -> None:
    for path in ("/v1/recipe?service=eks", "/v1/recipe?service=eks", "/nothing", "/metrics", "/"):
        headers = server.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_metrics(server: LiveServer) -> None:
    server.get("/v1/recipe?service=eks")
    text = server.get("/metrics").text
    assert re.search(
        r'aicr_http_requests_total\{method="GET",route="/v1/recipe",status="200"\} \d', text
    )
    assert 'aicr_http_request_seconds_bucket{le="+Inf",route="/v1/recipe"}' in text
    assert "aicr_build_info{" in text
    assert "process_resident_memory_bytes" in text
