"""``aicr nvcf recover``: what is retained, captured as evidence, and what became of it."""

from __future__ import annotations

import os

from aicr.cli.flags import add_bool
from aicr.cli.nvcf_flags import add_account_flag, answer, end_by_sigterm, planned
from aicr.cli.nvcf_nats import add_nats_flags, reach_of
from aicr.cli.nvcf_record import record_path
from aicr.cli.output import note, write
from aicr.errors import AicrError, invalid
from aicr.nvcf.outcome import failure_code as failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.nvcf.evidence import Record
    from aicr.nvcf.outcome import Outcome
    from aicr.nvcf.reach import Reach
    from aicr.nvcf.recover import Captured

_EPILOG = """\
Examples:
  aicr nvcf recover --record ./incident
  aicr nvcf recover --append ./incident --termination

The answer is nothing-retained, recheck-drain, wait or stop. It is never a go, and the exit code is
always 2: only aicr nvcf gate can say resume. The record is private: it holds message bodies.

Reads only: messages are read without consuming them.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_nats_flags(parser)
    parser.add_argument(
        "--append", metavar="DIR", help="go on with this record folder instead of a new one"
    )
    add_bool(parser, "--termination", help="the termination stream's messages too")
    add_account_flag(parser)
    parser.add_argument(
        "--known-function", action="append", default=[], metavar="NCA:FUNCTION:VERSION",
        help="a function that exists: it shows that a 404 comes from its account",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.fleet_file import read_fleet
    from aicr.nvcf.recover import without_collector
    from aicr.nvcf.roll_report import wrong_cluster_outcome

    end_by_sigterm()
    named = args.record if "record" not in args.sources else ""  # a variable names no new folder
    if args.append and named:
        raise invalid("--record is for a new folder, --append for one that is there: give one")
    fleet = read_fleet(args.fleet)
    known = _known(args.known_function)
    if planned(args):
        from aicr.nvcf.queue_plan import recover_plan

        write(recover_plan(fleet, args))
        return 0
    reach = reach_of(args, fleet)
    if reach.opened.wrong:
        return answer(wrong_cluster_outcome("recover", reach.opened), args)
    kube = reach.opened.found.get("control-plane")
    if kube is None:
        return answer(_unreached(reach), args)
    path = args.append or record_path(args, fleet, kube.uid)
    record = _record(args.append, named, path, kube.uid)
    try:
        with without_collector():
            outcome = _captured(reach, record, path, args, known)
    finally:
        _let_go(record)  # where it was ended from outside: what was captured has its closing entry
    return answer(outcome, args)


def _record(append: str | None, new: str | None, path: str, uid: str) -> Record:
    from aicr.nvcf.evidence import append_record, create_record

    if new:
        return create_record(path, uid)
    if append or os.path.lexists(path):
        return append_record(path, uid)
    return create_record(path, uid)


def _captured(
    reach: Reach,
    record: Record,
    path: str,
    args: argparse.Namespace,
    known: dict[str, list[tuple[str, ...]]],
) -> Outcome:
    from aicr.nvcf import clock
    from aicr.nvcf.queues import CREATION, TERMINATION
    from aicr.nvcf.recover import ask, capture, judge
    from aicr.nvcf.recover_report import answer_of, outcome_of, report_json

    streams = [CREATION] + [TERMINATION] * args.termination
    found = capture(reach, record, streams=streams, tell=note)
    answers = {}
    try:
        if not found.failed:
            answers = ask(found, reach, record, known=known, seconds=args.timeout_account)
    except AicrError as error:
        found.problems.append(error.message)
        found.failed = True
    judge(found, answers)
    kube = reach.control
    try:
        record.write(
            f"{found.prefix}report.json", report_json(found), source="aicr", command="recover"
        )
        record.close()
    except AicrError as error:
        found.problems.append(error.message)
        found.failed = True
    waits = _waits(found, reach) if found.findings else {}
    answered, until = answer_of(found, waits, kube.now())
    return outcome_of(
        found, command="recover", record=path, answer=answered, until=until,
        as_of=clock.shown(kube.now()),
    )  # fmt: skip


def _waits(found: Captured, reach: Reach) -> dict[str, float | None]:
    """By cluster with a corrected agent: when what it holds has had its time to come again."""
    from aicr.nvcf.agent_starts import read_agents, starts_of
    from aicr.nvcf.agent_versions import CORRECTED, FIXED

    agents = read_agents(reach)
    starts = starts_of(agents)
    waits: dict[str, float | None] = {}
    for agent in agents:
        start = starts.get(agent.cluster)
        if agent.agent_class not in (FIXED, CORRECTED) or start is None:
            continue
        times = [
            consumer.redelivery
            for stream, consumers in found.consumers.items()
            for name, consumer in consumers.items()
            if name == f"{stream}-{agent.cluster_id}"
        ]
        if times:
            waits[agent.cluster] = start + max(times)
    return waits


def _let_go(record: Record) -> None:
    try:
        record.close()
    except AicrError:
        return


def _unreached(reach: Reach) -> Outcome:
    from aicr.nvcf.recover import Captured
    from aicr.nvcf.recover_report import STOP, outcome_of

    found = Captured("")
    found.failed = True
    found.problems = [str(one) for one in reach.doubts()]
    return outcome_of(
        found, command="recover", record="", answer=STOP, until={},
        as_of="",
    )  # fmt: skip


def _known(texts: list[str]) -> dict[str, list[tuple[str, ...]]]:
    from aicr.nvcf.allow import UUID

    found: dict[str, list[tuple[str, ...]]] = {}
    for text in texts:
        nca, _, rest = text.partition(":")
        function, _, version = rest.partition(":")
        if not (nca and UUID.fullmatch(function) and UUID.fullmatch(version)):
            raise invalid(f"--known-function {text}: expected NCA:FUNCTION:VERSION, two UUIDs")
        subject = ("function", nca, function.lower(), version.lower())
        found.setdefault(nca, []).append(subject)
    return found
