"""What a command would read and create, from the fleet file alone (``--plan``)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from aicr.nvcf.fleet import ComputeCluster, Fleet


def status_plan(fleet: Fleet, args: argparse.Namespace) -> str:
    """The reads of ``status``."""
    lines = [_identity(fleet.control_plane.name, args)]
    lines.append(f"  read: namespace {fleet.control_plane.nats.namespace}; own rights\n")
    for cluster in fleet.compute:
        lines.append(_identity(cluster.name, args))
        lines.append(_backend_line(cluster))
        secrets = ", ".join(cluster.pull_secrets) or "none"
        lines.append(
            f"  read: namespace {cluster.task_namespace}, service account "
            f"{cluster.service_account}, metadata of secrets ({secrets}), nodes, own rights\n"
        )
    return "".join(lines) + "created: nothing\n"


def agents_plan(clusters: Sequence[ComputeCluster], args: argparse.Namespace) -> str:
    """The reads of ``agents``."""
    lines = []
    for cluster in clusters:
        lines.append(_identity(cluster.name, args))
        lines.append(_backend_line(cluster))
        lines.append("  read: NVCFBackends, Deployment nvca and its pods\n")
    return "".join(lines) + "created: nothing\n"


def pull_plan(
    clusters: Sequence[ComputeCluster], images: Sequence[str], args: argparse.Namespace
) -> str:
    """The reads and the pods of ``pull-check``; one line a pool, since nodes are not known."""
    which = "one Ready node an architecture" if args.sample else "each node"
    lines = []
    if args.registry != "off":
        lines += [
            f"registry: GET manifests and configuration of {image}, at most "
            f"{args.timeout_registry:g} s an answer\n"
            for image in images
        ]
    for cluster in clusters:
        lines.append(_identity(cluster.name, args))
        lines.append(_backend_line(cluster))
        lines.append(
            f"  read: nodes; pods (list, watch, get) and events in {cluster.task_namespace}\n"
        )
        for pool in cluster.pools:
            nodes = f"nodes {', '.join(pool.nodes)}" if pool.nodes else f"nodes {pool.selector}"
            lines.append(
                f"  create and delete: pool {pool.name}: {len(images)} pods on {which} of {nodes}, "
                f"one at a time on a node, at most {args.timeout_pull:g} s each and "
                f"{args.timeout_delete:g} s to remove\n"
            )
    lines.append(f"at once: {args.parallel} pods\n")
    lines += [f"image: {image}\n" for image in images]
    return "".join(lines)


def _identity(name: str, args: argparse.Namespace) -> str:
    return (
        f"{name}: read the UID of its kube-system namespace first; each read at most "
        f"{args.timeout_connect:g} s to connect and {args.timeout_read:g} s to answer, 5 tries\n"
    )


def _backend_line(cluster: ComputeCluster) -> str:
    return "  read: NVCFBackends (its cluster id)\n" if cluster.cluster_id else ""
