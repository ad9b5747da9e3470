"""What a folder of captured evidence says: one of ``recover``'s, or one captured by hand with the
file names of the runbook. It is read, never written.
"""

from __future__ import annotations

import json
import os
import re
import stat

from aicr.errors import AicrError, invalid
from aicr.nvcf import jetstream
from aicr.nvcf.accounts import AccountAnswer, Ran, read_answer
from aicr.nvcf.evidence_chain import MANIFEST, verify
from aicr.nvcf.matching import Clusters
from aicr.nvcf.messages import read_message
from aicr.nvcf.queues import CREATION, TERMINATION
from aicr.nvcf.recover import Captured, judge
from aicr.nvcf.requests import Request, requests_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_MESSAGE = re.compile(r"(termination-)?message-([0-9]{1,20})\.json")
_COMPUTE = re.compile(r"compute-(.+)\.[A-Za-z0-9]+(?:-[0-9]+)?")
_ACCOUNT = re.compile(r"account-[0-9]+\.json")
_RUN = re.compile(r"run-([0-9]+)")
_MOST = 64 * 1024 * 1024


class Analyzed:
    """What was found; ``missing`` is what a complete capture would have and this folder has not.

    ``is_record``: it has a chain of hashes, as what ``recover`` writes.
    """

    __slots__ = ("captured", "is_record", "missing", "run")

    def __init__(
        self, captured: Captured, missing: Sequence[str], run: str, *, is_record: bool
    ) -> None:
        self.captured = captured
        self.missing = missing
        self.is_record = is_record
        self.run = run


def analyze(folder: str, run: int = 0) -> Analyzed:
    """``run`` chooses a capture of the folder, 0 the last. Raises INVALID_REQUEST for no folder."""
    if not os.path.isdir(folder):
        raise invalid(f"{folder}: is no folder")
    chosen = _chosen(folder, run)
    place = os.path.join(folder, chosen) if chosen else folder
    found = Captured(f"{chosen}/" if chosen else "")
    missing: list[str] = []
    names = _names(folder, place, found, missing)
    _streams(place, names, found, missing)
    _messages(place, names, found)
    kept = _kept(place, found) if "clusters.json" in names else None
    labels = _requests(place, names, found, kept is not None)
    found.clusters = kept or _guessed(labels, found)
    if kept is None:
        missing.append("which clusters there are (clusters.json): known are those with a file")
    if not labels and found.messages:
        missing.append("requests of any compute cluster (compute-<cluster>.*)")
    judge(found, _accounts(place, names, found, missing))
    found.sources.append(folder)
    is_record = os.path.lexists(os.path.join(folder, MANIFEST))
    return Analyzed(found, missing, chosen, is_record=is_record)


def _chosen(folder: str, run: int) -> str:
    runs = sorted(
        int(found[1])
        for name in os.listdir(folder)
        if (found := _RUN.fullmatch(name)) and os.path.isdir(os.path.join(folder, name))
    )
    if run == 0:
        return f"run-{runs[-1]}" if runs else ""
    if run == 1:
        return ""
    if run not in runs:
        raise invalid(
            f"{folder}: there is no run-{run}", hint=f"there are: {', '.join(map(str, [1, *runs]))}"
        )
    return f"run-{run}"


def _names(folder: str, place: str, found: Captured, missing: list[str]) -> list[str]:
    """The files that count: of a record, those with an entry."""
    names = sorted(os.listdir(place))
    if not os.path.lexists(os.path.join(folder, MANIFEST)):
        missing.append(f"the chain of hashes ({MANIFEST}): whether it was changed cannot be seen")
        return names
    verdict = verify(folder)
    found.problems += [f"the record was changed: {one}" for one in verdict.problems]
    if not verdict.closed:
        found.problems.append("its closing entry is missing: the capture was cut off")
    if verdict.unlisted:
        found.notes.append(f"{len(verdict.unlisted)} files are in no entry, and count for nothing")
    listed = {entry.file for entry in verdict.entries}
    return [name for name in names if found.prefix + name in listed]


def _streams(place: str, names: Sequence[str], found: Captured, missing: list[str]) -> None:
    for stream, head in ((CREATION, ""), (TERMINATION, "termination-")):
        for when, into in (("before", found.before), ("after", found.after)):
            file = f"{head}stream-{when}.json"
            if file not in names:
                if stream == CREATION:
                    missing.append(f"the stream {when} its messages were read ({file})")
                continue
            try:
                body = _read(place, file)
                info = jetstream.api_answer(jetstream.STREAM, body, file)
            except AicrError as error:
                found.problems.append(error.message)
                continue
            into[stream] = info
        consumers = {}
        for file in names:
            if not re.fullmatch(rf"{head}consumer-.+\.json", file):
                continue
            try:
                consumer = jetstream.decode(jetstream.CONSUMER, _read(place, file), file)
            except AicrError as error:
                found.problems.append(error.message)
                continue
            if consumer.stream_name == stream:
                consumers[consumer.name] = consumer.value()
        if consumers:
            found.consumers[stream] = consumers
        elif stream == CREATION:
            missing.append("its consumers (consumer-*.json)")


def _messages(place: str, names: Sequence[str], found: Captured) -> None:
    read = {CREATION: 0, TERMINATION: 0}
    for file in sorted(names, key=lambda name: (len(name), name)):
        named = _MESSAGE.fullmatch(file)
        if named is None:
            continue
        try:
            message = read_message(_read(place, file))
        except AicrError:
            found.problems.append(f"{file}: is no message")
            continue
        if message.sequence != int(named[2]):
            found.problems.append(f"{file}: holds message {message.sequence}")
            continue
        found.messages.append(message)
        read[TERMINATION if named[1] else CREATION] += 1
    for stream, info in found.before.items():
        if info.state.messages != read[stream]:
            found.problems.append(
                f"{stream} had {info.state.messages} messages, {read[stream]} are in the folder"
            )


def _kept(place: str, found: Captured) -> Clusters | None:
    try:
        said = json.loads(_read(place, "clusters.json"))
        parts = [
            {str(key): str(value) for key, value in said[name].items()}
            for name in ("names", "unread", "paused")
        ]
    except (AicrError, ValueError, KeyError, TypeError, AttributeError):
        found.problems.append("clusters.json: cannot be read")
        return None
    return Clusters(*parts)


def _requests(
    place: str, names: Sequence[str], found: Captured, is_known: bool
) -> dict[str, list[Request]]:
    """The requests by the label in the file names; for one label only its newest capture counts
    where they were captured by hand."""
    by_file: dict[str, list[str]] = {}
    for file in names:
        named = _COMPUTE.fullmatch(file)
        if named is not None:
            by_file.setdefault(named[1], []).append(file)
    labels: dict[str, list[Request]] = {}
    for label, files in by_file.items():
        if not is_known and len(files) > 1:
            files = [max(files, key=lambda one: os.lstat(os.path.join(place, one)).st_mtime)]
            found.notes.append(f"{label}: captured several times; {files[0]} is the newest")
        for file in files:
            try:
                requests = requests_from(_read(place, file), label)
            except AicrError as error:
                found.problems.append(f"{file}: {error.message}")
                continue
            labels.setdefault(label, []).extend(requests)
            found.requests += requests
    return labels


def _guessed(labels: dict[str, list[Request]], found: Captured) -> Clusters:
    """Cluster ids out of the receipts of each file's own requests."""
    names: dict[str, str] = {}
    for label, requests in labels.items():
        ids = {
            parts[3] if parts[0] == "Create" else parts[2]
            for one in requests
            if len(parts := one.subject.split(".")) > 2
        }
        for cluster_id in ids:
            if names.setdefault(cluster_id, label) != label:
                found.problems.append(
                    f"the files of {label} and {names[cluster_id]} have requests of one cluster "
                    f"({cluster_id})"
                )
    # A request that is nowhere here may be in a cluster that nobody captured.
    return Clusters(names, {"without a file here": "it was not captured"}, {})


def _accounts(
    place: str, names: Sequence[str], found: Captured, missing: list[str]
) -> dict[tuple[str, ...], AccountAnswer]:
    answers: dict[tuple[str, ...], AccountAnswer] = {}
    by_account: dict[str, bool] = {}
    files = [file for file in names if _ACCOUNT.fullmatch(file)]
    for file in files:
        try:
            said = json.loads(_read(place, file))
            subject = subject_from(str(said["subject"]))
            code = said["code"]
            ran = Ran(code, str(said["stdout"]).encode(), str(said["stderr"]).encode())
        except (AicrError, ValueError, KeyError, TypeError):
            found.problems.append(f"{file}: is no account's answer")
            continue
        answer = read_answer(subject, ran)
        answers[subject] = answer
        good = answer.state in ("wanted", "unwanted")
        by_account[subject[1]] = by_account.get(subject[1], False) or good
    for subject, answer in answers.items():
        if answer.state == "absent" and not by_account[subject[1]]:
            answers[subject] = AccountAnswer(
                "unverified", "a 404, and nothing of this account was found in the same run"
            )
    if not files and found.messages:
        missing.append("answers of the owning accounts")
    return answers


def subject_from(text: str) -> tuple[str, ...]:
    """A subject as it was kept: the ids are UUIDs of 36 characters, the account's may hold "-"."""
    kind, _, rest = text.partition("-")
    count = 1 if kind == "task" else 2
    ids = [rest[len(rest) - 36 * (at + 1) - at : len(rest) - 37 * at] for at in range(count)]
    return (kind, rest[: -37 * count], *reversed(ids))


def _read(place: str, file: str) -> bytes:
    path = os.path.join(place, file)
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            raise invalid(f"{file}: is no plain file")
        if found.st_size > _MOST:
            raise invalid(f"{file}: is larger than {_MOST} bytes")
        with open(path, "rb") as opened:
            return opened.read()
    except OSError as error:
        raise invalid(f"{file}: {error.strerror or error}") from None
