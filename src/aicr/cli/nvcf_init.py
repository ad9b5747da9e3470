"""``aicr nvcf init``: write a fleet file to fill in."""

from __future__ import annotations

import os

from aicr.cli.nvcf_flags import add_fleet_flags
from aicr.cli.output import note, write
from aicr.errors import invalid
from aicr.nvcf.outcome import plain_failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

failure_code = plain_failure_code


_EPILOG = """\
Examples:
  aicr nvcf init
  aicr nvcf init --fleet staging.yaml
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_fleet_flags(parser, choose=False)


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.fleet_text import TEMPLATE

    if args.fleet == "-":
        write(TEMPLATE)
        return 0
    if os.path.lexists(args.fleet):
        raise invalid(
            f"--fleet {args.fleet}: is there already, and is left as it is",
            hint="--fleet - prints a new one to stdout",
        )
    write(TEMPLATE, args.fleet)
    note(f"{args.fleet}: written; fill in what is marked <...>, then run aicr nvcf status")
    return 0
