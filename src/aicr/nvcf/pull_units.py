"""Which nodes a pull check asks, and what it cannot ask: the units of a run, from the fleet file
and the nodes that are there."""

from __future__ import annotations

from aicr.nvcf.selectors import Selector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.artifact.image_ref import ImageRef
    from aicr.cluster.nodes import Node
    from aicr.nvcf.fleet import ComputeCluster, Pool


class Unit:
    """One question: can this node pull this image?"""

    __slots__ = ("architecture", "cluster", "image", "node", "pool", "runtime")

    def __init__(
        self,
        *,
        cluster: ComputeCluster,
        pool: Pool,
        node: str,
        architecture: str,
        image: ImageRef,
        runtime: str = "",
    ) -> None:
        self.cluster = cluster
        self.pool = pool
        self.node = node
        self.architecture = architecture
        self.image = image
        self.runtime = runtime

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.cluster.name, self.pool.name, self.node, self.image.text


class Gap:
    """Something that is not asked: ``outcome`` is ``unknown`` (decides), ``skipped`` (does not,
    another node answered for it) or ``not-checked`` (declared)."""

    __slots__ = ("architecture", "cluster", "node", "outcome", "pool", "why")

    def __init__(
        self,
        *,
        cluster: str,
        outcome: str,
        why: str,
        pool: str = "",
        node: str = "",
        architecture: str = "",
    ) -> None:
        self.cluster = cluster
        self.outcome = outcome
        self.why = why
        self.pool = pool
        self.node = node
        self.architecture = architecture


def plan_units(
    cluster: ComputeCluster,
    nodes: Sequence[Node],
    images: Sequence[ImageRef],
    *,
    sample: bool = False,
) -> tuple[list[Unit], list[Gap]]:
    """The questions for one cluster, and what they leave open."""
    units: list[Unit] = []
    gaps: list[Gap] = []
    used: set[str] = set()
    seen: set[str] = set()
    for pool in cluster.pools:
        members, missing = _members(pool, nodes)
        gaps += [_gap(cluster, pool, "unknown", "there is no such node", name) for name in missing]
        if not members and not missing:
            gaps.append(_empty(cluster, pool))
        ready = [node for node in members if node.ready]
        answered = {node.architecture for node in ready}
        sampled: set[str] = set()
        for node in members:
            used.add(node.name)
            seen.add(node.architecture)
            if node.architecture not in cluster.architectures:
                why = f"its architecture {node.architecture} is not declared for {cluster.name}"
                gaps.append(_gap(cluster, pool, "unknown", why, node.name, node.architecture))
                continue
            if not node.ready:
                outcome = "skipped" if node.architecture in answered else "unknown"
                gaps.append(
                    _gap(cluster, pool, outcome, "is not Ready", node.name, node.architecture)
                )
                continue
            if sample and node.architecture in sampled:
                continue
            sampled.add(node.architecture)
            units += [
                Unit(
                    cluster=cluster,
                    pool=pool,
                    node=node.name,
                    architecture=node.architecture,
                    image=image,
                    runtime=node.container_runtime,
                )
                for image in images
            ]
    excused = any(pool.may_be_empty for pool in cluster.pools)
    for architecture in cluster.architectures:
        if architecture not in seen:
            why = f"no node of any pool has the declared architecture {architecture}"
            declared = excused and any(gap.outcome == "not-checked" for gap in gaps)
            gaps.append(
                Gap(
                    cluster=cluster.name,
                    outcome="not-checked" if declared else "unknown",
                    why=why + (" (a pool that may be empty is)" if declared else ""),
                    architecture=architecture,
                )
            )
    gaps += _outside(cluster, nodes, used)
    return units, gaps


def _members(pool: Pool, nodes: Sequence[Node]) -> tuple[list[Node], list[str]]:
    """The nodes of a pool, and the names in it that no node has."""
    if pool.selector:
        selector = Selector(pool.selector)
        return [node for node in nodes if selector.matches(node.labels)], []
    by_name = {node.name: node for node in nodes}
    return (
        [by_name[name] for name in dict.fromkeys(pool.nodes) if name in by_name],
        [name for name in dict.fromkeys(pool.nodes) if name not in by_name],
    )


def _empty(cluster: ComputeCluster, pool: Pool) -> Gap:
    if pool.may_be_empty:
        return _gap(cluster, pool, "not-checked", f"has no node: {pool.may_be_empty}")
    return _gap(cluster, pool, "unknown", f"no node matches {pool.selector}")


def _outside(cluster: ComputeCluster, nodes: Sequence[Node], used: set[str]) -> list[Gap]:
    """Nodes that run tasks, as far as one can see, and that no pool has."""
    selector = Selector(cluster.task_nodes) if cluster.task_nodes else None
    found = []
    for node in nodes:
        takes = selector.matches(node.labels) if selector else node.allocatable_gpus > 0
        if takes and node.name not in used:
            reason = (
                f"matches taskNodes {cluster.task_nodes}" if selector else "has allocatable GPUs"
            )
            found.append(
                Gap(
                    cluster=cluster.name,
                    outcome="unknown",
                    why=f"{reason} and is in no pool",
                    node=node.name,
                    architecture=node.architecture,
                )
            )
    return found


def _gap(
    cluster: ComputeCluster,
    pool: Pool,
    outcome: str,
    why: str,
    node: str = "",
    architecture: str = "",
) -> Gap:
    return Gap(
        cluster=cluster.name,
        pool=pool.name,
        outcome=outcome,
        why=why,
        node=node,
        architecture=architecture,
    )
