"""Each command runs with the rights of its own file in docs/rbac, and with none less."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.catalog.open import open_catalog
from aicr.cli.flags import make_parser
from aicr.cli.main import VERBS, main
from aicr.upgrade.records import load_records
from kube_servers import Server

RBAC = Path(__file__).parents[2] / "docs" / "rbac"
RBAC_API = "rbac.authorization.k8s.io"
ALLOWED = {"get", "list", "watch"}

CHECK = ["upgrade-check", "--to", "to.yaml", "--deployer"]
RECIPE = ["recipe", "--service", "eks", "--intent", "training"]
STORED = "cm://gpu-operator/aicr-recipe"
HERE = "gpu-operator"

# Command: its arguments, and the files with its rights, each with the namespace that it is bound
# in ("" for the whole cluster). It may end with 0, or 2 for what it found.
COMMANDS = {
    "inventory": (["inventory"], [("inventory", "")]),
    "inventory helm": (["inventory", "--deployer", "helm"], [("inventory", "")]),
    "drift": (["drift", "-r", "to.yaml", "--deployer", "helm"], [("drift", "")]),
    "drift argocd": (
        ["drift", "-r", "to.yaml", "--deployer", "argocd", "--exclude", "team-argocd/cert-manager"],
        [("drift", "")],
    ),
    "check": ([*CHECK, "helm", "--from", "cluster"], [("upgrade-check", "")]),
    "check argocd": (
        [*CHECK, "argocd", "--from", "cluster", "--exclude", "team-argocd/cert-manager"],
        [("upgrade-check", "")],
    ),
    "plan": (
        ["upgrade-plan", "--from", "cluster", "--to", "to.yaml", "--deployer", "helm"],
        [("upgrade-check", "")],
    ),
    "snapshot": (["snapshot"], [("snapshot", "")]),
    "write a snapshot": (
        ["snapshot", "-o", "cm://gpu-operator/new"],
        [("snapshot", ""), ("config-map-write", HERE)],
    ),
    "write": ([*RECIPE, "-o", "cm://gpu-operator/new"], [("config-map-write", HERE)]),
    "write again": ([*RECIPE, "-o", STORED], [("config-map-write", HERE)]),
    "write a report": (
        [*CHECK, "helm", "--from", "to.yaml", "-o", "cm://gpu-operator/new"],
        [("config-map-write", HERE)],
    ),
    "read": ([*CHECK, "helm", "--from", STORED], [("config-map-read", HERE)]),
    "read to plan": (
        ["upgrade-plan", "--from", STORED, "--to", "to.yaml", "--deployer", "helm"],
        [("config-map-read", HERE)],
    ),
    "read a snapshot": (
        ["recipe", "--snapshot", "cm://gpu-operator/aicr-snapshot", "--intent", "training",
         "-o", "new.yaml"],
        [("config-map-read", HERE)],
    ),
    "diff": (["diff", STORED, "to.yaml"], [("config-map-read", HERE)]),
    "bundle": (["bundle", "-r", STORED, "--deployer", "helm"], [("config-map-read", HERE)]),
    "query": (
        ["query", "--snapshot", "cm://gpu-operator/aicr-snapshot", "--intent", "training",
         "-s", "criteria"],
        [("config-map-read", HERE)],
    ),
    "explain": (
        ["recipe", "explain", "--snapshot", "cm://gpu-operator/aicr-snapshot",
         "--intent", "training", "-s", "criteria"],
        [("config-map-read", HERE)],
    ),
    "mirror": (
        ["mirror", "list", "-r", STORED, "--charts-dir", ".", "--allow-incomplete"],
        [("config-map-read", HERE)],
    ),
    "fleet": (
        ["fleet", "check", STORED, "--to", "to.yaml", "--deployer", "helm"],
        [("config-map-read", HERE)],
    ),
}  # fmt: skip


def bind(server: Server, role: dict[str, Any], namespace: str) -> None:
    """Bind the role to the user, in place of what was bound of this name; wait until it holds."""
    server.store.apply(role)
    name = role["metadata"]["name"]
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    server.store.apply(
        {
            "apiVersion": f"{RBAC_API}/v1",
            "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
            "metadata": metadata,
            "subjects": [{"kind": "User", "name": "token-user", "apiGroup": RBAC_API}],
            "roleRef": {"apiGroup": RBAC_API, "kind": "ClusterRole", "name": name},
        }
    )
    server.granted("token-user", role, namespace)


def role_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((RBAC / f"{name}.yaml").read_text())
    return found


@pytest.fixture
def user(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server, asked by a user without any rights, beside a recipe to compare with."""
    monkeypatch.chdir(tmp_path)
    main([*RECIPE, "-o", "to.yaml"])
    path = server.kubeconfig({"token": "token-user-token"}, name="user")
    config_maps = server.store.kind("", "configmaps")
    meta = {
        "name": "aicr-recipe",
        "namespace": HERE,
        "labels": {"app.kubernetes.io/name": "aicr"},
    }
    data = {"recipe.yaml": Path("to.yaml").read_text(), "format": "yaml"}
    server.store.seed(config_maps, {"metadata": meta, "data": data})
    main(["snapshot", "-k", str(server.kubeconfig()), "-o", "snapshot.yaml"])
    data = {"snapshot.yaml": Path("snapshot.yaml").read_text(), "format": "yaml"}
    server.store.seed(config_maps, {"metadata": meta | {"name": "aicr-snapshot"}, "data": data})
    monkeypatch.setenv("KUBECONFIG", str(path))
    server.forget()
    return server


@pytest.mark.parametrize("command", COMMANDS)
def test_with_just_that_role(
    command: str, user: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, roles = COMMANDS[command]
    for role, namespace in roles:
        bind(user, role_of(role), namespace)
    user.forget()
    assert main([*arguments, "--debug"]) in (0, 2), capsys.readouterr().err
    assert "no permission" not in capsys.readouterr().err
    assert user.verbs()
    writes = [
        (one.verb, one.resource, one.namespace) for one in user.requests if one.verb not in ALLOWED
    ]
    written = {"write": "create", "write again": "update"}.get(command, "create")
    expected = [(written, "configmaps", HERE)] if command.startswith("write") else []
    assert [one for one in writes if one[0]] == expected
    assert {one.method for one in user.requests if not one.verb} <= {"GET"}


@pytest.mark.parametrize("command", COMMANDS)
def test_without_it_the_error_names_what_to_grant(
    command: str, user: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, roles = COMMANDS[command]
    capsys.readouterr()
    code = main(arguments)
    shown = capsys.readouterr()
    said = shown.out + shown.err
    [(role, namespace), *_] = roles
    assert code == 4
    verb = "get" if namespace else "list"
    scope = f"in the namespace {namespace}" if namespace else "at the cluster scope"
    assert f"no permission to {verb} " in said
    assert scope in said
    assert f"docs/rbac/{role}.yaml" in said
    assert (RBAC / f"{role}.yaml").exists()


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("inventory", "inventory"),
        ("drift", "drift"),
        ("snapshot", "snapshot"),
        ("read", "config-map-read"),
        ("write", "config-map-write"),
        ("write again", "config-map-write"),
    ],
)
def test_every_rule_is_needed(command: str, name: str, user: Server) -> None:
    """Each right that is left out is missed by a command that the file is for."""
    role = role_of(name)
    namespace = HERE if name.startswith("config-map") else ""
    rules = [
        {"apiGroups": rule["apiGroups"], "resources": [resource], "verbs": [verb]}
        for rule in role["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    ]
    needless = {
        "drift": {"applications"},  # which of the two it reads is the deployer's
        "write": {"update"},
        "write again": {"create"},
    }.get(command, set())
    for left_out in rules:
        if needless & {*left_out["resources"], *left_out["verbs"]}:
            continue
        others = [rule for rule in rules if rule is not left_out]
        bind(user, {**role, "rules": others}, namespace)
        user.denied("token-user", {"rules": [left_out]}, namespace)
        assert main(COMMANDS[command][0]) == 4, left_out


def test_every_command_that_may_ask_a_cluster_is_here() -> None:
    found = set()
    for verb, (module, _) in VERBS.items():
        if not verb.startswith("nvcf"):  # in its own words, and behind an allow-list of its own
            loaded = import_module(f"aicr.cli.{module}")
            if "--kubeconfig" in make_parser(verb, verb, loaded.configure)._option_string_actions:
                found.add(verb)
    tried = {" ".join(words[:count]) for words, _ in COMMANDS.values() for count in (1, 2)}
    assert found - tried == set()


def test_less_than_that_for_argo_cd(user: Server, capsys: pytest.CaptureFixture[str]) -> None:
    """The rule for Applications alone; and for those that name their cluster one more file."""
    arguments = COMMANDS["check argocd"][0]
    role = role_of("upgrade-check")
    rules = [rule for rule in role["rules"] if rule["apiGroups"] == ["argoproj.io"]]
    bind(user, {**role, "rules": rules}, "")
    assert main(arguments) == 4
    assert "no permission to list secrets in the namespace argocd" in capsys.readouterr().err
    bind(user, role_of("argocd-clusters"), "argocd")
    assert main(arguments) == 2
    assert "no permission" not in capsys.readouterr().err.split("at risk")[0]


def test_every_file_is_one_that_a_server_takes(user: Server) -> None:
    for path in sorted(RBAC.glob("*.yaml")):
        bind(user, role_of(path.stem), "")


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
