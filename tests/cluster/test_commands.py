from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from aicr.cli.main import main
from kube_commands import Aicr, check, recipe
from kube_double import KubeDouble
from kube_double_faults import Run
from kube_double_fixtures import recording
from kube_double_helm import record, stored
from kube_servers import Server, on_the_double


def test_an_inventory_is_reviewed_elsewhere(aicr: Aicr, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["--deployer", "helm", "--format", "recipe", "-o", "inventory.yaml"]
    assert aicr("inventory", *words)[0] == 0
    to = recipe(
        cert_manager="v1.20.2", gpu_operator="v26.7.1", grove="0.1.0", kueue="0.16.0", nfd="0.20.0"
    )
    _, live, _ = check(aicr, "--to", to, "--deployer", "helm")
    monkeypatch.setenv("KUBECONFIG", "/not/there")
    code, out, err = aicr(
        "upgrade-check", "--from", "inventory.yaml", "--to", to, "--deployer", "helm",
        "--format", "json",
    )  # fmt: skip
    assert (code, err) == (2, "")
    assert json.loads(out)["components"] == live["components"]


def test_inventory_as_json_and_as_a_table(aicr: Aicr) -> None:
    code, out, _ = aicr("inventory", "--format", "json")
    found = json.loads(out)
    assert code == 0
    assert {
        "component": "nfd",
        "version": "0.19.0",
        "namespace": "node-feature-discovery",
        "release": "nfd",
        "revision": "3",
        "state": "deployed",
        "since": "2026-11-30T16:30:19.601933207Z",
        "storage": "Secret",
        "storedIn": "node-feature-discovery",
        "chart": "node-feature-discovery",
    } in found["components"]
    grove = next(one for one in found["components"] if one["component"] == "grove")
    assert "version" not in grove
    assert grove["recordedVersion"] == "v0.1.0-alpha.13"
    code, out, _ = aicr("inventory", "--deployer", "helm")
    assert code == 0
    assert "COMPONENT     VERSION  NAMESPACE" in out
    assert "2026-11-30T16:30:19Z" in out
    lines = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert lines["nvsentinel"].endswith("ConfigMap")
    _, out, _ = aicr("inventory", "--deployer", "argocd")
    twice = [line for line in out.splitlines() if line.startswith("cert-manager")]
    assert [line.rpartition("  ")[2] for line in twice] == [
        "Application in argocd",
        "Application in team-argocd",
    ]
    assert out[out.index("OF NO COMPONENT") :].splitlines()[1].startswith("CHART")


def test_what_is_left_out_by_a_name_that_is_none(aicr: Aicr) -> None:
    words = ["inventory", "--deployer", "helm", "--exclude", "grove-system/grove"]
    code, out, err = aicr(*words, "--exclude", "grove-system/grvoe")
    assert code == 0
    assert "grove" not in out.replace("grove-system/grvoe", "")
    assert "--exclude grove-system/grvoe: nothing of that name was read" in err


def test_an_inventory_of_nothing(aicr: Aicr, tmp_path: Path) -> None:
    with KubeDouble(tmp_path) as empty:
        other = str(empty.kubeconfig(name="empty"))
        assert aicr("inventory", "-k", other)[0] == 2
        assert aicr("inventory", "-k", other, "--allow-empty")[0] == 0


def test_drift(aicr: Aicr) -> None:
    to = recipe(cert_manager="v1.20.2", gpu_operator="v26.7.1", kueue="0.15.0", nfd="0.20.0")
    document = yaml.safe_load(Path(to).read_text())
    document["componentRefs"][0]["namespace"] = "security"
    Path(to).write_text(yaml.safe_dump(document))
    code, out, _ = aicr("drift", "-r", to, "--deployer", "helm", "--format", "json")
    found = {(one["component"], one["finding"]): one for one in json.loads(out)["findings"]}
    assert code == 2
    assert set(found) == {
        ("cert-manager", "namespace"),
        ("gpu-operator", "missing"),
        ("gpu-operator", "extra"),
        ("grove", "extra"),
        ("kueue", "state"),
        ("nfd", "version"),
    }
    assert found["nfd", "version"]["installed"] == "0.19.0"
    assert found["kueue", "state"]["note"] == "revision 2 is failed; the record names 0.15.0"
    code, out, _ = aicr("drift", "-r", to, "--deployer", "helm", "--fail-on-error=false")
    assert code == 0
    assert "6 differences" in out


def test_drift_of_a_release_that_is_pending(aicr: Aicr) -> None:
    code, out, _ = aicr("drift", "-r", recipe(grove="v0.1.0-alpha.13"), "--deployer", "helm")
    assert code == 2
    [row] = [line for line in out.splitlines() if line.startswith("grove")]
    assert row.split()[1:5] == ["state", "grove", "-", "pending-upgrade"]
    assert "the record names v0.1.0-alpha.13" in row


def test_which_cluster_is_meant(aicr: Aicr, server: Server, tmp_path: Path) -> None:
    document = yaml.safe_load(server.kubeconfig().read_text())
    document["contexts"].append({"name": "second", "context": document["contexts"][0]["context"]})
    other = tmp_path / "other"
    other.write_text(yaml.safe_dump(document))
    code, out, _ = aicr("inventory", "-k", str(other), "--context", "second")
    assert (code, "  context     second\n" in out) == (0, True)
    code, _, err = aicr("inventory", "-k", str(other), "--context", "third")
    assert code == 2
    assert 'there is no context "third"' in err


def test_artifacts_in_config_maps_of_another_cluster(
    aicr: Aicr, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What names a ConfigMap says which cluster it is in, for each command that reads one."""
    to = recipe(nfd="0.19.0")
    meta = {"name": "stored", "namespace": "gpu-operator"}
    data = {"recipe.yaml": Path(to).read_text()}
    server.store.seed(server.store.kind("", "configmaps"), {"metadata": meta, "data": data})
    kubeconfig = ["-k", str(server.kubeconfig()), "--context", "double"]
    monkeypatch.setenv("KUBECONFIG", "/not/there")
    stored_recipe = "cm://gpu-operator/stored"
    assert aicr("diff", stored_recipe, to)[0] == 2
    code, out, err = aicr("diff", stored_recipe, to, *kubeconfig)
    assert (code, out) == (0, "no difference\n"), err
    assert aicr("bundle", "-r", stored_recipe, "--deployer", "helm")[0] == 2
    code, _, err = aicr("bundle", "-r", stored_recipe, "--deployer", "helm", *kubeconfig)
    assert code == 0, err
    assert yaml.safe_load(Path("bundles/recipe.yaml").read_text())["componentRefs"]
    assert server.verbs() == {("get", "configmaps")}


def test_no_drift(aicr: Aicr, tmp_path: Path) -> None:
    to = recipe(nfd="0.19.0")
    with KubeDouble(tmp_path) as other:
        secrets = other.store.kind("", "secrets")
        chart = "node-feature-discovery"
        other.store.seed(secrets, stored(record("nfd", "nfd", chart=chart, version="v0.19.0")))
        words = ["-r", to, "--deployer", "helm", "-k", str(other.kubeconfig(name="other"))]
        code, out, _ = aicr("drift", *words)
        assert (code, out.splitlines()[-1]) == (0, "no drift")
        other.stop()
        assert aicr("drift", *words, "--detailed-exit-code")[0] == 1


def test_drift_wants_a_deployer(aicr: Aicr, server: Server) -> None:
    code, _, err = aicr("drift", "-r", recipe(nfd="0.19.0"))
    assert (code, "--deployer is required" in err) == (2, True)
    assert not server.requests


def test_a_snapshot_that_recipe_reads(aicr: Aicr, server: Server) -> None:
    kind = server.store.kind("", "nodes")
    server.store.delete(kind, "", "gpu-arm64-1")
    code, _, err = aicr("snapshot", "-o", "cm://gpu-operator/aicr-snapshot")
    assert (code, err) == (0, "")
    stored_map = server.store.get(
        server.store.kind("", "configmaps"), "gpu-operator", "aicr-snapshot"
    )
    assert stored_map["metadata"]["labels"]["app.kubernetes.io/component"] == "snapshot"
    assert main(["recipe", "--snapshot", "cm://gpu-operator/aicr-snapshot", "-o", "out.yaml"]) == 0
    criteria = yaml.safe_load(Path("out.yaml").read_text())["criteria"]
    assert criteria["service"] == "eks"
    assert criteria["accelerator"] == "h100"


def test_a_recipe_and_a_report_in_config_maps(aicr: Aicr, server: Server) -> None:
    place = "cm://gpu-operator/aicr-recipe"
    assert main(["recipe", "--service", "eks", "--intent", "training", "-o", place]) == 0
    again = ["upgrade-check", "--from", place, "--to", place]
    assert main(again) == 0
    report = ["--format", "json", "-o", "cm://gpu-operator/aicr-report"]
    to = recipe(nfd="0.19.0")
    words = ["upgrade-check", "--from", place, "--to", to, "--deployer", "helm"]
    assert main([*words, *report, "--fail-on-error=false"]) == 0
    kind = server.store.kind("", "configmaps")
    stored_map = server.store.get(kind, "gpu-operator", "aicr-report")
    assert json.loads(stored_map["data"]["report.json"])["from"] == place
    assert main(["recipe", "--service", "eks", "-o", "cm://nowhere/x"]) == 3


@on_the_double
def test_a_write_that_would_be_lost(
    aicr: Aicr, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    assert isinstance(server, KubeDouble)
    place = "cm://gpu-operator/aicr-recipe"
    recorded = recording("configmap/get-200")["response"]["body"]
    kind = server.store.kind("", "configmaps")
    server.store.seed(kind, recorded)
    server.faults.add(
        Run(lambda: server.store.update(kind, "gpu-operator", "aicr-recipe", {"data": {}})),
        lambda request: request.method == "PUT",
    )
    assert main(["recipe", "--service", "eks", "--intent", "training", "-o", place]) == 2
    assert "changed by somebody else meanwhile" in capsys.readouterr().err
