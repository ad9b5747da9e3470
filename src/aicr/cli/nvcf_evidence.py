"""``aicr nvcf evidence``: is a record folder what was written, and what is in it?"""

from __future__ import annotations

from aicr.cli.flags import add_bool
from aicr.cli.output import write
from aicr.nvcf.outcome import plain_failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

failure_code = plain_failure_code


_EPILOG = """\
Examples:
  aicr nvcf evidence verify nvcf-record/7c0b4d0e
  aicr nvcf evidence show nvcf-record/7c0b4d0e
  aicr nvcf evidence pack nvcf-record/7c0b4d0e --redact -o incident.tar.gz
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "action", choices=("verify", "show", "pack"), help="what to do with the record"
    )
    parser.add_argument("record", metavar="DIR", help="a record folder")
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", help="default: table"
    )
    group = parser.add_argument_group("pack")
    add_bool(group, "--redact", help="keep only fields on a list, of every kind of file")
    group.add_argument(
        "-o", "--output", metavar="FILE", help="default: <DIR>.tar.gz, or <DIR>.redacted.tar.gz"
    )


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.evidence_chain import verify
    from aicr.nvcf.evidence_report import show_text, verify_text

    if args.action == "pack":
        return _pack(args)
    verdict = verify(args.record)
    if args.action == "show":
        write(show_text(args.record, verdict, args.format))
    else:
        write(verify_text(args.record, verdict, args.format))
    return 0 if verdict.intact else 2


def _pack(args: argparse.Namespace) -> int:
    from aicr.cli.output import note, warn
    from aicr.nvcf.evidence_pack import pack
    from aicr.nvcf.evidence_report import packed_json

    ending = ".redacted.tar.gz" if args.redact else ".tar.gz"
    output = args.output or args.record.rstrip("/") + ending
    packed = pack(args.record, output, redact=args.redact)
    for problem in packed.verdict.problems[:20]:
        warn(f"the record was changed: {problem}")
    if packed.left_out:
        note(f"{len(packed.left_out)} files are only named in the pack: {packed.left_out[0]} ...")
    if not args.redact:
        warn("this pack holds message bodies, which may hold secrets; share it privately")
    if args.format == "json":
        write(packed_json(args.record, output, packed, redacted=args.redact))
    else:
        write(f"{output}\n")
    return 0 if packed.verdict.intact else 2
