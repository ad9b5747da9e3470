"""``aicr nvcf preflight``: what has to be ready before maintenance, on one page."""

from __future__ import annotations

from aicr.cli.nvcf_flags import answer, end_by_sigterm, seconds
from aicr.cli.nvcf_nats import (
    add_nats_flags,
    no_answer,
    open_default_record,
    reach_of,
    record_path,
    wrong_clusters,
)
from aicr.cli.output import write
from aicr.errors import AicrError
from aicr.nvcf.outcome import failure_code as failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

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
    parser.add_argument("--no-tasks", action="store_true", help="you state that no tasks are used")
    parser.add_argument(
        "--record-function", action="append", default=[], metavar="NCA:FUNCTION:VERSION",
        help="remember this function for aicr nvcf verify; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--record-task", action="append", default=[], metavar="NCA:TASK",
        help="remember this task for aicr nvcf verify; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--timeout-account", type=seconds, default=30.0, metavar="SECONDS",
        help="for one answer of nvcf-cli (default: 30)",
    )  # fmt: skip


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
    if args.plan:
        from aicr.nvcf.queue_plan import drain_plan

        write(drain_plan(fleet, args, 0))
        return 0
    reach = reach_of(args, fleet)
    wrong = wrong_clusters(reach, "preflight")
    if wrong is not None:
        return answer(wrong, args.format)
    kube = reach.opened.found.get("control-plane")
    uid = kube.uid if kube is not None else ""
    path = record_path(args, fleet, uid)
    try:
        record = open_default_record(path, uid) if uid else None
        try:
            checks, at = preflight(reach, record, plan)
        finally:
            if record is not None:
                record.close()
    except AicrError as error:
        return answer(no_answer("preflight", "cannot-verify", error), args.format)
    return answer(preflight_page(checks, at, fleet=args.fleet, record=path), args.format)
