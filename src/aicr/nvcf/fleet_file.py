"""What a fleet file says: read and checked, all problems at once; its paths start at its folder."""

from __future__ import annotations

import os
import re

from aicr.documents.fields import Fields, Problems
from aicr.documents.reader import read_yaml
from aicr.errors import invalid
from aicr.nvcf.fleet import Account, ComputeCluster, ControlPlane, Declared, Fleet, Nats, Pool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_EFFECTS = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("", "Equal", "Exists")


def read_fleet(path: str) -> Fleet:
    """The fleet file at ``path``. Raises INVALID_REQUEST with every problem and its line."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise invalid(
            f"--fleet {path}: {error.strerror or error}",
            hint="aicr nvcf init writes one to fill in",
        ) from None
    return fleet_from(data, path)


def fleet_from(data: bytes, where: str) -> Fleet:
    """As ``read_fleet``, of the file's content."""
    problems = Problems()
    folder = os.path.dirname(os.path.abspath(where))
    root = Fields(read_yaml(data, where), where, "", problems)
    control = _control_plane(root, folder)
    compute = [_compute(one, folder) for one in root.items("computeClusters")]
    if not compute and not problems.errors:
        root.problem("names no compute cluster", "computeClusters")
    digests = root.free_map("agentDigests") or {}
    for digest in digests:
        if not _DIGEST.fullmatch(digest):
            root.problem(f'expected sha256: and 64 digits, found "{digest}"', "agentDigests")
    retired = [_declared(one, "clusterId") for one in root.items("retiredClusters")]
    queues = root.mapping("queues")
    more: Sequence[str] = ()
    not_queues: Sequence[Declared] = ()
    if queues is not None:
        more = queues.texts("add")
        not_queues = [_declared(one, "stream") for one in queues.items("notQueues")]
        queues.done()
    root.done()
    _distinct(root, compute)
    problems.raise_any()
    assert control is not None
    return Fleet(
        where=where,
        folder=folder,
        control_plane=control,
        compute=compute,
        agent_digests={digest: str(version) for digest, version in digests.items()},
        retired=retired,
        more_queues=more,
        not_queues=not_queues,
    )


def _control_plane(root: Fields, folder: str) -> ControlPlane | None:
    fields = root.mapping("controlPlane")
    if fields is None:
        root.problem("is missing", "controlPlane")
        return None
    nats = fields.mapping("nats")
    found = ControlPlane(
        kubeconfig=_path(folder, fields.required("kubeconfig")),
        context=fields.required("context"),
        cluster_uid=fields.text("clusterUid"),
        nats=Nats() if nats is None else _nats(nats, folder),
        accounts=[_account(one, folder) for one in fields.items("accounts")],
        line=fields.line(),
    )
    fields.done()
    return found


def _nats(fields: Fields, folder: str) -> Nats:
    usual = Nats()
    port = fields.integer("monitorPort")
    if port is not None and not 0 < port < 65536:
        fields.problem(f"expected a port, found {port}", "monitorPort")
    found = Nats(
        namespace=fields.text("namespace") or usual.namespace,
        selector=fields.text("selector") or usual.selector,
        container=fields.text("container"),
        context=fields.text("context") or usual.context,
        stateful_set=fields.text("statefulSet") or usual.stateful_set,
        monitor_port=usual.monitor_port if port is None else port,
        url=fields.text("url"),
        creds=_path(folder, fields.text("creds")),
        nkey=_path(folder, fields.text("nkey")),
        ca=_path(folder, fields.text("ca")),
    )
    fields.done()
    return found


def _account(fields: Fields, folder: str) -> Account:
    found = Account(
        nca_id=fields.required("ncaId"),
        nvcf_cli=_path(folder, fields.required("nvcfCli")),
        config=_path(folder, fields.required("config")),
        invocation=fields.free("invocation"),
    )
    fields.done()
    return found


def _compute(fields: Fields, folder: str) -> ComputeCluster:
    name = fields.required("name")
    if name and not _NAME.fullmatch(name):
        fields.problem(
            f'expected letters, digits, ".", "_" and "-" (at most 63), found "{name}"', "name"
        )
    found = ComputeCluster(
        name=name,
        kubeconfig=_path(folder, fields.required("kubeconfig")),
        context=fields.required("context"),
        cluster_uid=fields.text("clusterUid"),
        cluster_id=fields.text("clusterId"),
        task_namespace=fields.text("taskNamespace") or "nvcf-backend",
        service_account=fields.text("serviceAccount") or "default",
        pull_secrets=fields.texts("pullSecrets"),
        architectures=fields.texts("architectures") or ["amd64"],
        pools=[_pool(one) for one in fields.items("pools")],
        task_nodes=fields.text("taskNodes"),
        corrected=fields.text("corrected"),
        line=fields.line(),
    )
    names = [pool.name for pool in found.pools]
    for twice in sorted({one for one in names if names.count(one) > 1}):
        fields.problem(f'two pools are called "{twice}"', "pools")
    fields.done()
    return found


def _pool(fields: Fields) -> Pool:
    empty = fields.mapping("mayBeEmpty")
    found = Pool(
        name=fields.required("name"),
        selector=fields.text("selector"),
        nodes=fields.texts("nodes"),
        tolerations=[_toleration(one) for one in fields.items("tolerations")],
        may_be_empty="" if empty is None else empty.required("reason"),
    )
    if empty is not None:
        empty.done()
    if bool(found.selector) == bool(found.nodes):
        fields.problem("needs either selector or nodes, and not both")
    fields.done()
    return found


def _toleration(fields: Fields) -> dict[str, object]:
    found: dict[str, object] = {
        key: value for key in ("key", "operator", "value", "effect") if (value := fields.text(key))
    }
    seconds = fields.integer("tolerationSeconds")
    if seconds is not None:
        found["tolerationSeconds"] = seconds
    for key, allowed in (("operator", _OPERATORS), ("effect", _EFFECTS)):
        value = str(found.get(key, ""))
        if value not in allowed:
            fields.problem(f'expected {" or ".join(allowed[1:])}, found "{value}"', key)
    fields.done()
    return found


def _declared(fields: Fields, key: str) -> Declared:
    found = Declared(
        fields.required(key),
        fields.required("reason"),
        fields.required("by"),
        fields.required("date"),
    )
    fields.done()
    return found


def _distinct(root: Fields, compute: Sequence[ComputeCluster]) -> None:
    """Two entries for one cluster would count it twice, or hide that another is missing."""
    for what, values in (
        ("name", [one.name for one in compute]),
        ("clusterUid", [one.cluster_uid for one in compute]),
        ("clusterId", [one.cluster_id for one in compute]),
    ):
        for value in sorted({one for one in values if one and values.count(one) > 1}):
            root.problem(f'two entries have the {what} "{value}"', "computeClusters")


def _path(folder: str, text: str) -> str:
    return os.path.join(folder, os.path.expanduser(text)) if text else ""
