from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from kube_commands import QUEUES, Aicr, check, recipe, rows
from kube_double import KubeDouble
from kube_double_helm import record, stored
from kube_servers import Server


def test_what_helm_recorded(aicr: Aicr) -> None:
    to = recipe(
        cert_manager="v1.20.2", gpu_operator="v26.7.1", grove="0.1.0", kueue="0.16.0", nfd="0.19.0"
    )
    code, report, err = check(aicr, "--to", to, "--deployer", "helm")
    assert code == 2
    assert rows(report) == {
        "grove": ("version", None, "unversioned", "not-comparable"),
        "kueue": ("version", None, "unversioned", "not-comparable"),
    }
    assert "revision 2 is pending-upgrade; the record names v0.1.0-alpha.13" in err
    assert "of its releases only Secret gpu-operator/gpu-operator-post is installed" in err
    source = report["source"]
    assert (source["context"], source["helmRecords"], source["installs"]) == ("double", 16, 10)
    assert (source["attributed"], source["components"], source["uninstalled"]) == (5, 5, 1)
    assert [(one["component"], one.get("recordedVersion")) for one in source["unsettled"]] == [
        ("grove", "v0.1.0-alpha.13"),
        ("kueue", "0.15.0"),
    ]
    _, out, _ = aicr("upgrade-check", "--from", "cluster", "--to", to, "--deployer", "helm")
    assert "  unsettled   kueue: Secret kueue-system/kueue: revision 2 is failed" in out
    assert "  left out    5 installs of no component; aicr inventory lists them" in out
    assert "finish it or roll it back" in " ".join(out.split())
    assert [one["release"] for one in source["unattributed"]] == [
        "broken-release",
        "truncated-release",
        "future-release",
        "monitoring-kube-prometheus-stack",
        "nvsentinel",
    ]


def test_what_flux_composed(aicr: Aicr, server: Server) -> None:
    secrets = server.store.kind("", "secrets")
    long = "a-namespace-with-a-long-name-kube-prometheus-stack-post"
    stamp = {"aicr.run/component-version": "79.5.0"}
    server.store.seed(
        secrets,
        stored(
            record(
                "kueue-system-kueue",
                "kueue-system",
                chart="kueue",
                version="0.16.0+0123456789ab",
            )
        ),
        stored(
            record(f"{long[:40]}-c458e22c6726", "a-namespace-with-a-long-name", annotations=stamp),
            stored_in="flux-system",
        ),
    )
    to = recipe(kube_prometheus_stack="79.5.0", kueue="0.16.0")
    code, report, _ = check(aicr, "--to", to, "--deployer", "flux", "--allow-empty")
    found = {one["release"] for one in report["source"]["unattributed"]}
    assert "kueue-system-kueue" not in found
    assert "cert-manager" in found
    assert rows(report) == {}
    assert code == 2  # gpu-operator-post is stamped, and of no component by Flux's names
    assert [one["release"] for one in report["source"]["orphans"]] == ["gpu-operator-post"]


def test_what_argo_cd_recorded(aicr: Aicr) -> None:
    to = recipe(
        cert_manager="v1.20.2",
        gpu_operator="v26.7.1",
        kube_prometheus_stack="79.5.0",
        kueue="1.0.0",
    )
    arguments = ["--to", to, "--deployer", "argocd"]
    code, _, err = check(aicr, *arguments)
    assert code == 2
    assert "argocd/cert-manager and Application team-argocd/cert-manager" in err
    assert "--exclude team-argocd/cert-manager" in err
    code, report, err = check(aicr, *arguments, "--exclude", "team-argocd/cert-manager")
    found = rows(report)
    assert found["gpu-operator"][:2] == ("version", "v26.3.0")
    assert found["kueue"] == ("added", None, None, None)  # that one is in another cluster
    assert found["cert-manager"] == ("identity", "v1.20.2", "unknown", "identity-changed")
    assert len(report["source"]["elsewhere"]) == 2
    assert "its last sync failed" in err


def test_what_is_needed_is_said_before_anything_is_asked(aicr: Aicr, server: Server) -> None:
    to = recipe(kueue="0.16.0")
    for arguments, said in (
        (["--deployer", "helm"], "--to is required"),
        (["--to", to], "--deployer is required"),
        (["--to", "cm://a/b"], "--deployer is required"),
        (["--to", to, "--deployer", "kustomize"], "expected helm, helmfile"),
        (["--to", "nowhere.yaml", "--deployer", "helm"], "there is no such file"),
        (["--to", "cluster", "--deployer", "helm"], "a cluster itself is no artifact"),
    ):
        code, _, err = check(aicr, *arguments)
        assert (code, said in err) == (2, True), err
    assert not server.requests


def test_nothing_recognised_fails(aicr: Aicr, server: Server, tmp_path: Path) -> None:
    with KubeDouble(tmp_path) as empty:
        other = str(empty.kubeconfig(name="empty"))
        to = recipe(kueue="0.16.0")
        for deployer in ("helm", "argocd"):
            arguments = ["--to", to, "--deployer", deployer, "-k", other]
            code, report, _ = check(aicr, *arguments)
            assert code == 2
            assert "is a component" in report["source"]["failures"][0]
            assert check(aicr, *arguments, "--allow-empty")[0] == 0
            assert check(aicr, *arguments, "--fail-on-error=false")[0] == 0
        code, out, _ = aicr("upgrade-check", "--from", "cluster", *arguments)
        assert "! nothing that was read" in out


def test_two_installs_are_told_apart_by_where_they_belong(aicr: Aicr, server: Server) -> None:
    secrets = server.store.kind("", "secrets")
    chart = "node-feature-discovery"
    server.store.seed(secrets, stored(record("nfd", "elsewhere", chart=chart, version="0.1.0")))
    to = recipe(nfd="0.19.0")
    code, _, err = check(aicr, "--to", to, "--deployer", "helm")
    assert code == 2
    assert "Secret elsewhere/nfd and Secret node-feature-discovery/nfd" in err
    document = yaml.safe_load(Path(to).read_text())
    document["componentRefs"][0]["namespace"] = "node-feature-discovery"
    Path(to).write_text(yaml.safe_dump(document))
    code, report, _ = check(aicr, "--to", to, "--deployer", "helm")
    assert "nfd" not in rows(report)


def test_parts_that_disagree_have_no_version(aicr: Aicr, server: Server) -> None:
    secrets = server.store.kind("", "secrets")
    server.store.seed(secrets, stored(record("gpu-operator", "gpu-operator", version="v26.3.0")))
    to = recipe(gpu_operator="v26.7.1")
    document = yaml.safe_load(Path(to).read_text())
    document["componentRefs"][0]["manifestFiles"] = ["a.yaml"]
    Path(to).write_text(yaml.safe_dump(document))
    _, report, err = check(aicr, "--to", to, "--deployer", "helm")
    assert rows(report)["gpu-operator"][:3] == ("version", None, "unversioned")
    assert "was made for v26.7.1" in err


def test_without_a_pin_there_is_no_version(aicr: Aicr) -> None:
    to = recipe(nfd="")
    _, report, _ = check(aicr, "--to", to, "--deployer", "helm")
    assert "nfd" not in rows(report)


# What is at risk


@pytest.fixture
def queues(server: Server) -> None:
    kind = server.store.define(QUEUES)
    helm = {
        "labels": {"app.kubernetes.io/managed-by": "Helm"},
        "annotations": {"meta.helm.sh/release-name": "kueue"},
    }
    for name, meta in (
        ("by-helm", helm),
        ("by-argo", {"annotations": {"argocd.argoproj.io/tracking-id": "x"}}),
        ("half", {"labels": helm["labels"]}),
        ("by-hand", {}),
    ):
        server.store.seed(kind, {"metadata": {"name": name, **meta}})


def at_risk(aicr: Aicr, *arguments: str) -> dict[str, Any]:
    old, new = recipe("old.yaml", kueue="0.15.0"), recipe("new.yaml", kueue="0.16.0")
    words = ["--from", old, "--to", new, "--deployer", "helm", "--format", "json", *arguments]
    code, out, err = aicr("upgrade-check", *words)
    assert code == 2, err
    found: dict[str, Any] = json.loads(out)["atRisk"]
    return found


@pytest.mark.usefixtures("queues")
def test_what_nobody_owns(aicr: Aicr) -> None:
    found = at_risk(aicr, "--scan-cluster")
    assert found["scanned"]
    assert found["kinds"] == ["ClusterQueue.kueue.x-k8s.io"]
    assert [one["name"] for one in found["findings"]] == ["by-hand", "half"]


def test_why_nothing_was_found(aicr: Aicr, server: Server) -> None:
    assert at_risk(aicr)["reason"] == "no cluster access was requested"
    assert "switched off" in at_risk(aicr, "--scan-cluster=false")["reason"]
    assert not server.requests
    found = at_risk(aicr, "--scan-cluster")
    assert found["reason"].startswith("nothing found")
    assert "not served by this cluster: ClusterQueue" in found["reason"]
    user = str(server.kubeconfig({"token": "nobody"}, name="nobody"))
    found = at_risk(aicr, "--scan-cluster", "-k", user)
    assert not found["scanned"]
    assert found["reason"].startswith("failed: ")
    to = recipe(nfd="0.19.0")
    _, report, _ = check(aicr, "--to", to, "--deployer", "helm")
    assert "names affected resources" in report["atRisk"]["reason"]
