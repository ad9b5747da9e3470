"""What was read before, kept in the record: the baseline, and every answer of a drain since."""

from __future__ import annotations

from aicr.cluster import wire
from aicr.nvcf import clock
from aicr.nvcf.drain_state import BASELINE, OBSERVATION, Observation
from aicr.nvcf.messages import read_message
from aicr.nvcf.queues import CREATION, Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.nvcf.evidence import Record
    from aicr.nvcf.nats_access import NatsAccess

_FOLDER = "readings/"
MOST_LIVE = 2000


class Past:
    """The timeline of a record: the last baseline and what followed; empty where there is none.
    ``file`` is the baseline's."""

    __slots__ = ("file", "timeline")

    def __init__(self, timeline: list[Observation], file: str) -> None:
        self.timeline = timeline
        self.file = file

    @property
    def wanted(self) -> set[str]:
        """The requestIds that have to be looked for."""
        return {one for one in self.timeline[0].live.values() if one} if self.timeline else set()

    def shown(self, now: float) -> dict[str, object]:
        """Which baseline was used, and how old it is."""
        if not self.timeline:
            return {}
        first = self.timeline[0]
        age = max(0.0, now - first.reading.at)
        found: dict[str, object] = {
            "file": self.file,
            "at": clock.shown(first.reading.at),
            "ageMinutes": round(age / 60),
            "answersSince": sum(bool(one.answer) for one in self.timeline[1:]),
        }
        if first.reason:
            found["reason"] = first.reason
        return found


def read_past(record: Record) -> Past:
    """Raises INVALID_REQUEST where a file of it changed since it was written."""
    files = [one.file for one in record.entries if one.file.startswith(_FOLDER)]
    start = max((at for at, file in enumerate(files) if "baseline" in file), default=-1)
    if start < 0:
        return Past([], "")
    timeline = [
        wire.decode(OBSERVATION, record.read(file), f"{record.path}/{file}")
        for file in files[start:]
    ]
    return Past(timeline, files[start])


def write_baseline(record: Record, reading: Reading, live: dict[str, str], reason: str) -> Past:
    """Make ``reading`` the baseline. It must be whole."""
    observation = Observation(answer=BASELINE, reading=reading, live=live, reason=reason)
    file = _keep(record, "baseline", observation)
    if reason:
        record.log("baseline replaced", {"file": file, "reason": reason})
    return Past([observation], file)


def write_answer(record: Record, past: Past, observation: Observation) -> None:
    _keep(record, "drain", observation)
    past.timeline.append(observation)


def _keep(record: Record, kind: str, observation: Observation) -> str:
    file = record.numbered(f"{_FOLDER}{kind}-", 4)
    record.write(
        file,
        wire.encode(observation),
        source="NATS servers and the clusters of the fleet",
        command=f"aicr nvcf {kind}",
        at=observation.reading.at,
    )
    record.flush()
    return file


def read_live(access: NatsAccess, reading: Reading) -> dict[str, str]:
    """The requestIds of the creation messages in flight, by sequence. Raises AicrError where they
    cannot be read: without them nobody could tell later what became of these messages."""
    from aicr.errors import UNAVAILABLE, AicrError

    queue = reading.queues.get(CREATION)
    busy = {
        name.removeprefix(f"{CREATION}-"): one.stream_seq
        for name, one in (queue.consumers if queue else {}).items()
        if one.ack_pending
    }
    if queue is None or not busy or not queue.messages:
        return {}
    live: dict[str, str] = {}

    def take(sequence: int, body: bytes) -> None:
        message = read_message(body)
        if sequence <= busy.get(message.cluster_id, 0):
            live[str(sequence)] = message.request_id

    last = max(busy.values())
    done = access.retained(CREATION, max(1, queue.first_seq), last, take, most=MOST_LIVE)
    if done.failed or not done.whole:
        why = done.failed[0][1] if done.failed else f"more than {done.tried} sequences to try"
        raise AicrError(UNAVAILABLE, f"the creation messages in flight: {why}")
    return live
