"""Three recorded servers, put together; and what keeps them from being the whole truth."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from aicr.nvcf import jetstream
from aicr.nvcf.assemble import Assembled, Client, assemble
from aicr.nvcf.clock import UNKNOWN
from aicr.nvcf.fleet import Declared
from aicr.nvcf.monitor import ServerAnswers
from aicr.nvcf.queues import Server
from nvcf_world import recorded

CREATION = "CreateNvcaFunctionTaskStream"
TERMINATION = "TerminateNvcaStream"
RQ = "rq_ncp_f0d78217-3c60-5fca-acb4-2e1eea808ec2"
Change = Callable[[dict[str, Any]], object]


def server(number: int, change: Change | None = None, **more: str) -> ServerAnswers:
    page = recorded(f"nats/cluster/jsz-nats-{number}")["body"]
    if change is not None:
        change(page)
    jsz = jetstream.decode(jetstream.JSZ, json.dumps(page).encode(), "jsz")
    name = f"nats-{number}"
    known = Server(
        pod=name, uid=f"uid {number}", restarts=0, name=name, id=jsz.server_id,
        start="2026-11-30T16:57:00Z", now=more.get("now", jsz.now), version="2.15.1",
    )  # fmt: skip
    return ServerAnswers(known, jsz, [], UNKNOWN)


def client(*names: str) -> Client:
    found = Client()
    found.streams = set(names or (CREATION, TERMINATION, RQ))
    return found


def put(*servers: ServerAnswers, seen: Client | None = None, **more: Any) -> Assembled:
    given = servers or (server(0), server(1), server(2))
    return assemble(given, seen or client(), replicas=3, **more)


def said(found: Assembled) -> str:
    return "\n".join(map(str, found.problems))


def streams(page: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page["account_details"][0]["stream_detail"]
    return found


def test_the_leaders_numbers_count() -> None:
    found = put()
    assert found.problems == []
    assert sorted(found.queues) == [CREATION, TERMINATION, RQ]
    queue = found.queues[RQ]
    assert (queue.server, queue.replicas, queue.messages) == ("nats-0", 3, 2)
    # The consumer's leader is another server, and the followers say 0 pending.
    assert queue.consumers[f"{RQ}_workers"].pending == 2
    assert found.queues[CREATION].messages == 7
    assert found.queues[TERMINATION].kind == "termination"


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_server_that_was_not_read_is_no_empty_server(missing: int) -> None:
    servers = [server(number) for number in range(3) if number != missing]
    assert "2 of 3 could be read" in said(put(*servers))


def test_the_server_of_a_stream_is_down() -> None:
    pages = [recorded(f"nats/cluster/host-down-jsz-nats-{number}")["body"] for number in (1, 2)]
    servers = []
    for number, page in zip((1, 2), pages, strict=True):
        one = server(number)
        jsz = jetstream.decode(jetstream.JSZ, json.dumps(page).encode(), "jsz")
        servers.append(ServerAnswers(one.server, jsz, [], UNKNOWN))
    assert put(*servers).problems


def without_leader(page: dict[str, Any]) -> None:
    for stream in streams(page):
        stream["cluster"].pop("leader", None)


def another_leader(page: dict[str, Any]) -> None:
    for stream in streams(page):
        if stream["name"] == RQ:
            stream["cluster"]["leader"] = "nats-2"


def another_stream(page: dict[str, Any]) -> None:
    for stream in streams(page):
        if stream["name"] == RQ:
            stream["created"] = "2026-11-30T16:00:00Z"


def short(page: dict[str, Any]) -> None:
    streams(page).pop()


def no_consumers(page: dict[str, Any]) -> None:
    for stream in streams(page):
        stream["consumer_detail"] = []


def larger(page: dict[str, Any]) -> None:
    page["meta_cluster"]["cluster_size"] = 4


def no_meta_leader(page: dict[str, Any]) -> None:
    page["meta_cluster"]["leader"] = ""


def alone(page: dict[str, Any]) -> None:
    del page["meta_cluster"]


def bad_time(page: dict[str, Any]) -> None:
    page["now"] = "yesterday"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (without_leader, "different leaders"),
        (another_leader, "different leaders"),
        (another_stream, "different streams of this name"),
        (short, "streams"),
        (no_consumers, "consumers"),
        (larger, "its cluster has 4 servers, the StatefulSet 3"),
        (no_meta_leader, "the cluster has no leader"),
        (alone, "in no cluster with the others"),
        (bad_time, "its clock cannot be read"),
    ],
)
def test_what_does_not_fit(change: Change, problem: str) -> None:
    assert problem in said(put(server(0), server(1, change), server(2)))


def test_a_reading_that_took_too_long() -> None:
    late = server(2, now="2026-11-30T17:57:29Z")
    assert "s by the servers' clocks" in said(put(server(0), server(1), late))


def test_wrong_account_or_context() -> None:
    assert "the client does not" in said(put(seen=client(CREATION, TERMINATION)))
    extra = client(CREATION, TERMINATION, RQ, "rq_ncp_other")
    assert "no monitor does" in said(put(seen=extra))
    unread = Client(whole=False)
    assert put(seen=unread).problems == []  # that the list was not read is said where it was


def test_consumers_are_compared_too() -> None:
    seen = client()
    seen.consumers[RQ] = set()
    assert "the client does not see it" in said(put(seen=seen))
    seen.consumers[RQ] = {f"{RQ}_workers", "ghost"}
    assert "consumer ghost: the client sees it" in said(put(seen=seen))


def test_both_sources_count() -> None:
    seen = client()
    page = recorded("nats/cluster/stream-info-r1")
    page["state"]["messages"] = 9
    info = jetstream.decode(jetstream.STREAM, json.dumps(page).encode(), "s")
    seen.infos[CREATION] = (info, {})
    assert put(seen=seen).queues[CREATION].messages == 9
    page["created"] = "2026-11-30T16:00:00Z"
    info = jetstream.decode(jetstream.STREAM, json.dumps(page).encode(), "s")
    seen.infos[CREATION] = (info, {})
    assert "another stream of this name" in said(put(seen=seen))


def test_lookup_streams_are_no_queues_unless_added() -> None:
    name = "requestToFunctionVersion_ncp"

    def as_lookup(page: dict[str, Any]) -> None:
        for stream in streams(page):
            if stream["name"] == RQ:
                stream["config"]["retention"] = "limits"
                stream["name"] = name

    servers = [server(number, as_lookup) for number in range(3)]
    assert put(*servers).others == [name]
    assert name in put(*servers, more=["request*"]).queues
    left_out = [Declared(name, "a lookup", "ops", "2026-11-30")]
    assert put(*servers, more=["request*"], not_queues=left_out).others == [name]
    # A work queue counts, whatever anybody declares.
    assert RQ in put(not_queues=[Declared(RQ, "a lookup", "ops", "2026-11-30")]).queues


@pytest.mark.parametrize("name", [CREATION, TERMINATION, RQ])
def test_a_work_queue_that_keeps_what_was_consumed_is_not_understood(name: str) -> None:
    def limits(page: dict[str, Any]) -> None:
        for stream in streams(page):
            if stream["name"] == name:
                stream["config"]["retention"] = "limits"

    found = put(*(server(number, limits) for number in range(3)))
    assert name in found.queues
    assert f"stream {name}: its retention is limits" in " ".join(map(str, found.problems))


def test_a_machine_that_slept_during_a_reading() -> None:
    """By the servers' clocks its parts are of different times."""
    early = server(0, now="2026-11-30T16:58:00Z")
    later = server(1, now="2026-11-30T17:03:00Z"), server(2, now="2026-11-30T17:03:01Z")
    assert "it took " in said(put(early, *later))
    assert "this machine slept" in said(put(early, *later))
