"""Each command runs with the rights of its own file in docs/rbac, and with none less."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.catalog.open import open_catalog
from aicr.cli.main import main
from aicr.upgrade.records import load_records
from kube_double import KubeDouble
from kube_double_fixtures import recording
from kube_double_rbac import User

RBAC = Path(__file__).parents[2] / "docs" / "rbac"
RBAC_API = "rbac.authorization.k8s.io"
ALLOWED = {"get", "list", "watch"}

# Command: the file with its rights, and whether the rights hold in one namespace only.
COMMANDS = {
    "inventory": (["inventory"], "inventory", ""),
    "inventory -o": (["inventory", "--deployer", "helm"], "inventory", ""),
    "drift": (["drift", "-r", "to.yaml", "--deployer", "helm"], "drift", ""),
    "check": (
        ["upgrade-check", "--from", "cluster", "--to", "to.yaml", "--deployer", "helm"],
        "upgrade-check",
        "",
    ),
    "check argocd": (
        ["upgrade-check", "--from", "cluster", "--to", "to.yaml", "--deployer", "argocd",
         "--exclude", "team-argocd/cert-manager"],
        "upgrade-check",
        "",
    ),
    "snapshot": (["snapshot"], "snapshot", ""),
    "write": (
        ["recipe", "--service", "eks", "--intent", "training", "-o", "cm://gpu-operator/new"],
        "config-map-write",
        "gpu-operator",
    ),
    "write again": (
        ["recipe", "--service", "eks", "--intent", "training", "-o", "cm://gpu-operator/aicr-recipe"],
        "config-map-write",
        "gpu-operator",
    ),
    "read": (
        ["upgrade-check", "--from", "cm://gpu-operator/aicr-recipe", "--to", "to.yaml",
         "--deployer", "helm"],
        "config-map-read",
        "gpu-operator",
    ),
}  # fmt: skip


def bind(double: KubeDouble, role: dict[str, Any], namespace: str) -> None:
    double.store.apply(role)
    metadata = {"name": "bound"} | ({"namespace": namespace} if namespace else {})
    double.store.apply(
        {
            "apiVersion": f"{RBAC_API}/v1",
            "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
            "metadata": metadata,
            "subjects": [{"kind": "User", "name": "token-user"}],
            "roleRef": {
                "apiGroup": RBAC_API,
                "kind": "ClusterRole",
                "name": role["metadata"]["name"],
            },
        }
    )


def role_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((RBAC / f"{name}.yaml").read_text())
    return found


@pytest.fixture
def user(double: KubeDouble, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KubeDouble:
    """The double, asked by a user without any rights, beside a recipe to compare with."""
    monkeypatch.chdir(tmp_path)
    main(["recipe", "--service", "eks", "--intent", "training", "-o", "to.yaml"])
    double.tokens["token-user-token"] = User("token-user", ("system:authenticated",))
    path = double.kubeconfig({"token": "token-user-token"}, name="user")
    monkeypatch.setenv("KUBECONFIG", str(path))
    stored = recording("configmap/get-200")["response"]["body"]
    double.store.seed(double.store.kind("", "configmaps"), stored)
    return double


@pytest.mark.parametrize("command", COMMANDS)
def test_with_just_that_role(command: str, user: KubeDouble) -> None:
    arguments, role, namespace = COMMANDS[command]
    bind(user, role_of(role), namespace)
    assert main(arguments) in (0, 2)
    assert user.verbs()


@pytest.mark.parametrize("command", COMMANDS)
def test_without_it_the_error_names_what_to_grant(
    command: str, user: KubeDouble, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, role, namespace = COMMANDS[command]
    assert main(arguments) == 4
    said = capsys.readouterr().err
    verb = "get" if namespace else "list"
    scope = f"in the namespace {namespace}" if namespace else "at the cluster scope"
    assert f"no permission to {verb} " in said
    assert scope in said
    assert f"kubectl apply -f docs/rbac/{role}.yaml" in said
    assert (RBAC / f"{role}.yaml").exists()


@pytest.mark.parametrize("name", ["inventory", "snapshot", "config-map-read"])
def test_every_rule_is_needed(name: str, user: KubeDouble) -> None:
    role = role_of(name)
    namespace = "gpu-operator" if name.startswith("config-map") else ""
    rules = [
        {"apiGroups": rule["apiGroups"], "resources": [resource], "verbs": [verb]}
        for rule in role["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]
    command = next(key for key, (_, file, _) in COMMANDS.items() if file == name)
    for left_out in rules:
        others = [rule for rule in rules if rule is not left_out]
        bind(user, {**role, "rules": others}, namespace)
        assert main(COMMANDS[command][0]) == 4, left_out


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_but_reading_is_ever_asked(command: str, user: KubeDouble) -> None:
    arguments, role, namespace = COMMANDS[command]
    bind(user, role_of(role), namespace)
    main([*arguments, "--debug"])
    for request in user.requests:
        if request.verb in ("create", "update"):
            assert command.startswith("write")
            assert (request.resource, request.namespace) == ("configmaps", "gpu-operator")
        elif request.verb:
            assert request.verb in ALLOWED
        else:
            assert request.method == "GET"


def test_the_role_covers_what_the_shipped_records_name() -> None:
    catalog = open_catalog()
    granted = {
        (group, resource)
        for rule in role_of("upgrade-check")["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        if "list" in rule["verbs"]
    }
    named = {
        (affected.group, plural(kind))
        for records in load_records(catalog, list(catalog.registry)).values()
        for transition in records.transitions
        for affected in transition.affected_resources
        for kind in affected.kinds
    }
    assert named <= granted
    records = {("", "secrets"), ("", "configmaps"), ("argoproj.io", "applications")}
    assert granted - named <= records


def plural(kind: str) -> str:
    word = kind.lower()
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    if word.endswith("ss"):
        return word + "es"
    return word if word.endswith("s") else word + "s"


def test_the_page_names_every_file() -> None:
    page = (RBAC.parent / "permissions.md").read_text()
    for path in RBAC.glob("*.yaml"):
        assert f"rbac/{path.name}" in page
        role = yaml.safe_load(path.read_text())
        assert role["metadata"]["name"] == f"aicr-{path.stem}"
        verbs = {verb for rule in role["rules"] for verb in rule["verbs"]}
        assert verbs <= ALLOWED | {"create", "update"}
