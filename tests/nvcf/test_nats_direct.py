"""Direct connections to real servers: credentials, TLS, context files, and what goes wrong."""

from __future__ import annotations

import builtins
import gc
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nkeys
import pytest

from aicr.errors import UNAVAILABLE, AicrError
from aicr.nvcf.fleet import Nats
from aicr.nvcf.nats_direct import DirectAccess
from aicr.nvcf.nats_place import Place, place_of, read_context
from kube_double_tls import Authority
from nats_jwt import Operator
from nats_process import NatsServer
from nats_servers import Servers
from waiting import until

PASSWORD = "hunter2"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    found = NatsServer(tmp_path)
    yield found
    found.stop()


def works(place: Place) -> None:
    access = DirectAccess(place, seconds=30)
    try:
        assert access.stream_names() == set()
        assert access.many_consumer_names([]) == {}
        assert access.way == "direct"
        assert PASSWORD not in access.source
    finally:
        access.close()


def fails(place: Place) -> str:
    with pytest.raises(AicrError) as error:
        DirectAccess(place, seconds=30)
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


@pytest.mark.parametrize("first", [False, True])
def test_a_certificate_of_the_client(server: NatsServer, tmp_path: Path, first: bool) -> None:
    """By a context file, and with TLS before the server's first word."""
    authority = Authority(tmp_path)
    both, own = authority.issue("server", server=True), authority.issue("operator")
    ca = authority.certificate
    server.extra = (
        f'tls {{ cert_file: "{both}", key_file: "{both}", ca_file: "{ca}", verify: true, '
        f"handshake_first: {str(first).lower()} }}\n"
    )
    server.start()
    context = {"url": f"tls://127.0.0.1:{server.port}", "ca": str(ca), "tls_first": first}
    path = tmp_path / "context.json"
    path.write_text(json.dumps({**context, "cert": str(own), "key": str(own)}))
    works(read_context(str(path)))
    path.write_text(json.dumps(context))
    fails(read_context(str(path)))
    other = tmp_path / "other"
    other.mkdir()
    stranger = str(Authority(other).issue("operator"))
    path.write_text(json.dumps({**context, "cert": stranger, "key": stranger}))
    fails(read_context(str(path)))


@pytest.mark.parametrize("key", ["jetstream_domain", "jetstream_api_prefix", "nsc", "user_jwt"])
def test_a_context_that_leads_elsewhere(tmp_path: Path, key: str) -> None:
    path = tmp_path / "context.json"
    path.write_text(json.dumps({"url": "nats://127.0.0.1:1", key: PASSWORD}))
    with pytest.raises(AicrError, match=key) as error:
        read_context(str(path))
    assert PASSWORD not in error.value.message


def test_creds(server: NatsServer, tmp_path: Path) -> None:
    """A server in operator mode: the user's token, signed by its account, and the user's key."""
    operator = Operator()
    server.extra = operator.configuration()
    server.start()
    good = operator.creds(tmp_path / "user.creds")
    works(place_of(Nats(url=server.url, creds=str(good))))
    context = tmp_path / "context.json"
    context.write_text(json.dumps({"url": server.url, "creds": str(good)}))
    works(read_context(str(context)))
    seed = good.read_text().splitlines()[6]
    for bad in (
        Operator().creds(tmp_path / "stranger.creds"),
        operator.creds(tmp_path / "expired.creds", expires=-60),
    ):
        message = fails(place_of(Nats(url=server.url, creds=str(bad))))
        assert "cannot be reached" in message
        assert "uthorization" in message
        assert not any(line in message for line in bad.read_text().splitlines() if line)
    assert seed.startswith("SU")
    assert "cannot be reached" in fails(place_of(Nats(url=server.url)))


def test_creds_that_may_not_ask(server: NatsServer, tmp_path: Path) -> None:
    """What the account does not allow is never answered: it is no empty list."""
    operator = Operator()
    server.extra = operator.configuration()
    server.start()
    path = operator.creds(
        tmp_path / "user.creds", pub={"deny": ["$JS.API.STREAM.NAMES"]}, sub={"allow": [">"]}
    )
    access = DirectAccess(place_of(Nats(url=server.url, creds=str(path))), seconds=1)
    try:
        with pytest.raises(AicrError, match=r"STREAM\.NAMES"):
            access.stream_names()
    finally:
        access.close()


def test_creds_of_another_kind_of_server(server: NatsServer, tmp_path: Path) -> None:
    server.extra = 'authorization { user: a, password: "b" }\n'
    server.start()
    path = Operator().creds(tmp_path / "user.creds")
    message = fails(place_of(Nats(url=server.url, creds=str(path))))
    assert not any(line in message for line in path.read_text().splitlines() if line)


def test_creds_that_cannot_be_read(server: NatsServer, tmp_path: Path) -> None:
    server.extra = Operator().configuration()
    server.start()
    path = tmp_path / "user.creds"
    path.write_text("no creds\n")
    assert "direct connection" in fails(place_of(Nats(url=server.url, creds=str(path))))


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
    assert "pip install '.[nats]'" in fails(Place("x", url="nats://127.0.0.1:1"))


def test_lists_are_paged_to_the_end(tmp_path: Path) -> None:
    servers = Servers(tmp_path, 1)
    try:
        servers.start()
        with servers.client() as client:

            async def make() -> None:
                for number in range(1100):
                    config = {"name": f"s{number}", "subjects": [f"s{number}"], "storage": "memory"}
                    subject = f"$JS.API.STREAM.CREATE.s{number}"
                    await client.request(subject, json.dumps(config).encode(), timeout=60)

            servers.run(make())
        access = DirectAccess(Place("x", url=servers.url), seconds=60)
        try:
            assert len(access.stream_names()) == 1100
        finally:
            access.close()
    finally:
        servers.stop()


def test_a_server_that_goes_away(tmp_path: Path) -> None:
    servers = Servers(tmp_path, 1)
    servers.start()
    access = DirectAccess(Place("x", url=servers.url), seconds=30)
    try:
        servers.stop()
        until(lambda: access._client.is_closed, "the client sees that the server is gone")
        with pytest.raises(AicrError):
            access.stream_names()
    finally:
        access.close()


def test_where_nobody_is_there_to_answer(server: NatsServer) -> None:
    """An account without JetStream: the server says so at once, and it is no empty list."""
    server.extra = "accounts { plain { users: [{ user: u, password: p }] } }\nno_auth_user: u\n"
    server.start()
    access = DirectAccess(Place("x", url=server.url), seconds=60)
    try:
        for ask in (access.stream_names, lambda: access.many_consumer_names(["s"]),
                    lambda: access.stream("s"), lambda: access.consumer("s", "c"),
                    lambda: access.retained("s", 1, 2, lambda number, body: None)):  # fmt: skip
            with pytest.raises(AicrError) as error:
                ask()
            assert "nobody is there to answer" in error.value.message or (
                "not enabled" in error.value.message
            )
            assert error.value.code == UNAVAILABLE
    finally:
        access.close()


def test_a_connection_that_is_given_up_leaves_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Nobody accepts there: no task is left for the end of the program to complain of."""
    with socket.socket() as silent, caplog.at_level("ERROR", "asyncio"):
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"nats://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(AicrError):
            DirectAccess(Place(url, url=url), seconds=0.5)
        gc.collect()
    assert caplog.text == ""
