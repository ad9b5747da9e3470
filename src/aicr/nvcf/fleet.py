"""Which clusters a fleet has, and how each is reached and known again: what a fleet file says.

``aicr.nvcf.fleet_file`` reads and checks one. Paths are absolute here. Nothing here opens a
connection.
"""

from __future__ import annotations

import os

from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEFAULT_NATS_CONTEXT = "default"


class Nats:
    """How the NATS servers of the control plane are found; ``url`` is only for a direct
    connection. ``context`` is that of the nats client inside nats-box."""

    __slots__ = (
        "ca", "container", "context", "creds", "monitor_port", "namespace", "nkey", "selector",
        "stateful_set", "url",
    )  # fmt: skip

    def __init__(
        self,
        *,
        namespace: str = "nats-system",
        selector: str = "app.kubernetes.io/component=nats-box",
        container: str = "",
        context: str = DEFAULT_NATS_CONTEXT,
        stateful_set: str = "nats",
        monitor_port: int = 8222,
        url: str = "",
        creds: str = "",
        nkey: str = "",
        ca: str = "",
    ) -> None:
        self.namespace = namespace
        self.selector = selector
        self.container = container
        self.context = context
        self.stateful_set = stateful_set
        self.monitor_port = monitor_port
        self.url = url
        self.creds = creds
        self.nkey = nkey
        self.ca = ca


class Account:
    """An account whose messages may be retained, and the nvcf-cli with its configuration that asks
    for it. ``invocation`` is what ``verify`` may send, as written; None where none is given."""

    __slots__ = ("config", "invocation", "nca_id", "nvcf_cli")

    def __init__(self, *, nca_id: str, nvcf_cli: str, config: str, invocation: object) -> None:
        self.nca_id = nca_id
        self.nvcf_cli = nvcf_cli
        self.config = config
        self.invocation = invocation


class ControlPlane:
    """``cluster_uid`` is the UID of its kube-system namespace, "" while the entry is unpinned."""

    __slots__ = ("accounts", "cluster_uid", "context", "kubeconfig", "line", "nats")

    name = "control-plane"

    def __init__(
        self,
        *,
        kubeconfig: str,
        context: str,
        cluster_uid: str,
        nats: Nats,
        accounts: Sequence[Account],
        line: int,
    ) -> None:
        self.kubeconfig = kubeconfig
        self.context = context
        self.cluster_uid = cluster_uid
        self.nats = nats
        self.accounts = accounts
        self.line = line


class Pool:
    """Nodes by label ``selector`` or by name (``nodes``). ``tolerations`` are as in a pod.
    ``may_be_empty`` is the reason why it may have no node, "" where it may not."""

    __slots__ = ("may_be_empty", "name", "nodes", "selector", "tolerations")

    def __init__(
        self,
        *,
        name: str,
        selector: str,
        nodes: Sequence[str],
        tolerations: Sequence[Mapping[str, object]],
        may_be_empty: str,
    ) -> None:
        self.name = name
        self.selector = selector
        self.nodes = nodes
        self.tolerations = tolerations
        self.may_be_empty = may_be_empty


class ComputeCluster:
    """``cluster_uid`` as in ``ControlPlane``; ``cluster_id`` is NVCF's own, "" where not stated;
    ``task_nodes`` is a selector, "" for nodes with GPUs; ``corrected`` an exact NVCA version."""

    __slots__ = (
        "architectures", "cluster_id", "cluster_uid", "context", "corrected", "kubeconfig", "line",
        "name", "pools", "pull_secrets", "service_account", "task_namespace", "task_nodes",
    )  # fmt: skip

    def __init__(
        self,
        *,
        name: str,
        kubeconfig: str,
        context: str,
        cluster_uid: str,
        cluster_id: str,
        task_namespace: str,
        service_account: str,
        pull_secrets: Sequence[str],
        architectures: Sequence[str],
        pools: Sequence[Pool],
        task_nodes: str,
        corrected: str,
        line: int,
    ) -> None:
        self.name = name
        self.kubeconfig = kubeconfig
        self.context = context
        self.cluster_uid = cluster_uid
        self.cluster_id = cluster_id
        self.task_namespace = task_namespace
        self.service_account = service_account
        self.pull_secrets = pull_secrets
        self.architectures = architectures
        self.pools = pools
        self.task_nodes = task_nodes
        self.corrected = corrected
        self.line = line


class Declared:
    """Something that a person vouches for: a retired cluster (``name`` is its cluster id), or a
    stream that is no queue (its name)."""

    __slots__ = ("by", "date", "name", "reason")

    def __init__(self, name: str, reason: str, by: str, date: str) -> None:
        self.name = name
        self.reason = reason
        self.by = by
        self.date = date

    @property
    def vouched(self) -> str:
        """Which it is, why, and who says so since when."""
        return f"{self.name} ({self.reason}; {self.by}, {self.date})"


class Fleet:
    """The fleet file: ``where`` is its path as given, ``folder`` where its paths start.
    ``more_queues`` are patterns of streams to count as queues too."""

    __slots__ = (
        "agent_digests", "compute", "control_plane", "folder", "more_queues", "not_queues",
        "retired", "where",
    )  # fmt: skip

    def __init__(
        self,
        *,
        where: str,
        folder: str,
        control_plane: ControlPlane,
        compute: Sequence[ComputeCluster],
        agent_digests: Mapping[str, str],
        retired: Sequence[Declared],
        more_queues: Sequence[str],
        not_queues: Sequence[Declared],
    ) -> None:
        self.where = where
        self.folder = folder
        self.control_plane = control_plane
        self.compute = compute
        self.agent_digests = agent_digests
        self.retired = retired
        self.more_queues = more_queues
        self.not_queues = not_queues

    def chosen(self, names: Sequence[str]) -> Sequence[ComputeCluster]:
        """The compute clusters of these names; all where none is named. Raises INVALID_REQUEST."""
        known = {cluster.name: cluster for cluster in self.compute}
        unknown = [name for name in names if name not in known]
        if unknown:
            raise invalid(
                f'{self.where}: there is no compute cluster "{unknown[0]}"',
                hint=f"compute clusters there: {', '.join(known) or 'none'}",
            )
        return [known[name] for name in dict.fromkeys(names)] or self.compute

    def record_folder(self) -> str:
        """The default record folder; "" while the control plane is unpinned."""
        uid = self.control_plane.cluster_uid
        return os.path.join(self.folder, "nvcf-record", uid) if uid else ""
