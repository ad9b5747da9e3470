"""``aicr nvcf drain``: are all queues drained, on every server?"""

from __future__ import annotations

import time

from aicr.cli.flags import add_bool
from aicr.cli.nvcf_countdown import countdown, said_when_left
from aicr.cli.nvcf_flags import (
    add_seconds,
    answer,
    end_by_sigterm,
    planned,
    refuse_variables,
    seconds,
)
from aicr.cli.nvcf_nats import add_nats_flags
from aicr.cli.nvcf_record import answer_with_record
from aicr.cli.output import note, write
from aicr.errors import invalid
from aicr.nvcf.outcome import failure_code as failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from typing import NoReturn

    from aicr.nvcf.drain import Answered, Gate, Wishes
    from aicr.nvcf.evidence import Record
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
    add_bool(
        parser,
        "--wait",
        help="while not drained, go on until redelivery had its time (invocations: the timeout)",
    )
    parser.add_argument(
        "--timeout", type=seconds, metavar="SECONDS",
        help="with --wait, at most this long (default: the longest ack_wait and 5 minutes)",
    )  # fmt: skip
    add_bool(parser, "--watch", help="go on, and report when the answer changes")
    add_bool(parser, "--new-baseline", help="replace the baseline; needs --reason")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; kept in the record")


def add_wish_flags(parser: argparse.ArgumentParser) -> None:
    """What drain and gate both take."""
    add_seconds(parser, "--settle", 30.0, "between the two readings, at least 30")
    add_bool(
        parser,
        "--callers-paused",
        help="you state that callers were paused since the last drained reading",
    )
    add_seconds(
        parser, "--restart-window", 900.0, "between a drained reading and a server's restart"
    )


def wishes_of(args: argparse.Namespace, *, begins: bool = True) -> Wishes:
    from aicr.nvcf import drain

    refuse_variables(args, "callers_paused", "new_baseline", "reason")
    if args.settle < drain.LEAST_SETTLE:
        raise invalid(f"--settle {args.settle:g}: at least {drain.LEAST_SETTLE:g} s are needed")
    if getattr(args, "new_baseline", False) and not args.reason:
        raise invalid("--new-baseline: needs --reason TEXT, which is kept in the record")
    if getattr(args, "reason", "") and not args.new_baseline:
        raise invalid("--reason: is for --new-baseline alone")
    if getattr(args, "timeout", None) and not args.wait:
        raise invalid("--timeout: is for --wait alone")
    return drain.Wishes(
        settle=args.settle,
        callers_paused=args.callers_paused,
        restart_window=args.restart_window,
        queues=getattr(args, "queues", ()),
        new_baseline=args.reason if getattr(args, "new_baseline", False) else "",
        begins=begins,
    )


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.fleet_file import read_fleet

    end_by_sigterm()
    fleet = read_fleet(args.fleet)
    wishes = wishes_of(args)
    if planned(args):
        from aicr.nvcf.queue_plan import drain_plan

        write(drain_plan(fleet, args, wishes.settle))
        return 0
    last = _Last()
    with said_when_left(last.words):
        return answer_with_record(
            args,
            fleet,
            "drain",
            "cannot-verify",
            lambda reach, record, path: _answer(args, wishes, last, reach, record, path),
        )


class _Last:
    """The last answer that was given, for whoever leaves early."""

    def __init__(self) -> None:
        self.given: Outcome | None = None

    def words(self) -> str:
        if self.given is None:
            return (
                "left before there was an answer, which is no go: keep callers paused, and run it "
                "again; nothing was changed"
            )
        until = f", valid until {self.given.valid_until}" if self.given.go else ""
        return (
            f"left; the last answer was {self.given.answer} as of {self.given.as_of}{until}; "
            "nobody watches from here on"
        )


def _answer(
    args: argparse.Namespace,
    wishes: Wishes,
    last: _Last,
    reach: Reach,
    record: Record | None,
    path: str,
) -> Outcome:
    from aicr.nvcf.drain import Gate

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
        _watch(gate, outcome, last, args, lambda found: outcome_for(found, reach, args, path))
    return outcome


def outcome_for(
    found: Answered, reach: Reach, args: argparse.Namespace, path: str, command: str = "drain"
) -> Outcome:
    from aicr.nvcf.drain_report import outcome_of

    waits, agents = waits_of(found, reach)
    return outcome_of(found, command=command, record=path, waits=waits, agents=agents)


def waits_of(found: Answered, reach: Reach) -> tuple[float | None, list[str]]:
    """Until when redelivery may still come, and what to do first about agents that keep it from
    helping; agents are asked only where something is left."""
    from aicr.nvcf.agent_starts import read_agents, starts_of
    from aicr.nvcf.agent_versions import AFFECTED
    from aicr.nvcf.drain import wait_until
    from aicr.nvcf.drain_state import NOT_DRAINED

    if found.decision.answer != NOT_DRAINED:
        return 0.0, []
    agents = read_agents(reach)
    affected = [
        f"{agent.cluster}: its agent skips reused message ids: {agent.action}."
        for agent in agents
        if agent.agent_class == AFFECTED
    ]
    return wait_until(found, starts_of(agents)), affected


def _wait(gate: Gate, found: Answered, reach: Reach, args: argparse.Namespace) -> Answered:
    """Answer again until it is another, or redelivery has had its time by the servers' clock; for
    what is not redelivered by agents, until the timeout."""
    from aicr.nvcf import clock
    from aicr.nvcf.drain import longest_wait
    from aicr.nvcf.drain_report import nvca_left
    from aicr.nvcf.drain_state import NOT_DRAINED

    first = found.at
    while found.decision.answer == NOT_DRAINED:
        end = first + (args.timeout or longest_wait(found))
        known, _ = waits_of(found, reach)
        if known is not None and nvca_left(found.decision):
            end = min(end, known) if args.timeout else known
        if found.at >= end:
            break
        note(f"not drained; waiting until {clock.shown(end)}")
        countdown("next look", min(10.0, max(0.1, end - found.at)))
        found = gate.answer()
    return found


def _watch(
    gate: Gate,
    outcome: Outcome,
    last: _Last,
    args: argparse.Namespace,
    outcome_of: Callable[[Answered], Outcome],
) -> NoReturn:
    """Report each change until somebody ends it; the exit code is that of the signal."""
    answer(outcome, args)
    last.given = outcome
    while True:
        time.sleep(1.0)
        outcome = outcome_of(gate.answer())
        if outcome.answer != last.given.answer:
            note(f"the answer was {last.given.answer} and is {outcome.answer}")
            answer(outcome, args)
        last.given = outcome
