"""Each command works with the rights of its file in docs/nvcf/roles, and needs every one."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.cli.main import main
from aicr.cluster.connection import Patience
from fleets import FleetOfDoubles, fleet_of, give_agent
from kube_double import KubeDouble
from kube_double_rbac import User
from kubelet_double import Kubelet, recorded

ROLES = Path(__file__).parents[2] / "docs" / "nvcf" / "roles"
RBAC = "rbac.authorization.k8s.io"
IMAGE = "registry.example.com/nvcf/nvcf-worker-task-oss:1.1.6"
COMMANDS = {
    "status": ["status"],
    "agents": ["agents"],
    "pull-check": ["pull-check", IMAGE, "--registry", "off", "--timeout-pull", "1"],
}
# Without these the command still answers, in another way or for other entries.
REPLACED = {("pull-check", "pods", "watch")}
# Asked only where a node says nothing, or a watch does not tell: other tests have these cases.
ON_DEMAND = {("pull-check", "nodes", "get"), ("pull-check", "pods", "get")}


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FleetOfDoubles]:
    for module in ("nvcf_pull_check", "nvcf_agents", "nvcf_status"):
        monkeypatch.setattr(
            f"aicr.cli.{module}.patience_of",
            lambda args: Patience(tries=1, sleep=lambda seconds: None),
        )
    with fleet_of(tmp_path, user={"token": "token-user-token"}) as found:
        for double in found.clusters.values():
            double.tokens["token-user-token"] = User("token-user", ("system:authenticated",))
        give_agent(found.clusters["east"], "3.10.3")
        found.entry("east")["clusterId"] = "c35a260c-01b9-5c3e-8afa-52b1e0edd364"
        found.write()
        yield found


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((ROLES / f"{name}.yaml").read_text()))


def bind(double: KubeDouble, roles: list[dict[str, Any]]) -> None:
    for role in roles:
        namespace = role["metadata"].get("namespace", "")
        kind = role["kind"]
        meta = {"name": role["metadata"]["name"]} | ({"namespace": namespace} if namespace else {})
        double.store.apply(
            role,
            {
                "apiVersion": f"{RBAC}/v1",
                "kind": f"{kind}Binding",
                "metadata": meta,
                "subjects": [{"kind": "User", "name": "token-user"}],
                "roleRef": {"apiGroup": RBAC, "kind": kind, "name": meta["name"]},
            },
        )


def run(fleet: FleetOfDoubles, command: str, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    words = [*COMMANDS[command], "--fleet", str(fleet.path), "--format", "json"]
    with Kubelet(fleet.clusters["east"]):
        main(["nvcf", *words])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_with_just_that_role(
    command: str, fleet: FleetOfDoubles, capsys: pytest.CaptureFixture[str]
) -> None:
    for double in fleet.clusters.values():
        bind(double, documents(command))
    said = run(fleet, command, capsys)
    if command == "status":
        # Nothing is missing but the rights of the other commands, which it names.
        assert all(": rights: missing:" in one for one in said["missing"]), said["missing"]
        assert any("create pods in the namespace nvcf-backend" in one for one in said["missing"])
    else:
        assert said["exit"] == 0, said
    assert not any("cannot be" in note for note in said["notes"])
    changed = {
        (one.method, one.resource, one.name.rpartition("-")[0])
        for double in fleet.clusters.values()
        for one in double.requests
        if one.method != "GET" and one.resource != "selfsubjectaccessreviews"
    }
    probe = {("POST", "pods", ""), ("DELETE", "pods", "task-image-check")}
    assert changed == (probe if command == "pull-check" else set())


def rules() -> Iterator[tuple[str, int, int, str]]:
    for command in sorted(COMMANDS):
        for number, role in enumerate(documents(command)):
            for index, rule in enumerate(role["rules"]):
                for verb in rule["verbs"]:
                    if (command, rule["resources"][0], verb) not in ON_DEMAND:
                        yield command, number, index, verb


@pytest.mark.parametrize(("command", "number", "index", "verb"), list(rules()))
def test_every_right_is_needed(
    command: str,
    number: int,
    index: int,
    verb: str,
    fleet: FleetOfDoubles,
    capsys: pytest.CaptureFixture[str],
) -> None:
    roles = copy.deepcopy(documents(command))
    rule = roles[number]["rules"][index]
    rule["verbs"] = [one for one in rule["verbs"] if one != verb]
    for double in fleet.clusters.values():
        bind(double, roles)
    said = run(fleet, command, capsys)
    resource = rule["resources"][0]
    if (command, resource, verb) in REPLACED:
        assert said["exit"] == 0
        assert any("could not be watched" in note for note in said["notes"])
    else:
        assert said["exit"] == 2
        wanted = f"{verb} {resource}"
        text = json.dumps(said)
        assert wanted in text or f"cannot {verb} resource" in text, text


def test_the_double_refuses_as_was_recorded(fleet: FleetOfDoubles) -> None:
    import urllib.request
    from urllib.error import HTTPError

    exchange = recorded("create-403-rbac")
    double = fleet.clusters["east"]
    request = urllib.request.Request(
        double.url + exchange["request"]["path"],
        data=json.dumps(exchange["request"]["body"]).encode(),
        headers={
            "Authorization": "Bearer token-user-token",
            "Content-Type": "application/json",
        },
        method="POST",
    )
    with pytest.raises(HTTPError) as caught:
        urllib.request.urlopen(request)
    assert caught.value.code == 403
    said = json.loads(caught.value.read())
    expected = exchange["response"]["body"]
    assert {key: said.get(key) for key in expected} == expected


def test_the_page_has_every_role() -> None:
    page = (ROLES.parent / "permissions.md").read_text()
    for path in ROLES.glob("*.yaml"):
        assert f"roles/{path.name}" in page
