"""The double answers as the real servers did that were recorded, and so does a real one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import urllib3

from kube_double import ADMIN_TOKEN, KubeDouble
from kube_double_fixtures import fill, recording
from kube_servers import Server, on_the_double
from tools import tool

Ask = Callable[..., tuple[int, dict[str, str], Any]]


@pytest.fixture
def ask(server: Server) -> Ask:
    trusted = server.authority.certificate if server.authority is not None else None
    pool = urllib3.PoolManager(retries=False, ca_certs=trusted and str(trusted))

    def asked(method: str, path: str, body: object = None, token: str = ADMIN_TOKEN) -> Any:
        answer = pool.request(
            method,
            server.url + path,
            body=None if body is None else json.dumps(body),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        )
        is_json = answer.headers["Content-Type"] == "application/json"
        return answer.status, answer.headers, answer.json() if is_json else answer.data.decode()

    return asked


_OF_A_SERVER = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "continue")


def without_times(value: Any) -> Any:
    """A body without what differs from one server to the next."""
    if isinstance(value, dict):
        return {
            key: without_times(item)
            for key, item in value.items()
            if key
            not in ("uid", "resourceVersion", "creationTimestamp", "managedFields", "continue")
        }
    return [without_times(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("helm/forbidden-403", "token-user-token"),
        ("helm/unauthorized-401", "nobody"),
        ("helm/notfound-404", ADMIN_TOKEN),
        ("helm/conflict-409", ADMIN_TOKEN),
        ("helm/bad-continue-400", ADMIN_TOKEN),
        ("argo/applications-forbidden-403", "token-user-token"),
        ("configmap/get-404", ADMIN_TOKEN),
        ("configmap/get-403", "token-user-token"),
        ("configmap/create-403", "token-user-token"),
        ("configmap/create-404-no-namespace", ADMIN_TOKEN),
        ("configmap/create-422-bad-name", ADMIN_TOKEN),
        ("configmap/create-422-bad-key", ADMIN_TOKEN),
        ("configmap/update-404", ADMIN_TOKEN),
    ],
)
def test_refusals(name: str, token: str, ask: Ask) -> None:
    recorded = recording(name)
    request, expected = recorded["request"], recorded["response"]
    status, headers, body = ask(request["method"], request["path"], request.get("body"), token)
    assert (status, body) == (expected["status"], expected["body"])
    assert headers["Content-Type"] == expected["headers"]["Content-Type"]


def test_the_api_of_an_absent_group_is_plain_text(ask: Ask) -> None:
    recorded = recording("icms/no-crd-404")
    status, headers, body = ask("GET", recorded["request"]["path"])
    assert (status, body) == (404, recorded["response"]["body"])
    assert headers["Content-Type"] == recorded["response"]["headers"]["Content-Type"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/api/v1/secrets?labelSelector=owner%3Dhelm", "helm/secrets-list"),
        ("/api/v1/configmaps?labelSelector=owner%3Dhelm", "helm/configmaps-list"),
        ("/apis/argoproj.io/v1alpha1/applications", "argo/applications-list"),
        ("/api/v1/nodes", "pods/nodes-list"),
    ],
)
def test_lists(path: str, name: str, ask: Ask) -> None:
    status, _, body = ask("GET", path)
    assert status == 200
    assert without_times(body) == without_times(recording(name))


def test_pages(ask: Ask) -> None:
    token, revisions = "", set()
    for number in range(1, 6):
        more = f"&continue={token}" if token else ""
        _, _, body = ask("GET", f"/api/v1/secrets?labelSelector=owner%3Dhelm&limit=3{more}")
        assert without_times(body) == without_times(recording(f"helm/page-{number}"))
        assert ("continue" in body["metadata"]) == (number < 5)
        assert "remainingItemCount" not in body["metadata"]
        revisions.add(body["metadata"]["resourceVersion"])
        token = body["metadata"].get("continue", "")
    assert len(revisions) == 1


def test_without_a_selector_the_rest_is_counted(server: Server, ask: Ask) -> None:
    kind = server.store.define(recording("icms/crd-icmsrequests"))
    server.store.seed(kind, *recording("icms/icmsrequests-list")["items"])
    path = "/apis/nvca.nvcf.nvidia.io/v2beta1/icmsrequests?limit=5"
    expected = recording("icms/icmsrequests-page-1-of-2")["metadata"]
    _, _, body = ask("GET", path)
    assert body["metadata"]["remainingItemCount"] == expected["remainingItemCount"]
    assert [one["metadata"]["name"] for one in body["items"]] == [
        one["metadata"]["name"] for one in recording("icms/icmsrequests-page-1-of-2")["items"]
    ]


@on_the_double
def test_a_token_that_is_too_old(server: Server, ask: Ask) -> None:
    assert isinstance(server, KubeDouble)
    path = "/api/v1/secrets?labelSelector=owner%3Dhelm&limit=3"
    _, _, first = ask("GET", path)
    server.store.compact()
    recorded = recording("helm/expired-continue-410")["response"]
    status, _, body = ask("GET", f"{path}&continue={first['metadata']['continue']}")
    assert status == 410
    assert without_times(body) == without_times(recorded["body"])
    again = body["metadata"]["continue"]
    status, _, rest = ask("GET", f"{path}&continue={again}")
    assert status == 200
    assert rest["items"][0]["metadata"]["namespace"] == "default"


def test_metadata_alone(bare: KubeDouble) -> None:
    fill(bare)
    answer = urllib3.request(
        "GET",
        f"{bare.url}/api/v1/secrets?labelSelector=owner%3Dhelm&limit=2",
        headers={
            "Authorization": f"Bearer {ADMIN_TOKEN}",
            "Accept": "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
        },
    )
    expected = recording("helm/secrets-metadata-only")
    assert without_times(answer.json()) == without_times(expected)


def test_the_life_of_a_config_map(ask: Ask) -> None:
    for name in (
        "create-201", "get-200", "create-409-already-exists", "update-409-conflict", "update-200",
    ):  # fmt: skip
        recorded = recording(f"configmap/{name}")
        request, expected = recorded["request"], recorded["response"]
        sent = request.get("body")
        if name == "update-200":
            _, _, now = ask("GET", request["path"])
            sent["metadata"]["resourceVersion"] = now["metadata"]["resourceVersion"]
        status, _, body = ask(request["method"], request["path"], sent)
        assert (name, status) == (name, expected["status"])
        assert without_times(body) == without_times(expected["body"])
    before = body["metadata"]["resourceVersion"]
    sent["metadata"]["resourceVersion"] = before
    status, _, body = ask("PUT", request["path"], sent)
    assert (status, body["metadata"]["resourceVersion"]) == (200, before)


def test_how_large_a_config_map_may_be(ask: Ask) -> None:
    path = "/api/v1/namespaces/gpu-operator/configmaps"
    for size, name in (
        (1_048_576, "create-201-exactly-1mib"),
        (1_048_577, "create-422-over-1mib"),
        (3_145_729, "create-413-over-3mib"),
    ):
        expected = recording(f"configmap/{name}")["response"]
        body = {"metadata": {"name": "aicr-big"}, "data": {"a": "x" * size}}
        status, _, answer = ask("POST", path, body)
        assert status == expected["status"]
        if status != 201:
            assert answer == expected["body"]
        else:
            ask("DELETE", f"{path}/aicr-big")


def test_an_immutable_config_map(server: Server, ask: Ask) -> None:
    recorded = recording("configmap/update-422-immutable")
    locked = {
        "metadata": {"name": "aicr-locked", "namespace": "gpu-operator"},
        "data": {},
        "immutable": True,
    }
    server.store.seed(server.store.kind("", "configmaps"), locked)
    request, expected = recorded["request"], recorded["response"]
    status, _, body = ask("PUT", request["path"], request["body"])
    assert (status, body) == (expected["status"], expected["body"])


def test_pods_come_and_go(server: Server, ask: Ask) -> None:
    server.namespace("nvcf-backend")
    recorded = recording("pods/create-403-rbac")
    request, expected = recorded["request"], recorded["response"]
    assert ask("POST", request["path"], request["body"], "token-user-token")[::2] == (
        expected["status"],
        expected["body"],
    )
    status, _, pod = ask("POST", request["path"], recording("pods/create-201")["request"]["body"])
    name = pod["metadata"]["name"]
    assert status == 201
    assert name.startswith("task-image-check-")
    status, _, gone = ask("DELETE", f"{request['path']}/{name}?gracePeriodSeconds=0")
    assert (status, gone["kind"]) == (200, "Pod")
    status, _, body = ask("GET", f"{request['path']}/{name}")
    expected = recording("pods/get-after-delete-404")["response"]["body"]
    assert body["message"] == expected["message"].replace("task-image-check-rp24h", name)


@on_the_double
def test_a_watch(server: Server, ask: Ask) -> None:
    assert isinstance(server, KubeDouble)
    server.namespace("nvcf-backend")
    path = "/api/v1/namespaces/nvcf-backend/pods"
    before = server.store.revision
    ask("POST", path, recording("pods/create-201")["request"]["body"])
    watch = f"{path}?watch=true&timeoutSeconds=0.3&resourceVersion="
    _, _, _ = ask("GET", path)
    lines = _lines(server, watch + str(before))
    assert [line["type"] for line in lines] == ["ADDED"]
    assert lines[0]["object"]["kind"] == "Pod"
    server.store.compact()
    lines = _lines(server, watch + "1")
    expected = recording("pods/watch-expired-410")
    assert [line["type"] for line in lines] == ["ERROR"]
    assert lines[0]["object"] | {"message": ""} == expected[0]["object"] | {"message": ""}


def _lines(double: KubeDouble, path: str) -> list[Any]:
    headers = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
    answer = urllib3.request("GET", double.url + path, headers=headers)
    return [json.loads(line) for line in answer.data.splitlines()]


def test_kubectl_understands_it(tmp_path: Path) -> None:
    kubectl = tool("kubectl", "KUBECTL_BIN")
    with KubeDouble(tmp_path, tls=True) as double:
        fill(double)
        command = [kubectl, "--kubeconfig", str(double.kubeconfig()), "get", "applications"]
        done = subprocess.run(
            [*command, "-A", "-o", "name"], capture_output=True, text=True, timeout=30, check=False
        )
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 8), done.stderr
