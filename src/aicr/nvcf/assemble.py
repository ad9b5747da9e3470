"""What all servers and the client said, put together: each queue by its leader's numbers, and every
reason why that may not be the whole truth."""

from __future__ import annotations

from fnmatch import fnmatchcase

from aicr.errors import AicrError
from aicr.nvcf import clock, jetstream
from aicr.nvcf.queues import CREATION, TERMINATION, Consumer, Problem, Queue, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.nvcf.fleet import Declared
    from aicr.nvcf.monitor import ServerAnswers

LONGEST_READING = 120.0


class Client:
    """What the client sees: ``streams`` by name, ``consumers`` of those that were asked, what the
    leaders of the two NVCA streams answered, and how much they retain by subject (``left``).
    ``whole`` is False where the list was not read."""

    __slots__ = ("consumers", "infos", "left", "streams", "whole")

    def __init__(self, *, whole: bool = True) -> None:
        self.whole = whole
        self.streams: set[str] = set()
        self.consumers: dict[str, set[str]] = {}
        self.infos: dict[str, tuple[jetstream.StreamInfo, dict[str, Consumer]]] = {}
        self.left: dict[str, dict[str, int]] = {}


class Assembled:
    """``queues`` by name; ``others`` are streams that are no queues; ``at`` and ``until`` the
    earliest and the latest time of a server."""

    __slots__ = ("at", "notes", "others", "problems", "queues", "until")

    def __init__(self) -> None:
        self.queues: dict[str, Queue] = {}
        self.others: list[str] = []
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.at = 0.0
        self.until = 0.0

    def problem(self, what: str, why: str) -> None:
        self.problems.append(Problem(what, why))


def assemble(
    servers: Sequence[ServerAnswers],
    client: Client,
    *,
    replicas: int,
    more: Sequence[str] = (),
    not_queues: Sequence[Declared] = (),
) -> Assembled:
    """``replicas`` is how many servers there have to be, ``more`` patterns of streams to count as
    queues too."""
    found = Assembled()
    _times(found, servers)
    if len(servers) < replicas:
        found.problem("NATS servers", f"{len(servers)} of {replicas} could be read")
    _same_cluster(found, servers, replicas)
    held: dict[str, list[tuple[ServerAnswers, jetstream.MonitorStream]]] = {}
    for one in servers:
        found.problems += one.problems
        _whole_page(found, one)
        for account in one.jsz.account_details or ():
            for stream in account.stream_detail or ():
                held.setdefault(stream.name, []).append((one, stream))
    left_out = {one.name for one in not_queues}
    for name in sorted(held):
        try:
            _stream(found, name, held[name], client, more, left_out)
        except AicrError as error:
            found.problem(f"stream {name}", error.message)
    if len(servers) >= replicas:  # else what is missing may be on a server that was not read
        _compare_names(found, set(held), client)
        for name in (CREATION, TERMINATION):
            if name not in held and name not in client.streams:
                found.problem(f"stream {name}", "no server holds it")
    return found


def _times(found: Assembled, servers: Sequence[ServerAnswers]) -> None:
    times = []
    for one in servers:
        for text, page in ((one.server.now, "/varz"), (one.jsz.now, "/jsz")):
            try:
                times.append(clock.from_rfc3339(text, f"{one.server.pod} {page}"))
            except AicrError as error:
                found.problem(f"NATS server {one.server.pod}", error.message)
        try:
            clock.from_rfc3339(one.server.start, f"{one.server.pod} /varz start")
        except AicrError as error:
            found.problem(f"NATS server {one.server.pod}", error.message)
    if times:
        found.at, found.until = min(times), max(times)
        if found.until - found.at > LONGEST_READING:
            found.problem(
                "this reading",
                f"it took {found.until - found.at:.0f} s by the servers' clocks (this machine "
                "slept, or a clock is wrong), so that its parts are of different times",
            )


def _same_cluster(found: Assembled, servers: Sequence[ServerAnswers], replicas: int) -> None:
    names = [one.server.name for one in servers]
    if len(set(names)) < len(names) or len({one.server.id for one in servers}) < len(servers):
        found.problem("NATS servers", "two pods answered as one server")
    for one in servers:
        meta = one.jsz.meta_cluster
        if meta is not None and meta.cluster_size > replicas:
            found.problem(
                f"NATS server {one.server.pod}",
                f"its cluster has {meta.cluster_size} servers, the StatefulSet {replicas}",
            )
        if meta is not None and not meta.leader:
            found.problem(f"NATS server {one.server.pod}", "the cluster has no leader")
        if meta is None and replicas > 1:
            found.problem(f"NATS server {one.server.pod}", "it is in no cluster with the others")


def _whole_page(found: Assembled, one: ServerAnswers) -> None:
    """A monitor page says how much it should have: less is no answer."""
    details = one.jsz.account_details or []
    streams = [stream for account in details for stream in account.stream_detail or ()]
    consumers = sum(len(stream.consumer_detail or ()) for stream in streams)
    for what, has, total in (
        ("accounts", len(details), one.jsz.accounts if streams or one.jsz.streams else 0),
        ("streams", len(streams), one.jsz.streams),
        ("consumers", consumers, one.jsz.consumers),
    ):
        if has < total:
            found.problem(f"NATS server {one.server.pod}", f"its page has {has} of {total} {what}")


def _stream(
    found: Assembled,
    name: str,
    copies: list[tuple[ServerAnswers, jetstream.MonitorStream]],
    client: Client,
    more: Sequence[str],
    left_out: set[str],
) -> None:
    settings = copies[0][1].settings
    is_queue = settings.retention != "limits" or kind_of(name) != "other"
    asked_for = any(fnmatchcase(name, pattern) for pattern in more) and name not in left_out
    if not is_queue and not asked_for:
        found.others.append(name)
        return
    what = f"stream {name}"
    if len({stream.created for _, stream in copies}) > 1:
        found.problem(what, "servers hold different streams of this name (another account?)")
        return
    leader = _leader(found, what, [(one, stream.cluster) for one, stream in copies])
    if leader is None:
        return
    one, stream = copies[leader]
    clock.from_rfc3339(stream.created, f"{what}, created")
    if stream.state.messages:
        clock.from_rfc3339(stream.state.first_ts, f"{what}, first_ts")
    settings = stream.settings
    if settings.retention == "limits" and kind_of(name) != "other":
        found.problem(
            what,
            "its retention is limits, so that what was consumed stays in it; a work queue was "
            "expected",
        )
    if len(copies) < settings.num_replicas:
        found.problem(what, f"{len(copies)} of its {settings.num_replicas} replicas were seen")
    consumers = _consumers(found, name, stream, copies)
    queue = Queue(
        name=name,
        kind=kind_of(name),
        created=stream.created,
        server=one.server.name,
        server_id=one.server.id,
        server_start=one.server.start,
        replicas=settings.num_replicas,
        retention=settings.retention,
        config=jetstream.config_digest(stream.config),
        max_age=settings.max_age / 1e9,
        messages=stream.state.messages,
        first_seq=stream.state.first_seq,
        last_seq=stream.state.last_seq,
        first_ts=stream.state.first_ts,
        last_ts=stream.state.last_ts,
        consumers=consumers,
        subjects=settings.subjects or [],
    )
    found.queues[name] = _with_client(found, queue, client)


def _leader(
    found: Assembled,
    what: str,
    copies: Sequence[tuple[ServerAnswers, jetstream.Cluster | None]],
) -> int | None:
    """Which copy is the leader's; a server that is in no cluster leads what it holds."""
    named = {cluster.leader if cluster else "" for _, cluster in copies}
    if len(named) > 1:
        found.problem(what, f"servers name different leaders: {', '.join(sorted(named)) or 'none'}")
        return None
    (name,) = named
    if not name:
        if len(copies) == 1 and copies[0][0].jsz.meta_cluster is None:
            return 0
        found.problem(what, "it has no leader")
        return None
    for index, (one, _) in enumerate(copies):
        if one.server.name == name:
            return index
    found.problem(what, f"its leader {name} could not be read")
    return None


def _consumers(
    found: Assembled,
    name: str,
    stream: jetstream.MonitorStream,
    copies: Sequence[tuple[ServerAnswers, jetstream.MonitorStream]],
) -> dict[str, Consumer]:
    seen: dict[str, list[tuple[ServerAnswers, jetstream.ConsumerInfo]]] = {}
    for one, copy in copies:
        for consumer in copy.consumer_detail or ():
            seen.setdefault(consumer.name, []).append((one, consumer))
    if stream.state.consumer_count != len(seen):
        found.problem(
            f"stream {name}",
            f"it has {stream.state.consumer_count} consumers, the monitors show {len(seen)}",
        )
    consumers = {}
    for each in sorted(seen):
        leader = _leader(found, f"consumer {each}", [(one, got.cluster) for one, got in seen[each]])
        if leader is not None:
            consumers[each] = seen[each][leader][1].value()
    return consumers


def _with_client(found: Assembled, queue: Queue, client: Client) -> Queue:
    """The numbers of the leader's own answer, where it was asked, and what does not fit."""
    names = client.consumers.get(queue.name)
    if names is not None:
        for extra in sorted(names - set(queue.consumers)):
            found.problem(f"consumer {extra}", "the client sees it, no monitor does")
        for extra in sorted(set(queue.consumers) - names):
            found.problem(f"consumer {extra}", "a monitor shows it, the client does not see it")
    if queue.name not in client.infos:
        return queue
    info, consumers = client.infos[queue.name]
    if info.created != queue.created:
        found.problem(
            f"stream {queue.name}",
            "the client sees another stream of this name than the monitors (wrong account or "
            "context, or it was made again just now)",
        )
        return queue
    state = info.state
    if ((info.cluster and info.cluster.leader) or queue.server) != queue.server:
        found.problem(f"stream {queue.name}", "its leader changed during the reading")
    return _replaced(queue, state, consumers, client.left.get(queue.name, {}))


def _replaced(
    queue: Queue,
    state: jetstream.State,
    consumers: Mapping[str, Consumer],
    left: dict[str, int],
) -> Queue:
    """Both sources were asked within one reading: what is left is the larger of the two, so that
    a message which one of them saw is never passed over."""
    import msgspec

    both = {}
    for name, one in queue.consumers.items():
        other = consumers.get(name)
        if other is not None and other.created == one.created:
            one = msgspec.structs.replace(
                one,
                pending=max(one.pending, other.pending),
                ack_pending=max(one.ack_pending, other.ack_pending),
                waiting=max(one.waiting, other.waiting),
            )
        both[name] = one
    return msgspec.structs.replace(
        queue, messages=max(queue.messages, state.messages), consumers=both, left=left
    )


def _compare_names(found: Assembled, held: set[str], client: Client) -> None:
    if not client.whole:
        return
    for name in sorted(held - client.streams):
        found.problem(
            f"stream {name}", "a monitor shows it, the client does not (wrong account or context?)"
        )
    for name in sorted(client.streams - held):
        found.problem(f"stream {name}", "the client sees it, no monitor does (its server is down?)")
