from __future__ import annotations

from typing import Any

import pytest

from aicr.errors import INTERNAL, AicrError
from aicr.nvcf import allow

BOX = "/api/v1/namespaces/nats-system/pods/nats-box/exec"
PROBE = b'{"metadata": {"generateName": "task-image-check-"}}'
ID = "9f93ffa2-0376-495e-a723-f6c653ed1e34"
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


def refused(check: Any, *arguments: Any, **named: Any) -> None:
    with pytest.raises(AicrError) as error:
        check(*arguments, **named)
    assert error.value.code == INTERNAL
    assert "not done" in error.value.message


@pytest.mark.parametrize(
    ("method", "path", "more"),
    [
        ("GET", "/version", {}),
        ("GET", "/api/v1/namespaces/kube-system", {}),
        ("GET", "/api/v1/nodes", {}),
        ("GET", "/apis/nvca.nvcf.nvidia.io/v2beta1/icmsrequests", {}),
        ("GET", "/apis/apps/v1/namespaces/nats-system/statefulsets/nats", {}),
        ("GET", "/api/v1/namespaces/nats-system/pods/nats-0:8222/proxy/varz", {}),
        ("GET", BOX, {"query": [("command", word) for word in
                                ("nats", "--context", "default", "stream", "ls", "--json")]}),
        ("GET", "/api/v1/namespaces/nvcf-backend/secrets/x", {"accept": METADATA}),
        ("POST", "/api/v1/namespaces/nvcf-backend/pods", {"body": PROBE}),
        ("DELETE", "/api/v1/namespaces/nvcf-backend/pods/x", {"body": b'{"uid": "1"}'}),
    ],
)  # fmt: skip
def test_what_an_api_server_may_be_asked(method: str, path: str, more: Any) -> None:
    allow.kubernetes(method, path, **more)


@pytest.mark.parametrize(
    ("method", "path", "more"),
    [
        ("DELETE", "/apis/nvca.nvcf.nvidia.io/v2beta1/namespaces/a/icmsrequests/sr-1", {}),
        ("PATCH", "/apis/nvca.nvcf.nvidia.io/v2beta1/namespaces/a/icmsrequests/sr-1", {}),
        ("PATCH", "/apis/apps/v1/namespaces/nats-system/statefulsets/nats", {}),
        ("DELETE", "/api/v1/namespaces/nats-system/pods/nats-0", {}),
        ("DELETE", "/api/v1/namespaces/nats-system/pods", {"body": b'{"uid": "1"}'}),
        ("POST", "/api/v1/namespaces/nats-system/pods", {"body": b'{"metadata": {"name": "x"}}'}),
        ("POST", "/api/v1/namespaces/a/pods/x/eviction", {}),
        ("GET", "/api/v1/namespaces/a/secrets/x", {}),
        ("PUT", "/api/v1/namespaces/a/configmaps/x", {}),
        ("GET", "/api/v1/namespaces/a/pods/x/log", {}),
        ("GET", "/api/v1/namespaces/nats-system/pods/nats-0:8222/proxy/connz", {}),
        ("GET", "/apis/apps/v1/namespaces/a/deployments/x/scale", {}),
        ("GET", BOX, {"query": [("command", "sh")]}),
        ("GET", BOX, {"query": [("command", word) for word in
                                ("nats", "--context", "d", "stream", "ls", "--json")]
                               + [("stdin", "true")]}),
        ("GET", "/", {}),
    ],
)  # fmt: skip
def test_what_an_api_server_is_never_asked(method: str, path: str, more: Any) -> None:
    refused(allow.kubernetes, method, path, **more)


@pytest.mark.parametrize(
    "command",
    [
        "nats --context default stream info S --json --no-select",
        "nats --context default --timeout 5s stream ls --json --all",
        "nats --context a.b stream get S 12 --json",
        "nats --context default consumer info S C --json --no-select",
        "nats --context default consumer ls S --json --no-select",
        "wget -qO- http://nats-0.nats-headless:8222/varz",
        "wget -qO- -T 10 http://nats-0.nats-headless:8222/jsz?accounts=1&streams=1",
    ],
)
def test_commands_in_nats_box(command: str) -> None:
    allow.command(command.split())


@pytest.mark.parametrize(
    "command",
    [
        "nats --context default stream purge S --json",
        "nats --context default stream rmm S 1 --json",
        "nats --context default stream rm S --json",
        "nats --context default consumer next S C --json",
        "nats --context default consumer rm S C --json",
        "nats --context default consumer add S C --json",
        "nats --context default req $JS.API.STREAM.PURGE.S x --json",
        "nats --context default pub S x --json",
        "nats --context default stream get S --json",
        "nats --context default stream get S -1 --json",
        "nats --context default stream get S 1 2 --json",
        "nats --context default stream info S --json --server=x",
        "nats --context default stream info S;rm --json ;",
        "nats --context default stream info S",
        "nats --context --server stream info S --json",
        "nats stream info S --json",
        "nats --context default",
        "sh -c x",
        "wget -qO- http://nats-0:8222/connz",
        "wget -qO- -O x http://nats-0:8222/varz",
        "wget -qO- --post-data=x http://nats-0:8222/varz",
        "wget -qO- file:///etc/passwd",
        "wget -qO- http://user:pw@nats-0:8222/varz",
        "",
    ],
)
def test_commands_that_are_never_run(command: str) -> None:
    refused(allow.command, command.split())


@pytest.mark.parametrize(
    "subject",
    [
        "STREAM.NAMES", "STREAM.INFO.S", "CONSUMER.NAMES.S", "CONSUMER.INFO.S.C",
        "STREAM.MSG.GET.S", "INFO",
    ],
)  # fmt: skip
def test_subjects(subject: str) -> None:
    allow.jetstream(f"$JS.API.{subject}", {"offset": 0})


@pytest.mark.parametrize(
    ("subject", "payload"),
    [
        ("$JS.API.STREAM.PURGE.S", {}),
        ("$JS.API.STREAM.DELETE.S", {}),
        ("$JS.API.STREAM.MSG.DELETE.S", {"seq": 1}),
        ("$JS.API.CONSUMER.MSG.NEXT.S.C", {}),
        ("$JS.API.CONSUMER.DELETE.S.C", {}),
        ("$JS.API.CONSUMER.CREATE.S.C", {}),
        ("$JS.API.STREAM.UPDATE.S", {}),
        ("$JS.ACK.S.C.1.1.1.1.1", {}),
        ("Create.NVCA.Function.x", {}),
        ("$JS.API.STREAM.INFO.>", {}),
        ("$JS.API.STREAM.INFO.S", {"config": {}}),
    ],
)
def test_subjects_that_are_never_sent_to(subject: str, payload: dict[str, object]) -> None:
    refused(allow.jetstream, subject, payload)


def test_accounts() -> None:
    deploy = ["function", "deploy", "get", "--function-id", ID, "--version-id", ID, "--json"]
    allow.account(deploy)
    allow.account(["task", "get", ID, "--json"])
    allow.account(["task", "list", "--status", "QUEUED", "--limit", "50", "--json"])
    allow.account(["function", "invoke", "x"], invoke=True)
    refused(allow.account, ["function", "invoke", "x"])
    refused(allow.account, ["function", "deploy", "remove", "--function-id", ID])
    refused(allow.account, ["task", "get", "--all", "--json"])
    refused(allow.account, ["task", "cancel", ID])
    refused(allow.account, [*deploy[:4], "--config=/x", *deploy[5:]])


def test_registries() -> None:
    allow.registry("GET")
    allow.registry("HEAD")
    refused(allow.registry, "PUT")
    refused(allow.registry, "DELETE")
