"""Exec over WebSocket: whole answers, and streams that are cut, late or refused."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from aicr.cluster.connection import Connection, Patience
from aicr.cluster.exec import Ran, run
from aicr.cluster.failures import ApiError
from aicr.errors import FORBIDDEN, NOT_FOUND, TIMEOUT, UNAVAILABLE, AicrError
from kube_double import KubeDouble
from kube_double_exec import Result, serve_exec
from kube_double_fixtures import Connect
from kube_double_rbac import User


def pod(double: KubeDouble) -> KubeDouble:
    double.namespace("nats-system")
    store = double.store
    meta = {"name": "box", "namespace": "nats-system"}
    store.seed(store.kind("", "pods"), {"metadata": meta, "spec": {}})
    return double


def ask(connection: Connection, *command: str, seconds: float = 5.0, largest: int = 10**6) -> Ran:
    return run(
        connection, "nats-system", "box", command or ("true",), seconds=seconds, largest=largest
    )


def says(double: KubeDouble, result: Result) -> list[list[str]]:
    return serve_exec(pod(double), lambda command: result)


def test_a_command(bare: KubeDouble, connect: Connect) -> None:
    big = bytes(range(256)) * 1000

    def echo(command: Sequence[str]) -> Result:
        return Result(big, " ".join(command).encode())

    commands = serve_exec(pod(bare), echo)
    ran = ask(connect(bare), "nats", "stream ls", "--json", "a&b=c")
    assert (ran.code, ran.stdout) == (0, big)
    assert ran.stderr == b"nats stream ls --json a&b=c"
    assert commands == [["nats", "stream ls", "--json", "a&b=c"]]
    request = bare.requests[-1]
    assert "v5.channel.k8s.io" in request.headers["Sec-WebSocket-Protocol"]
    assert (request.query["stdin"], request.query["tty"]) == ("false", "false")


def test_a_status_that_is_not_zero(bare: KubeDouble, connect: Connect) -> None:
    says(bare, Result(stderr=b"nats: error: no message found (10037)", code=1))
    ran = ask(connect(bare))
    assert (ran.code, ran.stdout) == (1, b"")
    assert b"10037" in ran.stderr


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_stream_that_is_cut_is_no_answer(bare: KubeDouble, connect: Connect, after: int) -> None:
    says(bare, Result(b'{"streams": null}', cut=after))
    with pytest.raises(AicrError) as error:
        ask(connect(bare))
    assert error.value.code == UNAVAILABLE
    assert "cut" in error.value.message


def test_a_command_that_says_nothing(bare: KubeDouble, connect: Connect) -> None:
    says(bare, Result(hang=3.0))
    start = time.monotonic()
    with pytest.raises(AicrError) as error:
        ask(connect(bare), seconds=0.3)
    assert error.value.code == TIMEOUT
    assert time.monotonic() - start < 2


def test_a_command_that_says_too_much(bare: KubeDouble, connect: Connect) -> None:
    says(bare, Result(b"x" * 5000))
    with pytest.raises(AicrError, match="more than 1000 bytes"):
        ask(connect(bare), largest=1000)


def test_refusals(bare: KubeDouble, connect: Connect) -> None:
    says(bare, Result(b"x"))
    with pytest.raises(ApiError) as missing:
        run(connect(bare), "nats-system", "gone", ["true"])
    assert missing.value.code == NOT_FOUND
    bare.tokens["poor"] = User("poor", ("system:authenticated",))
    with pytest.raises(ApiError) as forbidden:
        ask(connect(bare, token="poor"))
    assert forbidden.value.code == FORBIDDEN
    assert "no permission to get and create pods/exec" in forbidden.value.message


def test_a_server_that_is_not_there(bare: KubeDouble, connect: Connect) -> None:
    connection = connect(bare)
    bare.stop()
    with pytest.raises(AicrError) as error:
        ask(connection)
    assert error.value.code == UNAVAILABLE


def test_over_tls(tmp_path: Path) -> None:
    with KubeDouble(tmp_path, tls=True) as double:
        says(double, Result(b"secret channel"))
        good = Connection(str(double.kubeconfig()), patience=Patience(sleep=lambda seconds: None))
        assert ask(good).stdout == b"secret channel"
        (tmp_path / "other").mkdir()
        with KubeDouble(tmp_path / "other", tls=True) as other:
            assert other.authority is not None
            wrong = {"certificate-authority": str(other.authority.certificate)}
            path = double.kubeconfig(cluster=wrong, name="wrong")
            with pytest.raises(AicrError) as error:
                ask(Connection(str(path)))
            assert "certificate" in error.value.message
