"""``aicr nvcf verify``: does what ran before the upgrade still run, and something new too?"""

from __future__ import annotations

from aicr.cli.nvcf_flags import (
    add_account_flag,
    add_fleet_flags,
    add_format_flag,
    add_plan_flag,
    answer,
    end_by_sigterm,
    planned,
    refuse_variables,
)
from aicr.cli.nvcf_record import no_answer
from aicr.cli.output import write
from aicr.errors import AicrError, invalid
from aicr.nvcf.outcome import failure_code as failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

_EPILOG = """\
Examples:
  aicr nvcf verify
  aicr nvcf verify --record ./nvcf-record --format json

verified exits 0; failed and not-verified exit 2. --invoke sends traffic: the invocation that the
fleet file has for that account. Everything else is read.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_fleet_flags(parser, choose=False)
    parser.add_argument("--record", metavar="DIR", help="where preflight recorded what to compare")
    parser.add_argument(
        "--new-deployment", action="append", default=[], metavar="NCA:FUNCTION:VERSION",
        help="a deployment that you made since the upgrade; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--invoke", default="", metavar="NCA", help="send this account's invocation (traffic)"
    )
    add_plan_flag(parser)
    add_format_flag(parser)
    add_account_flag(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.evidence import append_record
    from aicr.nvcf.fleet_file import read_fleet
    from aicr.nvcf.page import subject_of_flag
    from aicr.nvcf.verify import verify, verify_page

    end_by_sigterm()
    fleet = read_fleet(args.fleet)
    deployments = [subject_of_flag("--new-deployment", one) for one in args.new_deployment]
    refuse_variables(args, "invoke", "new_deployment")
    if planned(args):
        from aicr.nvcf.queue_plan import verify_plan

        write(verify_plan(fleet, args))
        return 0
    path = args.record or fleet.record_folder()
    if not path:
        raise invalid("--record: needed while the fleet file states no clusterUid")
    try:
        with append_record(path, fleet.control_plane.cluster_uid) as record:
            checks = verify(
                record,
                fleet.control_plane.accounts,
                deployments=deployments,
                invoke=args.invoke,
                seconds=args.timeout_account,
            )
    except AicrError as error:
        return answer(no_answer("verify", "not-verified", error), args)
    return answer(verify_page(checks, again=_again(args, path)), args)


def _again(args: argparse.Namespace, record: str) -> str:
    """This command again, to copy."""
    from aicr.nvcf.to_copy import to_copy

    words = [word for one in args.new_deployment for word in ("--new-deployment", one)]
    words += ["--invoke", args.invoke] if args.invoke else []
    return to_copy("verify", "--record", record, *words)
