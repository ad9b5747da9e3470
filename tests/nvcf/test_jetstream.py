"""What real servers were recorded to answer, and answers that are none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aicr.errors import NOT_FOUND, UNAVAILABLE, AicrError
from aicr.nvcf import jetstream
from nvcf_world import EAST, recorded

CREATION = "CreateNvcaFunctionTaskStream"


def body(name: str) -> bytes:
    found = recorded(f"nats/{name}")
    return json.dumps(found.get("body", found) if isinstance(found, dict) else found).encode()


def test_a_stream_with_gaps() -> None:
    info = jetstream.api_answer(jetstream.STREAM, body("stream-info-deleted-details"), "s")
    state = info.state
    assert (state.messages, state.first_seq, state.last_seq, state.deleted) == (7, 3, 12, [4, 6, 7])
    assert info.settings.retention == "workqueue"
    assert info.settings.max_age == 345_600 * 10**9
    assert info.cluster is not None
    assert info.cluster.leader == "nats-0"


def test_a_consumer() -> None:
    found = jetstream.api_answer(jetstream.CONSUMER, body("consumer-info-a"), "c").value()
    assert (found.pending, found.ack_pending, found.consumer_seq) == (3, 2, 7)
    assert found.ack_wait == 360
    assert found.filters == [f"Create.NVCA.*.{EAST}.*.*"]
    never = jetstream.api_answer(jetstream.CONSUMER, body("consumer-info-b"), "c").value()
    assert (never.pending, never.consumer_seq) == (2, 0)


def test_the_names() -> None:
    empty = jetstream.api_answer(jetstream.STREAM_NAMES, body("stream-names-empty"), "n")
    assert (empty.streams, empty.total) == (None, 0)
    names = jetstream.api_answer(jetstream.STREAM_NAMES, body("stream-names"), "n")
    assert len(names.streams or ()) == names.total == 4


@pytest.mark.parametrize(
    ("name", "number", "code"),
    [
        ("stream-info-not-found", 10059, NOT_FOUND),
        ("consumer-info-not-found", 10014, NOT_FOUND),
        ("msg-get-stream-not-found", 10059, NOT_FOUND),
        ("msg-get-seq-0-error", 10003, UNAVAILABLE),
        ("account-without-jetstream-error", 10039, UNAVAILABLE),
        ("cluster/host-down-stream-info-r1", 10118, UNAVAILABLE),
        ("cluster/host-down-consumer-info", 10119, UNAVAILABLE),
        ("restart/stream-info-not-found", 10059, NOT_FOUND),
    ],
)
def test_refusals(name: str, number: int, code: str) -> None:
    with pytest.raises(jetstream.ApiFailure) as error:
        jetstream.refused(body(name), "it")
    assert (error.value.number, error.value.code) == (number, code)


def test_messages() -> None:
    found = jetstream.got_message(body("msg-get-present"), "m")
    assert found is not None
    message = jetstream.decode(jetstream.MESSAGE, found, "m")
    assert (message.seq, message.hdrs) == (3, "")
    with_headers = jetstream.got_message(body("msg-get-present-with-headers"), "m")
    assert with_headers is not None
    assert jetstream.decode(jetstream.MESSAGE, with_headers, "m").hdrs
    assert jetstream.got_message(body("msg-get-missing-acked"), "m") is None
    assert jetstream.got_message(body("msg-get-beyond-last"), "m") is None
    with pytest.raises(jetstream.ApiFailure):
        jetstream.got_message(body("msg-get-seq-0-error"), "m")


@pytest.mark.parametrize(
    "garbage",
    [b"", b"{}", b"null", b"[]", b'{"config": 1}', b"<html>login</html>", b"\xff\xfe",
     b'{"config": {}, "created": "x", "state": {"messages": "0"}}', b"[" * 100_000],
)  # fmt: skip
def test_garbage_is_no_answer(garbage: bytes) -> None:
    decoders: tuple[Any, ...] = (
        jetstream.STREAM,
        jetstream.CONSUMER,
        jetstream.JSZ,
        jetstream.VARZ,
    )
    for decoder in decoders:
        with pytest.raises(AicrError) as error:
            jetstream.decode(decoder, garbage, "it")
        assert error.value.code == UNAVAILABLE
        assert "login" not in error.value.message


def test_a_number_that_is_missing_is_not_zero() -> None:
    for name, missing in (("stream-info", "messages"), ("stream-info", "last_seq")):
        found = recorded(f"nats/{name}")
        del found["state"][missing]
        with pytest.raises(AicrError):
            jetstream.decode(jetstream.STREAM, json.dumps(found).encode(), "it")
    for missing in ("num_pending", "num_ack_pending", "delivered"):
        found = recorded("nats/consumer-info-a")
        del found[missing]
        with pytest.raises(AicrError):
            jetstream.decode(jetstream.CONSUMER, json.dumps(found).encode(), "it")


def test_the_monitor() -> None:
    page = jetstream.decode(jetstream.JSZ, body("monitor/jsz"), "jsz")
    streams = (page.account_details or [])[0].stream_detail or []
    assert len(streams) == page.streams == 4
    assert jetstream.decode(jetstream.VARZ, body("monitor/varz-shortened"), "v").server_name
    assert jetstream.decode(jetstream.HEALTH, body("monitor/healthz"), "h").status == "ok"
    empty = jetstream.decode(jetstream.JSZ, body("restart/jsz-no-streams"), "jsz")
    assert empty.streams == 0
    assert all(not account.stream_detail for account in empty.account_details or ())


def test_what_servers_add_to_a_configuration_does_not_count() -> None:
    ours = json.dumps({"name": "s", "metadata": {"_nats.level": "5", "team": "a"}})
    theirs = json.dumps({"metadata": {"_nats.level": "6", "team": "a"}, "name": "s"})
    other = json.dumps({"metadata": {"team": "b"}, "name": "s"})
    digest = jetstream.config_digest(ours.encode())
    assert jetstream.config_digest(theirs.encode()) == digest
    assert jetstream.config_digest(other.encode()) != digest
