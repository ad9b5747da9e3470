"""Direct connections to real servers: credentials, TLS, context files, and what goes wrong."""

from __future__ import annotations

import base64
import builtins
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nkeys
import pytest

from aicr.errors import AicrError
from aicr.nvcf.fleet import Nats
from aicr.nvcf.nats_direct import DirectAccess, Place, place_of, read_context
from kube_double_tls import Authority
from nats_servers import NatsServer, Servers

PASSWORD = "hunter2"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    found = NatsServer(tmp_path)
    yield found
    found.stop()


def works(place: Place) -> None:
    access = DirectAccess(place, seconds=2)
    try:
        assert access.stream_names() == set()
        assert access.many_consumer_names([]) == {}
        assert access.way == "direct"
        assert PASSWORD not in access.source
    finally:
        access.close()


def fails(place: Place) -> str:
    with pytest.raises(AicrError) as error:
        DirectAccess(place, seconds=1)
    assert PASSWORD not in error.value.message
    return error.value.message


def seed_file(folder: Path) -> tuple[Path, str]:
    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    path = folder / "user.key"
    path.write_bytes(seed)
    return path, nkeys.from_seed(bytearray(seed)).public_key.decode()


def test_an_nkey(server: NatsServer, tmp_path: Path) -> None:
    path, public = seed_file(tmp_path)
    server.extra = f"authorization {{ users: [{{ nkey: {public} }}] }}\n"
    server.start()
    works(place_of(Nats(url=server.url, nkey=str(path))))
    assert "cannot be reached" in fails(place_of(Nats(url=server.url)))
    other = tmp_path / "other"
    other.mkdir()
    fails(place_of(Nats(url=server.url, nkey=str(seed_file(other)[0]))))
    assert "no such file" in fails(place_of(Nats(url=server.url, nkey="/nowhere")))


def test_a_context_file(server: NatsServer, tmp_path: Path) -> None:
    server.extra = f'authorization {{ user: agent, password: "{PASSWORD}" }}\n'
    server.start()
    path = tmp_path / "context.json"
    path.write_text(json.dumps({"url": server.url, "user": "agent", "password": PASSWORD}))
    works(read_context(str(path)))
    works(Place("x", url=f"nats://agent:{PASSWORD}@127.0.0.1:{server.port}"))
    for text in ("{", "[]", "{}", json.dumps({"password": PASSWORD})):
        path.write_text(text)
        with pytest.raises(AicrError) as error:
            read_context(str(path))
        assert PASSWORD not in error.value.message
    wrong = Place("x", url=server.url, user="agent", password=PASSWORD + "!")
    fails(wrong)


def test_tls(server: NatsServer, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    both = authority.issue("server", server=True)
    server.extra = f'tls {{ cert_file: "{both}", key_file: "{both}" }}\n'
    server.start()
    place = place_of(Nats(url=f"tls://127.0.0.1:{server.port}", ca=str(authority.certificate)))
    works(place)
    other = tmp_path / "other"
    other.mkdir()
    wrong = Authority(other).certificate
    fails(place_of(Nats(url=f"tls://127.0.0.1:{server.port}", ca=str(wrong))))


def test_creds(tmp_path: Path) -> None:
    """A creds file without a server that knows its account: used, and refused."""
    path, _ = seed_file(tmp_path)
    jwt = base64.urlsafe_b64encode(b'{"alg":"ed25519-nkey"}').decode().rstrip("=")
    creds = tmp_path / "user.creds"
    creds.write_text(
        f"-----BEGIN NATS USER JWT-----\n{jwt}.{jwt}.{jwt}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{path.read_text()}\n------END USER NKEY SEED------\n"
    )
    one = NatsServer(tmp_path)
    one.extra = 'authorization { user: a, password: "b" }\n'
    one.start()
    try:
        message = fails(place_of(Nats(url=one.url, creds=str(creds))))
        assert path.read_text() not in message
    finally:
        one.stop()


def test_nobody_there() -> None:
    message = fails(Place("nats://127.0.0.1:1", url="nats://127.0.0.1:1"))
    assert message.startswith("direct connection, nats://127.0.0.1:1: cannot be reached")


def test_without_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def refuse(name: str, *more: Any, **named: Any) -> Any:
        if name == "nats":
            raise ModuleNotFoundError(name)
        return real(name, *more, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert "pip install 'aicr[nats]'" in fails(Place("x", url="nats://127.0.0.1:1"))


def test_lists_are_paged_to_the_end(tmp_path: Path) -> None:
    servers = Servers(tmp_path, 1)
    servers.start()
    try:
        with servers.client() as client:

            async def make() -> None:
                for number in range(1100):
                    config = {"name": f"s{number}", "subjects": [f"s{number}"], "storage": "memory"}
                    subject = f"$JS.API.STREAM.CREATE.s{number}"
                    await client.request(subject, json.dumps(config).encode(), timeout=5)

            servers.run(make())
        access = DirectAccess(Place("x", url=servers.url), seconds=3)
        try:
            assert len(access.stream_names()) == 1100
        finally:
            access.close()
    finally:
        servers.stop()


def test_a_server_that_goes_away(tmp_path: Path) -> None:
    servers = Servers(tmp_path, 1)
    servers.start()
    access = DirectAccess(Place("x", url=servers.url), seconds=0.5)
    try:
        servers.stop()
        with pytest.raises(AicrError):
            access.stream_names()
    finally:
        access.close()
