"""The flags of the commands that read queues, and how they open what they ask."""

from __future__ import annotations

import os

from aicr.cli.nvcf_flags import (
    add_fleet_flags,
    add_format_flag,
    add_plan_flag,
    add_read_flags,
    add_seconds,
)
from aicr.cli.output import warn
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.nvcf.fleet import Fleet
    from aicr.nvcf.nats_place import Place
    from aicr.nvcf.reach import Limits, Reach

ROLE = "docs/nvcf/roles/queues.yaml"


def add_nats_flags(parser: argparse.ArgumentParser) -> None:
    """``--fleet``, ``--record``, ``--format``, ``--plan``, which NATS, and bounds of all reads."""
    add_fleet_flags(parser, choose=False)
    parser.add_argument(
        "--record", metavar="DIR",
        help="the record folder (default: nvcf-record/<control plane UID> beside the fleet file)",
    )  # fmt: skip
    add_format_flag(parser)
    add_plan_flag(parser)
    add_access_flags(parser).add_argument(
        "--exec-attempts", type=int, default=2000, metavar="COUNT",
        help="single messages to try through exec (default: 2000)",
    )  # fmt: skip


def add_access_flags(parser: argparse.ArgumentParser) -> argparse._ArgumentGroup:
    """Which NATS, and bounds for every read; the group of the bounds."""
    group = parser.add_argument_group("NATS")
    group.add_argument(
        "--nats-context", metavar="NAME",
        help="context of the nats client in nats-box (default: the fleet file's, else default)",
    )  # fmt: skip
    group.add_argument(
        "--nats-context-file", metavar="FILE",
        help="connect directly, as this context file of the nats client says",
    )  # fmt: skip
    bounds = add_read_flags(parser, read=30.0, tries=3)
    add_seconds(bounds, "--timeout-exec", 30.0, "for one command in nats-box")
    add_seconds(bounds, "--timeout-nats", 5.0, "for one answer of JetStream")
    return bounds


def limits_of(args: argparse.Namespace) -> Limits:
    from aicr.nvcf.reach import Limits

    return Limits(
        connect=args.timeout_connect,
        read=args.timeout_read,
        exec=args.timeout_exec,
        nats=args.timeout_nats,
        attempts=getattr(args, "exec_attempts", 0),  # only where messages are read
    )


def place_from(args: argparse.Namespace) -> Place | None:
    if not args.nats_context_file:
        return None
    from aicr.nvcf.nats_place import read_context

    return read_context(args.nats_context_file)


def reach_of(args: argparse.Namespace, fleet: Fleet) -> Reach:
    """Open the fleet; nothing but identities is read."""
    from aicr.nvcf.reach import open_reach

    said = os.environ.get("NATS_CONTEXT", "")
    if args.nats_context and (args.nats_context_file or fleet.control_plane.nats.url):
        raise invalid(
            "--nats-context: is for the client in nats-box, and a direct connection was asked for",
            hint="leave out --nats-context, or --nats-context-file and the fleet file's nats.url",
        )
    context = args.nats_context or fleet.control_plane.nats.context
    if said and said != context:
        warn(f"NATS_CONTEXT is {said} and is not read; the context used is {context}")
    return open_reach(fleet, limits_of(args), role=ROLE, context=context, place=place_from(args))
