"""``aicr nvcf gate``: may the NATS roll resume? The one command that can say so."""

from __future__ import annotations

from aicr.cli.flags import add_bool
from aicr.cli.nvcf_agents import digests_of
from aicr.cli.nvcf_countdown import countdown, said_when_left
from aicr.cli.nvcf_drain import add_wish_flags, wishes_of
from aicr.cli.nvcf_flags import add_account_flag, end_by_sigterm, planned, refuse_variables
from aicr.cli.nvcf_nats import add_nats_flags
from aicr.cli.nvcf_record import answer_with_record
from aicr.cli.output import write
from aicr.errors import invalid
from aicr.nvcf.outcome import failure_code as failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.nvcf.evidence import Record
    from aicr.nvcf.outcome import Outcome
    from aicr.nvcf.reach import Reach

_EPILOG = """\
Examples:
  aicr nvcf gate --guide-gate-passed CHG-1234
  aicr nvcf gate --guide-gate-passed CHG-1234 --expect registrations.json --format markdown

resume (exit 0) only if, in this run, the drain gate is a go, the roll gate is open, identities
match, no task is queued, launched or running, and you state that the guide's own gate passed; else
hold (exit 2). A resume is good for five minutes.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_nats_flags(parser)
    add_wish_flags(parser)
    parser.add_argument(
        "--guide-gate-passed", default="", metavar="REF",
        help="you state that the guide's own gate passed; REF says where that is written down",
    )  # fmt: skip
    add_bool(parser, "--allow-running-tasks", help="do not ask for running tasks")
    parser.add_argument(
        "--expect", metavar="FILE", help="registrations as aicr nvcf agents --save wrote them"
    )
    parser.add_argument(
        "--inventory", metavar="FILE|URL",
        help="the compute plane's inventory, for agent images that have only a digest",
    )  # fmt: skip
    add_account_flag(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.fleet_file import read_fleet
    from aicr.nvcf.gate import Asked, decide_gate, gate_page

    end_by_sigterm()
    fleet = read_fleet(args.fleet)
    wishes = wishes_of(args, begins=False)
    refuse_variables(args, "guide_gate_passed", "allow_running_tasks")
    if planned(args):
        from aicr.nvcf.queue_plan import gate_plan

        write(gate_plan(fleet, args, wishes.settle))
        return 0
    asked = Asked(
        guide=args.guide_gate_passed.strip(),
        allow_tasks=args.allow_running_tasks,
        expected=_expected(args.expect),
        digests=digests_of(args, fleet),
        account_seconds=args.timeout_account,
    )

    def work(reach: Reach, record: Record | None, path: str) -> Outcome:
        from aicr.nvcf.drain import Gate

        gate = Gate(reach, record, wishes, sleep=lambda whole: countdown("second reading", whole))
        checks, answered = decide_gate(reach, record, gate, asked)
        return gate_page(checks, answered, record=path)

    with said_when_left(lambda: "left before there was an answer: hold the NATS roll"):
        return answer_with_record(args, fleet, "gate", "hold", work)


def _expected(path: str | None) -> tuple[str, bytes] | None:
    if not path:
        return None
    try:
        with open(path, "rb") as file:
            return path, file.read()
    except OSError as error:
        raise invalid(f"--expect {path}: {error.strerror or error}") from None
