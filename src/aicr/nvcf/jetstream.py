"""What the answers of NATS servers say: the JetStream API, the nats client's JSON, the monitor.

Every number that a decision rests on must be in the answer: an answer without it is no answer.
"""

from __future__ import annotations

import json
from typing import TypeVar

from aicr.cluster import wire
from aicr.documents.digest import sha256_hex
from aicr.errors import NOT_FOUND, UNAVAILABLE, AicrError
from aicr.nvcf.queues import Consumer

try:
    from msgspec import Raw
except ModuleNotFoundError:
    from aicr.cluster.credentials import MISSING
    from aicr.errors import invalid

    raise invalid(MISSING) from None

T = TypeVar("T")

_MISSING_CODES = frozenset((10014, 10037, 10059))
NO_MESSAGE = 10037
_NANO = 1e9


class ApiFailure(AicrError):
    """The JetStream API said no; ``code`` of AicrError, ``number`` the API's own err_code."""

    def __init__(self, what: str, number: int, said: str) -> None:
        code = NOT_FOUND if number in _MISSING_CODES else UNAVAILABLE
        super().__init__(code, f"{what}: NATS answered {number}: {said[:200]}")
        self.number = number


class Cluster(wire.Struct):
    leader: str = ""


class State(wire.Struct):
    """Of a stream; ``deleted`` only where it was asked for."""

    messages: int
    first_seq: int
    last_seq: int
    consumer_count: int
    bytes: int = 0
    first_ts: str = ""
    last_ts: str = ""
    num_deleted: int = 0
    deleted: list[int] | None = None
    subjects: dict[str, int] | None = None


class StreamConfig(wire.Struct):
    name: str
    retention: str
    num_replicas: int
    max_age: int = 0
    subjects: list[str] | None = None


class StreamInfo(wire.Struct):
    """An answer to STREAM.INFO, or to ``nats stream info --json``."""

    config: Raw
    created: str
    state: State
    cluster: Cluster | None = None

    @property
    def settings(self) -> StreamConfig:
        return decode(_STREAM_CONFIG, bytes(self.config), "the configuration of a stream")


class Sequences(wire.Struct):
    consumer_seq: int
    stream_seq: int


class ConsumerConfig(wire.Struct):
    ack_wait: int = 0
    backoff: list[int] | None = None
    filter_subject: str = ""
    filter_subjects: list[str] | None = None


class ConsumerInfo(wire.Struct):
    """An answer to CONSUMER.INFO, or a consumer in ``jsz``."""

    stream_name: str
    name: str
    created: str
    delivered: Sequences
    ack_floor: Sequences
    num_ack_pending: int
    num_redelivered: int
    num_waiting: int
    num_pending: int
    config: ConsumerConfig | None = None
    cluster: Cluster | None = None
    paused: bool = False

    def value(self) -> Consumer:
        config = self.config or ConsumerConfig()
        filters = config.filter_subjects or ([config.filter_subject] * bool(config.filter_subject))
        return Consumer(
            name=self.name,
            created=self.created,
            consumer_seq=self.delivered.consumer_seq,
            stream_seq=self.delivered.stream_seq,
            floor_consumer_seq=self.ack_floor.consumer_seq,
            floor_stream_seq=self.ack_floor.stream_seq,
            pending=self.num_pending,
            ack_pending=self.num_ack_pending,
            redelivered=self.num_redelivered,
            waiting=self.num_waiting,
            ack_wait=config.ack_wait / _NANO,
            backoff=[one / _NANO for one in config.backoff or ()],
            filters=filters,
            paused=self.paused,
        )


class MonitorStream(wire.Struct):
    """A stream that a server holds, in ``jsz``."""

    name: str
    created: str
    state: State
    config: Raw
    cluster: Cluster | None = None
    consumer_detail: list[ConsumerInfo] | None = None

    @property
    def settings(self) -> StreamConfig:
        return decode(_STREAM_CONFIG, bytes(self.config), f"the configuration of {self.name}")


class MonitorAccount(wire.Struct):
    name: str
    stream_detail: list[MonitorStream] | None = None


class MetaCluster(wire.Struct):
    cluster_size: int = 0
    leader: str = ""


class Jsz(wire.Struct):
    """``/jsz`` with accounts, streams, consumers and configurations."""

    server_id: str
    now: str
    streams: int
    consumers: int
    accounts: int = 0
    account_details: list[MonitorAccount] | None = None
    meta_cluster: MetaCluster | None = None
    disabled: bool = False


class Varz(wire.Struct):
    """``/varz``: which process it is, since when, and what time it has."""

    server_id: str
    server_name: str
    start: str
    now: str
    version: str = ""


class Health(wire.Struct):
    status: str
    error: str = ""


class StreamNames(wire.Struct):
    total: int
    offset: int
    limit: int
    streams: list[str] | None
    missing: list[str] | None = None


class ConsumerNames(wire.Struct):
    total: int
    offset: int
    limit: int
    consumers: list[str] | None
    missing: list[str] | None = None


class Message(wire.Struct):
    """A retained message; ``data`` and ``hdrs`` are base64, as they came."""

    subject: str
    seq: int
    time: str = ""
    data: str = ""
    hdrs: str = ""


class _Error(wire.Struct):
    code: int = 0
    err_code: int = 0
    description: str = ""


class _Envelope(wire.Struct):
    error: _Error | None = None


class _Got(wire.Struct):
    message: Raw


_STREAM_CONFIG = wire.Decoder(StreamConfig)
STREAM = wire.Decoder(StreamInfo)
CONSUMER = wire.Decoder(ConsumerInfo)
STREAM_NAMES = wire.Decoder(StreamNames)
CONSUMER_NAMES = wire.Decoder(ConsumerNames)
NAMES = wire.Decoder(list[str] | None)
MESSAGE = wire.Decoder(Message)
JSZ = wire.Decoder(Jsz)
VARZ = wire.Decoder(Varz)
HEALTH = wire.Decoder(Health)
_ENVELOPE = wire.Decoder(_Envelope)
_GOT = wire.Decoder(_Got)


def decode(decoder: wire.Decoder[T], body: bytes, what: str) -> T:
    """The decoded answer. Raises UNAVAILABLE, without its content, where it is none."""
    try:
        return decoder.decode(body)
    except (wire.DecodeError, UnicodeDecodeError, RecursionError):
        raise AicrError(
            UNAVAILABLE, f"{what}: the answer is not what a NATS server sends"
        ) from None


def api_answer(decoder: wire.Decoder[T], body: bytes, what: str) -> T:
    """As ``decode``, of an answer of the JetStream API. Raises ``ApiFailure`` where it is a no."""
    refused(body, what)
    return decode(decoder, body, what)


def refused(body: bytes, what: str) -> None:
    error = decode(_ENVELOPE, body, what).error
    if error is not None:
        raise ApiFailure(what, error.err_code or error.code, error.description)


def got_message(body: bytes, what: str) -> bytes | None:
    """The message of an answer to MSG.GET as it came; None where there is none at that place."""
    if b'"error"' in body:
        try:
            refused(body, what)
        except ApiFailure as error:
            if error.number == NO_MESSAGE:
                return None
            raise
    return bytes(decode(_GOT, body, what).message)


def config_digest(config: Raw | bytes) -> str:
    """What changes when a stream's configuration changes; what servers add of their own does not
    count."""
    try:
        found = json.loads(bytes(config))
    except ValueError:
        return "unreadable"
    if isinstance(found, dict) and isinstance(found.get("metadata"), dict):
        found["metadata"] = {
            key: value for key, value in found["metadata"].items() if not key.startswith("_nats.")
        }
    text = json.dumps(found, sort_keys=True, separators=(",", ":"))
    return sha256_hex(text.encode())[:16]
