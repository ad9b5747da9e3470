"""Small requests that would take much: memory, a thread, or the answer to another question."""

from __future__ import annotations

import gzip
import io
import json
import socket
import tarfile
import time
import zipfile
from typing import Any

import pytest

from live_server import LiveServer

RECIPE = b"kind: RecipeResult\ncomponentRefs: [{name: a, type: Helm, source: s, version: 1.0.0}]\n"
BUNDLED = """\
kind: RecipeResult
componentRefs: [{name: a, type: Helm, source: "https://s.example", chart: a, version: 1.0.0}]
"""
CHECK = "/v1/upgrade-check?deployer=helm"
# What each of these took without a bound is minutes, or the memory of the machine.
QUICK = 10.0


def zipped(method: int) -> bytes:
    found = io.BytesIO()
    with zipfile.ZipFile(found, "w", method) as archive:
        archive.writestr("recipe.yaml", bytes(10**7))
    return found.getvalue()


def headers_alone() -> bytes:
    header = tarfile.TarInfo("x")
    header.type = tarfile.XHDTYPE
    return gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) * 5000 + bytes(1024))


HEAVY: dict[str, tuple[str, bytes, str, str]] = {
    "bzip2": (CHECK, zipped(zipfile.ZIP_BZIP2), "application/zip", "neither stored nor deflated"),
    "lzma": (CHECK, zipped(zipfile.ZIP_LZMA), "application/zip", "neither stored nor deflated"),
    "tar headers": (CHECK, headers_alone(), "application/gzip", "headers without files"),
    "directives": (
        CHECK,
        b"".join(b"%%TAG !%x! t:\n" % one for one in range(100_000)) + b"---\na: 1\n",
        "application/yaml",
        "more than 16 %TAG directives",
    ),
    "directives on lines of their own kind": (
        CHECK,
        b"".join(b"%%TAG !%x! t:\r" % one for one in range(100_000)) + b"---\ra: 1\r",
        "application/yaml",
        "more than 16 %TAG directives",
    ),
    "a key twice": (
        CHECK,
        b"{" + b",".join(b'"%x":0' % one for one in range(100_000)) + b',"z":0,"z":0}',
        "application/json",
        'the key "z" is there twice',
    ),
    "unknown fields": (
        CHECK,
        json.dumps({f"k{one}": 1 for one in range(100_000)}).encode(),
        "application/json",
        "and 99980 more: not known here",
    ),
}


@pytest.mark.parametrize(("path", "body", "media", "said"), HEAVY.values(), ids=HEAVY)
def test_small_and_heavy(server: LiveServer, path: str, body: bytes, media: str, said: str) -> None:
    began = time.monotonic()
    answer = server.post(path, body, media=media)
    assert (answer.status, answer.values["code"]) == (400, "INVALID_REQUEST")
    assert said in answer.text.replace('\\"', '"')
    assert len(answer.text) < 10_000
    assert time.monotonic() - began < QUICK


SETS = {
    "many": (["set"], ["a:" + ",".join(f"x{one}=1" for one in range(8000))], "more than the 1000"),
    "an item": (["set"], [f"a:x[{'0' * 5000}]=1"], "needs the number of an item"),
    "a path": (["set"], ["a:" + "x." * 3000 + "x=1"], "no more than 48 steps"),
    "json": (["setJson"], ["a:x=" + "[" * 500 + "]" * 500], "nested too deeply"),
    "json below a path": (
        ["setJson"], ["a:" + "x." * 30 + "x=" + "[" * 30 + "]" * 30], "nested too deeply",
    ),
    "left open": (["dynamic"], ["a:" + "x." * 3000 + "x"], "no more than 48 steps"),
}  # fmt: skip


@pytest.mark.parametrize(("field", "given", "said"), SETS.values(), ids=SETS)
def test_overrides(server: LiveServer, field: list[str], given: list[str], said: str) -> None:
    body = {"recipe": BUNDLED, "deployer": "helm", field[0]: given}
    answer = server.post("/v1/bundle", body)
    assert (answer.status, answer.values["code"]) == (400, "INVALID_REQUEST"), answer.text
    assert said in answer.text


@pytest.mark.parametrize("number", ["1e400", "9" * 71, "-1e999"])
def test_a_number_that_is_none_is_read_as_the_command_reads_it(
    server: LiveServer, number: str
) -> None:
    """It is text, and no whole number and no boolean; it never stands for nothing."""
    criteria = '{"service":"eks","accelerator":"h100","intent":"training"%s}'
    before = json.dumps(RECIPE.decode())
    whole = criteria % f',"nodes":{number}'
    for path, body in (
        ("/v1/recipe", whole),
        ("/v1/bundle", f'{{"criteria":{whole},"deployer":"helm"}}'),
        (CHECK, f'{{"from":{before},"to":{number}}}'),
        (CHECK, f'{{"from":{before},"criteria":{number}}}'),
        (CHECK, f'{{"from":{before},"allowDifferentCriteria":{number}}}'),
    ):
        answer = server.post(path, body.encode(), media="application/json")
        assert (answer.status, answer.values["code"]) == (400, "INVALID_REQUEST"), (path, body)


def test_such_a_number_among_values_is_kept(server: LiveServer) -> None:
    body = {"recipe": {"kind": "RecipeResult", "apiVersion": "aicr.run/v1beta1", "componentRefs": [
        {"name": "a", "type": "Helm", "source": "https://s.example", "chart": "a",
         "version": "1.0.0", "overrides": {"zz": 0}}]}, "deployer": "helm"}  # fmt: skip
    sent = json.dumps(body).replace('"zz": 0', '"zz": 1e999').encode()
    answer = server.post("/v1/bundle", sent, media="application/json", accept="application/zip")
    assert answer.status == 200, answer.text
    with zipfile.ZipFile(io.BytesIO(answer.body)) as archive:
        name = next(one for one in archive.namelist() if one.endswith("a/values.yaml"))
        assert archive.read(name) == b'zz: "1e999"\n'


OTHER_QUESTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("upgrade-check", {"from": "R", "to": None}, "to: is null"),
    ("upgrade-check", {"from": "R", "criteria": None}, "criteria: is null"),
    ("upgrade-check", {"from": "R", "toName": "x"}, "there is no to that it could name"),
    ("upgrade-check", {"from": "R", "criteriaStrict": True}, "is for criteria, and there are none"),
    ("bundle", {"recipe": "R", "fromName": "x"}, "there is no from that it could name"),
    ("bundle", {"criteria": {"service": "eks"}, "recipeName": "x"}, "there is no recipe"),
    ("recipe", {"service": "eks", "fromName": "x"}, "there is no from that it could name"),
]


@pytest.mark.parametrize(("verb", "body", "said"), OTHER_QUESTIONS)
def test_what_belongs_to_nothing(
    server: LiveServer, verb: str, body: dict[str, Any], said: str
) -> None:
    sent = {key: RECIPE.decode() if value == "R" else value for key, value in body.items()}
    answer = server.post(f"/v1/{verb}", sent | ({} if verb == "recipe" else {"deployer": "helm"}))
    assert answer.status == 400, answer.text
    assert said in answer.text


@pytest.mark.parametrize(
    ("nodes", "found"),
    [("010", 10), ("08", 8), ("0x10", None), ("+5", None), ("", None), ("null", None), ("~", None),
     ("999999999", 999_999_999), ("1000000000", None)],
)  # fmt: skip
def test_nodes_in_the_query_are_read_as_on_the_command_line(
    server: LiveServer, nodes: str, found: int | None
) -> None:
    answer = server.get(f"/v1/recipe?service=eks&nodes={nodes.replace('+', '%2B')}")
    assert answer.status == (400 if found is None else 200)
    if found is not None:
        assert f'"nodes": {found}' in answer.text


@pytest.mark.parametrize("value", ["", "null", "yes"])
def test_booleans_in_the_query(server: LiveServer, value: str) -> None:
    answer = server.get(f"/v1/recipe?service=eks&criteriaStrict={value}")
    assert answer.status == 400


def test_a_get_has_no_body(server: LiveServer) -> None:
    sent = b'{"os":"ubuntu"}'
    head = b"GET /v1/recipe?service=eks HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    answer = raw(server, head + b"Content-Length: %d\r\n\r\n%s" % (len(sent), sent))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"a GET has no body" in answer


@pytest.mark.parametrize("media", ["application/zip", "application/gzip"])
@pytest.mark.parametrize("body", [RECIPE, b"PK\x05\x06" + bytes(18)])
def test_what_is_called_an_archive_is_one(server: LiveServer, media: str, body: bytes) -> None:
    answer = server.post(CHECK, body, media=media)
    assert answer.status == 400
    assert "is no .zip or .tar.gz with files in it" in answer.text


def test_a_head_has_its_bound_however_it_arrives(server: LiveServer) -> None:
    for head in (
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 40_000 + b"\r\n\r\n",
        b"GET /v1/recipe?service=" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    ):
        assert raw(server, head).startswith(b"HTTP/1.1 431"), head[:30]


def test_what_is_no_http_behind_requests_is_no_answer_to_them(server: LiveServer) -> None:
    """Answers come in order, or the connection ends."""
    good = b"GET /v1/criteria HTTP/1.1\r\nHost: x\r\n\r\n"
    assert not raw(server, good * 3 + b"FOO / HTTP/1.1\r\n\r\n").startswith(b"HTTP/1.1 4")


def raw(server: LiveServer, sent: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(sent)
        found = b""
        try:
            while piece := connection.recv(65536):
                found += piece
        except ConnectionResetError:
            pass
        return found
