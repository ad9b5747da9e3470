"""What a retained message says: its ids, and nothing else of it.

A body may hold secrets. What is taken out of it here is all that may reach a terminal, a report or
an argument; ids are checked to be ids first.
"""

from __future__ import annotations

import re
import sys
from binascii import a2b_base64
from functools import lru_cache
from hashlib import sha256

from aicr.cluster import wire
from aicr.nvcf.allow import UUID
from aicr.nvcf.jetstream import MESSAGE
from aicr.nvcf.requests import CREATIONS, TERMINATIONS
from aicr.nvcf.work_ids import Function, Launch, Task, work_ids

_NCA_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SUBJECT = re.compile(
    r"Create\.NVCA\.(?P<kind>Function|Task)\.(?P<cluster>[^.\s]+)\.[^.\s]+\.[^.\s]+"
    r"|Terminate\.NVCA\.(?P<ends>[^.\s]+)"
)
_IDS = ("requestId", "deploymentId", "functionId", "functionVersionId", "taskId")
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


class _Body(wire.Struct, gc=False):
    requestId: str | None = None
    ncaId: str | None = None
    action: str | None = None
    deploymentId: str | None = None
    functionDetails: Function | None = None
    taskDetails: Task | None = None
    launchSpecification: Launch | None = None
    functionId: str | None = None
    functionVersionId: str | None = None


_BODY = wire.Decoder(_Body)


def read_message(body: bytes) -> Retained:
    """Of a message as JetStream gives it, or as the nats client prints it.

    Never raises for what is inside: that is its ``problem``. Raises UNAVAILABLE where it is no
    message at all.
    """
    message = wire.decode(MESSAGE, body, "a retained message")
    subject, cluster = _place(message.subject)
    known = Retained(
        sequence=message.seq, subject=subject, time=message.time[:40], cluster_id=cluster
    )
    try:
        data = a2b_base64(message.data, strict_mode=True)
    except ValueError:
        known.problem = "its data is not base64"
        return known
    try:
        found = _BODY.decode(data)
    except (wire.DecodeError, UnicodeDecodeError, RecursionError):
        known.problem = "its data is not the JSON of a message"
        return known
    known.problem = _take(known, found)
    return known


@lru_cache(maxsize=1024)
def _place(subject: str) -> tuple[str, str]:
    """The subject, where it can be shown, and the cluster id that it names, where it does."""
    if not _SHOWN_SUBJECT.fullmatch(subject):
        return "", ""
    place = _SUBJECT.fullmatch(subject)
    return subject, (place and (place["cluster"] or place["ends"])) or ""


def _take(known: Retained, found: _Body) -> str:
    """Put the ids where they belong, unless one of them is none; what is wrong, "" where nothing
    is."""
    deployment, function, version, task = work_ids(
        found, found.deploymentId, (found.launchSpecification,)
    )
    request = (found.requestId or "").lower()
    ids = (request, deployment, function, version, task)
    for key, value in zip(_IDS, ids, strict=True):
        if value and not UUID.fullmatch(value):
            return f"its {key} is no UUID"
    if not request:
        return "it has no requestId"
    if not found.ncaId or not _NCA_ID.fullmatch(found.ncaId):
        return "its ncaId is no account id"
    if found.action in TERMINATIONS:
        known.kind = "termination"
    elif found.action in CREATIONS:
        known.kind = "function" if function else "task" if task else ""
    else:
        return "its action is not known"
    if not known.kind:
        return "it names neither a function nor a task"
    if not known.cluster_id:
        return "its subject names no cluster"
    known.action = sys.intern(found.action or "")
    known.nca_id = sys.intern(found.ncaId)
    known.request_id, known.deployment, known.function, known.version, known.task = ids
    return ""
