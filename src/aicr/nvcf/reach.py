"""How a command reaches what it asks: the clusters of the fleet, NATS one way or the other, and the
record. What cannot be reached is a doubt, never an empty answer.
"""

from __future__ import annotations

from aicr.cluster.connection import Patience
from aicr.errors import UNAVAILABLE, AicrError
from aicr.nvcf import clock
from aicr.nvcf.kube import cluster_id_of, open_fleet, read_backends
from aicr.nvcf.monitor import Monitor
from aicr.nvcf.nats_exec import Box, ExecAccess
from aicr.nvcf.queues import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from aicr.nvcf.fleet import ComputeCluster, ControlPlane, Fleet
    from aicr.nvcf.kube import Kube, Opened
    from aicr.nvcf.nats_access import NatsAccess
    from aicr.nvcf.nats_place import Place

CONTROL = "control-plane"


class Limits:
    """How long a read of each kind may take (seconds), and how many tries of single messages."""

    __slots__ = ("attempts", "connect", "exec", "nats", "read", "tries")

    def __init__(
        self,
        *,
        connect: float = 10.0,
        read: float = 30.0,
        exec: float = 30.0,
        nats: float = 5.0,
        attempts: int = 2000,
        tries: int = 3,
    ) -> None:
        self.connect = connect
        self.read = read
        self.exec = exec
        self.nats = nats
        self.attempts = attempts
        self.tries = tries

    @property
    def patience(self) -> Patience:
        return Patience(
            tries=self.tries,
            connect=min(self.connect, self.read),
            request=self.read,
            longest_wait=min(5.0, self.read),
        )


class Reach:
    """The opened fleet. ``place`` is where a direct connection leads; None is exec.
    ``nats_offset`` is NATS's clock, as last read."""

    def __init__(
        self, fleet: Fleet, opened: Opened, limits: Limits, *, context: str, place: Place | None
    ) -> None:
        self.fleet = fleet
        self.opened = opened
        self.limits = limits
        self.context = context
        self.place = place
        self.backends: dict[str, list[Mapping[str, Any]]] = {}
        self.nats_offset = clock.UNKNOWN
        self._box: Box | None = None
        self._monitor: Monitor | None = None

    @property
    def control(self) -> Kube:
        """Raises AicrError where the control plane was not reached."""
        found = self.opened.found.get(CONTROL)
        if found is None:
            raise self.opened.failed.get(CONTROL) or AicrError(
                UNAVAILABLE, "the control plane was not reached"
            )
        return found

    @property
    def clusters(self) -> dict[str, Kube]:
        """The compute clusters that were reached, by name."""
        return {name: kube for name, kube in self.opened.found.items() if name != CONTROL}

    def box(self) -> Box:
        if self._box is None:
            nats = self.fleet.control_plane.nats
            self._box = Box(self.control.connection, nats, self.limits.exec)
        return self._box

    def monitor(self) -> Monitor:
        if self._monitor is None:
            self._monitor = Monitor(
                self.control.connection, self.fleet.control_plane.nats, self.box
            )
        return self._monitor

    def access(self) -> NatsAccess:
        """A new access; close it. Raises AicrError."""
        if self.place is not None:
            from aicr.nvcf.nats_direct import DirectAccess

            return DirectAccess(self.place, seconds=self.limits.nats)
        return ExecAccess(self.box(), self.context, timeout=max(1, round(self.limits.nats)))

    def doubts(self) -> list[Problem]:
        """Why an answer cannot be a go before anything of NATS was read."""
        found = [
            Problem(f"cluster {name}" if name != CONTROL else "the control plane", error.message)
            for name, error in self.opened.failed.items()
        ]
        found += [
            Problem(
                f"cluster {name}" if name != CONTROL else "the control plane",
                f"unpinned: the fleet file states no clusterUid; this is the cluster {uid} "
                "(aicr nvcf status --pin writes it)",
            )
            for name, uid in self.opened.unpinned.items()
        ]
        return found

    def owners(self) -> tuple[dict[str, str], list[Problem]]:
        """Cluster ids with the names of their entries, by NVCFBackend, else as the fleet file
        says, and what keeps them from being known."""
        owners: dict[str, str] = {}
        problems: list[Problem] = []
        for entry in self.fleet.compute:
            kube = self.opened.found.get(entry.name)
            found = entry.cluster_id
            if kube is not None:
                try:
                    self.backends[entry.name] = [*read_backends(kube)]
                    ids = {cluster_id_of(one) for one in self.backends[entry.name]} - {""}
                    if len(ids) != 1:
                        problems.append(
                            Problem(
                                f"cluster {entry.name}",
                                f"it has {len(ids)} NVCFBackends with a cluster id, one was "
                                "expected",
                            )
                        )
                    found = found or next(iter(sorted(ids)), "")
                except AicrError as error:
                    problems.append(Problem(f"cluster {entry.name}, NVCFBackend", error.message))
            if found and found in owners:
                problems.append(
                    Problem(f"cluster {entry.name}", f"it has the id of {owners[found]}: {found}")
                )
            elif found:
                owners[found] = entry.name
        return owners, problems

    def paused(self) -> dict[str, str]:
        """Clusters whose agents take no new work, as their NVCFBackends say, and why."""
        found = {}
        for name, backends in self.backends.items():
            for backend in backends:
                mode = _maintenance(backend)
                if mode:
                    found[name] = mode
        return found


def open_reach(
    fleet: Fleet,
    limits: Limits,
    *,
    role: str,
    context: str = "",
    place: Place | None = None,
) -> Reach:
    """Open every entry of the fleet; identities are checked before anything else is read."""
    entries: list[ControlPlane | ComputeCluster] = [fleet.control_plane, *fleet.compute]
    opened = open_fleet(entries, role=role, patience=limits.patience)
    nats = fleet.control_plane.nats
    if place is None and nats.url:
        from aicr.nvcf.nats_place import place_of

        place = place_of(nats)
    return Reach(fleet, opened, limits, context=context or nats.context, place=place)


def _maintenance(backend: Mapping[str, Any]) -> str:
    """The maintenance mode that an NVCFBackend names anywhere, where it is one that takes no new
    work; where that is stated is not documented, so every field of this name counts."""
    waiting: list[Any] = [backend.get("spec"), backend.get("status")]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            for key, value in one.items():
                if "maintenance" in key.lower() and isinstance(value, str) and value:
                    if value.lower() not in ("none", "off", "disabled", "false"):
                        return f"maintenance mode {value[:60]}"
                else:
                    waiting.append(value)
    return ""
