"""Which agent runs in a compute cluster, and whether NATS may restart under it."""

from __future__ import annotations

from aicr.artifact.image_ref import parse_image
from aicr.cluster.reading import List
from aicr.errors import AicrError
from aicr.nvcf.agent_versions import (
    AFFECTED,
    CORRECTED,
    FIX,
    FIXED,
    UNKNOWN_TRAIN,
    UNVERIFIED,
    class_of,
    parts_of,
    same,
)
from aicr.nvcf.kube import cluster_id_of, read_backends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from aicr.nvcf.kube import Kube

DEPLOYMENT = "nvca"
SYSTEM_NAMESPACE = "nvca-system"
AGENT_CONTAINERS = ("agent", "nvca")
ACTIONS = {
    FIXED: "skip",
    CORRECTED: "skip: your guide's corrected selection runs",
    AFFECTED: f"upgrade it to {FIX} or a later compatible patch (Compute Plane 1.0.5 selects "
    f"{FIX}) before NATS rolls; preserve its registration",
    UNKNOWN_TRAIN: "use your guide's corrected selection: put corrected: VERSION into this "
    "cluster's entry",
    UNVERIFIED: "investigate",
}
RESTARTED = "its pods restarted on an affected version: that does not fix reused message ids"


class AgentPod:
    """A running pod of the agent; ``version`` is "" where neither tag nor digest tell it."""

    __slots__ = ("doubt", "image", "image_id", "name", "restarts", "started", "version")

    def __init__(
        self,
        *,
        name: str,
        image: str,
        image_id: str,
        started: str,
        restarts: int,
        version: str,
        doubt: str,
    ) -> None:
        self.name = name
        self.image = image
        self.image_id = image_id
        self.started = started
        self.restarts = restarts
        self.version = version
        self.doubt = doubt


class Agent:
    """What was found in one cluster. ``registration`` is cluster id, group id, region and nca id
    by their JSON names; ``doubts`` are why it is not more than ``unverified``."""

    __slots__ = (
        "agent_class", "cluster", "doubts", "pods", "registration", "restarted", "rolled_out",
        "status_version", "wanted_version",
    )  # fmt: skip

    def __init__(
        self,
        cluster: str,
        *,
        agent_class: str,
        doubts: Sequence[str] = (),
        pods: Sequence[AgentPod] = (),
        registration: Mapping[str, str] | None = None,
        wanted_version: str = "",
        status_version: str = "",
        rolled_out: bool = False,
        restarted: bool = False,
    ) -> None:
        self.cluster = cluster
        self.agent_class = agent_class
        self.doubts = doubts
        self.pods = pods
        self.registration = registration or {}
        self.wanted_version = wanted_version
        self.status_version = status_version
        self.rolled_out = rolled_out
        self.restarted = restarted

    @property
    def cluster_id(self) -> str:
        return self.registration.get("clusterID", "")

    @property
    def action(self) -> str:
        action = ACTIONS[self.agent_class]
        return f"{action}; {RESTARTED}" if self.restarted else action


def read_agent(kube: Kube, digests: Mapping[str, str], *, corrected: str = "") -> Agent:
    """The agent of a cluster; ``digests`` gives the version of an image by its digest. Whatever
    cannot be read makes it unverified."""
    try:
        backends = read_backends(kube)
        namespace = _system_namespace(backends)
        deployment = kube.get("deployments", namespace, DEPLOYMENT, group="apps")
        pods = _running(kube, namespace, deployment, digests)
    except AicrError as error:
        return Agent(kube.name, agent_class=UNVERIFIED, doubts=[error.message])
    return judge(kube.name, backends, deployment, pods, corrected=corrected)


def judge(
    cluster: str,
    backends: Sequence[Mapping[str, Any]],
    deployment: Mapping[str, Any],
    pods: Sequence[AgentPod],
    *,
    corrected: str = "",
) -> Agent:
    """The class of an agent, from what was read."""
    doubts: list[str] = []
    if len(backends) != 1:
        doubts.append(f"{len(backends)} NVCFBackends, expected one")
    backend: Mapping[str, Any] = backends[0] if backends else {}
    spec, status = backend.get("spec") or {}, backend.get("status") or {}
    wanted, reported = str(spec.get("version") or ""), str(status.get("version") or "")
    health = str(status.get("agentStatus") or "")
    if backends and health.lower() != "healthy":
        doubts.append(f"its agentStatus is {health or 'not set'}")
    incomplete = _incomplete(deployment)
    if incomplete:
        doubts.append(f"rollout in progress: {incomplete}")
    replicas = int((deployment.get("status") or {}).get("replicas") or 0)
    if not pods:
        doubts.append("no pod of the agent is running")
    elif not incomplete and len(pods) < replicas:
        doubts.append(f"{len(pods)} pods of the agent were seen, its Deployment has {replicas}")
    doubts += [pod.doubt for pod in pods if pod.doubt]
    versions = {pod.version for pod in pods if pod.version}
    if len(backends) == 1 and not wanted and not reported:
        doubts.append("its NVCFBackend states no version")
    for source, said in (("spec", wanted), ("status", reported)):
        others = sorted(one for one in versions if said and not same(said, one))
        if others:
            doubts.append(f"its NVCFBackend's {source}.version is {said}, pods run {others[0]}")
    classes = {class_of(pod.version, corrected) for pod in pods if pod.version}
    affected = [pod for pod in pods if class_of(pod.version) == AFFECTED]
    if AFFECTED in classes:
        found = AFFECTED
    elif doubts or UNVERIFIED in classes or not classes:
        found = UNVERIFIED
    elif UNKNOWN_TRAIN in classes:
        found = UNKNOWN_TRAIN
    else:
        found = CORRECTED if CORRECTED in classes else FIXED
    config = status.get("clusterConfig") or {}
    account = status.get("accountConfig") or {}
    registration = {
        "clusterID": cluster_id_of(backend),
        "clusterGroupID": str(config.get("clusterGroupID") or ""),
        "region": str(config.get("region") or ""),
        "ncaID": str(account.get("ncaID") or ""),
    }
    return Agent(
        cluster,
        agent_class=found,
        doubts=doubts,
        pods=pods,
        registration=registration if len(backends) == 1 else {},
        wanted_version=wanted,
        status_version=reported,
        rolled_out=not incomplete,
        restarted=any(pod.restarts for pod in affected),
    )


def version_of(image: str, image_id: str, digests: Mapping[str, str]) -> tuple[str, str]:
    """The version of an agent's image, and what is doubtful about it."""
    ref = parse_image(image)
    tag = ref.tag if ref else ""
    digest = image_id.rpartition("@")[2] or (ref.digest if ref else "")
    by_digest = digests.get(digest, "") or (digests.get(ref.digest, "") if ref else "")
    if by_digest and tag and parts_of(tag) and not same(tag, by_digest):
        return "", f"the tag of {image} contradicts its digest, which is {by_digest}"
    if by_digest:
        return by_digest, ""
    if tag and parts_of(tag):
        return tag, ""
    if tag:
        return "", f"{image}: {tag} is no version that is known"
    return "", f"{image}: no tag and no known digest ({digest or 'none'}) tell its version"


def _system_namespace(backends: Sequence[Mapping[str, Any]]) -> str:
    for backend in backends:
        for part in ("spec", "status"):
            config = (backend.get(part) or {}).get("clusterConfig") or {}
            if config.get("systemNamespace"):
                return str(config["systemNamespace"])
    return SYSTEM_NAMESPACE


def _running(
    kube: Kube, namespace: str, deployment: Mapping[str, Any], digests: Mapping[str, str]
) -> list[AgentPod]:
    selector = ((deployment.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    if not selector:
        return []
    labels = ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
    pods = kube.items(List("pods", namespace=namespace, labels=labels))
    return [pod for one in pods if (pod := agent_pod(one, digests)) is not None]


def agent_pod(pod: Mapping[str, Any], digests: Mapping[str, str]) -> AgentPod | None:
    """A pod whose agent runs or may run; None for one that has ended or never started."""
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    if status.get("phase") in ("Failed", "Succeeded"):
        return None
    container = _agent_container(spec.get("containers") or ())
    state: Mapping[str, Any] = next(
        (
            one
            for one in status.get("containerStatuses") or ()
            if one.get("name") == container.get("name")
        ),
        {},
    )
    image_id = str(state.get("imageID") or "")
    if not image_id and not (state.get("state") or {}).get("running"):
        return None  # it has no image yet; the rollout says so
    running = (state.get("state") or {}).get("running") or {}
    image = str(container.get("image") or "")
    version, doubt = version_of(image, image_id, digests)
    return AgentPod(
        name=str(pod["metadata"]["name"]),
        image=image,
        image_id=image_id,
        started=str(running.get("startedAt") or status.get("startTime") or ""),
        restarts=int(state.get("restartCount") or 0),
        version=version,
        doubt=doubt,
    )


def _agent_container(containers: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    for name in AGENT_CONTAINERS:
        for one in containers:
            if one.get("name") == name:
                return one
    return containers[0] if containers else {}


def _incomplete(deployment: Mapping[str, Any]) -> str:
    """What keeps the rollout from being complete; "" where it is."""
    meta, spec = deployment.get("metadata") or {}, deployment.get("spec") or {}
    status = deployment.get("status") or {}
    wanted = spec.get("replicas", 1)
    if status.get("observedGeneration", 0) < meta.get("generation", 0):
        return "the newest generation was not observed yet"
    for name in ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"):
        if status.get(name, 0) != wanted:
            return f"{name} is {status.get(name, 0)}, {wanted} wanted"
    return "" if wanted else "it is scaled to zero"
