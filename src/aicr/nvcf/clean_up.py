"""Which probe pods earlier runs left behind, and their removal."""

from __future__ import annotations

from aicr.errors import AicrError
from aicr.nvcf import clock
from aicr.nvcf.probes import RUN_LABEL, delete_probe, list_probes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.nvcf.kube import Kube

YOUNGEST = 600.0


class Removed:
    """A pod that was removed, or the reason why it was not."""

    __slots__ = ("cluster", "name", "namespace", "run", "why_not")

    def __init__(
        self, *, cluster: str, namespace: str, name: str, run: str, why_not: str = ""
    ) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self.name = name
        self.run = run
        self.why_not = why_not


def clean_up(kube: Kube, namespace: str, run: str = "") -> list[Removed]:
    """Remove the probe pods of ``run``, or of all runs that are old enough to be over.

    A run's age is that of its youngest pod, by the server's clock.
    """
    items, _ = list_probes(kube, namespace, run)
    now = kube.now()
    born: dict[str, float] = {}
    for pod in items:
        of = _run_of(pod)
        made = clock.from_rfc3339(str(pod["metadata"].get("creationTimestamp")), kube.source)
        born[of] = max(born.get(of, made), made)
    found = []
    for pod in items:
        meta, of = pod["metadata"], _run_of(pod)
        why = ""
        age = now - born[of]
        if not run and age < YOUNGEST:
            why = (
                f"its run {of} is {max(age, 0):.0f} s old and may be at work: --run {of} removes "
                "its pods all the same"
            )
        else:
            try:
                delete_probe(kube, namespace, meta["name"], meta["uid"])
            except AicrError as error:
                why = error.message
        found.append(
            Removed(cluster=kube.name, namespace=namespace, name=meta["name"], run=of, why_not=why)
        )
    return found


def clean_up_text(found: Sequence[Removed]) -> str:
    """What was removed, by name, and what was not."""
    if not found:
        return "no probe pods are left behind\n"
    return "".join(
        f"{'left' if one.why_not else 'removed'} {one.cluster} {one.namespace}/{one.name} "
        f"(run {one.run}){': ' + one.why_not if one.why_not else ''}\n"
        for one in found
    )


def _run_of(pod: dict[str, dict[str, dict[str, str]]]) -> str:
    return str((pod["metadata"].get("labels") or {}).get(RUN_LABEL, ""))
