from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from aicr.nvcf.pull_reading import Expected, Reading, cause_of, mutated, read_pull

PODS = Path(__file__).parent.parent / "data" / "kube" / "pods"
LATE = "after 180 s"

# What the README of the recordings says of each state, in the words of the table.
STATES = {
    "pulling": ("unknown", "still-pulling"),
    "deadline-passed-still-pulling": ("unknown", "still-pulling"),
    "pulled-running": ("pulled", ""),
    "pulled-completed": ("pulled", ""),
    "pulled-exit1": ("pulled", ""),
    "deadline-after-pull": ("pulled", ""),
    "deadline-passed-pull-finished-failed": ("pulled", ""),
    "deadline-passed-pull-finished-just-now": ("pulled", ""),
    "deadline-in-imagepullbackoff": ("not-pulled", "not-found"),
    "createcontainerconfigerror-root": ("pulled-not-startable", ""),
    "createcontainerconfigerror-nonnumeric-user": ("pulled-not-startable", ""),
    "deadline-in-createcontainerconfigerror": ("pulled-not-startable", ""),
    "errimagepull-unauthorized": ("not-pulled", "unauthorised"),
    "errimagepull-forbidden": ("not-pulled", "forbidden"),
    "errimagepull-missing": ("not-pulled", "not-found"),
    "errimagepull-noplatform": ("not-pulled", "no-platform"),
    "errimagepull-nodns": ("not-pulled", "dns"),
    "imagepullbackoff-unauthorized": ("not-pulled", "unauthorised"),
    "imagepullbackoff-forbidden": ("not-pulled", "forbidden"),
    "imagepullbackoff-missing": ("not-pulled", "not-found"),
    "imagepullbackoff-noplatform": ("not-pulled", "no-platform"),
    "imagepullbackoff-nodns": ("not-pulled", "dns"),
    "pull-secret-missing": ("secret-missing", ""),
    "exec-format-exit255": ("pulled", ""),
    "exec-format-starterror": ("pulled", ""),
    "args-not-executable-starterror": ("pulled", ""),
    "invalidimagename": ("invalid-reference", ""),
    "pending-node-without-kubelet": ("unknown", "nothing-reported"),
    "pending-no-such-node": ("unknown", "nothing-reported"),
    "evicted-noexecute-terminating": ("unknown", "evicted"),
}
OPEN = {
    name
    for name, (outcome, cause) in STATES.items()
    if cause in ("still-pulling", "nothing-reported")
}


def load(name: str) -> Any:
    return json.loads((PODS / f"{name}.json").read_text())


def pod_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = load(f"{name}-pod")
    return found


def events_of(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = load(f"{name}-events")["items"]
    return found


def reading(
    name: str,
    *,
    expected: Expected | None = None,
    over: str = LATE,
    events: list[dict[str, Any]] | None = None,
    pod: dict[str, Any] | None = None,
) -> Reading | None:
    one = pod if pod is not None else pod_of(name)
    return read_pull(
        one,
        events_of(name) if events is None else events,
        uid=one["metadata"]["uid"],
        architecture="arm64" if "exec-format" in name else "amd64",
        expected=expected or Expected(),
        over=over,
    )


def test_no_recorded_state_is_left_out() -> None:
    recorded = {path.name.removesuffix("-pod.json") for path in PODS.glob("*-pod.json")}
    assert recorded == set(STATES)


@pytest.mark.parametrize("name", sorted(STATES))
def test_every_recorded_state(name: str) -> None:
    found = reading(name)
    assert found is not None
    assert (found.outcome, found.cause) == STATES[name]


@pytest.mark.parametrize("name", sorted(STATES))
def test_nothing_is_concluded_too_early(name: str) -> None:
    found = reading(name, over="")
    assert (found is None) == (name in OPEN)


def test_a_probe_without_its_toleration_is_rejected() -> None:
    lines = load("rejected-noexecute-watch")
    events = load("rejected-noexecute-events")["items"]
    pods = [line["object"] for line in lines]
    uid = pods[0]["metadata"]["uid"]
    outcomes = [
        read_pull(pod, [], uid=uid, architecture="amd64", expected=Expected()) for pod in pods
    ]
    assert outcomes[:2] == [None, None]
    assert outcomes[2] is not None
    assert (outcomes[2].outcome, outcomes[2].cause) == ("unknown", "TaintToleration")
    last = read_pull(
        pods[-1], events, uid=uid, architecture="amd64", expected=Expected(), gone=True
    )
    assert last is not None
    assert (last.outcome, last.cause) == ("unknown", "TaintToleration")


def test_an_evicted_pod_is_gone_and_its_events_stay() -> None:
    events = load("evicted-noexecute-gone-events")["items"]
    uid = next(e["involvedObject"]["uid"] for e in events if "uid" in e["involvedObject"])
    found = read_pull(None, events, uid=uid, architecture="amd64", expected=Expected(), gone=True)
    assert found is not None
    assert (found.outcome, found.cause) == ("unknown", "evicted")


def test_a_watch_of_a_good_probe_says_pulled_as_soon_as_it_is_known() -> None:
    outcomes = [
        read_pull(
            line["object"],
            [],
            uid=line["object"]["metadata"]["uid"],
            architecture="amd64",
            expected=Expected(),
        )
        for line in load("watch-pulled-exit1")
    ]
    first = next(index for index, one in enumerate(outcomes) if one is not None)
    assert [one.outcome for one in outcomes[first:] if one] == ["pulled"] * len(outcomes[first:])


def test_digests_are_compared_with_all_that_are_known() -> None:
    digest = "sha256:28dfe70ebff72b0f56f9684e54a1b5c332ae36553ec1d79c2eccf8f7e491944b"
    good = reading("pulled-running", expected=Expected(["sha256:" + "0" * 64, digest]))
    assert good is not None
    assert (good.outcome, list(good.notes)) == ("pulled", [])
    bad = reading("pulled-running", expected=Expected(["sha256:" + "0" * 64]))
    assert bad is not None
    assert bad.outcome == "digest-differs"
    assert digest in bad.why
    unknown = reading("pulled-running")
    assert unknown is not None
    assert unknown.notes[0].startswith("digest-not-compared")


@pytest.mark.parametrize("name", ["exec-format-exit255", "exec-format-starterror"])
def test_only_the_registry_proves_the_wrong_architecture(name: str) -> None:
    digests = [reading(name).digests[0]]  # type: ignore[union-attr]
    found = reading(name, expected=Expected(digests, ["amd64"]))
    assert found is not None
    assert found.outcome == "wrong-architecture"
    found = reading(name, expected=Expected(digests, ["amd64", "arm64"]))
    assert found is not None
    assert found.outcome == "pulled"


def test_a_missing_secret_counts_even_if_the_pull_worked() -> None:
    event = events_of("pull-secret-missing")[0]
    pod = pod_of("pulled-running")
    event = {**event, "involvedObject": {"uid": pod["metadata"]["uid"]}}
    found = reading("pulled-running", events=[event])
    assert found is not None
    assert found.outcome == "secret-missing"
    assert "no-such-secret" in found.why


def test_the_events_of_another_pod_do_not_count() -> None:
    events = [
        {**one, "involvedObject": {**one["involvedObject"], "uid": "another"}}
        for one in events_of("createcontainerconfigerror-root")
    ]
    found = reading("createcontainerconfigerror-root", events=events)
    assert found is not None
    assert found.outcome == "unknown"


def test_the_events_of_another_container_do_not_count() -> None:
    events = events_of("createcontainerconfigerror-root")
    for one in events:
        one["involvedObject"]["fieldPath"] = "spec.containers{istio-proxy}"
    found = reading("createcontainerconfigerror-root", events=events)
    assert found is not None
    assert found.outcome == "unknown"


def test_an_image_that_was_already_there_is_no_pull() -> None:
    for name in ("createcontainerconfigerror-root", "pulled-running"):
        events = events_of(name)
        for one in events:
            if one["reason"] == "Pulled":
                one["message"] = 'Container image "x" already present on machine'
        found = reading(name, events=events)
        assert found is not None
        assert found.outcome == "unknown"


def test_an_injected_sidecar_may_come_first() -> None:
    pod = pod_of("imagepullbackoff-missing")
    sidecar = {"name": "proxy", "imageID": "x@sha256:" + "1" * 64, "state": {"running": {}}}
    pod["status"]["containerStatuses"].insert(0, sidecar)
    found = reading("imagepullbackoff-missing", pod=pod)
    assert found is not None
    assert found.outcome == "not-pulled"


def test_an_injected_init_container_that_blocks() -> None:
    pod = pod_of("pulling")
    pod["status"]["initContainerStatuses"] = [
        {"name": "wait-for-mesh", "state": {"waiting": {"reason": "ImagePullBackOff"}}}
    ]
    assert reading("pulling", pod=pod, over="", events=[]) is None
    found = reading("pulling", pod=pod, events=[])
    assert found is not None
    assert (found.outcome, found.cause) == ("unknown", "init-container")
    assert "wait-for-mesh" in found.why


@pytest.mark.parametrize("reason", ["OutOfcpu", "NodeAffinity", "UnexpectedAdmissionError"])
def test_what_the_kubelet_rejects(reason: str) -> None:
    pod = pod_of("pending-no-such-node")
    pod["status"] = {"phase": "Failed", "reason": reason, "message": "Pod was rejected"}
    found = reading("pending-no-such-node", pod=pod, over="")
    assert found is not None
    assert (found.outcome, found.cause) == ("unknown", reason)


def test_a_pod_that_somebody_removed() -> None:
    pod = pod_of("pulling")
    found = read_pull(
        pod, [], uid=pod["metadata"]["uid"], architecture="amd64", expected=Expected(), gone=True
    )
    assert found is not None
    assert (found.outcome, found.cause) == ("unknown", "gone")


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("tls: failed to verify certificate: x509: certificate signed by unknown authority", "tls"),
        ("http: server gave HTTP response to HTTPS client", "tls"),
        ("dial tcp: lookup h on 10.0.0.2:53: no such host", "dns"),
        ("pull access denied, repository does not exist", "forbidden"),
        ("no matching manifest for linux/arm64 in the manifest list entries", "no-platform"),
        ("dial tcp 10.0.0.1:443: i/o timeout", "network"),
        ("something else", "other"),
    ],
)
def test_causes_in_other_words(message: str, cause: str) -> None:
    assert cause_of(message) == cause


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda spec: spec["containers"][0].update(image="cache.example.com/x:1"), "image"),
        (
            lambda spec: spec["containers"][0].update(imagePullPolicy="IfNotPresent"),
            "imagePullPolicy",
        ),
        (lambda spec: spec.update(nodeName="other"), "nodeName"),
        (lambda spec: spec.update(serviceAccountName="other"), "serviceAccountName"),
        (lambda spec: spec.update(imagePullSecrets=[{"name": "other"}]), "imagePullSecrets"),
    ],
)
def test_what_a_webhook_changed(change: Any, field: str) -> None:
    exchange = load("create-201")
    sent, created = exchange["request"]["body"], exchange["response"]["body"]
    assert mutated(sent, created) == []
    sidecar = {"name": "proxy", "image": "proxy:1", "imagePullPolicy": "IfNotPresent"}
    created["spec"]["containers"].insert(1, sidecar)
    assert mutated(sent, created) == []
    change(created["spec"])
    assert [line.split(" ")[0] for line in mutated(sent, created)] == [field]


def test_the_secrets_of_the_service_account_are_no_change() -> None:
    exchange = load("create-201")
    sent, created = exchange["request"]["body"], exchange["response"]["body"]
    sent["spec"]["imagePullSecrets"] = []
    assert mutated(sent, created) == []
