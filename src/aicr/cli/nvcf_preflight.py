"""``aicr nvcf preflight``: what has to be ready before maintenance, on one page."""

from __future__ import annotations

from aicr.cli.flags import add_bool
from aicr.cli.nvcf_flags import add_account_flag, end_by_sigterm, planned, refuse_variables
from aicr.cli.nvcf_nats import add_nats_flags
from aicr.cli.nvcf_record import answer_with_record
from aicr.cli.output import write
from aicr.nvcf.outcome import failure_code as failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.nvcf.evidence import Record
    from aicr.nvcf.outcome import Outcome
    from aicr.nvcf.reach import Reach

_EPILOG = """\
Examples:
  aicr nvcf preflight --to 1.0.10 --render ./target-render
  aicr nvcf preflight --from 1.0.1 --to 1.0.10 --no-tasks --format markdown

ready exits 0; not-ready and cannot-verify exit 2. Queues are shown and never decide: callers are
not paused yet. --format markdown is the page for a change ticket.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_nats_flags(parser)
    parser.add_argument(
        "--from", dest="old", default="", metavar="VERSION",
        help="the installed Self-Managed stack (default: what the upgrade receipt says)",
    )  # fmt: skip
    parser.add_argument(
        "--to", dest="new", required=True, metavar="VERSION", help="the target's stack version"
    )
    parser.add_argument("--render", default="", metavar="DIR", help="the target's render")
    parser.add_argument("--inventory", default="", metavar="FILE|URL", help="the target's images")
    add_bool(parser, "--no-tasks", help="you state that no tasks are used")
    parser.add_argument(
        "--record-function", action="append", default=[], metavar="NCA:FUNCTION:VERSION",
        help="remember this function for aicr nvcf verify; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--record-task", action="append", default=[], metavar="NCA:TASK",
        help="remember this task for aicr nvcf verify; may be repeated",
    )  # fmt: skip
    add_account_flag(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.fleet_file import read_fleet
    from aicr.nvcf.page import subject_of_flag
    from aicr.nvcf.preflight import Plan, preflight, preflight_page
    from aicr.nvcf.stack_versions import check_stack

    end_by_sigterm()
    fleet = read_fleet(args.fleet)
    plan = Plan(
        old=check_stack("--from", args.old) if args.old else "",
        new=check_stack("--to", args.new),
        render=args.render,
        inventory=args.inventory,
        tasks=not args.no_tasks,
        remember=[subject_of_flag("--record-function", one) for one in args.record_function]
        + [subject_of_flag("--record-task", one) for one in args.record_task],
        account_seconds=args.timeout_account,
    )
    refuse_variables(args, "no_tasks")
    if planned(args):
        from aicr.nvcf.queue_plan import preflight_plan

        write(preflight_plan(fleet, args))
        return 0

    def work(reach: Reach, record: Record | None, path: str) -> Outcome:
        checks, at = preflight(reach, record, plan)
        return preflight_page(checks, at, again=_again(args, path), record=path)

    return answer_with_record(args, fleet, "preflight", "cannot-verify", work)


def _again(args: argparse.Namespace, record: str) -> str:
    """This command again, to copy."""
    from aicr.nvcf.to_copy import to_copy

    words = ["--from", args.old] if args.old else []
    words += ["--to", args.new, "--record", record]
    words += ["--render", args.render] if args.render else []
    words += ["--inventory", args.inventory] if args.inventory else []
    words += ["--no-tasks"] if args.no_tasks else []
    words += [word for one in args.record_function for word in ("--record-function", one)]
    words += [word for one in args.record_task for word in ("--record-task", one)]
    return to_copy("preflight", *words)
