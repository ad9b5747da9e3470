"""One probe: made, followed until its outcome is known, written down, and removed again."""

from __future__ import annotations

import threading
import time

from aicr.cluster.failures import ApiError
from aicr.documents.emit import json_text
from aicr.errors import AicrError
from aicr.nvcf.probes import Watcher, create_probe, delete_probe, events_of, probe_pod
from aicr.nvcf.pull_reading import GO_OUTCOMES, Expected, Reading, mutated, read_pull

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from aicr.nvcf.evidence import Record
    from aicr.nvcf.kube import Kube
    from aicr.nvcf.pull_units import Unit

_LOOK_AGAIN = 0.5
_QUIET_REASONS = ("", "ContainerCreating", "PodInitializing")


class Limits:
    """How long a run waits for what, in seconds, and how much it does at once."""

    __slots__ = ("delete", "events", "parallel", "pull")

    def __init__(
        self,
        *,
        pull: float = 180.0,
        delete: float = 30.0,
        events: float = 3.0,
        parallel: int = 32,
    ) -> None:
        self.pull = pull
        self.delete = delete
        self.events = events
        self.parallel = parallel


class Answered:
    """A unit and what came of it; ``pod`` is the probe's name, "" where none was made."""

    __slots__ = ("evidence", "pod", "reading", "unit")

    def __init__(self, unit: Unit, reading: Reading, pod: str = "", evidence: str = "") -> None:
        self.unit = unit
        self.reading = reading
        self.pod = pod
        self.evidence = evidence


class Left:
    """A probe pod that is still there; ``kept`` on purpose."""

    __slots__ = ("cluster", "kept", "name", "namespace")

    def __init__(self, cluster: str, namespace: str, name: str, *, kept: bool) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self.name = name
        self.kept = kept


class Prober:
    """Asks single units; shared by the threads of a run. ``live`` are the pods that are there,
    ``kept`` the UIDs of those that stay, by cluster, ``problems`` what could not be cleaned up."""

    def __init__(
        self,
        run: str,
        *,
        record: Record,
        limits: Limits,
        expected: Mapping[str, Expected],
        keep_failed: bool,
        stopped: threading.Event,
    ) -> None:
        self.live: dict[str, tuple[Kube, str, str]] = {}
        self.kept: dict[str, list[str]] = {}
        self.problems: list[str] = []
        self._busy: set[tuple[str, str]] = set()
        self._run = run
        self._record = record
        self._limits = limits
        self._expected = expected
        self._keep_failed = keep_failed
        self._stopped = stopped

    def ask(self, unit: Unit, kube: Kube, watcher: Watcher) -> Answered:
        """The unit's outcome; whatever happens, its pod is removed or listed as kept."""
        if self._stopped.is_set():
            return Answered(unit, _interrupted())
        if (kube.name, unit.node) in self._busy:
            why = "the probe before it could not be removed, and a node gets one at a time"
            return Answered(unit, Reading("unknown", cause="node-busy", why=why))
        try:
            return self._probe(unit, kube, watcher)
        except AicrError as error:
            return Answered(unit, Reading("unknown", cause="unreadable", why=error.message))
        except Exception as error:  # a fault here would be lost with its thread
            why = f"a fault of aicr itself: {type(error).__name__}: {error}"
            self.problems.append(why)
            return Answered(unit, Reading("unknown", cause="fault", why=why))

    def _probe(self, unit: Unit, kube: Kube, watcher: Watcher) -> Answered:
        namespace = unit.cluster.task_namespace
        sent = probe_pod(unit, self._run)
        started = time.monotonic()
        try:
            created = create_probe(kube, namespace, sent)
        except ApiError as error:
            reading = refused(error)
            evidence = self._keep(unit, kube, reading, sent, None, ())
            return Answered(unit, reading, evidence=evidence)
        meta = created["metadata"]
        name, uid = str(meta["name"]), str(meta["uid"])
        self.live[uid] = (kube, namespace, name)
        keep = False
        try:
            watcher.add(created)
            changes = mutated(sent, created)
            if changes:
                pod: Mapping[str, Any] | None = created
                events: Sequence[Mapping[str, Any]] = ()
                reading = Reading("mutated", why="; ".join(changes))
            else:
                reading, pod, events = self._wait(unit, kube, watcher, name, uid, started)
            evidence = self._keep(unit, kube, reading, sent, pod, events, name)
            failed = reading.outcome not in GO_OUTCOMES
            keep = self._keep_failed and failed and not self._stopped.is_set()
            return Answered(unit, reading, name, evidence)
        finally:
            if keep:
                self.kept.setdefault(kube.name, []).append(uid)
            elif not self._remove(kube, watcher, namespace, name, uid):
                self._busy.add((kube.name, unit.node))
            self.live.pop(uid, None)

    def _wait(
        self, unit: Unit, kube: Kube, watcher: Watcher, name: str, uid: str, started: float
    ) -> tuple[Reading, Mapping[str, Any] | None, Sequence[Mapping[str, Any]]]:
        """Follow the pod until there is an outcome, the own clock is over, or a signal came."""
        namespace = unit.cluster.task_namespace
        end = started + self._limits.pull
        settled: float | None = None
        looked = -1
        while not self._stopped.is_set():
            late = time.monotonic() >= end
            pod, gone, version = watcher.seen(uid)
            if late and not gone:
                pod, gone = self._fresh(kube, namespace, name, uid, pod)
            over = f"after {self._limits.pull:g} s" if late else ""
            if late or gone or (_interesting(pod) and version != looked) or settled is not None:
                looked = version
                events = events_of(kube, namespace, name)
                reading = read_pull(
                    pod,
                    events,
                    uid=uid,
                    architecture=unit.architecture,
                    expected=self._expected.get(unit.image.text, Expected()),
                    gone=gone,
                    over=over,
                )
                if reading is not None:
                    if reading.cause == "nothing-reported":
                        reading = self._about_node(kube, unit, reading)
                    # Events come after the status: one of them may say that a secret is missing.
                    if settled is None:
                        settled = time.monotonic() + self._limits.events
                    complete = reading.outcome != "pulled" or _has_pulled(events, uid)
                    if complete or late or time.monotonic() >= settled:
                        return reading, pod, events
                elif settled is None and _interesting(pod):
                    looked = -1  # look at its events again though the pod does not change
            with watcher.changed:
                if watcher.seen(uid)[2] == version and not self._stopped.is_set():
                    pause = 0.1 if settled is not None else _LOOK_AGAIN
                    watcher.changed.wait(min(pause, max(0.0, end - time.monotonic())))
        return _interrupted(), watcher.seen(uid)[0], ()

    def _fresh(
        self, kube: Kube, namespace: str, name: str, uid: str, seen: Mapping[str, Any] | None
    ) -> tuple[Mapping[str, Any] | None, bool]:
        """The pod as it is now: a watch that broke may have missed its end."""
        try:
            pod = kube.get("pods", namespace, name)
        except ApiError as error:
            if error.status == 404:
                return seen, True
            raise
        return (pod, False) if pod["metadata"].get("uid") == uid else (seen, True)

    def _about_node(self, kube: Kube, unit: Unit, reading: Reading) -> Reading:
        """Whether the node is still there, where nothing was ever reported."""
        try:
            kube.get("nodes", "", unit.node)
        except ApiError as error:
            if error.status == 404:
                return Reading("unknown", cause="node-gone", why=f"the node {unit.node} is gone")
            raise
        return reading

    def _keep(
        self,
        unit: Unit,
        kube: Kube,
        reading: Reading,
        sent: Mapping[str, Any],
        pod: Mapping[str, Any] | None,
        events: Sequence[Mapping[str, Any]],
        name: str = "",
    ) -> str:
        """Write the evidence, to disk; the name of its file."""
        said = {
            "run": self._run,
            "cluster": kube.name,
            "clusterUid": kube.uid,
            "server": kube.connection.server,
            "pool": unit.pool.name,
            "node": unit.node,
            "architecture": unit.architecture,
            "runtime": unit.runtime,
            "image": unit.image.text,
            "outcome": reading.outcome,
            "cause": reading.cause or None,
            "why": reading.why or None,
            "imageID": reading.image_id or None,
            "digests": list(reading.digests),
            "notes": list(reading.notes),
            "sent": sent,
            "pod": pod,
            "events": list(events),
        }
        base = name or f"refused-{unit.node}-{unit.image.name}"
        file = f"{self._run}/{kube.name}/{base}.json"
        self._record.write(
            file,
            json_text(said).encode(),
            source=kube.source,
            command=f"pull-check {unit.image.text} on {unit.node}",
            at=kube.now(),
        )
        self._record.flush()
        return file

    def _remove(self, kube: Kube, watcher: Watcher, namespace: str, name: str, uid: str) -> bool:
        """Delete the pod and wait, for a while, until it is gone; whether it is."""
        try:
            delete_probe(kube, namespace, name, uid)
        except AicrError as error:
            self.problems.append(f"{kube.name}: {namespace}/{name}: {error.message}")
            return False
        end = time.monotonic() + self._limits.delete
        while not watcher.seen(uid)[1]:
            if time.monotonic() >= end:
                return False
            with watcher.changed:
                if not watcher.seen(uid)[1]:
                    watcher.changed.wait(min(_LOOK_AGAIN, max(0.01, end - time.monotonic())))
            try:
                if not watcher.seen(uid)[1] and self._fresh(kube, namespace, name, uid, None)[1]:
                    return True
            except AicrError:
                continue
        return True


def refused(error: ApiError) -> Reading:
    """What a server's no to the creation of a probe means."""
    text = error.message.lower()
    if error.status not in (400, 403, 404, 413, 422):
        return Reading("unknown", cause=f"http-{error.status}", why=error.message)
    if "admission webhook" in text:
        cause = "webhook"
    elif error.status == 404:
        cause = "no-namespace" if error.kind == "namespaces" else "not-found"
    elif "cannot create resource" in text:
        cause = "rights"
    elif "violates podsecurity" in text:
        cause = "pod-security"
    elif "quota" in text:
        cause = "quota"
    elif "service account" in text or "serviceaccount" in text:
        cause = "no-service-account"
    elif error.status == 422:
        cause = "invalid"
    else:
        cause = "admission"
    return Reading("refused", cause=cause, why=error.message)


def _interrupted() -> Reading:
    return Reading("unknown", cause="interrupted", why="the run was interrupted")


def _interesting(pod: Mapping[str, Any] | None) -> bool:
    """Whether the pod says more than that it is still being started."""
    status: Mapping[str, Any] = (pod or {}).get("status") or {}
    meta: Mapping[str, Any] = (pod or {}).get("metadata") or {}
    if status.get("phase") in ("Failed", "Succeeded") or meta.get("deletionTimestamp"):
        return True
    for one in status.get("containerStatuses") or ():
        state = one.get("state") or {}
        reason = (state.get("waiting") or {}).get("reason") or ""
        if one.get("imageID") or state.get("terminated") or reason not in _QUIET_REASONS:
            return True
    return False


def _has_pulled(events: Sequence[Mapping[str, Any]], uid: str) -> bool:
    return any(
        one.get("reason") == "Pulled" and (one.get("involvedObject") or {}).get("uid") == uid
        for one in events
    )
