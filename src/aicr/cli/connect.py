"""The flags that say which cluster, and the connection that they lead to."""

from __future__ import annotations

from aicr.cli.output import warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.artifact.config_map import ClusterRef
    from aicr.cluster.connection import Connection


def add_cluster_flags(parser: argparse.ArgumentParser) -> None:
    """``--kubeconfig`` and ``--context``."""
    group = parser.add_argument_group("cluster")
    group.add_argument(
        "-k",
        "--kubeconfig",
        metavar="FILE",
        help="default: KUBECONFIG, ~/.kube/config, then the pod's own account",
    )
    group.add_argument("--context", metavar="NAME", help="default: the current context")


def add_exclude_flag(parser: argparse.ArgumentParser) -> None:
    """``--exclude``: which of two installs is not meant."""
    parser.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="NAMESPACE/NAME",
        help="leave this release or Application out; may be repeated",
    )


def cluster_of(args: argparse.Namespace) -> ClusterRef:
    """What the flags of ``add_cluster_flags`` say."""
    from aicr.artifact.config_map import ClusterRef

    return ClusterRef(args.kubeconfig, args.context, on_note=warn)


def connect(args: argparse.Namespace, role: str) -> Connection:
    """A connection to that cluster; ``role`` names the file in docs/rbac with the rights to use."""
    return cluster_of(args).connect(f"docs/rbac/{role}.yaml")
