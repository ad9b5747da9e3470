from __future__ import annotations

from pathlib import Path

import pytest

from aicr.errors import AicrError
from aicr.nvcf.fleet import Fleet
from aicr.nvcf.fleet_file import fleet_from, read_fleet
from aicr.nvcf.fleet_text import TEMPLATE, pinned

MINIMAL = """\
controlPlane: {kubeconfig: cp.yaml, context: cp}
computeClusters:
  - {name: east, kubeconfig: east.yaml, context: east}
"""

FULL = """\
controlPlane:
  kubeconfig: cp.yaml
  context: cp
  clusterUid: uid-cp
  nats: {namespace: n, selector: a=b, container: c, context: ctx, statefulSet: s, monitorPort: 9,
         url: nats://h, creds: c.creds, nkey: n.nk, ca: ca.pem}
  accounts: [{ncaId: nca-1, nvcfCli: ./nvcf-cli, config: /etc/one.yaml, invocation: {body: "{}"}}]
computeClusters:
  - name: east
    kubeconfig: sub/east.yaml
    context: east
    clusterUid: uid-east
    clusterId: id-east
    taskNamespace: tasks
    serviceAccount: worker
    pullSecrets: [one, two]
    architectures: [amd64, arm64]
    pools:
      - name: gpu
        selector: gpu=yes
        tolerations: [{key: dedicated, operator: Exists, effect: NoExecute, tolerationSeconds: 60}]
      - {name: arm, nodes: [a, b], mayBeEmpty: {reason: scaled to zero}}
    taskNodes: role=task
    corrected: 3.5.9
agentDigests: {"sha256:3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c": 3.10.3}
retiredClusters: [{clusterId: old, reason: gone, by: me, date: 2026-11-30}]
queues: {add: [x_*], notQueues: [{stream: y, reason: r, by: me, date: 2026-11-30}]}
"""

UNUSUAL = """\
controlPlane:
  context: cp # x
  kubeconfig: k
computeClusters:
- context: e
  name: east
  kubeconfig: k"""


def fleet(text: str) -> Fleet:
    return fleet_from(text.encode(), "/srv/fleet.yaml")


def test_what_is_left_out_has_its_default() -> None:
    found = fleet(MINIMAL)
    assert found.control_plane.kubeconfig == "/srv/cp.yaml"
    nats = found.control_plane.nats
    assert (nats.namespace, nats.stateful_set, nats.monitor_port) == ("nats-system", "nats", 8222)
    assert (nats.context, nats.selector) == ("default", "app.kubernetes.io/component=nats-box")
    east = found.compute[0]
    assert (east.task_namespace, east.service_account) == ("nvcf-backend", "default")
    assert list(east.architectures) == ["amd64"]
    assert east.cluster_uid == ""
    assert found.record_folder() == ""


def test_everything_that_can_be_said() -> None:
    found = fleet(FULL)
    control = found.control_plane
    assert control.nats.creds == "/srv/c.creds"
    assert control.accounts[0].nvcf_cli == "/srv/./nvcf-cli"
    assert control.accounts[0].config == "/etc/one.yaml"
    assert control.accounts[0].invocation == {"body": "{}"}
    east = found.compute[0]
    assert east.kubeconfig == "/srv/sub/east.yaml"
    assert [pool.name for pool in east.pools] == ["gpu", "arm"]
    assert east.pools[0].tolerations == [
        {"key": "dedicated", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}
    ]
    assert east.pools[1].may_be_empty == "scaled to zero"
    assert east.corrected == "3.5.9"
    assert list(found.agent_digests.values()) == ["3.10.3"]
    assert found.retired[0].name == "old"
    assert found.not_queues[0].date == "2026-11-30"
    assert found.record_folder() == "/srv/nvcf-record/uid-cp"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("context: cp}", "contxt: cp}"), ["context: is missing", 'did you mean "context"']),
        (("name: east,", "name: ../east,"), ['found "../east"']),
        (("computeClusters:\n", "computeClusters: []\nx:\n"), ["names no compute cluster"]),
        (("context: east}", "context: east, pools: [{name: p}]}"), ["either selector or nodes"]),
        (
            (
                "context: east}",
                "context: east, pools: [{name: p, nodes: [n], tolerations: [{effect: No}]}]}",
            ),
            ["expected NoSchedule or PreferNoSchedule or NoExecute"],
        ),
        (
            ("context: east}\n", "context: east}\nagentDigests: {abc: 3.10.3}\n"),
            ["expected sha256:"],
        ),
        (
            ("context: east}\n", "context: east}\nretiredClusters: [{clusterId: a}]\n"),
            ["retiredClusters[0].reason: is missing", "retiredClusters[0].by: is missing"],
        ),
    ],
)
def test_every_problem_is_said_at_once(change: tuple[str, str], said: list[str]) -> None:
    with pytest.raises(AicrError) as caught:
        fleet(MINIMAL.replace(*change))
    for part in said:
        assert part in caught.value.message


def test_two_entries_for_one_cluster_are_an_error() -> None:
    other = "  - {name: west, kubeconfig: w, context: w, clusterUid: u}\n"
    text = MINIMAL.replace("context: east}", "context: east, clusterUid: u}") + other
    with pytest.raises(AicrError, match='two entries have the clusterUid "u"'):
        fleet(text)
    # The control plane and a compute cluster may share one.
    shared = MINIMAL.replace("context: cp}", "context: cp, clusterUid: u}")
    assert fleet(shared.replace("context: east}", "context: east, clusterUid: u}"))


def test_a_cluster_that_is_not_there_cannot_be_chosen() -> None:
    found = fleet(MINIMAL)
    assert [one.name for one in found.chosen(["east", "east"])] == ["east"]
    assert list(found.chosen([])) == list(found.compute)
    with pytest.raises(AicrError) as caught:
        found.chosen(["west"])
    assert caught.value.hint == "compute clusters there: east"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AicrError) as caught:
        read_fleet(str(tmp_path / "fleet.yaml"))
    assert "aicr nvcf init" in caught.value.hint


def test_the_new_file_reads_once_its_blanks_are_filled() -> None:
    found = fleet(TEMPLATE.replace("<", "").replace(">", ""))
    assert found.compute[0].pools[0].name == "gpu"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            MINIMAL,
            MINIMAL.replace("context: cp}", "context: cp, clusterUid: uid-0}").replace(
                "context: east}", "context: east, clusterUid: uid-1}"
            ),
        ),
        (
            TEMPLATE.replace("<", "").replace(">", ""),
            TEMPLATE.replace("<", "")
            .replace(">", "")
            .replace(
                "  context: control-plane-context\n",
                "  context: control-plane-context\n  clusterUid: uid-0\n",
            )
            .replace(
                "    context: compute-context\n",
                "    context: compute-context\n    clusterUid: uid-1\n",
            ),
        ),
        (
            UNUSUAL,
            UNUSUAL.replace("cp # x\n", "cp # x\n  clusterUid: uid-0\n").replace(
                "context: e\n", "context: e\n  clusterUid: uid-1\n"
            ),
        ),
    ],
)
def test_uids_are_written_where_they_belong(text: str, expected: str) -> None:
    found = fleet(text)
    uids = {found.control_plane.line: "uid-0", found.compute[0].line: "uid-1"}
    assert pinned(text.encode(), found, uids).decode() == expected


def test_a_file_that_cannot_be_edited_is_left_alone() -> None:
    text = (
        "{controlPlane: {kubeconfig: k, 'context': c}, "
        "computeClusters: [{name: e, kubeconfig: k, 'context': x}]}"
    )
    found = fleet(text)
    with pytest.raises(AicrError) as caught:
        pinned(text.encode(), found, {1: "uid-0"})
    assert "clusterUid: uid-0" in caught.value.hint or "no line" in caught.value.message
