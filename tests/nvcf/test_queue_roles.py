"""The gate works with the rights of docs/nvcf/roles/queues.yaml, and needs every one."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.cli.main import main
from kube_double_rbac import User
from nvcf_world import EAST, WEST, World, started

ROLE = Path(__file__).parents[2] / "docs" / "nvcf" / "roles" / "queues.yaml"
RBAC = "rbac.authorization.k8s.io"
DIRECT = ["--allow-running-tasks", "--guide-gate-passed", "x", "--settle", "0.05"]


def roles() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(ROLE.read_text()))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    for world in started(tmp_path_factory.mktemp("world"), 1):
        world.servers.nvca(EAST, WEST)
        for double in world.doubles.values():
            double.tokens["operator"] = User("operator", ("system:authenticated",))
        yield world


def gate(
    world: World, given: list[dict[str, Any]], record: Path, *, direct: bool, verb: str = "gate"
) -> int:
    for name, double in world.doubles.items():
        store = double.store
        for kind in ("clusterroles", "roles", "clusterrolebindings", "rolebindings"):
            of = store.kind(RBAC, kind)
            for one in store.all(of):
                store.delete(of, one["metadata"].get("namespace", ""), one["metadata"]["name"])
        for role in given:
            if role["metadata"]["name"].endswith("-compute") == (name == "control"):
                continue
            meta = dict(role["metadata"])
            store.apply(
                role,
                {
                    "apiVersion": f"{RBAC}/v1", "kind": f"{role['kind']}Binding", "metadata": meta,
                    "subjects": [{"kind": "User", "name": "operator"}],
                    "roleRef": {"apiGroup": RBAC, "kind": role["kind"], "name": meta["name"]},
                },
            )  # fmt: skip
    path = world.fleet(direct=direct)
    for name, double in world.doubles.items():
        double.kubeconfig({"token": "operator"}, name=name)
    kept = ["--record", str(record)]
    if verb == "gate" and not record.exists():
        gate(world, given, record, direct=direct, verb="drain")
    more = {
        "drain": [*kept, "--settle", "0.05"],
        "gate": [*kept, *DIRECT],
        "nats-roll": [],
        "preflight": [*kept, "--to", "1.1.5", "--no-tasks"],
        "recover": [*kept, "--format", "json"],
    }[verb]
    return main(["nvcf", verb, "--fleet", str(path), "--timeout-nats", "30", *more])


def test_with_just_that_role(
    place: World, tmp_path: Path, quick: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gate(place, roles(), tmp_path / "direct", direct=True) == 0
    assert gate(place, roles(), tmp_path / "exec", direct=False) == 0
    without_proxy = copy.deepcopy(roles())
    del without_proxy[1]["rules"][2]
    assert gate(place, without_proxy, tmp_path / "wget", direct=False) == 0
    for direct in (True, False):
        assert gate(place, roles(), tmp_path, direct=direct, verb="nats-roll") == 0
        folder = tmp_path / f"preflight-{direct}"
        assert gate(place, roles(), folder, direct=direct, verb="preflight") == 0
        capsys.readouterr()
        folder = tmp_path / f"recover-{direct}"
        assert gate(place, roles(), folder, direct=direct, verb="recover") == 2
        said = json.loads(capsys.readouterr().out)
        assert (said["outcome"], said["capture"]) == ("nothing-retained", "complete")


def rights() -> Iterator[tuple[int, int, str]]:
    for number, role in enumerate(roles()[:4]):
        for index, rule in enumerate(role["rules"]):
            for verb in rule["verbs"]:
                # Without the proxy wget is run in a pod.
                if (rule["resources"], verb) != (["pods/proxy"], "get"):
                    yield number, index, verb


@pytest.mark.parametrize(("number", "index", "verb"), list(rights()))
@pytest.mark.parametrize("command", ["gate", "nats-roll"])
def test_every_right_is_needed(
    place: World, tmp_path: Path, quick: None, number: int, index: int, verb: str, command: str
) -> None:
    given = copy.deepcopy(roles())
    rule = given[number]["rules"][index]
    # Only exec lists pods there.
    direct = rule["resources"] != ["pods/exec"] and (rule["resources"], verb, number) != (
        ["pods"], "list", 1,
    )  # fmt: skip
    rule["verbs"] = [one for one in rule["verbs"] if one != verb]
    assert gate(place, given, tmp_path / "record", direct=direct, verb=command) == 2
