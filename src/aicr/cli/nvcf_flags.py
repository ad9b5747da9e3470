"""The flags that the commands of ``aicr nvcf`` share, and how their answers leave."""

from __future__ import annotations

import shlex
import signal

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
_WITH_FLEET = frozenset(
    ("status", "pull-check", "agents", "nats-roll", "preflight", "drain", "gate", "verify")
)


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


def add_read_flags(parser: argparse.ArgumentParser) -> None:
    """Bounds for what is asked of API servers."""
    group = parser.add_argument_group("bounds")
    group.add_argument(
        "--timeout-connect", type=seconds, default=10.0, metavar="SECONDS",
        help="for one connection to a server (default: 10)",
    )  # fmt: skip
    group.add_argument(
        "--timeout-read", type=seconds, default=60.0, metavar="SECONDS",
        help="for one answer of an API server, of up to 5 tries (default: 60)",
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
    group.add_argument(
        "--timeout-registry", type=seconds, default=20.0, metavar="SECONDS",
        help="for one answer of a registry, of up to 3 tries (default: 20)",
    )  # fmt: skip


def seconds(text: str) -> float:
    """A duration of more than nothing."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise invalid(f'expected a number of seconds, found "{text}"')
    return value


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


def answer(outcome: Outcome, form: str, *, fleet: str = DEFAULT_FLEET) -> int:
    """Print an answer; its exit code. The command that comes next is for the same ``fleet``."""
    from aicr.nvcf.outcome import render

    words = outcome.next_command.split(" ")
    if fleet != DEFAULT_FLEET and words[2:3] and words[2] in _WITH_FLEET and "--fleet" not in words:
        outcome.next_command = f"{outcome.next_command} --fleet {shlex.quote(fleet)}"
    write(render(outcome, form))
    return outcome.exit


def end_by_sigterm() -> None:
    """SIGTERM ends the command as an exit with 143, after what is open is closed."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
