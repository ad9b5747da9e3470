"""``aicr nvcf drain``: are all queues drained, on every server?"""

from __future__ import annotations

import time

from aicr.cli.nvcf_flags import answer, end_by_sigterm, seconds
from aicr.cli.nvcf_nats import (
    add_nats_flags,
    countdown,
    no_answer,
    open_default_record,
    reach_of,
    record_path,
    wrong_clusters,
)
from aicr.cli.output import note, write
from aicr.errors import AicrError, invalid
from aicr.nvcf.outcome import failure_code as failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.nvcf.drain import Answered, Gate, Wishes
    from aicr.nvcf.outcome import Outcome
    from aicr.nvcf.reach import Reach

_EPILOG = """\
Examples:
  aicr nvcf drain
  aicr nvcf drain --wait --callers-paused
  aicr nvcf drain --queues CreateNvcaFunctionTaskStream --format json

Outcomes: drained and drained-restarted-empty exit 0 and are good for five minutes; not-drained,
lost, vanished, cannot-verify and partial exit 2. docs/nvcf/drain-and-recover.md says what each
means and what to do.

Reads only. Nothing is purged, acknowledged, deleted or restarted.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_nats_flags(parser)
    add_wish_flags(parser)
    parser.add_argument(
        "--queues", action="append", default=[], metavar="PATTERN",
        help="look at these queues only; the best answer is then partial",
    )  # fmt: skip
    parser.add_argument(
        "--wait", action="store_true",
        help="while not drained, go on until redelivery has had its time",
    )  # fmt: skip
    parser.add_argument(
        "--timeout", type=seconds, metavar="SECONDS",
        help="with --wait, at most this long (default: the longest ack_wait and 5 minutes)",
    )  # fmt: skip
    parser.add_argument(
        "--watch", action="store_true", help="go on, and report when the answer changes"
    )
    parser.add_argument(
        "--new-baseline", action="store_true", help="replace the baseline; needs --reason"
    )
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; kept in the record")


def add_wish_flags(parser: argparse.ArgumentParser) -> None:
    """What drain and gate both take."""
    parser.add_argument(
        "--settle", type=seconds, default=30.0, metavar="SECONDS",
        help="between the two readings (default and least: 30)",
    )  # fmt: skip
    parser.add_argument(
        "--callers-paused", action="store_true",
        help="you state that callers were paused since the last drained reading",
    )  # fmt: skip
    parser.add_argument(
        "--restart-window", type=seconds, default=900.0, metavar="SECONDS",
        help="between a drained reading and a server's restart (default: 900)",
    )  # fmt: skip


def wishes_of(args: argparse.Namespace) -> Wishes:
    from aicr.nvcf import drain

    if args.settle < drain.LEAST_SETTLE:
        raise invalid(f"--settle {args.settle:g}: at least {drain.LEAST_SETTLE:g} s are needed")
    if getattr(args, "new_baseline", False) and not args.reason:
        raise invalid("--new-baseline: needs --reason TEXT, which is kept in the record")
    return drain.Wishes(
        settle=args.settle,
        callers_paused=args.callers_paused,
        restart_window=args.restart_window,
        queues=getattr(args, "queues", ()),
        new_baseline=args.reason if getattr(args, "new_baseline", False) else "",
    )


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.fleet_file import read_fleet

    end_by_sigterm()
    fleet = read_fleet(args.fleet)
    wishes = wishes_of(args)
    if args.plan:
        from aicr.nvcf.queue_plan import drain_plan

        write(drain_plan(fleet, args, wishes.settle))
        return 0
    reach = reach_of(args, fleet)
    wrong = wrong_clusters(reach, "drain")
    if wrong is not None:
        return answer(wrong, args.format)
    uid = _uid(reach)
    path = record_path(args, fleet, uid)
    try:
        return _run(args, reach, wishes, path, uid)
    except AicrError as error:
        return answer(no_answer("drain", "cannot-verify", error), args.format)


def _run(args: argparse.Namespace, reach: Reach, wishes: Wishes, path: str, uid: str) -> int:
    from aicr.nvcf.drain import Gate

    record = open_default_record(path, uid) if uid else None
    try:
        gate = Gate(
            reach,
            record,
            wishes,
            sleep=lambda whole: countdown("second reading", whole),
            tell=note if args.watch or args.wait else lambda text: None,
        )
        found = gate.answer()
        if args.wait:
            found = _wait(gate, found, reach, args)
        outcome = outcome_for(found, reach, args, path)
        if args.watch:
            return _watch(gate, found, outcome, reach, args, path)
    finally:
        if record is not None:
            record.close()
    return answer(outcome, args.format)


def _uid(reach: Reach) -> str:
    kube = reach.opened.found.get("control-plane")
    return kube.uid if kube is not None else ""


def outcome_for(
    found: Answered, reach: Reach, args: argparse.Namespace, path: str, command: str = "drain"
) -> Outcome:
    from aicr.nvcf.drain_report import outcome_of

    waits, notes = waits_of(found, reach)
    return outcome_of(
        found, command=command, fleet=args.fleet, record=path, waits=waits, extra_notes=notes
    )


def waits_of(found: Answered, reach: Reach) -> tuple[float | None, list[str]]:
    """Until when redelivery may still come, and which agents keep it from helping; agents are
    asked only where something is left."""
    from aicr.nvcf.agent_starts import read_agents, starts_of
    from aicr.nvcf.agent_versions import AFFECTED
    from aicr.nvcf.drain import wait_until
    from aicr.nvcf.drain_state import NOT_DRAINED

    if found.decision.answer != NOT_DRAINED:
        return 0.0, []
    agents = read_agents(reach)
    notes = [
        f"{agent.cluster}: its agent is affected by reused message ids: {agent.action}"
        for agent in agents
        if agent.agent_class == AFFECTED
    ]
    return wait_until(found, starts_of(agents)), notes


def _wait(gate: Gate, found: Answered, reach: Reach, args: argparse.Namespace) -> Answered:
    """Answer again until it is another, or redelivery has had its time by the servers' clock."""
    from aicr.nvcf import clock
    from aicr.nvcf.drain import longest_wait
    from aicr.nvcf.drain_state import NOT_DRAINED

    first = found.at
    while found.decision.answer == NOT_DRAINED:
        end = first + (args.timeout or longest_wait(found))
        known, _ = waits_of(found, reach)
        if known is not None:
            end = min(end, known) if args.timeout else known
        if found.at >= end:
            break
        note(f"not drained; waiting until {clock.shown(end)}")
        countdown("next look", min(10.0, max(0.1, end - found.at)))
        found = gate.answer()
    return found


def _watch(
    gate: Gate,
    found: Answered,
    outcome: Outcome,
    reach: Reach,
    args: argparse.Namespace,
    path: str,
) -> int:
    """Report each change until somebody ends it; the exit code is that of the signal."""
    answer(outcome, args.format)
    last = found.decision.answer
    while True:
        time.sleep(1.0)
        found = gate.answer()
        if found.decision.answer != last:
            note(f"the answer was {last} and is {found.decision.answer}")
            last = found.decision.answer
            answer(outcome_for(found, reach, args, path), args.format)
