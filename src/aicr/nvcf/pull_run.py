"""One run of a pull check: probes on many nodes of many clusters side by side, each with its
evidence on disk before its pod is removed.

At most one probe is on a node at a time, and all clusters share the workers, so that one that
hangs or fails does not hold up the others.
"""

from __future__ import annotations

import threading
from collections import deque

from aicr.cluster.failures import Permission
from aicr.cluster.nodes import read_nodes
from aicr.errors import FORBIDDEN, AicrError
from aicr.nvcf.probes import Watcher, delete_probe, left_over
from aicr.nvcf.pull_probe import Answered, Left, Limits, Prober
from aicr.nvcf.pull_units import Gap, Unit, plan_units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from aicr.artifact.image_ref import ImageRef
    from aicr.nvcf.evidence import Record
    from aicr.nvcf.fleet import ComputeCluster
    from aicr.nvcf.kube import Kube
    from aicr.nvcf.pull_reading import Expected


class PullRun:
    """Call ``plan`` (reads nodes), then ``run``; ``stop`` from a signal handler ends it early.
    ``done`` are units that an earlier run answered well; they are not asked again."""

    def __init__(
        self,
        run: str,
        kubes: Sequence[Kube],
        images: Sequence[ImageRef],
        *,
        record: Record,
        limits: Limits,
        expected: Mapping[str, Expected],
        sample: bool = False,
        keep_failed: bool = False,
        done: Collection[tuple[str, str, str, str]] = (),
        progress: Callable[[int, int, Answered], None] = lambda done, total, answered: None,
    ) -> None:
        self.id = run
        self.gaps: list[Gap] = []
        self.units: list[Unit] = []
        self.answers: list[Answered] = []
        self.left: list[Left] = []
        self._kubes = {kube.name: kube for kube in kubes}
        self._images = images
        self._parallel = limits.parallel
        self._sample = sample
        self._done = done
        self._progress = progress
        self._watchers: dict[str, Watcher] = {}
        self._guard = threading.Lock()
        self._stopped = threading.Event()
        self._prober = Prober(
            run,
            record=record,
            limits=limits,
            expected=expected,
            keep_failed=keep_failed,
            stopped=self._stopped,
        )

    @property
    def problems(self) -> Sequence[str]:
        """What could not be cleaned up, and faults."""
        return self._prober.problems

    def stop(self) -> None:
        """Make no more pods, and end the ones that are there. Safe in a signal handler."""
        self._stopped.set()

    def live(self) -> list[Left]:
        """The probe pods that this run has not removed, as far as it knows."""
        return [
            Left(kube.name, namespace, name, kept=False)
            for kube, namespace, name in list(self._prober.live.values())
        ]

    def plan(self) -> None:
        """Find the units of every cluster; a cluster that cannot be read becomes a gap."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(max(1, min(len(self._kubes), 32))) as pool:
            found = list(pool.map(self._plan_one, self._kubes.values()))
        for units, gaps in found:
            self.units += units
            self.gaps += gaps

    def _plan_one(self, kube: Kube) -> tuple[list[Unit], list[Gap]]:
        cluster = _compute(kube)
        try:
            nodes = read_nodes(kube.connection)
            units, gaps = plan_units(cluster, nodes, self._images, sample=self._sample)
            watcher = Watcher(kube, cluster.task_namespace, self.id)
            self._watchers[kube.name] = watcher
            if units:
                self._may_delete(kube, cluster.task_namespace)
                watcher.start()
        except AicrError as error:
            return [], [Gap(cluster=kube.name, outcome="unknown", why=error.message)]
        return [unit for unit in units if unit.key not in self._done], gaps

    def _may_delete(self, kube: Kube, namespace: str) -> None:
        """Raise FORBIDDEN where the pods of this run would have to stay."""
        right = Permission("delete", "pods", namespace=namespace)
        try:
            allowed = kube.may(right)
        except AicrError as error:
            why = f"{kube.name}: whether probe pods can be removed is not known: {error.message}"
            self._prober.problems.append(why)
            return
        if not allowed:
            raise AicrError(FORBIDDEN, f"no permission to {right}: no probe pod was created")

    def run(self) -> None:
        """Ask all units. When this returns, pods are removed, kept on purpose, or in ``left``."""
        queues = _by_node(self.units)
        threads = [
            threading.Thread(target=self._work, args=(queues,), daemon=True)
            for _ in range(min(self._parallel, len(queues)))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():  # a signal is only handled between waits
                thread.join(0.1)
        for name, watcher in self._watchers.items():
            watcher.stop()
            if watcher.error:
                self._prober.problems.append(
                    f"{name}: pods could not be watched, and were listed again and again instead: "
                    f"{watcher.error}"
                )
        self._sweep()

    def _work(self, queues: deque[deque[Unit]]) -> None:
        """Take a node, ask all of its images one after the other, take the next node."""
        while True:
            try:
                with self._guard:
                    queue = queues.popleft()
            except IndexError:
                return
            for unit in queue:
                name = unit.cluster.name
                answered = self._prober.ask(unit, self._kubes[name], self._watchers[name])
                with self._guard:
                    self.answers.append(answered)
                    self._progress(len(self.answers), len(self.units), answered)

    def _sweep(self) -> None:
        """Remove what this run may have made without knowing, and find what is left of it."""
        for name, kube in self._kubes.items():
            namespace = _compute(kube).task_namespace
            kept = self._prober.kept.get(name, [])
            if not any(unit.cluster.name == name for unit in self.units):
                continue
            try:
                for pod in left_over(kube, namespace, self.id, keep=kept):
                    meta = pod["metadata"]
                    if not meta.get("deletionTimestamp"):
                        delete_probe(kube, namespace, meta["name"], meta["uid"])
                remaining = left_over(kube, namespace, self.id)
            except AicrError as error:
                self._prober.problems.append(
                    f"{name}: whether probe pods of this run are left is not known: {error.message}"
                )
                continue
            self.left += [
                Left(
                    name,
                    namespace,
                    pod["metadata"]["name"],
                    kept=pod["metadata"]["uid"] in kept,
                )
                for pod in remaining
            ]


def _by_node(units: Sequence[Unit]) -> deque[deque[Unit]]:
    """The units of each node, the clusters taking turns."""
    clusters: dict[str, dict[str, deque[Unit]]] = {}
    for unit in units:
        nodes = clusters.setdefault(unit.cluster.name, {})
        nodes.setdefault(unit.node, deque()).append(unit)
    waiting = [deque(nodes.values()) for nodes in clusters.values()]
    found: deque[deque[Unit]] = deque()
    while waiting:
        for queue in waiting:
            found.append(queue.popleft())
        waiting = [queue for queue in waiting if queue]
    return found


def _compute(kube: Kube) -> ComputeCluster:
    from aicr.nvcf.fleet import ComputeCluster

    assert isinstance(kube.entry, ComputeCluster)
    return kube.entry
