"""What a queue is, and what its servers said of it at one time: the values of the drain gate.

They are written to the record as they are, and read from there again.
"""

from __future__ import annotations

from aicr.cluster import wire
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CREATION = "CreateNvcaFunctionTaskStream"
TERMINATION = "TerminateNvcaStream"
INVOCATION = "rq_"
KINDS = {CREATION: "creation", TERMINATION: "termination"}
CARRIES = {
    "creation": "functions and tasks",
    "termination": "terminations",
    "invocation": "requests",
    "other": "messages",
}


def kind_of(stream: str) -> str:
    """``creation``, ``termination``, ``invocation`` or ``other``."""
    return KINDS.get(stream) or ("invocation" if stream.startswith(INVOCATION) else "other")


class Problem(wire.Struct, frozen=True):
    """Something that could not be read, or does not fit: ``what`` names the read."""

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


class Consumer(wire.Struct, frozen=True, kw_only=True):
    """A consumer as its leader says; times are seconds."""

    name: str
    created: str
    consumer_seq: int
    stream_seq: int
    floor_consumer_seq: int
    floor_stream_seq: int
    pending: int
    ack_pending: int
    redelivered: int
    waiting: int
    ack_wait: float
    backoff: list[float] = wire.field(default_factory=list)
    filters: list[str] = wire.field(default_factory=list)
    paused: bool = False

    @property
    def settled(self) -> tuple[object, ...]:
        """What must be equal between two readings."""
        return (
            self.name,
            self.created,
            self.consumer_seq,
            self.stream_seq,
            self.floor_consumer_seq,
            self.floor_stream_seq,
            self.pending,
            self.ack_pending,
        )

    @property
    def redelivery(self) -> float:
        """The longest time until an unacknowledged message comes again."""
        return max([self.ack_wait, *self.backoff])


class Queue(wire.Struct, frozen=True, kw_only=True):
    """A stream and its consumers as their leaders say.

    ``server`` is the leader's name, ``server_id`` and ``server_start`` the process that it was.
    ``config`` is a digest. ``max_age`` 0 is for ever. ``left`` is how many messages are retained
    by subject, where that was asked.
    """

    name: str
    kind: str
    created: str
    server: str
    server_id: str
    server_start: str
    replicas: int
    retention: str
    config: str
    max_age: float
    messages: int
    first_seq: int
    last_seq: int
    first_ts: str
    last_ts: str
    consumers: dict[str, Consumer]
    subjects: list[str] = wire.field(default_factory=list)
    left: dict[str, int] = wire.field(default_factory=dict)

    @property
    def incarnation(self) -> tuple[str, str]:
        """What changes when the content may have been dropped: for one replica, with the server."""
        return (self.created, self.server_id if self.replicas == 1 else "")

    @property
    def empty(self) -> bool:
        return self.messages == 0 and not any(
            one.pending or one.ack_pending for one in self.consumers.values()
        )

    @property
    def settled(self) -> tuple[object, ...]:
        """What must be equal between two readings."""
        return (
            self.created,
            self.config,
            self.server,
            self.messages,
            self.first_seq,
            self.last_seq,
            sorted(one.settled for one in self.consumers.values()),
        )


class Server(wire.Struct, frozen=True, kw_only=True):
    """One NATS server: its pod, and the process that answered. Times as it wrote them."""

    pod: str
    uid: str
    restarts: int
    name: str
    id: str
    start: str
    now: str
    version: str

    @property
    def settled(self) -> tuple[str, str, str]:
        return self.uid, self.id, self.start


class Reading(wire.Struct, frozen=True, kw_only=True):
    """All queues at one time.

    ``at`` is the earliest time of a server in it, ``until`` the latest (seconds, NATS time).
    ``problems`` is all that could not be read: while there is one, nothing is known to be empty.
    ``requests`` are those requestIds in flight at the baseline that a request was found for,
    ``receipts`` per stream those of live requests above its last sequence, ``clusters`` the ids of
    the clusters that were read, by name.
    """

    at: float
    until: float
    generation: int
    servers: list[Server]
    queues: dict[str, Queue]
    others: list[str] = wire.field(default_factory=list)
    problems: list[Problem] = wire.field(default_factory=list)
    notes: list[str] = wire.field(default_factory=list)
    requests: list[str] = wire.field(default_factory=list)
    receipts: dict[str, list[Receipt]] = wire.field(default_factory=dict)
    clusters: dict[str, str] = wire.field(default_factory=dict)

    def server(self, name: str) -> Server | None:
        return next((one for one in self.servers if one.name == name), None)


class Receipt(wire.Struct, frozen=True):
    """A live request's receipt: which message it was made from, and when (seconds)."""

    cluster: str
    request: str
    sequence: int
    created: float


READING = wire.Decoder(Reading)


def narrowed(queues: dict[str, Queue], patterns: Sequence[str]) -> dict[str, Queue]:
    """The queues that one of the patterns names. Raises INVALID_REQUEST where one names none."""
    from fnmatch import fnmatchcase

    found = {
        name: queue
        for name, queue in queues.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in queues):
            raise invalid(
                f"--queues {pattern}: no queue has this name",
                hint=f"queues: {', '.join(sorted(queues)) or 'none'}",
            )
    return found
