"""What a new fleet file says, and how a found cluster UID is written into one that is there."""

from __future__ import annotations

import re

from aicr.errors import AicrError, invalid
from aicr.nvcf.fleet_file import fleet_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from aicr.nvcf.fleet import ComputeCluster, ControlPlane, Fleet

TEMPLATE = """\
# The clusters of one NVCF control plane. Relative paths start at the folder of this file.
# Fill in what is marked <...>, then run: aicr nvcf status

controlPlane:
  kubeconfig: <control-plane-kubeconfig>
  context: <control-plane-context>
  # clusterUid: UID of the kube-system namespace; aicr nvcf status --pin writes it here.
  # nats:                     # what is shown are the defaults
  #   namespace: nats-system
  #   selector: app.kubernetes.io/component=nats-box
  #   container: nats-box     # only where the pod has several containers
  #   context: default        # of the nats client inside nats-box
  #   statefulSet: nats
  #   monitorPort: 8222
  #   url: nats://...         # only for a direct connection, with creds or nkey, and ca
  # accounts:                 # one for each account whose messages may be retained
  #   - ncaId: <nca-id>
  #     nvcfCli: ./nvcf-cli
  #     config: ./account-config.yaml
  #     invocation: [--function-id, <id>, --version-id, <id>, --body, "{}"]   # for verify --invoke

computeClusters:
  - name: <compute-cluster-name>
    kubeconfig: <compute-kubeconfig>
    context: <compute-context>
    # clusterId: <id of the registration>   # must be the one of its NVCFBackend where stated
    # taskNamespace: nvcf-backend
    # serviceAccount: default
    pullSecrets: []           # names of Secrets in taskNamespace, as tasks use them
    architectures: [amd64]    # of this cluster's task nodes; each must occur in some pool
    pools:
      - name: gpu
        selector: nvidia.com/gpu.present=true   # or: nodes: [<node>, ...]
        tolerations: []       # as in a pod; needed where nodes have NoExecute taints
        # mayBeEmpty: {reason: scaled to zero}
    # taskNodes: <selector>   # default: nodes with allocatable nvidia.com/gpu
    # corrected: <version>    # of another release train, as your guide names it

# agentDigests:               # the version of an agent image that has only a digest
#   "sha256:<64 digits>": 3.10.3
# retiredClusters:
#   - {clusterId: <id>, reason: <why>, by: <who>, date: <when>}
# queues:
#   add: []                   # patterns of streams to count as queues too
#   notQueues: []             # {stream, reason, by, date}
"""

_UNPINNED = re.compile(r"^(?P<lead>\s*(?:-\s+)?)(?P<rest>.*?)\bcontext:(?P<value>[^#,{}]*)")


def pinned(data: bytes, fleet: Fleet, uids: Mapping[int, str]) -> bytes:
    """The fleet file with a ``clusterUid`` for each entry that starts on one of these lines.

    Nothing else of the file changes. Raises INVALID_REQUEST where it is written in a way that this
    cannot edit.
    """
    lines = data.decode("utf-8-sig").splitlines(keepends=True)
    for start in sorted(uids, reverse=True):
        _insert(lines, start, uids[start], fleet.where)
    text = "".join(lines).encode()
    problem = ""
    try:
        _check(fleet_from(text, fleet.where), fleet, list(uids.values()))
    except (AicrError, ValueError) as error:
        problem = str(error)
    if problem:
        raise invalid(
            f"{fleet.where}: cannot be edited here ({problem})",
            hint="write them yourself: " + ", ".join(f"clusterUid: {uid}" for uid in uids.values()),
        )
    return text


def _insert(lines: list[str], start: int, uid: str, where: str) -> None:
    """Put the key after the entry's ``context``, in block or in flow style."""
    for index in range(start - 1, len(lines)):
        found = _UNPINNED.match(lines[index])
        if found is None or found["rest"].lstrip().startswith("#"):
            continue
        if not found["rest"]:
            ending = "\n" if lines[index].endswith("\n") else ""
            if not ending:
                lines[index] += "\n"
            indent = found["lead"].replace("-", " ")
            lines.insert(index + 1, f"{indent}clusterUid: {uid}{ending}")
        else:
            at = found.start("value") + len(found["value"].rstrip())
            lines[index] = f"{lines[index][:at]}, clusterUid: {uid}{lines[index][at:]}"
        return
    raise invalid(f"{where}:{start}: this entry has no line with its context")


def _check(new: Fleet, old: Fleet, uids: list[str]) -> None:
    """Raise ValueError unless the new UIDs are all that changed."""
    pairs: list[tuple[ControlPlane | ComputeCluster, ControlPlane | ComputeCluster]]
    pairs = [(new.control_plane, old.control_plane)]
    pairs += zip(new.compute, old.compute, strict=True)
    written = []
    for after, before in pairs:
        if _key(after) != _key(before):
            raise ValueError("another entry would change")
        if after.cluster_uid != before.cluster_uid:
            written.append(after.cluster_uid)
    if sorted(written) != sorted(uids):
        raise ValueError("the UIDs would not stand where they belong")


def _key(entry: ControlPlane | ComputeCluster) -> tuple[str, str, str]:
    return entry.name, entry.kubeconfig, entry.context
