"""What a retained message says: its ids, and nothing else of it.

A body may hold secrets. What is taken out of it here is all that may reach a terminal, a report or
an argument; ids are checked to be ids first.
"""

from __future__ import annotations

import binascii
import re
import sys
from base64 import b64decode
from hashlib import sha256

from aicr.cluster import wire
from aicr.nvcf.allow import UUID
from aicr.nvcf.jetstream import MESSAGE
from aicr.nvcf.requests import CREATIONS, TERMINATIONS

_NCA_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SUBJECT = re.compile(
    r"Create\.NVCA\.(?P<kind>Function|Task)\.(?P<cluster>[^.\s]+)\.[^.\s]+\.[^.\s]+"
    r"|Terminate\.NVCA\.(?P<ends>[^.\s]+)"
)
_SHOWN_SUBJECT = re.compile(r"[!-~]{1,256}")


class Retained:
    """A message that a stream retains.

    ``problem`` says why it cannot be decoded, "" where it can; then ``kind`` is ``function``,
    ``task`` or ``termination`` and the ids are lower case, "" where they are not in it.
    ``cluster_id`` is the one that its subject names.
    """

    __slots__ = (
        "action", "cluster_id", "deployment", "function", "kind", "nca_id", "problem",
        "request_id", "sequence", "subject", "task", "time", "version",
    )  # fmt: skip

    def __init__(self, *, sequence: int, subject: str, time: str, cluster_id: str) -> None:
        self.sequence = sequence
        self.subject = subject
        self.time = time
        self.cluster_id = cluster_id
        self.problem = ""
        self.kind = ""
        self.action = ""
        self.request_id = ""
        self.nca_id = ""
        self.deployment = ""
        self.function = ""
        self.version = ""
        self.task = ""

    @property
    def label(self) -> str:
        """The ``SQSMessageID`` that agents up to 3.10.2 give it. Evidence only, never a key."""
        return sha256(f"{self.subject}:{self.sequence}".encode()).hexdigest()[:63]


class _Function(wire.Struct):
    functionId: str | None = None
    functionVersionId: str | None = None


class _Task(wire.Struct):
    taskId: str | None = None


class _Launch(wire.Struct):
    deploymentId: str | None = None


class _Body(wire.Struct):
    requestId: str | None = None
    ncaId: str | None = None
    action: str | None = None
    deploymentId: str | None = None
    functionDetails: _Function | None = None
    taskDetails: _Task | None = None
    launchSpecification: _Launch | None = None
    functionId: str | None = None
    functionVersionId: str | None = None


_BODY = wire.Decoder(_Body)


def read_message(body: bytes) -> Retained:
    """Of a message as JetStream gives it, or as the nats client prints it.

    Never raises for what is inside: that is its ``problem``. Raises UNAVAILABLE where it is no
    message at all.
    """
    message = wire.decode(MESSAGE, body, "a retained message")
    subject = message.subject if _SHOWN_SUBJECT.fullmatch(message.subject) else ""
    place = _SUBJECT.fullmatch(subject)
    known = Retained(
        sequence=message.seq,
        subject=sys.intern(subject),
        time=message.time[:40],
        cluster_id=sys.intern((place and (place["cluster"] or place["ends"])) or ""),
    )
    try:
        data = b64decode(message.data, validate=True)
    except (binascii.Error, ValueError):
        known.problem = "its data is not base64"
        return known
    try:
        found = _BODY.decode(data)
    except (wire.DecodeError, UnicodeDecodeError, RecursionError):
        known.problem = "its data is not the JSON of a message"
        return known
    known.problem = _take(known, found, named=place is not None)
    return known


def _take(known: Retained, found: _Body, *, named: bool) -> str:
    """Put the ids where they belong, unless one of them is none; what is wrong, "" where nothing
    is."""
    function = found.functionDetails or _Function()
    task = found.taskDetails or _Task()
    launch = found.launchSpecification or _Launch()
    ids = {
        "requestId": found.requestId or "",
        "deploymentId": found.deploymentId or launch.deploymentId or "",
        "functionId": function.functionId or found.functionId or "",
        "functionVersionId": function.functionVersionId or found.functionVersionId or "",
        "taskId": task.taskId or "",
    }
    for key, value in ids.items():
        if value and not UUID.fullmatch(value):
            return f"its {key} is no UUID"
    if not ids["requestId"]:
        return "it has no requestId"
    if not found.ncaId or not _NCA_ID.fullmatch(found.ncaId):
        return "its ncaId is no account id"
    if found.action in TERMINATIONS:
        known.kind = "termination"
    elif found.action in CREATIONS:
        known.kind = "function" if ids["functionId"] else "task" if ids["taskId"] else ""
    else:
        return "its action is not known"
    if not known.kind:
        return "it names neither a function nor a task"
    if not named:
        return "its subject names no cluster"
    known.action = sys.intern(found.action or "")
    known.nca_id = sys.intern(found.ncaId)
    known.request_id = ids["requestId"].lower()
    known.deployment = ids["deploymentId"].lower()
    known.function = ids["functionId"].lower()
    known.version = ids["functionVersionId"].lower()
    known.task = ids["taskId"].lower()
    return ""
