"""What is behind each entry of the fleet file, and what is missing for the other commands."""

from __future__ import annotations

from aicr.cluster.failures import ApiError, Permission
from aicr.cluster.nodes import read_nodes
from aicr.errors import AicrError
from aicr.nvcf import clock
from aicr.nvcf.fleet import ComputeCluster
from aicr.nvcf.kube import BACKEND_GROUP, BACKENDS, METADATA
from aicr.nvcf.outcome import CANNOT_VERIFY, Fact, Outcome, Table
from aicr.nvcf.pull_units import plan_units
from aicr.nvcf.selectors import Selector

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.cluster.nodes import Node
    from aicr.nvcf.fleet import Fleet, Pool
    from aicr.nvcf.kube import Kube, Opened

COMPLETE = "complete"
INCOMPLETE = "incomplete"


class Seen:
    """What was found behind one entry: rows of (what, found), and what is missing."""

    __slots__ = ("facts", "missing", "name", "nodes")

    def __init__(self, name: str) -> None:
        self.name = name
        self.facts: list[tuple[str, str]] = []
        self.missing: list[str] = []
        self.nodes: list[tuple[Pool, Node, list[str]]] = []

    def add(self, what: str, found: str) -> None:
        self.facts.append((what, found))

    def lacks(self, what: str, why: str) -> None:
        self.facts.append((what, why))
        self.missing.append(f"{self.name}: {what}: {why}")


def look(kube: Kube) -> Seen:
    """What is behind an entry that was identified."""
    seen = Seen(kube.name)
    entry = kube.entry
    seen.add("server", kube.connection.server)
    seen.add("clusterUid", kube.uid if entry.cluster_uid else f"{kube.uid} (not pinned)")
    if isinstance(entry, ComputeCluster):
        _object(seen, kube, "namespaces", "", entry.task_namespace)
        _object(seen, kube, "serviceaccounts", entry.task_namespace, entry.service_account)
        for name in entry.pull_secrets:
            _object(seen, kube, "secrets", entry.task_namespace, name)
        _pools(seen, kube, entry)
        _rights(seen, kube, _compute_rights(entry))
    else:
        nats = entry.nats
        _object(seen, kube, "namespaces", "", nats.namespace)
        _rights(
            seen,
            kube,
            [
                Permission("list", "pods", namespace=nats.namespace),
                Permission("create", "pods/exec", namespace=nats.namespace),
                Permission("get", "statefulsets", group="apps", namespace=nats.namespace),
            ],
        )
    return seen


def _compute_rights(entry: ComputeCluster) -> list[Permission]:
    pods = [
        Permission(verb, "pods", namespace=entry.task_namespace)
        for verb in ("get", "list", "watch", "create", "delete")
    ]
    return [
        *pods,
        Permission("list", "events", namespace=entry.task_namespace),
        Permission("get", "nodes"),
        Permission("list", BACKENDS, group=BACKEND_GROUP),
        Permission("get", "deployments", group="apps", namespace="nvca-system"),
        Permission("list", "pods", namespace="nvca-system"),
        Permission("list", "icmsrequests", group="nvca.nvcf.nvidia.io"),
    ]


def _object(seen: Seen, kube: Kube, resource: str, namespace: str, name: str) -> None:
    """Whether an object is there; of a Secret, its metadata alone is asked for."""
    what = f"{resource.removesuffix('s')} {name}"
    try:
        kube.get(resource, namespace, name, accept=METADATA)
    except ApiError as error:
        seen.lacks(what, "is not there" if error.status == 404 else error.message)
    except AicrError as error:
        seen.lacks(what, error.message)
    else:
        seen.add(what, "is there")


def _pools(seen: Seen, kube: Kube, entry: ComputeCluster) -> None:
    try:
        nodes = read_nodes(kube.connection)
        _, gaps = plan_units(entry, nodes, ())
    except AicrError as error:
        seen.lacks("nodes", error.message)
        return
    for pool in entry.pools:
        selector = Selector(pool.selector) if pool.selector else None
        for node in nodes:
            if selector.matches(node.labels) if selector else node.name in pool.nodes:
                taints = [
                    f"{key}{'=' + value if value else ''}:{effect}"
                    + ("" if tolerated((key, value, effect), pool) else " (not tolerated)")
                    for key, value, effect in node.taints
                ]
                seen.nodes.append((pool, node, taints))
                seen.missing += [
                    f"{seen.name}: node {node.name}: its taint {taint} evicts the probe"
                    for taint in taints
                    if ":NoExecute" in taint and taint.endswith("(not tolerated)")
                ]
    for gap in gaps:
        if gap.outcome == "unknown":
            where = " ".join(part for part in (gap.pool, gap.node) if part) or "pools"
            seen.lacks(where, gap.why)
        elif gap.outcome == "not-checked":
            seen.add(gap.pool or "pools", gap.why)


def tolerated(taint: tuple[str, str, str], pool: Pool) -> bool:
    """Whether the tolerations of a pool cover a taint (key, value, effect)."""
    key, value, effect = taint
    for one in pool.tolerations:
        if one.get("effect") not in (None, "", effect):
            continue
        if one.get("operator") == "Exists":
            if one.get("key") in (None, "", key):
                return True
        elif one.get("key") == key and str(one.get("value", "")) == value:
            return True
    return False


def _rights(seen: Seen, kube: Kube, wanted: Sequence[Permission]) -> None:
    """Which rights are missing, by asking the server; nothing is stored by the question."""
    try:
        missing = [str(right) for right in wanted if not kube.may(right)]
    except AicrError as error:
        seen.lacks("rights", f"not known: {error.message}")
        return
    if missing:
        seen.lacks("rights", f"missing: {'; '.join(missing)}")
    else:
        seen.add("rights", "all that the commands need")


def status_outcome(fleet: Fleet, opened: Opened, seen: Sequence[Seen]) -> Outcome:
    """The answer: ``complete`` where every entry has all that the commands need."""
    missing = [one for found in seen for one in found.missing]
    missing += [f"{name}: cannot be read: {error.message}" for name, error in opened.failed.items()]
    unpinned = [f"{name}: not pinned, it is {uid}" for name, uid in opened.unpinned.items()]
    if opened.wrong:
        answer, because = CANNOT_VERIFY, "wrong-cluster"
    elif opened.failed:
        answer, because = CANNOT_VERIFY, "unreachable"
    else:
        answer = INCOMPLETE if missing or unpinned else COMPLETE
        because = "unpinned" if unpinned and not missing else ""
    times = [kube.now() for kube in opened.found.values()]
    seconds, which = opened.skew
    next_action = {
        COMPLETE: "none; go on with aicr nvcf task-images",
        INCOMPLETE: "add what is missing, or correct the fleet file, and repeat",
        CANNOT_VERIFY: "correct what cannot be read, or is another cluster, and repeat",
    }[answer]
    if because == "unpinned":
        next_action = "see that these are the clusters that are meant, and pin them"
    return Outcome(
        command="status",
        answer=answer,
        because=because,
        go=answer == COMPLETE,
        as_of=clock.shown(min(times)) if times else "",
        clock={"skewSeconds": round(seconds, 1), "between": which} if which else {},
        next_action=next_action,
        do_not=["Do not pin the UID of a cluster that you did not mean."],
        next_command=_next_command(answer, pin=bool(unpinned) and not opened.wrong),
        tables=[
            *(Table(found.name, ["what", "found"], found.facts) for found in seen),
            *(_nodes(found) for found in seen),
        ],
        notes=[*opened.wrong, *missing, *unpinned, *_connection_notes(opened)],
        facts=[
            *(Fact("entry", _fact(found), _source(found, opened)) for found in seen),
            *(Fact("wrong-cluster", said, "kube-system UID") for said in opened.wrong),
        ],
        extra={"fleet": fleet.where, "missing": missing, "unpinned": dict(opened.unpinned)},
    )


def _next_command(answer: str, *, pin: bool) -> str:
    if pin:
        return "aicr nvcf status --pin"
    return "aicr nvcf task-images --render DIR" if answer == COMPLETE else "aicr nvcf status"


def _connection_notes(opened: Opened) -> list[str]:
    return [f"{name}: {note}" for name, kube in opened.found.items()
            for note in dict.fromkeys(kube.connection.notes)]  # fmt: skip


def _nodes(found: Seen) -> Table:
    rows = [
        [
            pool.name,
            node.name,
            node.architecture,
            "Ready" if node.ready else "not Ready",
            "cordoned" if node.unschedulable else "",
            ", ".join(taints),
        ]
        for pool, node, taints in found.nodes
    ]
    head = ["pool", "node", "arch", "ready", "", "taints"]
    return Table(f"{found.name}: nodes of its pools", head, rows)


def _fact(found: Seen) -> dict[str, object]:
    return {
        "name": found.name,
        "found": dict(found.facts),
        "missing": list(found.missing),
        "nodes": [
            {
                "pool": pool.name,
                "name": node.name,
                "architecture": node.architecture,
                "ready": node.ready,
                "unschedulable": node.unschedulable,
                "taints": taints,
            }
            for pool, node, taints in found.nodes
        ],
    }


def _source(found: Seen, opened: Opened) -> str:
    kube = opened.found.get(found.name)
    return kube.source if kube else found.name
