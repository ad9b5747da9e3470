"""Since when each cluster's agent runs as it does now: the redelivery of what it holds starts
there."""

from __future__ import annotations

from aicr.errors import AicrError
from aicr.nvcf import clock
from aicr.nvcf.agent_versions import UNVERIFIED
from aicr.nvcf.agents import Agent, read_agent
from aicr.nvcf.side_by_side import side_by_side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.nvcf.fleet import ComputeCluster
    from aicr.nvcf.kube import Opened
    from aicr.nvcf.reach import Reach


def read_agents(reach: Reach, digests: Mapping[str, str] | None = None) -> list[Agent]:
    """The agent of each cluster of the fleet file; one that was not reached is unverified.
    ``digests`` gives images a version that the fleet file gives none."""
    known = {**(digests or {}), **reach.fleet.agent_digests}
    return agents_of(reach.opened, reach.fleet.compute, known)


def agents_of(
    opened: Opened, clusters: Sequence[ComputeCluster], digests: Mapping[str, str]
) -> list[Agent]:
    """The same of ``clusters``; ``digests`` gives images by digest a version."""

    def one(cluster: ComputeCluster) -> Agent:
        kube = opened.found.get(cluster.name)
        if kube is None:
            error = opened.failed.get(cluster.name)
            why = error.message if error is not None else "it was not reached"
            return Agent(cluster.name, agent_class=UNVERIFIED, doubts=[why])
        return read_agent(kube, digests, corrected=cluster.corrected)

    return side_by_side(one, clusters, 32)


def starts_of(agents: list[Agent]) -> dict[str, float | None]:
    """The newest start of each cluster's agent, once its rollout is complete (that cluster's
    time); None where it is not known."""
    found: dict[str, float | None] = {}
    for agent in agents:
        try:
            starts = [clock.from_rfc3339(pod.started, pod.name) for pod in agent.pods]
        except AicrError:
            starts = []
        found[agent.cluster] = max(starts) if starts and agent.rolled_out else None
    return found
