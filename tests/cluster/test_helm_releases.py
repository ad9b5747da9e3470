from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from aicr.cluster.connection import Connection, Patience
from aicr.cluster.helm_releases import Release, Releases, read_releases
from aicr.errors import AicrError
from kube_double import KubeDouble
from kube_double_faults import Answer, Run
from kube_double_fixtures import Connect, fill, recording
from kube_double_helm import record, stored
from kube_servers import Server


def by_name(found: Releases) -> dict[str, Release]:
    return {one.name: one for one in found.releases}


def only(server: Server, connect: Connect, *items: dict[str, Any]) -> Release:
    for item in items:
        kind = "secrets" if "type" in item else "configmaps"
        server.store.seed(server.store.kind("", kind), item)
    found = read_releases(connect(server)).releases
    assert len(found) == 1
    return found[0]


def test_what_was_recorded(server: Server, connect: Connect) -> None:
    found = read_releases(connect(server))
    shown = {
        one.name: (one.revision, one.revisions, one.state, one.chart_version, bool(one.problem))
        for one in found.releases
    }
    assert shown == {
        "broken-release": (1, 1, "deployed", "", True),
        "truncated-release": (1, 1, "deployed", "", True),
        "cert-manager": (1, 1, "deployed", "v1.20.2", False),
        "old-release": (1, 1, "uninstalled", "3.1.4", False),
        "future-release": (1, 1, "deployed", "", True),
        "gpu-operator-post": (1, 1, "deployed", "0.22.0", False),
        "grove": (2, 2, "pending-upgrade", "v0.1.0-alpha.13", False),
        "kueue": (2, 2, "failed", "0.15.0", False),
        "monitoring-kube-prometheus-stack": (1, 1, "deployed", "79.5.0", False),
        "nfd": (3, 3, "deployed", "0.19.0", False),
        "nvsentinel": (2, 2, "deployed", "v1.10.0", False),
    }
    assert (found.records, found.others) == (16, 0)
    releases = by_name(found)
    assert releases["gpu-operator-post"].component_version == "v26.7.1"
    assert releases["nvsentinel"].storage == "ConfigMap"
    assert releases["grove"].chart == "grove-charts"
    assert releases["nfd"].since == "2026-11-30T16:30:19.601933207Z"


@pytest.mark.parametrize(
    "name", ["cert-manager-v1", "gpu-operator-post-v1", "kueue-v2", "grove-v2", "old-release-v1"]
)
def test_the_decoded_records_say_the_same(name: str, server: Server, connect: Connect) -> None:
    expected = recording(f"helm/decoded-{name}")
    one = by_name(read_releases(connect(server)))[expected["name"]]
    assert (one.revision, one.state, one.namespace, one.chart, one.chart_version) == (
        expected["version"],
        expected["info"]["status"],
        expected["namespace"],
        expected["chart"]["metadata"]["name"],
        expected["chart"]["metadata"]["version"],
    )


def test_the_newest_by_number_and_only_that_is_read(empty: Server, connect: Connect) -> None:
    items = [
        stored(
            record("a", "ns", n, version=f"1.0.{n}", status="superseded" if n < 11 else "deployed")
        )
        for n in range(1, 12)
    ]
    one = only(empty, connect, *items)
    assert (one.revision, one.revisions, one.chart_version) == (11, 11, "1.0.11")
    read = [request.name for request in empty.requests if request.verb == "get"]
    assert read == ["sh.helm.release.v1.a.v11"]


@pytest.mark.parametrize(
    "status",
    [
        "unknown", "deployed", "uninstalled", "superseded", "failed", "uninstalling",
        "pending-install", "pending-upgrade", "pending-rollback",
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["Secret", "ConfigMap"])
def test_every_state_in_both_storages(
    status: str, kind: str, empty: Server, connect: Connect
) -> None:
    one = only(empty, connect, stored(record("a", "ns", status=status), kind=kind))
    assert (one.state, one.storage, one.problem) == (status, kind, "")


def test_records_from_before_they_were_compressed(empty: Server, connect: Connect) -> None:
    plain = base64.b64encode(json.dumps(record("a", "ns", version="1.2.3")).encode())
    assert only(empty, connect, stored(record("a", "ns"), payload=plain)).chart_version == "1.2.3"


def test_a_record_that_is_kept_elsewhere(empty: Server, connect: Connect) -> None:
    one = only(empty, connect, stored(record("apps-a", "apps"), stored_in="flux-system"))
    assert (one.namespace, one.stored_in) == ("apps", "flux-system")


def test_without_labels_the_name_says_it(empty: Server, connect: Connect) -> None:
    items = [stored(record("a", "ns", n), labels={"owner": "helm"}) for n in (2, 10)]
    assert only(empty, connect, *items).revision == 10


def test_what_is_no_release_is_counted(empty: Server, connect: Connect) -> None:
    foreign = {"metadata": {"name": "x", "namespace": "ns", "labels": {"owner": "helm"}}}
    empty.store.seed(empty.store.kind("", "configmaps"), foreign)
    found = read_releases(connect(empty))
    assert (found.releases, found.records, found.others) == ([], 1, 1)


def packed(content: bytes, cut: int = 0) -> bytes:
    whole = gzip.compress(content, 1, mtime=0)
    return base64.b64encode(whole[: len(whole) - cut])


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        (b"", "the record is empty"),
        (b"!!", "the record is not base64"),
        (base64.b64encode(b"no json, hush-hush"), "the record is not a release"),
        (base64.b64encode(b'{"version": "hush-hush"}'), "the record is not a release"),
        (base64.b64encode(b"[" * 5000), "the record is not a release"),
        (base64.b64encode(b"\xff\xfe"), "the record is not a release"),
        (base64.b64encode(b"\x1f\x8bhush-hush"), "the record cannot be unpacked"),
        (packed(b"{}" * 99, 9), "the record is cut off"),
        (
            base64.b64encode(gzip.compress(b'{"version": 7}', mtime=0)),
            "the record is of revision 7",
        ),
        (packed(b" " * (40 * 1024 * 1024)), "the record unpacks to more than 33554432 bytes"),
    ],
)
def test_what_cannot_be_decoded_is_a_value(
    payload: bytes, problem: str, empty: Server, connect: Connect
) -> None:
    one = only(empty, connect, stored(record("a", "ns"), payload=payload))
    assert one.problem == problem
    assert (one.state, one.chart_version) == ("deployed", "")


def test_a_token_that_is_too_old_starts_the_list_again(bare: KubeDouble) -> None:
    fill(bare)
    connection = Connection(str(bare.kubeconfig()), patience=Patience(page=3))
    bare.faults.add(Run(bare.store.compact), lambda request: "continue" in request.query)
    assert len(read_releases(connection).releases) == 11
    assert "was started again" in connection.notes[0]
    bare.faults.add(Run(bare.store.compact), lambda request: "continue" in request.query, times=2)
    with pytest.raises(AicrError) as caught:
        read_releases(connection)
    assert "410" in caught.value.message


def test_a_list_that_does_not_end(double: KubeDouble, connect: Connect) -> None:
    page = json.dumps({"metadata": {"continue": "again"}, "items": []})
    double.faults.add(Answer(200, page, {"Content-Type": "application/json"}), times=9)
    with pytest.raises(AicrError) as caught:
        read_releases(connect(double))
    assert "does not end" in caught.value.message


def test_a_record_that_is_pruned_meanwhile(bare: KubeDouble, connect: Connect) -> None:
    secrets = bare.store.kind("", "secrets")
    bare.store.seed(secrets, stored(record("a", "ns", 1)), stored(record("b", "ns", 1)))

    def upgrade() -> None:
        bare.store.seed(secrets, stored(record("a", "ns", 2, version="2.0.0")))
        bare.store.delete(secrets, "ns", "sh.helm.release.v1.a.v1")

    bare.faults.add(Run(upgrade), lambda request: request.verb == "get")
    found = by_name(read_releases(connect(bare)))
    assert (found["a"].revision, found["a"].chart_version) == (2, "2.0.0")
    assert len(found) == 2


def test_a_server_that_sends_everything_at_once(double: KubeDouble, connect: Connect) -> None:
    body = json.dumps(recording("helm/secrets-list"))
    whole = Answer(200, body, {"Content-Type": "application/json"})
    double.faults.add(
        whole, lambda request: (request.verb, request.resource) == ("list", "secrets")
    )
    assert len(read_releases(connect(double)).releases) == 11
    assert ("get", "secrets") not in double.verbs()
