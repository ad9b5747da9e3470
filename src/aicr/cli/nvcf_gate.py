"""``aicr nvcf gate``: may the NATS roll resume? The one command that can say so."""

from __future__ import annotations

from aicr.cli.nvcf_drain import add_wish_flags, wishes_of
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
from aicr.cli.output import write
from aicr.errors import AicrError, invalid
from aicr.nvcf.outcome import failure_code as failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.nvcf.drain import Wishes
    from aicr.nvcf.gate import Asked
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
    parser.add_argument(
        "--allow-running-tasks", action="store_true", help="do not ask for running tasks"
    )
    parser.add_argument(
        "--expect", metavar="FILE", help="registrations as aicr nvcf agents --save wrote them"
    )
    parser.add_argument(
        "--timeout-account", type=seconds, default=30.0, metavar="SECONDS",
        help="for one answer of nvcf-cli (default: 30)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.fleet_file import read_fleet
    from aicr.nvcf.gate import Asked

    end_by_sigterm()
    fleet = read_fleet(args.fleet)
    wishes = wishes_of(args)
    asked = Asked(
        guide=args.guide_gate_passed.strip(),
        allow_tasks=args.allow_running_tasks,
        expected=_expected(args.expect),
        account_seconds=args.timeout_account,
    )
    if args.plan:
        from aicr.nvcf.queue_plan import drain_plan

        write(drain_plan(fleet, args, wishes.settle))
        return 0
    reach = reach_of(args, fleet)
    wrong = wrong_clusters(reach, "gate")
    if wrong is not None:
        return answer(wrong, args.format)
    kube = reach.opened.found.get("control-plane")
    uid = kube.uid if kube is not None else ""
    path = record_path(args, fleet, uid)
    try:
        return _run(args, reach, wishes, asked, path, uid)
    except AicrError as error:
        return answer(no_answer("gate", "hold", error), args.format)


def _run(
    args: argparse.Namespace, reach: Reach, wishes: Wishes, asked: Asked, path: str, uid: str
) -> int:
    from aicr.nvcf.drain import Gate
    from aicr.nvcf.gate import decide_gate, gate_page

    record = open_default_record(path, uid) if uid else None
    try:
        gate = Gate(reach, record, wishes, sleep=lambda whole: countdown("second reading", whole))
        checks, answered = decide_gate(reach, record, gate, asked)
    finally:
        if record is not None:
            record.close()
    return answer(gate_page(checks, answered, fleet=args.fleet, record=path), args.format)


def _expected(path: str | None) -> tuple[str, bytes] | None:
    if not path:
        return None
    try:
        with open(path, "rb") as file:
            return path, file.read()
    except OSError as error:
        raise invalid(f"--expect {path}: {error.strerror or error}") from None
