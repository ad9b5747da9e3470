"""The flags that the commands of ``aicr nvcf`` share, and how their answers leave."""

from __future__ import annotations

import os
import signal
import sys

from aicr.cli.flags import add_bool
from aicr.cli.output import write
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from types import FrameType

    from aicr.cluster.connection import Patience
    from aicr.nvcf.outcome import Outcome
    from aicr.nvcf.registry import Registry

DEFAULT_FLEET = "fleet.yaml"


def add_fleet_flags(parser: argparse.ArgumentParser, *, choose: bool = True) -> None:
    """``--fleet``, and ``--cluster`` where a command can leave clusters out."""
    parser.add_argument(
        "--fleet", default=DEFAULT_FLEET, metavar="FILE",
        help="the fleet file (default: fleet.yaml; aicr nvcf init writes one)",
    )  # fmt: skip
    if choose:
        parser.add_argument(
            "--cluster", action="append", default=[], metavar="NAME",
            help="only this compute cluster; may be repeated (default: all)",
        )  # fmt: skip


def add_format_flag(parser: argparse.ArgumentParser, *, default: str = "table") -> None:
    parser.add_argument(
        "--format", choices=("table", "json", "markdown"), default=default,
        help=f"how the answer is written (default: {default or 'one image a line'})",
    )  # fmt: skip


def add_plan_flag(parser: argparse.ArgumentParser) -> None:
    add_bool(parser, "--plan", help="print what would be read, and read nothing")


def planned(args: argparse.Namespace) -> bool:
    """Whether only a plan is asked for, here and now: it exits 0, and is no answer. Raises
    INVALID_REQUEST where a variable says so."""
    refuse_variables(args, "plan")
    return bool(args.plan)


def add_read_flags(
    parser: argparse.ArgumentParser, *, read: float = 60.0, tries: int = 5
) -> argparse._ArgumentGroup:
    """Bounds for what is asked of API servers; the group, for more of them."""
    group = parser.add_argument_group("bounds")
    add_seconds(group, "--timeout-connect", 10.0, "for one connection to a server")
    add_seconds(
        group, "--timeout-read", read, f"for one answer of an API server, of up to {tries} tries"
    )
    return group


def add_account_flag(parser: argparse.ArgumentParser) -> None:
    add_seconds(parser, "--timeout-account", 30.0, "for one answer of nvcf-cli")


def add_seconds(parser: argparse._ActionsContainer, flag: str, default: float, what: str) -> None:
    """A duration."""
    parser.add_argument(
        flag, type=seconds, default=default, metavar="SECONDS",
        help=f"{what} (default: {default:g})",
    )  # fmt: skip


def add_registry_flags(parser: argparse.ArgumentParser) -> None:
    """How a registry is reached."""
    group = parser.add_argument_group("registry")
    group.add_argument(
        "--registry-config", metavar="FILE",
        help="docker configuration with the logins (default: docker's own)",
    )  # fmt: skip
    group.add_argument(
        "--registry-ca", metavar="FILE", help="certificates to trust beside the system's"
    )
    group.add_argument(
        "--plain-http", action="append", default=[], metavar="HOST[:PORT]",
        help="speak http to this registry; may be repeated",
    )  # fmt: skip
    add_seconds(group, "--timeout-registry", 20.0, "for one answer of a registry, of up to 3 tries")


def seconds(text: str) -> float:
    """A duration of more than nothing."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise invalid(f'expected a number of seconds, found "{text}"')
    return value


def refuse_variables(args: argparse.Namespace, *stated: str) -> None:
    """What the operator states holds for one run: a variable that is set somewhere is no
    statement. Raises INVALID_REQUEST."""
    for dest in stated:
        if dest in args.sources:
            flag = "--" + dest.replace("_", "-")
            raise invalid(
                f"{args.sources[dest]}: {flag} is said of one run, and is not read from the "
                "environment",
                hint=f"unset it, and pass {flag} where it is meant",
            )


def patience_of(args: argparse.Namespace) -> Patience:
    from aicr.cluster.connection import Patience

    return Patience(connect=args.timeout_connect, request=args.timeout_read)


def registry_of(args: argparse.Namespace) -> Registry:
    from aicr.artifact.registry_auth import read_docker_config
    from aicr.nvcf.registry import Registry

    return Registry(
        read_docker_config(args.registry_config),
        ca=args.registry_ca,
        plain_http=args.plain_http,
        seconds=args.timeout_registry,
    )


def answer(outcome: Outcome, args: argparse.Namespace) -> int:
    """Print an answer; its exit code. The command that comes next is for the same fleet file."""
    from aicr.nvcf.outcome import render
    from aicr.nvcf.to_copy import with_fleet

    fleet = getattr(args, "fleet", DEFAULT_FLEET)
    if fleet != DEFAULT_FLEET:
        outcome.next_command = with_fleet(outcome.next_command, fleet)
    write(render(outcome, args.format, _width()))
    return outcome.exit


def _width() -> int:
    """Of the terminal that the answer goes to; 0 where it goes elsewhere."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else 0
    except (OSError, ValueError):
        return 0


def end_by_sigterm() -> None:
    """SIGTERM ends the command as an exit with 143, after what is open is closed."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
