"""How a command runs that keeps a record: fleet and record opened, the record closed, and an answer
in every case."""

from __future__ import annotations

import os

from aicr.cli.nvcf_flags import answer
from aicr.cli.nvcf_nats import reach_of
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from aicr.nvcf.evidence import Record
    from aicr.nvcf.fleet import Fleet
    from aicr.nvcf.outcome import Outcome
    from aicr.nvcf.reach import Reach

    # The work of a command; the record is None where its control plane was not reached.
    Work = Callable[[Reach, Record | None, str], Outcome]


def answer_with_record(
    args: argparse.Namespace, fleet: Fleet, command: str, otherwise: str, work: Work
) -> int:
    """Print what ``work`` answers. A wrong cluster stops everything before; ``otherwise`` is the
    answer where the record cannot be trusted or written."""
    from aicr.nvcf.evidence import open_record
    from aicr.nvcf.reach import CONTROL
    from aicr.nvcf.roll_report import wrong_cluster_outcome

    reach = reach_of(args, fleet)
    if reach.opened.wrong:
        return answer(wrong_cluster_outcome(command, reach.opened), args)
    kube = reach.opened.found.get(CONTROL)
    uid = kube.uid if kube is not None else ""
    path = record_path(args, fleet, uid)
    try:
        record = open_record(path, uid) if uid else None
        try:
            outcome = work(reach, record, path)
        finally:
            if record is not None:
                record.close()
    except AicrError as error:
        outcome = no_answer(command, otherwise, error)
    return answer(outcome, args)


def record_path(args: argparse.Namespace, fleet: Fleet, uid: str) -> str:
    """Where the record is. Raises INVALID_REQUEST while nothing says so."""
    if args.record:
        return str(args.record)
    folder = fleet.record_folder()
    if folder:
        return folder
    if not uid:
        raise invalid("--record: needed while the fleet file states no clusterUid")
    return os.path.join(fleet.folder, "nvcf-record", uid)


def no_answer(command: str, word: str, error: AicrError) -> Outcome:
    """The answer where the record cannot be trusted or written: nothing is a go without it."""
    from aicr.nvcf.outcome import Outcome

    action = error.hint or "make the record folder readable and writable, or pass another one"
    return Outcome(
        command=command,
        answer=word,
        because="record",
        go=False,
        next_action=action,
        do=[f"{action[0].upper()}{action[1:]}."],
        notes=[error.message],
        extra={"reasons": [error.message]},
    )
