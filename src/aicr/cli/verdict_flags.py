"""The exit codes of commands that answer whether something needs attention, and their flags."""

from __future__ import annotations

from aicr.cli.flags import add_bool, is_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

_DETAILED = "--detailed-exit-code"


def add_verdict_flags(parser: argparse.ArgumentParser, *, attention: str, failed: str) -> None:
    """``attention`` is when the exit code is 2, ``failed`` when it is 1 if that is asked for."""
    add_bool(
        parser,
        "--fail-on-error",
        default=True,
        help=f"exit 2 {attention} (default); =false only reports",
    )
    add_bool(parser, _DETAILED, help=f"exit 1 if {failed}, so that 2 only means: needs attention")


def failure_code(arguments: list[str], code: int) -> int:
    """The exit code of an error."""
    return 1 if is_on(arguments, _DETAILED) else code
