from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from aicr.artifact.image_ref import ImageRef, parse_image
from aicr.artifact.registry_auth import DockerConfig, read_docker_config
from aicr.errors import AicrError
from aicr.nvcf.mirror_check import mirror_check, worst
from aicr.nvcf.registry import (
    ACCEPT,
    DOCKER_LIST,
    OCI_INDEX,
    OCI_MANIFEST,
    Registry,
    RegistryError,
)
from registry_double import PASSWORD, USER, Registries, Web, replay, send
from tools import tool

RECORDED = Path(__file__).parent.parent / "data" / "kube" / "registry"
IMAGE = "nvcf/nvcf-worker-task-oss"
INDEX = "sha256:63a6735a1f9944910425782b7ad86018b4433c568af7a94afb34b0b9f99d346d"
AMD64 = "sha256:d9ee3d9d317f73a9fa7e1aa9300a8234cc65aff80d07fa17948f9bd286ac13e9"
CONFIG_AMD64 = "sha256:5f45e785a1ae4e4c27a7e7e867ba5c9478fd74632ed97b072e25c05ec2a7ae57"
BOTH = ["amd64", "arm64"]


def recorded(name: str) -> bytes:
    return json.dumps(json.loads((RECORDED / name).read_text())["response"]["body"]).encode()


def digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


@pytest.fixture(scope="module")
def registries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registries]:
    tool("docker-registry")
    found = Registries(tmp_path_factory.mktemp("registries"))
    try:
        layers = b"layer"
        for architecture in BOTH:
            config = recorded(f"config-{architecture}.json")
            found.push_blob(IMAGE, config, digest(config))
            manifest = json.loads(recorded(f"manifest-{architecture}.json"))
            manifest["layers"][0] |= {"digest": digest(layers), "size": len(layers)}
            found.push_blob(IMAGE, layers, digest(layers))
            data = json.dumps(manifest).encode()
            found.push(IMAGE, architecture, data, OCI_MANIFEST)
        manifests = [
            {
                "mediaType": OCI_MANIFEST,
                "digest": pushed(found, architecture),
                "size": 1,
                "platform": {"architecture": architecture, "os": "linux"},
            }
            for architecture in BOTH
        ]
        index = {"schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": manifests}
        found.push(IMAGE, "1.1.6", json.dumps(index).encode(), OCI_INDEX)
        yield found
    finally:
        found.stop()


def pushed(registries: Registries, tag: str) -> str:
    plain = Registry(DockerConfig("none", {}), plain_http=[registries.open], wait=0.0)
    return plain.image(ref(registries.open, tag)).digest


def ref(host: str, tag: str = "1.1.6", *, image: str = IMAGE) -> ImageRef:
    found = parse_image(f"{host}/{image}{'@' if tag.startswith('sha256:') else ':'}{tag}")
    assert found is not None
    return found


def anonymous(host: str) -> Registry:
    return Registry(DockerConfig("none", {}), plain_http=[host], wait=0.0)


def config_file(folder: Path, host: str, *, password: str = PASSWORD) -> DockerConfig:
    auth = base64.b64encode(f"{USER}:{password}".encode()).decode()
    path = folder / "config.json"
    path.write_text(json.dumps({"auths": {host: {"auth": auth}}}))
    return read_docker_config(str(path))


# A real registry.


def test_an_open_registry(registries: Registries) -> None:
    found = anonymous(registries.open).image(ref(registries.open))
    assert found.is_index
    assert found.architectures == BOTH
    answer = mirror_check(
        anonymous(registries.open), ref(registries.open), architectures=BOTH, digests=[found.digest]
    )
    assert answer.outcome == "present"


def test_a_single_manifest_says_its_architecture_in_its_configuration(
    registries: Registries,
) -> None:
    host = registries.open
    found = anonymous(host).image(ref(host, "amd64"))
    assert not found.is_index
    assert found.architectures == ["amd64"]
    assert CONFIG_AMD64 in found.digests
    answer = mirror_check(anonymous(host), ref(host, "amd64"), architectures=BOTH)
    assert answer.outcome == "architecture-missing"
    assert "lacks arm64" in answer.why


def test_another_digest_than_the_selected_one(registries: Registries) -> None:
    host = registries.open
    answer = mirror_check(
        anonymous(host), ref(host), architectures=BOTH, digests=["sha256:" + "0" * 64]
    )
    assert answer.outcome == "digest-differs"
    # The digest of one architecture's manifest or configuration is one of the image's own.
    for one in (pushed(registries, "arm64"), CONFIG_AMD64):
        answer = mirror_check(anonymous(host), ref(host), architectures=BOTH, digests=[one])
        assert answer.outcome == "present"


@pytest.mark.parametrize(("image", "tag"), [(IMAGE, "9.9.9"), ("nvcf/not-there", "1")])
def test_what_is_not_there(registries: Registries, image: str, tag: str) -> None:
    host = registries.open
    answer = mirror_check(anonymous(host), ref(host, tag, image=image), architectures=BOTH)
    assert answer.outcome == "not-found"
    assert "MANIFEST_UNKNOWN" in answer.why


def test_a_digest_that_is_not_there(registries: Registries) -> None:
    host = registries.open
    answer = mirror_check(anonymous(host), ref(host, "sha256:" + "0" * 64), architectures=BOTH)
    assert answer.outcome == "not-found"


@pytest.mark.parametrize("which", ["password", "token"])
def test_a_registry_with_logins(registries: Registries, which: str, tmp_path: Path) -> None:
    host: str = getattr(registries, which)
    ca = str(registries.authority.certificate)
    good = Registry(config_file(tmp_path, host), ca=ca, wait=0.0)
    assert mirror_check(good, ref(host), architectures=BOTH).outcome == "present"
    bad = Registry(config_file(tmp_path, host, password="wrong"), ca=ca, wait=0.0)
    answer = mirror_check(bad, ref(host), architectures=BOTH)
    assert answer.outcome == "unauthorised"
    nobody = Registry(DockerConfig("none", {}), ca=ca, wait=0.0)
    answer = mirror_check(nobody, ref(host), architectures=BOTH)
    assert answer.outcome == "unauthorised"
    assert PASSWORD not in answer.why
    assert {method for method, _ in registries.token_requests} <= {"GET"}
    assert {method for method, _ in good.reads} == {"GET"}


def test_one_token_is_asked_for_and_used_again(registries: Registries, tmp_path: Path) -> None:
    host = registries.token
    before = len(registries.token_requests)
    registry = Registry(
        config_file(tmp_path, host), ca=str(registries.authority.certificate), wait=0.0
    )
    registry.image(ref(host))
    assert len(registries.token_requests) == before + 1


def test_a_certificate_that_nobody_vouches_for(registries: Registries) -> None:
    registry = Registry(DockerConfig("none", {}), wait=0.0)
    answer = mirror_check(registry, ref(registries.password), architectures=BOTH)
    assert answer.outcome == "unreachable"
    assert "certificate" in answer.why.lower()


def test_the_folder_of_certificates_by_host(registries: Registries, tmp_path: Path) -> None:
    host = registries.password
    folder = tmp_path / "certs.d" / host
    folder.mkdir(parents=True)
    (folder / "ca.crt").write_bytes(registries.authority.certificate.read_bytes())
    registry = Registry(config_file(tmp_path, host), certs_d=str(tmp_path / "certs.d"), wait=0.0)
    assert mirror_check(registry, ref(host), architectures=BOTH).outcome == "present"


def test_plain_http_only_where_it_was_asked_for(registries: Registries) -> None:
    registry = Registry(DockerConfig("none", {}), plain_http=["other:80"], wait=0.0)
    answer = mirror_check(registry, ref(registries.open), architectures=BOTH)
    assert answer.outcome == "unreachable"


def test_a_login_from_a_credential_helper(
    registries: Registries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper = tmp_path / "docker-credential-test"
    said = json.dumps({"Username": USER, "Secret": PASSWORD})
    helper.write_text(f"#!/bin/sh\nread host\n[ \"$1\" = get ] && echo '{said}'\n")
    helper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    path = tmp_path / "config.json"
    host = registries.password
    path.write_text(json.dumps({"credHelpers": {host: "test"}}))
    ca = str(registries.authority.certificate)
    registry = Registry(read_docker_config(str(path)), ca=ca, wait=0.0)
    assert mirror_check(registry, ref(host), architectures=BOTH).outcome == "present"
    helper.write_text("#!/bin/sh\necho secret-word; exit 1\n")
    registry = Registry(read_docker_config(str(path)), ca=ca, wait=0.0)
    answer = mirror_check(registry, ref(host), architectures=BOTH)
    assert answer.outcome == "unauthorised"
    assert "secret-word" not in answer.why


# What was recorded.


@pytest.fixture
def replayed() -> Iterator[Web]:
    web = Web(replay(RECORDED))
    yield web
    web.stop()


def test_the_recorded_index(replayed: Web) -> None:
    found = anonymous(replayed.host).image(ref(replayed.host))
    assert found.digest == INDEX == digest((RECORDED / "index.raw").read_bytes())
    assert found.architectures == BOTH
    assert {AMD64, CONFIG_AMD64} <= found.digests
    assert (
        mirror_check(
            anonymous(replayed.host), ref(replayed.host), architectures=BOTH, digests=[INDEX]
        ).outcome
        == "present"
    )


@pytest.mark.parametrize(
    ("tag", "outcome"),
    [
        ("1.1.6", "present"),
        ("1.1.6-attested", "present"),
        ("1.1.6-amd64only", "architecture-missing"),
        ("0.0.0", "not-found"),
    ],
)
def test_recorded_tags(replayed: Web, tag: str, outcome: str) -> None:
    answer = mirror_check(anonymous(replayed.host), ref(replayed.host, tag), architectures=BOTH)
    assert answer.outcome == outcome


def test_an_attestation_is_no_architecture(replayed: Web) -> None:
    found = anonymous(replayed.host).image(ref(replayed.host, "1.1.6-attested"))
    assert found.architectures == BOTH


@pytest.mark.parametrize("name", ["unauthorized-401-basic", "unauthorized-401-bearer"])
def test_recorded_challenges(name: str) -> None:
    one = json.loads((RECORDED / f"{name}.json").read_text())["response"]

    def challenge(request: BaseHTTPRequestHandler) -> None:
        value = one["headers"]["Www-Authenticate"].replace("https:", "http:")
        send(request, 401, b"{}", {"Www-Authenticate": value})

    web = Web(challenge)
    answer = mirror_check(anonymous(web.host), ref(web.host), architectures=BOTH)
    web.stop()
    assert answer.outcome == "unauthorised"
    if "bearer" in name:
        assert "tokens need an https address" in answer.why
        assert len(web.seen) == 1  # nothing was asked of the http address


# What no good registry does.


def test_a_login_never_follows_a_redirect_to_another_host(tmp_path: Path) -> None:
    blobs = Web(lambda request: send(request, 200, recorded("config-amd64.json")))

    def answer(request: BaseHTTPRequestHandler) -> None:
        if "Authorization" not in request.headers:
            send(request, 401, b"{}", {"Www-Authenticate": 'Basic realm="x"'})
        elif "/blobs/" in request.path:
            send(request, 307, b"", {"Location": f"{blobs.url}{request.path}"})
        else:
            send(request, 200, recorded("manifest-amd64.json"), {"Content-Type": OCI_MANIFEST})

    web = Web(answer)
    registry = Registry(config_file(tmp_path, web.host), plain_http=[web.host], wait=0.0)
    found = registry.image(ref(web.host))
    web.stop()
    blobs.stop()
    assert found.architectures == ["amd64"]
    assert web.seen[-1][2].startswith("Basic ")
    assert [authorization for _, _, authorization in blobs.seen] == [""]


@pytest.mark.parametrize(
    ("status", "body", "outcome", "said"),
    [
        (200, b"<html>log in</html>", "unreachable", "not what a registry sends"),
        (500, b"broken", "unreachable", "answered 500: broken"),
        (429, b"slow down", "unreachable", "answered 429"),
        (403, b'{"errors":[{"code":"DENIED","message":"no"}]}', "unauthorised", "DENIED no"),
        (404, b"404 page not found\n", "not-found", "404 page not found"),
        (302, b"", "unreachable", "answered 302"),
    ],
)
def test_other_answers(status: int, body: bytes, outcome: str, said: str) -> None:
    web = Web(lambda request: send(request, status, body))
    answer = mirror_check(anonymous(web.host), ref(web.host), architectures=BOTH)
    web.stop()
    assert answer.outcome == outcome
    assert said in answer.why


def test_a_digest_in_a_header_that_the_content_does_not_have() -> None:
    web = Web(
        lambda request: send(
            request, 200, recorded("index-by-tag.json"), {"Docker-Content-Digest": AMD64}
        )
    )
    answer = mirror_check(anonymous(web.host), ref(web.host), architectures=BOTH)
    web.stop()
    assert answer.outcome == "digest-differs"


def test_an_index_whose_manifests_were_not_mirrored() -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        if request.path.endswith("/1.1.6"):
            send(request, 200, recorded("index-by-tag.json"))
        elif request.path.endswith(AMD64):
            send(request, 200, recorded("manifest-amd64.json"))
        else:
            send(request, 404, b"{}")

    web = Web(answer)
    found = mirror_check(anonymous(web.host), ref(web.host), architectures=BOTH)
    web.stop()
    assert found.outcome == "architecture-missing"
    assert "the manifest is not there" in found.why


def test_a_registry_that_is_away_is_not_a_missing_image() -> None:
    web = Web(lambda request: send(request, 200, b"{}"))
    web.stop()
    answer = mirror_check(anonymous(web.host), ref(web.host), architectures=BOTH)
    assert answer.outcome == "unreachable"


def test_the_first_failure_is_tried_again() -> None:
    answers = [(503, b""), (200, recorded("manifest-amd64.json"))]

    def answer(request: BaseHTTPRequestHandler) -> None:
        if "/blobs/" in request.path:
            send(request, 200, recorded("config-amd64.json"))
        else:
            status, body = answers.pop(0)
            send(request, status, body)

    web = Web(answer)
    found = anonymous(web.host).image(ref(web.host))
    web.stop()
    assert found.architectures == ["amd64"]


def test_all_media_types_are_accepted() -> None:
    assert ACCEPT.count("application/vnd.") == 4
    assert DOCKER_LIST in ACCEPT


def test_the_worst_answer_is_the_commands() -> None:
    web = Web(replay(RECORDED))
    answers = [
        mirror_check(anonymous(web.host), ref(web.host, tag), architectures=BOTH)
        for tag in ("1.1.6", "0.0.0", "1.1.6-amd64only")
    ]
    web.stop()
    assert worst(answers) == "not-found"
    assert worst(answers[:1]) == "present"


# Where logins are found.


@pytest.mark.parametrize(
    ("auths", "repository", "name"),
    [
        ({"h.io": "a"}, "x/y", "a"),
        ({"https://h.io/v1/": "a"}, "x/y", "a"),
        ({"h.io": "a", "h.io/x": "b", "h.io/x/y": "c", "h.io/xx": "d"}, "x/y", "c"),
        ({"h.io/other": "a"}, "x/y", None),
        ({"other.io": "a"}, "x/y", None),
    ],
)
def test_the_longest_path_wins(auths: dict[str, str], repository: str, name: str | None) -> None:
    entries = {key: {"username": value, "password": "p"} for key, value in auths.items()}
    login = DockerConfig("c", {"auths": entries}).login("h.io", repository)
    assert (login.name if login else None) == name


def test_identity_tokens_are_said_to_be_of_no_use() -> None:
    config = DockerConfig("c", {"auths": {"h.io": {"identitytoken": "t"}}})
    with pytest.raises(AicrError, match="an identity token"):
        config.login("h.io", "x")


def test_docker_hub_has_its_own_key() -> None:
    entries = {"https://index.docker.io/v1/": {"username": "u", "password": "p"}}
    login = DockerConfig("c", {"auths": entries}).login("docker.io", "library/alpine")
    assert login is not None
    assert login.name == "u"


def test_a_configuration_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AicrError, match="--registry-config"):
        read_docker_config(str(tmp_path / "not-there.json"))


def test_a_registry_error_names_its_outcome() -> None:
    assert RegistryError("not-found", "x").outcome == "not-found"
