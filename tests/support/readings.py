"""Readings of the drain gate, made by hand: what a pure test of its answers starts from."""

from __future__ import annotations

from typing import Any

import msgspec

from aicr.nvcf.clock import from_rfc3339, shown
from aicr.nvcf.drain_state import BASELINE, Decision, Observation, Terms, decide
from aicr.nvcf.queues import CREATION, TERMINATION, Consumer, Queue, Reading, Server, kind_of

T0 = from_rfc3339("2026-11-30T12:00:00Z", "t")
EAST = "d30423a8-99ce-51ca-911a-09b539a0b57a"
RQ = "rq_ncp_f0d78217-3c60-5fca-acb4-2e1eea808ec2"
STARTED = "2026-11-30T08:00:00Z"


def consumer(name: str, **more: Any) -> Consumer:
    known: dict[str, Any] = {
        "created": STARTED, "consumer_seq": 10, "stream_seq": 10, "floor_consumer_seq": 10,
        "floor_stream_seq": 10, "pending": 0, "ack_pending": 0, "redelivered": 0, "waiting": 1,
        "ack_wait": 360.0,
    }  # fmt: skip
    return Consumer(name=name, **(known | more))


def queue(name: str, *, of: dict[str, Any] | None = None, **more: Any) -> Queue:
    """An empty queue with one consumer; ``of`` changes the consumer."""
    server = more.pop("server", "nats-0")
    user = f"{name}_workers" if name.startswith("rq_") else f"{name}-{EAST}"
    consumers = more.pop("consumers", {user: consumer(user, **(of or {}))})
    known: dict[str, Any] = {
        "kind": kind_of(name), "created": STARTED, "server": server, "server_id": f"id {server}",
        "server_start": STARTED, "replicas": 1, "retention": "workqueue", "config": "c",
        "max_age": 345600.0, "messages": 0, "first_seq": 11, "last_seq": 10, "first_ts": "",
        "last_ts": "", "consumers": consumers,
    }  # fmt: skip
    return Queue(name=name, **(known | more))


def full(name: str, count: int = 1, *, at: float = 0.0, **more: Any) -> Queue:
    """A queue with ``count`` pending messages, the oldest from minute ``at``."""
    of = {"pending": count} | more.pop("of", {})
    known = {"messages": count, "first_seq": 11, "last_seq": 10 + count,
             "first_ts": shown(T0 + at * 60)}  # fmt: skip
    return queue(name, of=of, **(known | more))


def server(pod: str = "nats-0", **more: Any) -> Server:
    known: dict[str, Any] = {
        "uid": f"uid {pod}", "restarts": 0, "name": pod, "id": f"id {pod}", "start": STARTED,
        "now": STARTED, "version": "2.14.6",
    }  # fmt: skip
    return Server(pod=pod, **(known | more))


def reading(
    minute: float, *queues: Queue, servers: list[Server] | None = None, **more: Any
) -> Reading:
    """At a minute after noon; the two NVCA streams are empty unless given."""
    known = {one.name: one for one in (queue(CREATION), queue(TERMINATION), *queues)}
    at = T0 + minute * 60
    return Reading(
        at=at, until=at, generation=1,
        servers=[server()] if servers is None else servers,
        queues=known, **more,
    )  # fmt: skip


def without(one: Reading, name: str) -> Reading:
    queues = {key: value for key, value in one.queues.items() if key != name}
    return msgspec.structs.replace(one, queues=queues)


def baseline(one: Reading, live: dict[str, str] | None = None) -> Observation:
    return Observation(answer=BASELINE, reading=one, live=live or {})


def answered(answer: str, one: Reading) -> Observation:
    return Observation(answer=answer, reading=one)


def restarted(minute: float, name: str = "nats-0") -> dict[str, Any]:
    """What a queue and a server have after the server restarted at this minute."""
    start = shown(T0 + minute * 60)
    return {"server_id": f"id {name} {minute}", "server_start": start}


def new_server(minute: float, pod: str = "nats-0") -> Server:
    return server(pod, id=f"id {pod} {minute}", start=shown(T0 + minute * 60))


def decided(
    timeline: list[Observation], *readings: Reading, paused: bool = False, **terms: Any
) -> Decision:
    """The answer; one reading stands for two equal ones."""
    first = readings[0]
    second = readings[-1]
    if len(readings) == 1:
        second = msgspec.structs.replace(first, at=first.at + 30, until=first.until + 30)
    owners = terms.pop("owners", {EAST: "east"})
    return decide(timeline, first, second, Terms(owners=owners, callers_paused=paused, **terms))
