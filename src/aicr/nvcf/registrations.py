"""Whether each cluster's registration is the one that was saved."""

from __future__ import annotations

import json

from aicr.documents.reader import read_yaml
from aicr.documents.scalars import plain
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.nvcf.agents import Agent
    from aicr.nvcf.fleet import Fleet


def registrations_text(agents: Sequence[Agent]) -> str:
    """What ``--save`` writes. Raises INVALID_REQUEST where one of them is not known."""
    unknown = [agent.cluster for agent in agents if not agent.cluster_id]
    if unknown:
        raise invalid(f"--save: the registration of {', '.join(unknown)} is not known")
    said = {agent.cluster: dict(agent.registration) for agent in agents}
    return json.dumps({"registrations": said}, indent=2, sort_keys=True) + "\n"


def registration_differences(
    data: bytes, where: str, agents: Sequence[Agent], fleet: Fleet
) -> list[str]:
    """What is otherwise than it was saved. Raises INVALID_REQUEST."""
    said = plain(read_yaml(data, where))
    saved = said.get("registrations") if isinstance(said, dict) else None
    if not isinstance(saved, dict):
        raise invalid(f"{where}: registrations: expected a map, as --save writes it")
    named = {one.name for one in fleet.compute}
    found = [
        f"{name}: {where} has its registration, and the fleet file no cluster of that name"
        for name in sorted(map(str, saved))
        if name not in named
    ]
    for agent in agents:
        before: Mapping[str, object] = saved.get(agent.cluster) or {}
        if not before:
            found.append(f"{agent.cluster}: {where} has no registration of it")
            continue
        for name in ("clusterID", "clusterGroupID", "region", "ncaID"):
            now = agent.registration.get(name, "")
            if str(before.get(name, "")) != now:
                found.append(
                    f"{agent.cluster}: {name} is {now or 'not known'}, saved was {before.get(name)}"
                )
    return found
