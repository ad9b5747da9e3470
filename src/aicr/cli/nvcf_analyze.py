"""``aicr nvcf analyze``: what a folder of captured evidence says, without asking anybody."""

from __future__ import annotations

from aicr.cli.nvcf_flags import add_format_flag, answer
from aicr.nvcf.outcome import failure_code as failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

_EPILOG = """\
Examples:
  aicr nvcf analyze ./nvcf-record
  aicr nvcf analyze /secure/recovery-record --format json

Reads a folder that aicr nvcf recover made, or one captured by hand with the runbook's file names
(stream-before.json, message-<sequence>.json, compute-<cluster>.<any>), and says what is missing.

A folder is stale by nature: the answer is never a go, and the exit code is always 2.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument(
        "--run", type=int, default=0, metavar="N",
        help="which capture of the folder (default: the last; 1 is the first)",
    )  # fmt: skip
    parser.add_argument(
        "--fleet", default="fleet.yaml", metavar="FILE", help="for the command to copy only"
    )
    add_format_flag(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.analyze import analyze
    from aicr.nvcf.recover_report import answer_of, outcome_of

    found = analyze(args.folder, args.run)
    word, _ = answer_of(found.captured, {}, 0.0)
    return answer(
        outcome_of(
            found.captured,
            command="analyze",
            record=args.folder if found.is_record else "",
            answer=word,
            until={},
            as_of="",
            not_captured=found.missing,
        ),
        args,
    )
