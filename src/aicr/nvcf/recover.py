"""What a stream still retains, captured without consuming it, with what the clusters and the owning
accounts say about it. The capture goes into the record as it came; only ids go on from here.
"""

from __future__ import annotations

import gc
import json
from contextlib import contextmanager

from aicr.errors import AicrError
from aicr.nvcf.accounts import AccountAnswer, Ran, ask_accounts
from aicr.nvcf.matching import Clusters, Finding, match, subject_of
from aicr.nvcf.messages import Retained, read_message
from aicr.nvcf.queues import CREATION, TERMINATION, Consumer
from aicr.nvcf.requests import Request, read_requests
from aicr.nvcf.side_by_side import side_by_side

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aicr.nvcf.evidence import Record
    from aicr.nvcf.jetstream import StreamInfo
    from aicr.nvcf.nats_access import NatsAccess
    from aicr.nvcf.reach import Reach

COMPLETE = "complete"
INCOMPLETE = "incomplete"
FAILED = "failed"
_PREFIXES = {CREATION: "", TERMINATION: "termination-"}


class Captured:
    """A capture. ``before`` and ``after`` have what was read of each stream, in that order;
    ``problems`` is why it is not ``complete``; ``failed`` is set where its core is missing."""

    __slots__ = (
        "after", "before", "clusters", "consumers", "failed", "findings", "messages", "notes",
        "prefix", "problems", "requests", "sources",
    )  # fmt: skip

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.before: dict[str, StreamInfo] = {}
        self.after: dict[str, StreamInfo] = {}
        self.consumers: dict[str, dict[str, Consumer]] = {}
        self.messages: list[Retained] = []
        self.requests: list[Request] = []
        self.clusters = Clusters({}, {}, {})
        self.findings: list[Finding] = []
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.sources: list[str] = []
        self.failed = False

    @property
    def capture(self) -> str:
        return FAILED if self.failed else INCOMPLETE if self.problems else COMPLETE


def capture(
    reach: Reach,
    record: Record,
    *,
    streams: Sequence[str] = (CREATION,),
    tell: Callable[[str], None] = lambda text: None,
) -> Captured:
    """Read everything, in this order: streams, messages, requests, accounts, streams again. Never
    raises AicrError: what went wrong is in the result, and what was written stays valid."""
    found = Captured(record.next_run())
    try:
        _capture(found, reach, record, streams, tell)
    except AicrError as error:
        found.problems.append(error.message)
        found.failed = True
    return found


@contextmanager
def without_collector() -> Iterator[None]:
    """Nothing that a capture makes refers to itself, and there may be very much of it: looking for
    circles in it again and again would take longer than all else."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def judge(found: Captured, answers: dict[tuple[str, ...], AccountAnswer]) -> None:
    """Put the findings in."""
    if answers or not found.findings:
        found.findings = match(found.messages, found.requests, found.clusters, answers)


def unanswered(found: Captured) -> list[tuple[str, ...]]:
    """What the accounts have to be asked: the subjects of messages that no request explains."""
    judge(found, {})
    return list(
        dict.fromkeys(
            subject_of(one.message)
            for one in found.findings
            if one.outcome == "unverified"
            and one.request is None
            and one.message.kind in ("function", "task")
            and all(subject_of(one.message))
        )
    )


def _capture(
    found: Captured,
    reach: Reach,
    record: Record,
    streams: Sequence[str],
    tell: Callable[[str], None],
) -> None:
    for doubt in reach.doubts():
        found.problems.append(str(doubt))
    access = reach.access()
    try:
        found.sources.append(access.source)
        for stream in streams:
            tell(f"{stream}: stream and consumers")
            _stream(found, access, record, stream, "before")
        for stream in streams:
            if stream in found.before:
                _messages(found, access, record, stream, reach.limits.attempts, tell)
        tell("requests of every cluster")
        _clusters(found, reach, record)
        for stream in streams:
            _stream(found, access, record, stream, "after")
            _compare(found, stream)
        found.notes += access.notes
    finally:
        access.close()
    record.flush()


def ask(
    found: Captured,
    reach: Reach,
    record: Record,
    *,
    known: dict[str, list[tuple[str, ...]]] | None = None,
    seconds: float = 30.0,
) -> dict[tuple[str, ...], AccountAnswer]:
    """The owning accounts' answers on what no request explains, kept in the record."""
    number = 0

    def keep(subject: str, ran: Ran, words: str) -> None:
        nonlocal number
        number += 1
        body = {
            "subject": subject,
            "code": ran.code,
            "stdout": ran.stdout.decode("utf-8", "replace"),
            "stderr": ran.stderr.decode("utf-8", "replace"),
        }
        record.write(
            f"{found.prefix}account-{number:04}.json",
            json.dumps(body, ensure_ascii=False).encode(),
            source="nvcf-cli",
            command=f"nvcf-cli {words}",
        )

    subjects = unanswered(found)
    if subjects:
        found.sources.append(f"account answers by nvcf-cli ({len(subjects)} asked)")
    return ask_accounts(
        subjects,
        reach.fleet.control_plane.accounts,
        seconds=seconds,
        known=known,
        keep=keep,
    )


def _stream(found: Captured, access: NatsAccess, record: Record, stream: str, when: str) -> None:
    """The stream and its consumers, kept as they came."""
    head = found.prefix + _PREFIXES[stream]
    try:
        info, body = access.stream(stream)
    except AicrError as error:
        found.problems.append(error.message)
        found.failed = found.failed or (when == "before" and stream == CREATION)
        return
    record.write(
        f"{head}stream-{when}.json", body, source=access.source,
        command=access.call(f"STREAM.INFO.{stream}"),
    )  # fmt: skip
    (found.before if when == "before" else found.after)[stream] = info
    if when == "after":
        return
    consumers: dict[str, Consumer] = {}
    found.consumers[stream] = consumers
    try:
        for number, name in enumerate(sorted(access.consumer_names(stream)), 1):
            answer, body = access.consumer(stream, name)
            consumers[name] = answer.value()
            record.write(
                f"{head}consumer-{number:03}.json", body, source=access.source,
                command=access.call(f"CONSUMER.INFO.{stream}.{name}"),
            )  # fmt: skip
    except AicrError as error:
        found.problems.append(error.message)


def _messages(
    found: Captured,
    access: NatsAccess,
    record: Record,
    stream: str,
    most: int,
    tell: Callable[[str], None],
) -> None:
    state = found.before[stream].state
    if not state.messages:
        return
    head = found.prefix + _PREFIXES[stream]
    source, call = access.source, access.call(f"STREAM.MSG.GET.{stream}")
    read = 0

    def take(sequence: int, body: bytes) -> None:
        nonlocal read
        record.write(f"{head}message-{sequence}.json", body, source=source, command=call)
        found.messages.append(read_message(body))
        read += 1
        if read % 5000 == 0:
            tell(f"{stream}: {read} of {state.messages} messages")

    done = access.retained(stream, state.first_seq, state.last_seq, take, most=most)
    if not done.whole:
        found.problems.append(
            f"{stream}: {done.tried} sequences of {state.last_seq - state.first_seq + 1} were "
            "tried through exec (--exec-attempts); a direct connection reads all"
        )
    for _, why in done.failed[:5]:
        found.problems.append(why)
    if done.whole and not done.failed and done.found != state.messages:
        found.problems.append(
            f"changed-while-reading: {stream} had {state.messages} messages, {done.found} were read"
        )


def _clusters(found: Captured, reach: Reach, record: Record) -> None:
    """The requests of every compute cluster, page by page into the record."""
    owners, problems = reach.owners()
    found.problems += map(str, problems)
    unread = {
        name: error.message
        for name, error in reach.opened.failed.items()
        if name in {entry.name for entry in reach.fleet.compute}
    }
    run = found.prefix.rstrip("/").rpartition("-")[2] or "1"

    def read(name: str) -> list[Request] | AicrError:
        kube = reach.clusters[name]
        pages = 0

        def keep(body: bytes) -> None:
            nonlocal pages
            pages += 1
            page = f"-{pages}" if pages > 1 else ""
            record.write(
                f"{found.prefix}compute-{name}.{run}{page}",
                body,
                source=kube.source,
                command="GET /apis/nvca.nvcf.nvidia.io/v2beta1/icmsrequests",
            )

        try:
            return read_requests(kube.connection, name, keep, share)
        except AicrError as error:
            return error

    share = _sharing(found.messages)
    names = list(reach.clusters)
    found.sources.append(f"requests of {', '.join(names) or 'no cluster'} by the Kubernetes API")
    for name, result in zip(names, side_by_side(read, names, 4), strict=True):
        if isinstance(result, AicrError):
            unread[name] = result.message
        else:
            found.requests += result
    found.problems += [f"cluster {name}: {why}" for name, why in unread.items()]
    paused = reach.paused() | _paused_consumers(found, owners)
    found.clusters = Clusters(owners, unread, paused)
    kept = {"names": owners, "unread": unread, "paused": paused}
    record.write(
        f"{found.prefix}clusters.json", json.dumps(kept).encode(),
        source="the clusters of the fleet file", command="NVCFBackends and consumers",
    )  # fmt: skip


def _sharing(messages: Sequence[Retained]) -> Callable[[Request], None]:
    """Lets a request use the texts of its message where they are equal."""
    by_id = {one.request_id: one for one in messages if one.request_id}

    def share(request: Request) -> None:
        message = by_id.get(request.request_id)
        if message is None:
            return
        request.request_id = message.request_id
        if request.deployment == message.deployment:
            request.deployment = message.deployment
        if request.function == message.function:
            request.function = message.function
        if request.version == message.version:
            request.version = message.version
        if request.task == message.task:
            request.task = message.task

    return share


def _paused_consumers(found: Captured, owners: dict[str, str]) -> dict[str, str]:
    return {
        owners[name.removeprefix(f"{stream}-")]: "its consumer is paused"
        for stream, consumers in found.consumers.items()
        for name, one in consumers.items()
        if one.paused and name.removeprefix(f"{stream}-") in owners
    }


def _compare(found: Captured, stream: str) -> None:
    before, after = found.before.get(stream), found.after.get(stream)
    if before is None or after is None:
        return
    old, new = before.state, after.state
    if before.created != after.created:
        found.problems.append(f"changed-while-reading: {stream} was made again meanwhile")
    elif (old.messages, old.first_seq, old.last_seq) != (new.messages, new.first_seq, new.last_seq):
        found.problems.append(
            f"changed-while-reading: {stream} had messages {old.messages}, sequences "
            f"{old.first_seq} to {old.last_seq}; now {new.messages}, {new.first_seq} to "
            f"{new.last_seq}"
        )
