"""Since when each cluster's agent runs as it does now: the redelivery of what it holds starts
there."""

from __future__ import annotations

from aicr.errors import AicrError
from aicr.nvcf import clock
from aicr.nvcf.agents import read_agent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.nvcf.agents import Agent
    from aicr.nvcf.reach import Reach


def read_agents(reach: Reach) -> list[Agent]:
    """The agent of each cluster of the fleet file; one that was not reached is unverified."""
    from aicr.nvcf.agent_versions import UNVERIFIED
    from aicr.nvcf.agents import Agent as Found

    agents = []
    for entry in reach.fleet.compute:
        kube = reach.opened.found.get(entry.name)
        if kube is None:
            error = reach.opened.failed.get(entry.name)
            why = error.message if error is not None else "it was not reached"
            agents.append(Found(entry.name, agent_class=UNVERIFIED, doubts=[why]))
            continue
        agents.append(read_agent(kube, reach.fleet.agent_digests, corrected=entry.corrected))
    return agents


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
