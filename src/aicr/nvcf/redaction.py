"""What of each kind of file of a record may leave the house: fields on a list, everything else
never. A file of an unknown kind leaves only its name and its hash.
"""

from __future__ import annotations

import json
import re

from aicr.errors import AicrError
from aicr.nvcf import jetstream
from aicr.nvcf.accounts import Ran, read_answer
from aicr.nvcf.allow import UUID
from aicr.nvcf.drain_state import OBSERVATION
from aicr.nvcf.messages import read_message
from aicr.nvcf.requests import (
    CREATIONS,
    LIVE,
    TERMINAL,
    TERMINATIONS,
    Request,
    requests_from,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

WITHHELD = "(withheld)"
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,62}")
_NCA = re.compile(r"[A-Za-z0-9_-]{1,128}")
_LABEL = re.compile(r"[0-9a-f]{63}")
_RECEIPT = re.compile(r"(?:Create|Terminate)\.NVCA\.[A-Za-z0-9_.|-]{1,200}:[0-9]{1,20}")
_SUBJECT = re.compile(r"(?:Create|Terminate)\.NVCA\.[A-Za-z0-9_.|-]{1,200}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,30}(?:Z|[+-][0-9:]{5})")
_IMAGE = re.compile(r"[a-z0-9.:/_-]{1,200}(?:@sha256:[0-9a-f]{64})?", re.IGNORECASE)
_REPORT = {
    "sequence": re.compile(r"[0-9]{1,20}"),
    "subject": _SUBJECT,
    "time": _TIME,
    "outcome": re.compile(r"[a-z-]{1,40}"),
    "requestId": UUID,
    "ncaId": _NCA,
    "action": re.compile(r"[A-Za-z]{1,60}"),
    "deploymentId": UUID,
    "functionId": UUID,
    "functionVersionId": UUID,
    "taskId": UUID,
}


def redacted(file: str, data: bytes) -> object | None:
    """What may leave of this file, JSON-ready; None for a kind that is not known, and for content
    that is not what the file's name says."""
    name = file.rpartition("/")[2]
    for pattern, reduce in _KINDS:
        if pattern.fullmatch(file if "/" in pattern.pattern else name):
            try:
                return reduce(data)
            except (AicrError, ValueError, KeyError, TypeError, AttributeError):
                return None
    return None


def _stream(data: bytes) -> object:
    info = jetstream.api_answer(jetstream.STREAM, data, "a stream")
    settings, state = info.settings, info.state
    return {
        "name": _kept(settings.name, _WORD),
        "created": _kept(info.created, _TIME),
        "retention": _kept(settings.retention, _WORD),
        "replicas": settings.num_replicas,
        "maxAge": settings.max_age,
        "messages": state.messages,
        "firstSeq": state.first_seq,
        "lastSeq": state.last_seq,
        "firstTime": _kept(state.first_ts, _TIME),
        "lastTime": _kept(state.last_ts, _TIME),
        "consumers": state.consumer_count,
        "leader": _kept(info.cluster.leader if info.cluster else "", _WORD),
    }


def _consumer(data: bytes) -> object:
    one = jetstream.decode(jetstream.CONSUMER, data, "a consumer").value()
    return {
        "name": _kept(one.name, _WORD),
        "created": _kept(one.created, _TIME),
        "delivered": [one.consumer_seq, one.stream_seq],
        "ackFloor": [one.floor_consumer_seq, one.floor_stream_seq],
        "pending": one.pending,
        "inFlight": one.ack_pending,
        "redelivered": one.redelivered,
        "waiting": one.waiting,
        "ackWaitSeconds": one.ack_wait,
        "paused": one.paused,
    }


def _message(data: bytes) -> object:
    one = read_message(data)
    return {
        "sequence": one.sequence,
        "subject": _kept(one.subject, _SUBJECT),
        "time": _kept(one.time, _TIME),
        "problem": one.problem or None,
        "requestId": one.request_id or None,
        "ncaId": one.nca_id or None,
        "action": one.action or None,
        "deploymentId": one.deployment or None,
        "functionId": one.function or None,
        "functionVersionId": one.version or None,
        "taskId": one.task or None,
    }


def _requests(data: bytes) -> object:
    return [_request(one) for one in requests_from(data, "")]


def _request(one: Request) -> dict[str, object]:
    return {
        "name": _kept(one.name, _WORD),
        "namespace": _kept(one.namespace, _WORD),
        "created": _kept(one.created, _TIME),
        "state": one.state,
        "status": one.status if one.status in LIVE | TERMINAL else WITHHELD,
        "action": one.action if one.action in CREATIONS | TERMINATIONS else WITHHELD,
        "requestId": _kept(one.request_id, UUID),
        "ncaId": _kept(one.nca_id, _NCA),
        "deploymentId": _kept(one.deployment, UUID),
        "functionId": _kept(one.function, UUID),
        "functionVersionId": _kept(one.version, UUID),
        "taskId": _kept(one.task, UUID),
        "SQSMessageID": _kept(one.label, _LABEL),
        "receipt": _kept(f"{one.subject}:{one.sequence}" if one.subject else "", _RECEIPT),
    }


def _account(data: bytes) -> object:
    from aicr.nvcf.analyze import subject_from

    said = json.loads(data)
    subject = subject_from(str(said["subject"]))
    if not all(UUID.fullmatch(one) for one in subject[2:]) or not _NCA.fullmatch(subject[1]):
        raise ValueError
    code = said["code"]
    ran = Ran(code, str(said["stdout"]).encode(), str(said["stderr"]).encode())
    answer = read_answer(subject, ran)
    return {
        "subject": list(subject),
        "exit": code if isinstance(code, int) else None,
        "state": answer.state,
        "said": answer.said,
        "deploymentId": answer.deployment or None,
    }


def _clusters(data: bytes) -> object:
    said = json.loads(data)
    return {
        "names": {_kept(key, UUID): _kept(value, _WORD) for key, value in said["names"].items()},
        "unread": [_kept(name, _WORD) for name in said["unread"]],
        "paused": [_kept(name, _WORD) for name in said["paused"]],
    }


def _report(data: bytes) -> object:
    found = []
    for one in json.loads(data):
        kept = {
            key: _kept(str(one[key]), pattern)
            for key, pattern in _REPORT.items()
            if one.get(key) is not None
        }
        flags = [_kept(str(flag), _REPORT["outcome"]) for flag in one.get("flags", ())]
        found.append({**kept, "flags": flags})
    return found


def _reading(data: bytes) -> object:
    one = OBSERVATION.decode(data)
    reading = one.reading
    return {
        "answer": one.answer,
        "at": reading.at,
        "servers": [
            {"pod": _kept(s.pod, _WORD), "start": _kept(s.start, _TIME), "restarts": s.restarts,
             "serverId": _kept(s.id, _WORD), "version": _kept(s.version, _WORD) or WITHHELD}
            for s in reading.servers
        ],
        "queues": [
            {"name": _kept(q.name, _WORD), "messages": q.messages, "firstSeq": q.first_seq,
             "lastSeq": q.last_seq, "created": _kept(q.created, _TIME), "replicas": q.replicas,
             "leader": _kept(q.server, _WORD),
             "consumers": [[c.pending, c.ack_pending, c.consumer_seq, c.stream_seq]
                           for c in q.consumers.values()]}
            for q in reading.queues.values()
        ],
        "unread": [_kept(problem.what, re.compile(r"[A-Za-z0-9 ,._-]{1,120}"))
                   for problem in reading.problems],
    }  # fmt: skip


def _probe(data: bytes) -> object:
    """A pull check's pod and its events, without the servers' words."""
    said: Mapping[str, Any] = json.loads(data)
    pod = said.get("pod") or {}
    meta, spec, status = (pod.get(key) or {} for key in ("metadata", "spec", "status"))
    states = []
    for one in status.get("containerStatuses") or ():
        state = one.get("state") or {}
        states.append(
            {
                "name": _kept(str(one.get("name", "")), _WORD),
                "image": _kept(str(one.get("image", "")), _IMAGE),
                "imageID": _kept(str(one.get("imageID", "")), _IMAGE),
                "state": [_kept(str(key), _WORD) for key in state],
                "reason": [
                    _kept(str(value.get("reason") or ""), _WORD) for value in state.values()
                ],
            }
        )
    return {
        "cluster": _kept(str(said.get("cluster", "")), _WORD),
        "outcome": _kept(str(said.get("outcome", "")), _WORD),
        "pod": _kept(str(meta.get("name", "")), _WORD),
        "uid": _kept(str(meta.get("uid", "")), UUID),
        "node": _kept(str(spec.get("nodeName", "")), _WORD),
        "phase": _kept(str(status.get("phase", "")), _WORD),
        "containers": states,
        "events": [
            {
                "type": _kept(str(event.get("type", "")), _WORD),
                "reason": _kept(str(event.get("reason", "")), _WORD),
                "count": int(event.get("count") or 1),
            }
            for event in said.get("events") or ()
        ],
    }


def _kept(text: str, pattern: re.Pattern[str]) -> str:
    if not text:
        return ""
    return text if pattern.fullmatch(text) else WITHHELD


_KINDS: tuple[tuple[re.Pattern[str], Callable[[bytes], object]], ...] = (
    (re.compile(r"(?:termination-)?stream-(?:before|after)\.json"), _stream),
    (re.compile(r"(?:termination-)?consumer-.+\.json"), _consumer),
    (re.compile(r"(?:termination-)?message-[0-9]+\.json"), _message),
    (re.compile(r"compute-.+"), _requests),
    (re.compile(r"account-[0-9]+\.json"), _account),
    (re.compile(r"clusters\.json"), _clusters),
    (re.compile(r"report\.json"), _report),
    (re.compile(r"readings/(?:baseline|drain)-[0-9]+\.json"), _reading),
    (re.compile(r"(?!run-)[A-Za-z0-9._-]+/[A-Za-z0-9._-]+/.+\.json"), _probe),
)
