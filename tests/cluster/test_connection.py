from __future__ import annotations

import json
import time

import pytest

from aicr.cluster import nodes
from aicr.cluster.connection import Connection, Patience
from aicr.errors import AicrError
from kube_double import KubeDouble
from kube_double_faults import TOO_MANY, Answer, Cut, Drop, Fault, Hang, Slow
from kube_double_fixtures import Connect
from kube_servers import Server


def names(connection: Connection) -> list[str]:
    return [node.name for node in nodes.read_nodes(connection)]


@pytest.mark.parametrize(
    "fault", [TOO_MANY, Answer(500, "boom"), Answer(503), Answer(504), Cut(), Cut(200), Drop()]
)
def test_reads_survive_what_passes(fault: Fault, double: KubeDouble, connect: Connect) -> None:
    connection = connect(double)
    double.faults.add(fault, times=4)
    assert len(names(connection)) == 3
    assert len(double.requests) == 5


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        (TOO_MANY, "RATE_LIMITED", "Too many requests"),
        (Answer(500, "boom"), "UNAVAILABLE", "boom"),
        (Answer(504, "late"), "TIMEOUT", "late"),
        (Cut(200), "UNAVAILABLE", "after 5 tries"),
        (Drop(), "UNAVAILABLE", "after 5 tries"),
    ],
)
def test_what_does_not_pass_is_an_error(
    fault: Fault, code: str, said: str, double: KubeDouble, connect: Connect
) -> None:
    connection = connect(double)
    double.faults.add(fault, times=99)
    with pytest.raises(AicrError) as caught:
        names(connection)
    assert caught.value.code == code
    assert said in caught.value.message
    assert len(double.requests) == 5


def test_retry_after_is_honoured(double: KubeDouble) -> None:
    slept: list[float] = []
    connection = Connection(str(double.kubeconfig()), patience=Patience(sleep=slept.append))
    double.faults.add(Answer(429, "", {"Retry-After": "7"}))
    assert names(connection)
    assert 7 <= slept[0] <= 7.2
    double.faults.add(Answer(429, "", {"Retry-After": "3600"}))
    with pytest.raises(AicrError) as caught:
        names(connection)
    assert caught.value.code == "RATE_LIMITED"


def test_waits_grow_and_differ_and_have_an_end() -> None:
    patience = Patience(wait=1.0, longest_wait=5.0)
    for attempt, longest in enumerate((1, 2, 4, 5, 5)):
        waits = [patience.pause(attempt, None) or 0 for _ in range(50)]
        assert longest / 2 <= min(waits) <= max(waits) <= longest
        assert len(set(waits)) > 10  # many clients do not come back at once
    assert patience.pause(0, "6") is None


@pytest.mark.parametrize("status", [400, 404, 409, 422, 501])
def test_nothing_else_is_tried_again(status: int, double: KubeDouble, connect: Connect) -> None:
    connection = connect(double)
    double.faults.add(Answer(status, "no"))
    with pytest.raises(AicrError):
        names(connection)
    assert len(double.requests) == 1


def test_a_redirect_is_not_followed(double: KubeDouble, connect: Connect) -> None:
    connection = connect(double)
    double.faults.add(Answer(302, "", {"Location": "http://example.com/"}))
    with pytest.raises(AicrError):
        names(connection)
    assert len(double.requests) == 1


@pytest.mark.parametrize("fault", [Slow(0.05), Hang(1.0)])
def test_slow_answers_have_an_end(fault: Fault, double: KubeDouble) -> None:
    patience = Patience(request=0.4)
    connection = Connection(str(double.kubeconfig()), patience=patience)
    double.faults.add(fault)
    before = time.monotonic()
    with pytest.raises(AicrError) as caught:
        names(connection)
    assert caught.value.code == "TIMEOUT"
    assert time.monotonic() - before < 2
    assert len(names(connection)) == 3


def test_an_answer_without_end(double: KubeDouble) -> None:
    connection = Connection(str(double.kubeconfig()), patience=Patience(largest=1000))
    with pytest.raises(AicrError) as caught:
        names(connection)
    assert "more than 1000 bytes" in caught.value.message


def test_an_answer_of_something_else(double: KubeDouble, connect: Connect) -> None:
    connection = connect(double)
    double.faults.add(Answer(200, "<html>log in</html>", {"Content-Type": "text/html"}))
    with pytest.raises(AicrError) as caught:
        names(connection)
    assert "not what a Kubernetes API server sends" in caught.value.message
    assert "log in<" not in caught.value.message


def test_a_server_that_dies_between_pages(double: KubeDouble) -> None:
    from aicr.cluster.helm_releases import read_releases
    from kube_double_faults import Run

    quick = Patience(page=3, sleep=lambda seconds: None)
    connection = Connection(str(double.kubeconfig()), patience=quick)
    double.faults.add(Run(double.stop), lambda request: "continue" in request.query)
    with pytest.raises(AicrError) as caught:
        read_releases(connection)
    assert caught.value.code == "UNAVAILABLE"
    assert "cannot be reached after 5 tries" in caught.value.message


def test_a_list_that_was_started_again_is_said_by_every_command(
    double: KubeDouble, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from aicr.cli.main import main
    from kube_double_faults import Run

    defaults = Patience.__init__.__kwdefaults__ or {}
    monkeypatch.setitem(defaults, "page", 2)
    monkeypatch.setenv("KUBECONFIG", str(double.kubeconfig()))
    for verb in ("snapshot", "inventory"):
        double.faults.add(Run(double.store.compact), lambda request: "continue" in request.query)
        assert main([verb]) == 0
        said = capsys.readouterr().err
        assert said.count("was started again") == 1


def test_a_server_that_dies_between_list_and_record(double: KubeDouble, connect: Connect) -> None:
    from aicr.cluster.helm_releases import read_releases
    from kube_double_faults import Run

    connection = connect(double)
    double.faults.add(Run(double.stop), lambda request: request.verb == "get")
    with pytest.raises(AicrError) as caught:
        read_releases(connection)
    assert caught.value.code == "UNAVAILABLE"
    assert "cannot be reached" in caught.value.message


def test_a_clock_that_jumps(double: KubeDouble, connect: Connect) -> None:
    now = iter([2e9, 1e9, 3e9])
    double.clock = lambda: next(now)
    connection = connect(double)
    for expected in ("2033-05-18", "2001-09-09", "2065-01-24"):
        assert names(connection)
        assert connection.time.startswith(expected)


# What may not be done


def test_a_denied_list_names_what_to_grant(server: Server, connect: Connect) -> None:
    connection = connect(server, token="token-user-token")
    with pytest.raises(AicrError) as caught:
        names(connection)
    error = caught.value
    assert error.exit_code == 4
    assert error.message.startswith(
        f"no permission to list nodes at the cluster scope on {server.url} (context other)"
    )
    assert "docs/rbac/some.yaml" in error.hint


def test_writes_are_not_tried_again(double: KubeDouble, connect: Connect) -> None:
    from aicr.cluster.failures import Permission

    connection = connect(double)
    path = "/api/v1/namespaces/gpu-operator/configmaps"
    for fault in (Answer(500, "boom"), TOO_MANY, Drop()):
        double.requests.clear()
        double.faults.add(fault)
        with pytest.raises(AicrError):
            connection.write(
                "POST",
                path,
                Permission("create", "configmaps"),
                json.dumps({"metadata": {"name": "x"}}).encode(),
            )
        assert len(double.requests) == 1
