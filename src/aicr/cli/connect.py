"""The connection that the cluster flags lead to."""

from __future__ import annotations

from aicr.cli.output import warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.artifact.config_map import ClusterRef
    from aicr.cluster.connection import Connection


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
    """What the flags of ``flags.add_cluster_flags`` say."""
    from aicr.artifact.config_map import ClusterRef

    return ClusterRef(args.kubeconfig, args.context, on_note=warn)


def connect(args: argparse.Namespace, role: str) -> Connection:
    """A connection to that cluster; ``role`` names the file in docs/rbac with the rights to use."""
    return cluster_of(args).connect(f"docs/rbac/{role}.yaml")
