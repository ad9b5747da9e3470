"""``aicr records lint``: is every record written as it must be, and every pin assessed?"""

from __future__ import annotations

from aicr.cli.flags import add_catalog_flags, open_catalog_of
from aicr.cli.output import write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from aicr.upgrade.violations import Violation

FORMATS = ("text", "json", "sarif", "github")

_EPILOG = """\
Examples:
  aicr records lint
  aicr records lint --data ./catalog
  aicr records lint --data ./catalog --base origin/main --format github
      as a gate of pull requests: also pins that moved without a record, and records that vanished
  aicr records lint --format sarif -o records.sarif

With --data the files of that folder must be right; of the shipped ones only what the folder
changes is held against them. --base compares with where the checkout branched off that revision.

Exit codes: 0 nothing wrong; 2 violations; 1 the linter could not run.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument(
        "--base",
        metavar="GIT_REF",
        help="compare pins and records with this revision, such as origin/main",
    )
    parser.add_argument(
        "-t",
        "--format",
        choices=FORMATS,
        default="text",
        help="default: text; github annotates a pull request",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file")
    add_catalog_flags(parser)


def run(args: argparse.Namespace) -> int:
    import os

    from aicr.upgrade.lint import lint
    from aicr.upgrade.lint_report import shown_from

    catalog = open_catalog_of(args)
    base = None
    if args.base is not None:
        from aicr.upgrade.revision import catalog_at

        base = catalog_at(args.base, catalog=args.catalog, data=args.data)
    violations = shown_from(lint(catalog, base), catalog.disk_paths(), os.getcwd())
    write(_rendered(violations, args.format), args.output)
    return 2 if violations else 0


def failure_code(arguments: list[str], code: int) -> int:
    """1, so that 2 only ever means violations."""
    return 1


def _rendered(violations: Sequence[Violation], form: str) -> str:
    from aicr.upgrade.lint_report import lint_annotations, lint_text, lint_values

    if form == "text":
        return lint_text(violations)
    if form == "github":
        return lint_annotations(violations)
    from aicr.documents.emit import json_text

    if form == "sarif":
        from aicr.upgrade.sarif import sarif

        return json_text(sarif(violations))
    return json_text(lint_values(violations))
