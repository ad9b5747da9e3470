"""Archives in registries: Debian's docker-registry with tokens and with passwords, and bad ones."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from aicr.artifact.oci import OciArtifact, parse_oci
from aicr.errors import AicrError
from registry_double import PASSWORD, USER, Registries, Web, send
from tools import tool

TYPE = "application/vnd.example.v1"
LAYER = b"archive" * 1000


@pytest.fixture(scope="module")
def registries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registries]:
    tool("docker-registry")
    found = Registries(tmp_path_factory.mktemp("registries"))
    try:
        yield found
    finally:
        found.stop()


@pytest.fixture
def trusted(registries: Registries, monkeypatch: pytest.MonkeyPatch) -> Registries:
    monkeypatch.setenv("SSL_CERT_FILE", str(registries.authority.certificate))
    return registries


def login(monkeypatch: pytest.MonkeyPatch, folder: Path, host: str, password: str) -> None:
    auth = base64.b64encode(f"{USER}:{password}".encode()).decode()
    (folder / "config.json").write_text(json.dumps({"auths": {host: {"auth": auth}}}))
    monkeypatch.setenv("DOCKER_CONFIG", str(folder))


def artifact(location: str, *, plain_http: bool = False) -> OciArtifact:
    return OciArtifact(parse_oci(location, "-o"), location, plain_http=plain_http, seconds=5)


@pytest.mark.parametrize("kind", ["open", "password", "token"])
def test_there_and_back(
    trusted: Registries, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    host = getattr(trusted, kind)
    login(monkeypatch, tmp_path, host, PASSWORD)
    location = f"oci://{host}/team/{kind}:v1"
    one = artifact(location, plain_http=kind == "open")
    assert one.type() is None
    digest = one.push(LAYER, artifact_type=TYPE, title="x.tar.gz")
    assert one.push(LAYER, artifact_type=TYPE, title="x.tar.gz") == digest
    assert one.type() == TYPE
    again = artifact(location, plain_http=kind == "open")
    assert again.pull(artifact_type=TYPE, largest=10_000) == LAYER
    by_digest = artifact(f"oci://{host}/team/{kind}@{digest}", plain_http=kind == "open")
    assert by_digest.pull(artifact_type=TYPE, largest=10_000) == LAYER
    with pytest.raises(AicrError, match="7000 bytes, more than the 6999 allowed"):
        again.pull(artifact_type=TYPE, largest=6_999)
    with pytest.raises(AicrError, match=f'found "{TYPE}"'):
        again.pull(artifact_type="other", largest=10_000)


@pytest.mark.parametrize("kind", ["password", "token"])
def test_logins_that_are_not_there_or_wrong(
    trusted: Registries, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    host = getattr(trusted, kind)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "none"))
    one = artifact(f"oci://{host}/team/x:v1")
    with pytest.raises(AicrError, match="wants a login") as caught:
        one.push(LAYER, artifact_type=TYPE, title="x")
    assert (caught.value.code, caught.value.hint) == ("UNAUTHORIZED", f"docker login {host}")
    login(monkeypatch, tmp_path, host, "wrong")
    with pytest.raises(AicrError, match="answered 401") as caught:
        artifact(f"oci://{host}/team/x:v1").type()
    assert caught.value.code == "UNAUTHORIZED"


def test_an_unknown_authority(registries: Registries) -> None:
    with pytest.raises(AicrError, match="cannot be reached") as caught:
        artifact(f"oci://{registries.password}/team/x:v1").type()
    assert caught.value.code == "UNAVAILABLE"


def served(answers: dict[str, tuple[int, bytes, dict[str, str]]]) -> Web:
    def handle(request: BaseHTTPRequestHandler) -> None:
        send(request, *answers.get(request.path, (404, b"", {})))

    return Web(handle)


@pytest.mark.parametrize(
    ("status", "code"),
    [(403, "FORBIDDEN"), (429, "RATE_LIMITED"), (500, "UNAVAILABLE"), (504, "TIMEOUT")],
)
def test_what_a_status_stands_for(status: int, code: str) -> None:
    web = served({"/v2/a/b/manifests/v1": (status, b'{"errors": []}', {})})
    with pytest.raises(AicrError, match=f"answered {status}") as caught:
        artifact(f"oci://{web.host}/a/b:v1", plain_http=True).type()
    web.stop()
    assert caught.value.code == code


def test_content_that_is_not_what_it_says() -> None:
    layer = {"digest": f"sha256:{hashlib.sha256(b'x').hexdigest()}", "size": 1}
    manifest = json.dumps({"artifactType": TYPE, "layers": [layer]}).encode()
    digest = f"sha256:{hashlib.sha256(b'').hexdigest()}"
    web = served(
        {
            "/v2/a/b/manifests/v1": (200, manifest, {}),
            f"/v2/a/b/manifests/{digest}": (200, manifest, {}),
            f"/v2/a/b/blobs/{layer['digest']}": (200, b"y", {}),
        }
    )
    with pytest.raises(AicrError, match="is not what the digest"):
        artifact(f"oci://{web.host}/a/b:v1", plain_http=True).pull(artifact_type=TYPE, largest=9)
    with pytest.raises(AicrError, match="content of another digest"):
        artifact(f"oci://{web.host}/a/b@{digest}", plain_http=True).type()
    web.stop()


def test_a_login_does_not_follow_a_redirect(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    elsewhere = served({"/blob": (200, b"x", {})})
    layer = {"digest": f"sha256:{hashlib.sha256(b'x').hexdigest()}", "size": 1}
    manifest = json.dumps({"artifactType": TYPE, "layers": [layer]}).encode()

    def handle(request: BaseHTTPRequestHandler) -> None:
        if not request.headers.get("Authorization"):
            send(request, 401, b"", {"WWW-Authenticate": 'Basic realm="x"'})
        elif "manifests" in request.path:
            send(request, 200, manifest)
        else:
            send(request, 307, b"", {"Location": f"{elsewhere.url}/blob"})

    web = Web(handle)
    login(monkeypatch, tmp_path, web.host, PASSWORD)
    one = artifact(f"oci://{web.host}/a/b:v1", plain_http=True)
    assert one.pull(artifact_type=TYPE, largest=9) == b"x"
    assert elsewhere.seen == [("GET", "/blob", "")]
    web.stop()
    elsewhere.stop()


@pytest.mark.parametrize(
    "location", ["oci://x", "oci://h.io/A:v1", "oci://h.io/a:v1:v2", "oci://h.io/a", "oci://h/a:v1"]
)
def test_what_is_no_place_in_a_registry(location: str) -> None:
    with pytest.raises(AicrError, match="-o oci://"):
        parse_oci(location, "-o")
