"""One reading of everything that the drain gate looks at: servers, client, clusters."""

from __future__ import annotations

from aicr.errors import AicrError
from aicr.nvcf import clock
from aicr.nvcf.assemble import Assembled, Client, assemble
from aicr.nvcf.queues import CREATION, TERMINATION, Problem, Queue, Reading, Receipt
from aicr.nvcf.requests import Request, read_requests
from aicr.nvcf.side_by_side import side_by_side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.nvcf.kube import Kube
    from aicr.nvcf.monitor import ServerAnswers, StatefulSet
    from aicr.nvcf.nats_access import NatsAccess
    from aicr.nvcf.reach import Reach

_MOST_RECEIPTS = 20


class Sources:
    """Which way each kind of fact came."""

    __slots__ = ("client", "clusters", "monitor")

    def __init__(self) -> None:
        self.client = ""
        self.monitor = ""
        self.clusters = ""

    def __str__(self) -> str:
        return "; ".join(one for one in (self.monitor, self.client, self.clusters) if one)


def take_reading(
    reach: Reach, wanted: set[str], sources: Sources, access: NatsAccess | None = None
) -> Reading:
    """Everything once; what could not be read is in its ``problems``. Never raises AicrError.

    ``wanted`` are requestIds to look for in the clusters. ``access`` is used where it is given,
    else one is opened and closed.
    """
    problems: list[Problem] = []
    notes: list[str] = []
    # Requests first: what they were made from, the streams read after them must know.
    requests = _requests(reach, problems)
    generation, replicas, servers = _servers(reach, problems, sources)
    client = _client(reach, problems, notes, sources, access)
    found = assemble(
        servers,
        client,
        replicas=replicas,
        more=reach.fleet.more_queues,
        not_queues=reach.fleet.not_queues,
    )
    problems += found.problems
    _clocks(reach, servers, problems)
    sources.clusters = f"{len(reach.clusters)} compute clusters, by the Kubernetes API"
    return Reading(
        at=found.at,
        until=found.until,
        generation=generation,
        servers=[one.server for one in servers],
        queues=found.queues,
        others=found.others,
        problems=_each_once(problems),
        notes=[*notes, *_declared(reach, found)],
        requests=sorted({one.request_id for one in requests} & wanted),
        receipts=_receipts(requests, found.queues),
    )


def _servers(
    reach: Reach, problems: list[Problem], sources: Sources
) -> tuple[int, int, list[ServerAnswers]]:
    try:
        monitor = reach.monitor()
        expected: StatefulSet = monitor.stateful_set()
    except AicrError as error:
        problems.append(Problem("the StatefulSet of the NATS servers", error.message))
        return 0, 1, []
    servers = []
    for pod in expected.pods:
        try:
            servers.append(monitor.read(expected, pod))
        except AicrError as error:
            problems.append(Problem(f"NATS server {pod}", error.message))
    sources.monitor = "monitors by " + ", ".join(sorted(monitor.ways) or ["nothing"])
    return expected.generation, expected.replicas, servers


def _client(
    reach: Reach,
    problems: list[Problem],
    notes: list[str],
    sources: Sources,
    access: NatsAccess | None,
) -> Client:
    """What the client sees; the two NVCA streams are asked one by one, the others by name."""
    client = Client()
    own = access is None
    try:
        access = access or reach.access()
    except AicrError as error:
        problems.append(Problem("access to NATS", error.message))
        client.whole = False
        return client
    try:
        try:
            client.streams = access.stream_names()
        except AicrError as error:
            problems.append(Problem("the list of streams", error.message))
            client.whole = False
        others = client.streams - {CREATION, TERMINATION}
        try:
            client.consumers = access.many_consumer_names(others)
        except AicrError as error:
            problems.append(Problem("the lists of consumers", error.message))
        for stream in (CREATION, TERMINATION):
            if stream in client.streams:
                _nvca_stream(client, access, stream, problems)
        sources.client = access.source
        notes += access.notes
    finally:
        if own:
            access.close()
    return client


def _nvca_stream(client: Client, access: NatsAccess, stream: str, problems: list[Problem]) -> None:
    try:
        info, _ = access.stream(stream)
        names = access.consumer_names(stream)
        client.consumers[stream] = names
        consumers = {}
        for name in sorted(names):
            consumers[name] = access.consumer(stream, name)[0].value()
        client.infos[stream] = (info, consumers)
        if info.state.messages:
            client.left[stream] = access.subjects(stream)
    except AicrError as error:
        problems.append(Problem(f"stream {stream}", error.message))


def _clocks(reach: Reach, servers: Sequence[ServerAnswers], problems: list[Problem]) -> None:
    """Agents' times are the clusters', NATS's its own: both count only where they agree."""
    if not servers:
        return
    offsets = {f"NATS server {one.server.pod}": one.offset for one in servers}
    reach.nats_offset = min(offsets.values(), key=lambda one: one.width)
    offsets |= reach.opened.offsets
    skew, which = clock.skew(offsets)
    if skew > clock.MOST_SKEW:
        problems.append(
            Problem("the clocks", f"{which} are {skew:.0f} s apart (at most {clock.MOST_SKEW:g} s)")
        )
    problems += [Problem("the clocks", why) for why in clock.unclear(offsets)]


def _requests(reach: Reach, problems: list[Problem]) -> list[Request]:
    kubes = list(reach.clusters.values())
    found: list[Request] = []
    for kube, result in zip(kubes, side_by_side(_of_cluster, kubes, 8), strict=True):
        if isinstance(result, AicrError):
            problems.append(Problem(f"the requests of cluster {kube.name}", result.message))
        else:
            found += result
    return found


def _of_cluster(kube: Kube) -> list[Request] | AicrError:
    try:
        return read_requests(kube.connection, kube.name)
    except AicrError as error:
        return error


def _receipts(requests: Sequence[Request], queues: dict[str, Queue]) -> dict[str, list[Receipt]]:
    """Live requests made from a message that its stream does not know, the newest first."""
    found: dict[str, list[Receipt]] = {}
    for one in requests:
        subject, sequence = one.subject, one.sequence
        stream = CREATION if subject.startswith("Create.") else TERMINATION
        queue = queues.get(stream)
        if one.state != "live" or not subject or queue is None or sequence <= queue.last_seq:
            continue
        try:
            created = clock.from_rfc3339(one.created, one.name)
        except AicrError:
            continue  # of an unknown time nothing follows
        found.setdefault(stream, []).append(Receipt(one.cluster, one.name, sequence, created))
    for receipts in found.values():
        receipts.sort(key=lambda receipt: -receipt.created)
        del receipts[_MOST_RECEIPTS:]
    return found


def _declared(reach: Reach, found: Assembled) -> list[str]:
    """What the fleet file says of queues, printed every time."""
    notes = [f"queues.add: {pattern} counts as queue too" for pattern in reach.fleet.more_queues]
    for one in reach.fleet.not_queues:
        counts = " (it counts all the same: it keeps messages until they are consumed)"
        notes.append(
            f"queues.notQueues: {one.name} is no queue, says {one.by} on {one.date}: {one.reason}"
            + (counts if one.name in found.queues else "")
        )
    notes += [
        f"{name} is no known kind of queue, and counts as one"
        for name, queue in found.queues.items()
        if queue.kind == "other"
    ]
    return notes


def _each_once(problems: list[Problem]) -> list[Problem]:
    return list({str(one): one for one in problems}.values())
