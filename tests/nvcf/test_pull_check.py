from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import yaml

from aicr.cli.main import main
from aicr.nvcf import probes as probes_module
from aicr.nvcf import pull_probe
from aicr.nvcf.evidence_chain import verify
from fleets import NAMESPACE, FleetOfDoubles, fleet_of
from kube_double_faults import Answer, Cut, Drop, Hang
from kube_double_request import Request
from kubelet_double import Kubelet, node, recorded
from registry_double import Web, replay, send

IMAGE = "registry.example.com/nvcf/nvcf-worker-task-oss:1.1.6"
INIT = "registry.example.com/nvcf/nvcf-worker-init-oss:1.2.4"
REGISTRY = Path(__file__).parent.parent / "data" / "kube" / "registry"
JSON = {"Content-Type": "application/json"}
Said = dict[str, Any]


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[FleetOfDoubles]:
    with fleet_of(tmp_path) as found:
        yield found


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries that fail are repeated at once."""
    monkeypatch.setattr("aicr.cli.nvcf_pull_check.patience_of", lambda args: patience())


def patience() -> Any:
    from aicr.cluster.connection import Patience

    return Patience(tries=2, wait=0.001, longest_wait=2.0, sleep=lambda seconds: None)


class Checked:
    """A finished command."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.err = err
        self.said: Said = json.loads(out) if out.startswith("{") else {}
        self.out = out

    @property
    def outcomes(self) -> dict[tuple[str, str], str]:
        return {
            (fact["value"]["node"], fact["value"]["image"]): fact["value"]["outcome"]
            for fact in self.said["facts"]
            if fact["name"] == "unit"
        }

    def unit(self) -> Said:
        found: Said = next(f["value"] for f in self.said["facts"] if f["name"] == "unit")
        return found


class Check:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(
        self, fleet: FleetOfDoubles, *words: str, images: tuple[str, ...] = (IMAGE,)
    ) -> Checked:
        given = [] if "--clean-up" in words or "--render" in words else list(images)
        registry = [] if "--registry" in words or "--clean-up" in words else ["--registry", "off"]
        form = [] if "--clean-up" in words or "--format" in words else ["--format", "json"]
        code = main(
            ["nvcf", "pull-check", "--fleet", str(fleet.path), *given, *registry, *form, *words]
        )
        out, err = self._capsys.readouterr()
        return Checked(code, out, err)


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Check:
    return Check(capsys)


def probes(fleet: FleetOfDoubles, name: str = "east") -> list[str]:
    store = fleet.clusters[name].store
    return [pod["metadata"]["name"] for pod in store.all(store.kind("", "pods"))]


def pods_only(request: Request) -> bool:
    return request.resource == "pods" and request.verb == "create"


# A good run.


def test_a_pull_is_a_go(fleet: FleetOfDoubles, check: Check) -> None:
    double = fleet.clusters["east"]
    with Kubelet(double) as kubelet:
        done = check(fleet, images=(INIT, IMAGE))
    assert done.code == 0, done.err
    assert done.said["outcome"] == "pulled"
    assert set(done.outcomes.values()) == {"pulled"}
    assert len(kubelet.created) == 2
    assert probes(fleet) == []
    assert "a pull proves neither" in done.said["notes"][-1]
    assert done.said["keepPaused"] == ["deployments", "scaling", "invocations", "tasks"]
    assert "[2/2] east east-0" in done.err


def test_the_probe_is_the_published_one(fleet: FleetOfDoubles, check: Check) -> None:
    with Kubelet(fleet.clusters["east"]):
        done = check(fleet)
    sent = next(json.loads(one.body) for one in fleet.clusters["east"].requests if pods_only(one))
    published = recorded("create-201")["request"]["body"]
    labels = sent["metadata"].pop("labels")
    published["spec"]["nodeName"] = "east-0"
    assert sent == published
    assert labels == {"aicr.run/tool": "nvcf-pull-check", "aicr.run/run": done.said["run"]}


def test_tolerations_of_the_pool_are_added(fleet: FleetOfDoubles, check: Check) -> None:
    tolerations = [{"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}]
    fleet.entry("east")["pools"][0]["tolerations"] = tolerations
    fleet.write()
    with Kubelet(fleet.clusters["east"]) as kubelet:
        check(fleet)
    assert kubelet.created[0]["spec"]["tolerations"] == tolerations


def test_the_evidence_is_on_disk_before_the_pod_is_gone(
    fleet: FleetOfDoubles, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []
    original = probes_module.delete_probe

    def spy(kube: Any, namespace: str, name: str, uid: str) -> None:
        base = fleet.folder / "nvcf-record" / "pull-check"
        manifest = next(base.glob("*/manifest.jsonl")).read_text()
        assert f"/east/{name}.json" in manifest
        seen.append([str(path) for path in base.rglob(f"{name}.json")])
        original(kube, namespace, name, uid)

    monkeypatch.setattr(pull_probe, "delete_probe", spy)
    with Kubelet(fleet.clusters["east"]):
        done = check(fleet)
    assert len(seen) == 1
    said = json.loads(Path(seen[0][0]).read_text())
    assert said["runtime"] == "containerd://2.1.4"
    assert said["architecture"] == "amd64"
    assert said["imageID"].endswith(said["digests"][0])
    assert {event["reason"] for event in said["events"]} >= {"Pulling", "Pulled"}
    assert said["pod"]["status"]["containerStatuses"]
    assert said["server"] == fleet.clusters["east"].url
    verdict = verify(str(Path(seen[0][0]).parents[2]))
    assert verdict.problems == []
    assert verdict.closed
    assert done.unit()["evidence"].endswith(".json")


def test_no_content_of_a_secret_is_read(fleet: FleetOfDoubles, check: Check) -> None:
    with Kubelet(fleet.clusters["east"]):
        done = check(fleet)
    assert "secrets" not in {resource for _, resource in fleet.clusters["east"].verbs()}
    everything = [path.read_text() for path in fleet.folder.rglob("*.json")]
    assert not any("secret-word" in text or "c2VjcmV0" in text for text in [*everything, done.out])


# What a node says.


@pytest.mark.parametrize(
    ("state", "outcome", "cause", "code"),
    [
        ("pulled-exit1", "pulled", None, 0),
        ("deadline-passed-pull-finished-just-now", "pulled", None, 0),
        ("createcontainerconfigerror-root", "pulled-not-startable", None, 0),
        ("createcontainerconfigerror-nonnumeric-user", "pulled-not-startable", None, 0),
        ("errimagepull-unauthorized", "not-pulled", "unauthorised", 2),
        ("imagepullbackoff-noplatform", "not-pulled", "no-platform", 2),
        ("deadline-in-imagepullbackoff", "not-pulled", "not-found", 2),
        ("pull-secret-missing", "secret-missing", None, 2),
        ("invalidimagename", "invalid-reference", None, 2),
        ("pulling", "unknown", "still-pulling", 2),
        ("pending-node-without-kubelet", "unknown", "nothing-reported", 2),
        ("evicted-noexecute-terminating", "unknown", "evicted", 2),
    ],
)
def test_recorded_states_from_end_to_end(
    fleet: FleetOfDoubles, check: Check, state: str, outcome: str, cause: str | None, code: int
) -> None:
    double = fleet.clusters["east"]
    if state.startswith("evicted"):
        # The double does not delete on its own: the pod's own metadata says that it is leaving.
        status = recorded(f"{state}-pod")

        def evict(pod: Any) -> str:
            pod["metadata"]["deletionTimestamp"] = status["metadata"]["deletionTimestamp"]
            return state

        choose: Any = evict
    else:
        choose = state
    # Only what stays open needs the own clock to run out.
    clock = "1.5" if cause in ("still-pulling", "nothing-reported") else "60"
    with Kubelet(double, choose):
        done = check(fleet, "--timeout-pull", clock)
    assert (done.unit()["outcome"], done.unit()["cause"]) == (outcome, cause)
    assert done.code == code
    assert done.said["outcome"] == outcome
    assert probes(fleet) == []


def test_a_probe_that_the_kubelet_rejects(fleet: FleetOfDoubles, check: Check) -> None:
    double = fleet.clusters["east"]
    with Kubelet(double, "") as kubelet:

        def reject(pod: Any) -> str:
            kubelet.status(pod, recorded("rejected-noexecute-watch")[2]["object"]["status"])
            double.store.delete(double.store.kind("", "pods"), NAMESPACE, pod["metadata"]["name"])
            return ""

        kubelet.choose = reject
        done = check(fleet)
    assert (done.unit()["outcome"], done.unit()["cause"]) == ("unknown", "TaintToleration")


def test_a_node_that_goes_away(fleet: FleetOfDoubles, check: Check) -> None:
    double = fleet.clusters["east"]

    def vanish(pod: Any) -> str:
        double.store.delete(double.store.kind("", "nodes"), "", "east-0")
        return ""

    with Kubelet(double, vanish):
        done = check(fleet, "--timeout-pull", "1.5")
    assert (done.unit()["outcome"], done.unit()["cause"]) == ("unknown", "node-gone")


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("create-403-rbac", "rights"),
        ("create-403-quota", "quota"),
        ("create-403-no-serviceaccount", "no-service-account"),
        ("podsecurity-restricted-403", "pod-security"),
        ("create-404-no-namespace", "no-namespace"),
        ("create-422-empty-image", "invalid"),
    ],
)
def test_a_probe_that_the_server_refuses(
    fleet: FleetOfDoubles, check: Check, name: str, cause: str
) -> None:
    answer = recorded(name)["response"]
    double = fleet.clusters["east"]
    double.faults.add(Answer(answer["status"], json.dumps(answer["body"]), JSON), pods_only)
    done = check(fleet)
    assert (done.unit()["outcome"], done.unit()["cause"]) == ("refused", cause)
    assert done.code == 2
    assert answer["body"]["message"][:40] in done.unit()["why"]


def test_a_webhook_that_says_no(fleet: FleetOfDoubles, check: Check) -> None:
    body = recorded("create-403-quota")["response"]["body"]
    body["message"] = 'admission webhook "policy.example.com" denied the request: no'
    double = fleet.clusters["east"]
    double.faults.add(Answer(403, json.dumps(body), JSON), pods_only)
    done = check(fleet)
    assert (done.unit()["outcome"], done.unit()["cause"]) == ("refused", "webhook")


def test_a_webhook_that_changes_the_image(fleet: FleetOfDoubles, check: Check) -> None:
    double = fleet.clusters["east"]
    with Kubelet(double):
        body = json.loads(json.dumps(recorded("create-201")["response"]["body"]))
        body["spec"]["nodeName"] = "east-0"
        body["spec"]["containers"][0]["image"] = "cache.example.com/x:1"
        double.faults.add(Answer(201, json.dumps(body), JSON), pods_only)
        done = check(fleet)
    assert done.unit()["outcome"] == "mutated"
    assert "cache.example.com/x:1" in done.unit()["why"]
    assert done.code == 2


def test_a_busy_server_is_asked_again_for_the_pod(fleet: FleetOfDoubles, check: Check) -> None:
    double = fleet.clusters["east"]
    double.faults.add(Answer(429, "busy", {"Retry-After": "1"}), pods_only, times=2)
    with Kubelet(double) as kubelet:
        done = check(fleet)
    assert done.code == 0
    assert len(kubelet.created) == 1


def test_a_pod_that_may_or_may_not_have_been_made_is_removed(
    fleet: FleetOfDoubles, check: Check
) -> None:
    double = fleet.clusters["east"]
    double.faults.add(Cut(0), pods_only)  # the server made it, its answer got lost
    with Kubelet(double) as kubelet:
        done = check(fleet)
    assert len(kubelet.created) == 1
    assert done.unit()["outcome"] == "unknown"
    assert done.code == 2
    assert probes(fleet) == []


def test_a_watch_that_breaks_and_one_that_is_too_old(fleet: FleetOfDoubles, check: Check) -> None:
    double = fleet.clusters["east"]

    def watches(request: Request) -> bool:
        return request.verb == "watch"

    double.faults.add(Drop(), watches)
    double.faults.add(
        Answer(200, json.dumps(recorded("watch-expired-410")[0]) + "\n", JSON), watches
    )
    with Kubelet(double):
        done = check(fleet)
    assert done.code == 0, done.out
    assert double.verbs() >= {("watch", "pods"), ("list", "pods")}


# The registry.


def test_digests_of_the_registry_are_compared(fleet: FleetOfDoubles, check: Check) -> None:
    web = Web(replay(REGISTRY))
    image = f"{web.host}/nvcf/nvcf-worker-task-oss:1.1.6"
    plain = ("--registry", "required", "--plain-http", web.host)

    def pulled(image_id: str) -> Any:
        def choose(pod: Any) -> str:
            kubelet.answer(pod, "pulled-running", image_id=image_id)
            return ""

        return choose

    double = fleet.clusters["east"]
    with Kubelet(double, "") as kubelet:
        # The index, a manifest, a configuration: a runtime may show any of them.
        for name in ("index-by-tag", "manifest-amd64", "config-amd64"):
            digest = json.loads((REGISTRY / f"{name}.json").read_text())["response"]["bodySha256"]
            kubelet.choose = pulled(f"{web.host}/x@{digest}")
            done = check(fleet, *plain, images=(image,))
            assert done.unit()["outcome"] == "pulled"
            assert done.unit()["notes"] == []
        kubelet.choose = lambda pod: "pulled-running"
        done = check(fleet, *plain, images=(image,))
        assert done.unit()["outcome"] == "digest-differs"
        assert done.code == 2
    web.stop()


def test_an_architecture_that_the_image_does_not_have(fleet: FleetOfDoubles, check: Check) -> None:
    config = json.dumps({"architecture": "amd64", "os": "linux"}).encode()
    from aicr.documents.digest import sha256_hex

    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": {"digest": f"sha256:{sha256_hex(config)}"},
        }
    ).encode()

    def answer(request: BaseHTTPRequestHandler) -> None:
        send(request, 200, config if "/blobs/" in request.path else manifest)

    web = Web(answer)
    double = fleet.clusters["east"]
    double.store.apply(node("east-1", architecture="arm64"))
    fleet.entry("east")["architectures"] = ["amd64", "arm64"]
    fleet.write()
    with Kubelet(double, "") as kubelet:

        def choose(pod: Any) -> str:
            image_id = f"x@sha256:{sha256_hex(manifest)}"
            kubelet.answer(pod, "exec-format-exit255", image_id=image_id)
            return ""

        kubelet.choose = choose
        image = f"{web.host}/a/b:1"
        done = check(fleet, "--registry", "required", "--plain-http", web.host, images=(image,))
    web.stop()
    assert done.outcomes == {("east-0", image): "pulled", ("east-1", image): "wrong-architecture"}
    assert done.said["outcome"] == "wrong-architecture"


def test_a_registry_that_cannot_be_read(
    fleet: FleetOfDoubles, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aicr.nvcf.registry._TRIES", 1)
    web = Web(lambda request: send(request, 200, b""))
    web.stop()
    image = f"{web.host}/a/b:1"
    with Kubelet(fleet.clusters["east"]):
        done = check(fleet, "--registry", "auto", images=(image,))
        assert done.code == 0
        assert any(note.startswith("digest-not-compared with the") for note in done.said["notes"])
        before = len(fleet.clusters["east"].requests)
        done = check(fleet, "--registry", "required", images=(image,))
    assert done.code == 2
    assert not any(pods_only(one) for one in fleet.clusters["east"].requests[before:])


# Which nodes.


def test_nodes_that_are_not_ready_do_not_decide_alone(fleet: FleetOfDoubles, check: Check) -> None:
    double = fleet.clusters["east"]
    double.store.apply(node("east-1", ready=False))
    with Kubelet(double):
        done = check(fleet)
    assert done.code == 0
    gap = next(f["value"] for f in done.said["facts"] if f["name"] == "not-asked")
    assert (gap["node"], gap["outcome"]) == ("east-1", "skipped")
    double.store.apply(node("east-0", ready=False))
    done = check(fleet)
    assert done.code == 2
    assert done.said["outcome"] == "unknown"


def test_a_pool_without_nodes_is_unknown_unless_it_may_be_empty(
    fleet: FleetOfDoubles, check: Check
) -> None:
    pools = fleet.entry("east")["pools"]
    pools.append({"name": "spare", "selector": "spare=yes"})
    fleet.write()
    with Kubelet(fleet.clusters["east"]):
        assert check(fleet).code == 2
        pools[1]["mayBeEmpty"] = {"reason": "scaled to zero"}
        fleet.write()
        done = check(fleet)
    assert done.code == 0
    gap = next(f["value"] for f in done.said["facts"] if f["name"] == "not-asked")
    assert gap["outcome"] == "not-checked"
    assert "scaled to zero" in gap["why"]


@pytest.mark.parametrize(
    ("entry", "extra", "why"),
    [
        ({}, node("other", labels={"gpu": "no"}), "has allocatable GPUs and is in no pool"),
        (
            {"taskNodes": "role=task"},
            node("other", labels={"gpu": "no", "role": "task"}, gpus=0),
            "matches taskNodes",
        ),
        ({}, node("other", architecture="arm64"), "arm64 is not declared"),
        ({"architectures": ["amd64", "arm64"]}, None, "declared architecture arm64"),
        (
            {"pools": [{"name": "gpu", "nodes": ["east-0", "typo"]}]},
            None,
            "there is no such node",
        ),
    ],
)
def test_nodes_that_nobody_asks_keep_it_from_being_a_go(
    fleet: FleetOfDoubles, check: Check, entry: Said, extra: Any, why: str
) -> None:
    fleet.entry("east").update(entry)
    fleet.write()
    if extra is not None:
        fleet.clusters["east"].store.apply(extra)
    with Kubelet(fleet.clusters["east"]):
        done = check(fleet)
    assert done.code == 2
    assert done.said["outcome"] == "unknown"
    assert any(
        why in fact["value"]["why"] for fact in done.said["facts"] if fact["name"] == "not-asked"
    )


def test_a_sample_says_that_it_is_one(tmp_path: Path, check: Check) -> None:
    with fleet_of(tmp_path, nodes=5) as fleet, Kubelet(fleet.clusters["east"]) as kubelet:
        done = check(fleet, "--sample")
        assert done.code == 0
        assert done.said["sample"] is True
        assert any(note.startswith("--sample") for note in done.said["notes"])
        assert len(kubelet.created) == 1


# Wrong clusters.


def test_a_wrong_cluster_stops_everything(tmp_path: Path, check: Check) -> None:
    with fleet_of(tmp_path, ("east", "west"), nodes=1) as fleet:
        fleet.entry("west")["clusterUid"] = "another"
        fleet.write()
        done = check(fleet)
        assert done.code == 2
        assert (done.said["outcome"], done.said["because"]) == ("cannot-verify", "wrong-cluster")
        for name in ("east", "west"):
            asked = {(one.verb, one.path) for one in fleet.clusters[name].requests}
            assert asked == {("get", "/api/v1/namespaces/kube-system")}


def test_a_cluster_id_that_is_not_the_registered_one(tmp_path: Path, check: Check) -> None:
    from fleets import give_agent

    with fleet_of(tmp_path) as fleet:
        give_agent(fleet.clusters["east"], "3.10.3")
        fleet.entry("east")["clusterId"] = "d30423a8-99ce-51ca-911a-09b539a0b57a"
        fleet.write()
        done = check(fleet)
        assert done.said["because"] == "wrong-cluster"
        fleet.entry("east")["clusterId"] = "c35a260c-01b9-5c3e-8afa-52b1e0edd364"
        fleet.write()
        with Kubelet(fleet.clusters["east"]):
            assert check(fleet).code == 0


def test_an_unpinned_cluster_gets_no_pod(tmp_path: Path, check: Check) -> None:
    with fleet_of(tmp_path, pinned=False) as fleet:
        done = check(fleet)
        assert done.code == 2
        assert (done.said["outcome"], done.said["because"]) == ("cannot-verify", "unpinned")
        assert done.said["nextCommand"] == f"aicr nvcf status --fleet {fleet.path} --pin"
        assert not any(pods_only(one) for one in fleet.clusters["east"].requests)


def test_two_entries_for_one_cluster(tmp_path: Path, check: Check) -> None:
    with fleet_of(tmp_path, ("east", "west"), pinned=False) as fleet:
        fleet.entry("west").update(kubeconfig=fleet.entry("east")["kubeconfig"])
        fleet.write()
        assert check(fleet).said["because"] == "wrong-cluster"


# Many clusters.


def test_clusters_and_nodes_are_asked_side_by_side(tmp_path: Path, check: Check) -> None:
    names = ("east", "north", "west")
    with fleet_of(tmp_path, names, nodes=20) as fleet:
        kubelets = [Kubelet(fleet.clusters[name], hold=20) for name in names]
        for kubelet in kubelets:
            kubelet.__enter__()
        try:
            done = check(fleet, "--parallel", "60", images=(INIT, IMAGE))
        finally:
            for kubelet in kubelets:
                kubelet.__exit__()
    assert done.code == 0
    assert len(done.outcomes) == 3 * 20 * 2
    for kubelet in kubelets:
        # No pod is answered before all twenty are there: without overlap this would never end.
        assert kubelet.most_at_once == 20
        assert set(kubelet.most_on_a_node.values()) == {1}
        assert len(kubelet.created) == 40


def test_no_more_pods_at_once_than_allowed(tmp_path: Path, check: Check) -> None:
    with fleet_of(tmp_path, nodes=8) as fleet, Kubelet(fleet.clusters["east"], hold=3) as kubelet:
        done = check(fleet, "--parallel", "3")
        assert done.code == 0
        assert kubelet.most_at_once == 3


def test_one_cluster_that_fails_half_way_does_not_stop_the_others(
    tmp_path: Path, check: Check
) -> None:
    names = ("east", "north", "west")
    with fleet_of(tmp_path, names, nodes=20) as fleet:
        kubelets = [Kubelet(fleet.clusters[name]) for name in names]
        for kubelet in kubelets:
            kubelet.__enter__()
        try:
            fleet.clusters["north"].faults.add(
                Drop(), lambda request: request.resource == "pods", skip=60, times=100_000
            )
            done = check(
                fleet, "--timeout-pull", "5", "--timeout-delete", "0.2", images=(INIT, IMAGE)
            )
        finally:
            for kubelet in kubelets:
                kubelet.__exit__()
        assert done.code == 2
        by_cluster: dict[str, set[str]] = {}
        for fact in done.said["facts"]:
            if fact["name"] == "unit":
                by_cluster.setdefault(fact["value"]["cluster"], set()).add(fact["value"]["outcome"])
        assert by_cluster["east"] == by_cluster["west"] == {"pulled"}
        assert "unknown" in by_cluster["north"]
        assert any(
            "north: whether probe pods of this run are left" in n for n in done.said["notes"]
        )
        assert probes(fleet, "east") == probes(fleet, "west") == []


def test_a_cluster_that_cannot_be_reached_is_a_no_go(tmp_path: Path, check: Check) -> None:
    with fleet_of(tmp_path, ("east", "west")) as fleet:
        fleet.clusters["west"].stop()
        with Kubelet(fleet.clusters["east"]):
            done = check(fleet)
            assert done.code == 2
            assert done.outcomes == {("east-0", IMAGE): "pulled"}
            assert check(fleet, "--cluster", "east").code == 0


def reads_of(fleet: FleetOfDoubles) -> list[tuple[str, str]]:
    found = []
    for one in fleet.clusters["east"].requests:
        key = (one.verb, one.resource)
        if key not in found and one.method == "GET":
            found.append(key)
    return found


def test_no_read_that_fails_makes_a_go(tmp_path: Path, check: Check) -> None:
    """Each kind of read fails in turn, of a run that would be a go; none of them may be left out
    in silence."""
    with fleet_of(tmp_path) as fleet, Kubelet(fleet.clusters["east"]):
        assert check(fleet).code == 0
        reads = reads_of(fleet)
        assert {"namespaces", "nodes", "pods", "events"} == {resource for _, resource in reads}
        double = fleet.clusters["east"]
        for verb, resource in reads:
            for fault in (Answer(500, "broken"), Answer(403, "no"), Drop()):
                double.faults._planned.clear()
                double.faults.add(
                    fault,
                    lambda one, v=verb, r=resource: (one.verb, one.resource) == (v, r),  # type: ignore[misc]
                    times=10_000,
                )
                done = check(fleet, "--timeout-pull", "0.4", "--timeout-delete", "0.1")
                if (verb, resource) == ("watch", "pods"):
                    continue  # the list and the last look at each pod stand in for it
                assert done.code == 2, (verb, resource, fault)
        double.faults._planned.clear()


def test_each_single_read_that_fails(
    tmp_path: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One read after the other fails once, without a second try. The answer is then "no"; only a
    watch, and the last look for leftovers, say nothing about the pull."""
    from aicr.cluster.connection import Patience

    monkeypatch.setattr(
        "aicr.cli.nvcf_pull_check.patience_of",
        lambda args: Patience(tries=1, wait=0.001, sleep=lambda seconds: None),
    )
    with fleet_of(tmp_path) as fleet, Kubelet(fleet.clusters["east"]) as kubelet:
        double = fleet.clusters["east"]
        for state, code in (("pulled-running", 0), ("imagepullbackoff-missing", 2)):
            kubelet.choose = lambda pod, state=state: state  # type: ignore[misc]
            number = 0
            while True:
                double.requests.clear()
                double.faults._planned.clear()
                double.faults.add(
                    Answer(500, "broken"), lambda one: one.method == "GET", skip=number
                )
                done = check(fleet, "--timeout-pull", "30", "--timeout-delete", "5")
                reads = [one for one in double.requests if one.method == "GET"]
                if number >= len(reads):
                    break
                failed = reads[number]
                # By identity: one list of pods looks like the other.
                before = double.requests[: [id(one) for one in double.requests].index(id(failed))]
                late = any(one.verb == "delete" for one in before)
                if failed.verb != "watch" and not late:
                    assert done.code == 2, (state, number, failed.verb, failed.resource)
                assert done.code >= code
                number += 1
            assert number >= 5
            assert done.code == code


# Keeping, repeating, cleaning up.


def test_failed_probes_can_be_kept_and_cleaned_up(fleet: FleetOfDoubles, check: Check) -> None:
    double = fleet.clusters["east"]
    with Kubelet(double, "imagepullbackoff-missing"):
        done = check(fleet, "--keep-failed")
        assert done.code == 2
        kept = probes(fleet)
        assert [one["name"] for one in done.said["left"]] == kept
        assert done.said["left"][0]["kept"] is True
        run = done.said["run"]
        other = check(fleet, "--clean-up", "--run", "another")
        assert "no probe pods" in other.out
        # The server's clock says that the run is young.
        double.clock = lambda: 1796056423.0 + 599
        young = check(fleet, "--clean-up")
        assert young.code == 2
        assert probes(fleet) == kept
        assert f"--run {run}" in young.out
        double.clock = lambda: 1796056423.0 + 601
        old = check(fleet, "--clean-up")
    assert old.code == 0
    assert f"removed east {NAMESPACE}/{kept[0]}" in old.out
    assert probes(fleet) == []


def test_a_run_can_be_cleaned_up_at_once_by_its_name(fleet: FleetOfDoubles, check: Check) -> None:
    double = fleet.clusters["east"]
    double.clock = lambda: 1796056423.0
    double.store.apply(
        {"apiVersion": "v1", "kind": "Pod", "spec": {},
         "metadata": {"name": "innocent", "namespace": NAMESPACE}}
    )  # fmt: skip
    with Kubelet(double, "imagepullbackoff-missing"):
        done = check(fleet, "--keep-failed")
        gone = check(fleet, "--clean-up", "--run", done.said["run"])
    assert gone.code == 0
    assert probes(fleet) == ["innocent"]


def test_a_pod_that_cannot_be_removed_is_listed_and_its_node_gets_no_other(
    fleet: FleetOfDoubles, check: Check
) -> None:
    double = fleet.clusters["east"]
    # The server says yes and the pod stays, as without a kubelet that confirms.
    double.faults.add(Answer(200, "{}", JSON), lambda one: one.verb == "delete", times=100)
    with Kubelet(double) as kubelet:
        done = check(fleet, "--timeout-delete", "0.2", images=(INIT, IMAGE))
    assert len(kubelet.created) == 1
    assert done.outcomes == {("east-0", INIT): "pulled", ("east-0", IMAGE): "unknown"}
    left = done.said["left"]
    assert [one["name"] for one in left] == probes(fleet)
    assert any(
        f"still there: pod {NAMESPACE}/{left[0]['name']} on east; remove it with aicr nvcf "
        f"pull-check --clean-up --run {done.said['run']}" == note
        for note in done.said["notes"]
    )


def test_only_what_failed_is_asked_again(tmp_path: Path, check: Check) -> None:
    with fleet_of(tmp_path, nodes=3) as fleet:
        bad = "imagepullbackoff-missing"
        with Kubelet(
            fleet.clusters["east"],
            lambda pod: bad if pod["spec"]["nodeName"] == "east-1" else "pulled-running",
        ) as kubelet:
            first = check(fleet)
            assert first.code == 2
            assert f"--only-failed {first.said['run']}" in first.said["nextCommand"]
            kubelet.created.clear()
            kubelet.choose = lambda pod: "pulled-running"
            second = check(fleet, "--only-failed", first.said["run"])
            assert second.code == 0
            assert [pod["spec"]["nodeName"] for pod in kubelet.created] == ["east-1"]
            third = check(fleet, "--only-failed", second.said["run"])
            assert third.code == 0
            assert len(kubelet.created) == 1
        assert check(fleet, "--only-failed", "never").code == 1


def test_a_record_folder_of_ones_own(fleet: FleetOfDoubles, check: Check) -> None:
    record = fleet.folder / "record"
    with Kubelet(fleet.clusters["east"]):
        for _ in range(2):
            assert check(fleet, "--record", str(record)).code == 0
    assert verify(str(record)).problems == []
    assert len(list(record.glob("*/result.json"))) == 2


def test_two_runs_at_once_leave_each_others_pods_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with fleet_of(tmp_path, nodes=2) as fleet, Kubelet(fleet.clusters["east"], hold=4) as kubelet:
        # Each run makes one pod on each node; none is answered before both runs made theirs.
        codes: list[int] = []
        words = ["nvcf", "pull-check", "--fleet", str(fleet.path), IMAGE, "--registry", "off"]
        running = [
            subprocess.Popen(
                [sys.executable, "-m", "aicr", *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for _ in range(2)
        ]
        for one in running:
            out, err = one.communicate(timeout=60)
            assert one.returncode == 0, (out, err)
            codes.append(one.returncode)
        assert codes == [0, 0]
        assert len({pod["metadata"]["labels"]["aicr.run/run"] for pod in kubelet.created}) == 2
        deleted = {
            (one.name, json.loads(one.body)["preconditions"]["uid"])
            for one in fleet.clusters["east"].requests
            if one.verb == "delete"
        }
        assert deleted == {
            (pod["metadata"]["name"], pod["metadata"]["uid"]) for pod in kubelet.created
        }


# Signals.


class Running:
    """The command in a process of its own, with pods that no kubelet answers."""

    def __init__(self, fleet: FleetOfDoubles, *words: str) -> None:
        self.fleet = fleet
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "aicr",
                "nvcf",
                "pull-check",
                "--fleet",
                str(fleet.path),
                IMAGE,
                "--registry",
                "off",
                *words,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def wait_for_pods(self, count: int) -> None:
        store = self.fleet.clusters["east"].store
        made = threading.Event()

        def look() -> None:
            while len(probes(self.fleet)) < count:
                with store.changed:
                    store.changed.wait(0.2)
                if self.process.poll() is not None:
                    return
            made.set()

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        assert made.wait(60)

    def end(self, number: int) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_cleans_up_first(tmp_path: Path, number: int, code: int) -> None:
    with fleet_of(tmp_path, nodes=3) as fleet:
        running = Running(fleet, "--parallel", "2")
        running.wait_for_pods(2)
        ended, out, err = running.end(number)
        assert ended == code, err
        assert probes(fleet) == []
        assert "cleaning up" in err
        assert "interrupted" in out
        record = next((tmp_path / "nvcf-record" / "pull-check").iterdir())
        assert verify(str(record)).closed
        made = [one for one in fleet.clusters["east"].requests if pods_only(one)]
        assert len(made) == 2  # the third node got none


def test_a_second_signal_ends_at_once_and_says_what_is_left(tmp_path: Path) -> None:
    with fleet_of(tmp_path) as fleet:
        double = fleet.clusters["east"]
        removing = threading.Event()

        def is_removal(request: Request) -> bool:
            if request.verb == "delete":
                removing.set()
            return request.verb == "delete"

        # A removal is answered only after a while: by then the second signal has come.
        double.faults.add(Hang(60), is_removal, times=10)
        running = Running(fleet)
        running.wait_for_pods(1)
        running.process.send_signal(signal.SIGTERM)
        assert removing.wait(60)
        code, _, err = running.end(signal.SIGTERM)
        assert code == 143
        assert "cleaning up" in err
        assert "left behind: east nvcf-backend/task-image-check-" in err
        assert "--clean-up --run" in err


def test_what_a_killed_run_leaves_is_found_by_its_label(tmp_path: Path, check: Check) -> None:
    with fleet_of(tmp_path, nodes=2) as fleet:
        running = Running(fleet)
        running.wait_for_pods(2)
        running.end(signal.SIGKILL)
        left = probes(fleet)
        assert len(left) == 2
        fleet.clusters["east"].clock = lambda: 1796056423.0 + 3600
        done = check(fleet, "--clean-up")
        assert done.code == 0
        assert probes(fleet) == []
        assert all(name in done.out for name in left)


# Before anything is asked.


def test_a_plan_asks_nobody(fleet: FleetOfDoubles, check: Check) -> None:
    done = check(fleet, "--plan")
    assert done.code == 0
    assert "pool gpu: 1 pods on each node of nodes gpu=yes" in done.out
    assert "at most 180 s each" in done.out
    assert fleet.clusters["east"].requests == []


@pytest.mark.parametrize(
    ("words", "images", "said"),
    [
        ((), (), "either --render DIR or images"),
        ((), ("A B",), "no image reference: 'A B'"),
        (("--cluster", "north"), (IMAGE,), 'no compute cluster "north"'),
        (("--parallel", "0"), (IMAGE,), "from 1 to 1000"),
        (("--timeout-pull", "-1"), (IMAGE,), "a number of seconds"),
        (("--run", "x"), (IMAGE,), "for --clean-up alone"),
    ],
)
def test_a_bad_invocation_is_1(
    fleet: FleetOfDoubles, check: Check, words: tuple[str, ...], images: tuple[str, ...], said: str
) -> None:
    done = check(fleet, *words, images=images)
    assert done.code == 1
    assert said in done.err
    assert fleet.clusters["east"].requests == []


def test_a_render_and_its_inventory_decide_first(fleet: FleetOfDoubles, check: Check) -> None:
    renders = json.loads((Path(__file__).parent.parent / "data/nvcf/renders.json").read_text())
    golden = next(one for one in renders["renders"] if one["name"] == "golden")
    folder = fleet.folder / "templates"
    folder.mkdir()
    (folder / "configmap-env.yaml").write_text(golden["env"])
    (folder / "configmap-remote-config.yaml").write_text(golden["remote"])
    inventory = fleet.folder / "inventory.json"
    artifacts = [
        {"type": "container-image", "name": name, "reference": f"nvcr.io/nvidia/nvcf/{name}:{tag}",
         "sources": [{"release": "nvct-api"}]}
        for name, tag in (("nvcf-worker-init-oss", "1.2.4"), ("nvcf-worker-task-oss", "1.1.7"))
    ]  # fmt: skip
    inventory.write_text(json.dumps({"schema_version": 1, "artifacts": artifacts}))
    words = ("--render", str(folder), "--inventory", str(inventory))
    done = check(fleet, *words)
    assert (done.code, done.said["outcome"]) == (2, "inventory-differs")
    assert fleet.clusters["east"].requests == []
    artifacts[1]["reference"] = "nvcr.io/nvidia/nvcf/nvcf-worker-task-oss:1.1.6"
    inventory.write_text(json.dumps({"schema_version": 1, "artifacts": artifacts}))
    with Kubelet(fleet.clusters["east"]):
        done = check(fleet, *words)
    assert done.code == 0
    assert len(done.outcomes) == 2
    (folder / "configmap-env.yaml").write_text("kind: ConfigMap\ndata: {}\n")
    done = check(fleet, *words)
    assert (done.code, done.said["outcome"]) == (2, "no-images")


def test_what_people_read(fleet: FleetOfDoubles, check: Check) -> None:
    with Kubelet(fleet.clusters["east"], "errimagepull-missing"):
        done = check(fleet, "--format", "table")
        text = done.out.splitlines()
        assert text[0] == "pull-check: not-pulled: not-found (no-go, exit 2)"
        assert any(line.startswith("Do:      not-pulled: fix that cause") for line in text)
        assert any(line.startswith("Do not:") for line in text)
        assert "Callers keep paused: deployments, scaling, invocations, tasks." in text
        assert text[-1].startswith("Next:    aicr nvcf pull-check")
        done = check(fleet, "--format", "markdown")
        assert done.out.startswith("# pull-check: not-pulled")
    assert yaml.safe_load(fleet.path.read_text())["controlPlane"]["context"] == "double"
    assert os.path.isdir(fleet.folder / "nvcf-record")
