"""The flags of the commands that read queues, and how they open what they ask."""

from __future__ import annotations

import os
import sys
import time

from aicr.cli.nvcf_flags import add_fleet_flags, add_format_flag, seconds
from aicr.cli.output import warn
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.nvcf.evidence import Record
    from aicr.nvcf.fleet import Fleet
    from aicr.nvcf.nats_direct import Place
    from aicr.nvcf.outcome import Outcome
    from aicr.nvcf.reach import Limits, Reach

ROLE = "docs/nvcf/roles/queues.yaml"


def add_nats_flags(parser: argparse.ArgumentParser) -> None:
    """``--fleet``, ``--record``, ``--format``, which NATS, and bounds for every read."""
    add_fleet_flags(parser, choose=False)
    parser.add_argument(
        "--record", metavar="DIR",
        help="the record folder (default: nvcf-record/<control plane UID> beside the fleet file)",
    )  # fmt: skip
    add_format_flag(parser)
    add_access_flags(parser).add_argument(
        "--exec-attempts", type=int, default=2000, metavar="COUNT",
        help="single messages to try through exec (default: 2000)",
    )  # fmt: skip
    parser.add_argument(
        "--plan", action="store_true", help="print what would be read, and read nothing"
    )


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
    bounds = parser.add_argument_group("bounds")
    for name, default, what in (
        ("cluster", 30.0, "one answer of an API server, of up to 3 tries"),
        ("exec", 30.0, "one command in nats-box"),
        ("nats", 5.0, "one answer of JetStream"),
    ):
        bounds.add_argument(
            f"--timeout-{name}", type=seconds, default=default, metavar="SECONDS",
            help=f"for {what} (default: {default:g})",
        )  # fmt: skip
    return bounds


def limits_of(args: argparse.Namespace) -> Limits:
    from aicr.nvcf.reach import Limits

    return Limits(
        cluster=args.timeout_cluster,
        exec=args.timeout_exec,
        nats=args.timeout_nats,
        attempts=getattr(args, "exec_attempts", 0),  # only where messages are read
    )


def place_from(args: argparse.Namespace) -> Place | None:
    if not args.nats_context_file:
        return None
    from aicr.nvcf.nats_direct import read_context

    return read_context(args.nats_context_file)


def reach_of(args: argparse.Namespace, fleet: Fleet) -> Reach:
    """Open the fleet; nothing but identities is read."""
    from aicr.nvcf.reach import open_reach

    said = os.environ.get("NATS_CONTEXT", "")
    context = args.nats_context or fleet.control_plane.nats.context
    if said and said != context:
        warn(f"NATS_CONTEXT is {said} and is not read; the context used is {context}")
    return open_reach(fleet, limits_of(args), role=ROLE, context=context, place=place_from(args))


def record_path(args: argparse.Namespace, fleet: Fleet, uid: str) -> str:
    """Where the record is. Raises INVALID_REQUEST while nothing says so."""
    if args.record:
        return str(args.record)
    folder = fleet.record_folder()
    if folder:
        return folder
    if not uid:
        raise invalid("--record: needed while the fleet file states no clusterUid")
    return os.path.join(fleet.folder, "nvcf-record", uid)


def open_default_record(path: str, uid: str) -> Record:
    """The record at ``path``, made where it is missing, with its folder."""
    from aicr.nvcf.evidence import open_record

    return open_record(path, uid)


def wrong_clusters(reach: Reach, command: str) -> Outcome | None:
    """The answer where an entry leads to another cluster: everything stops."""
    from aicr.nvcf.outcome import CANNOT_VERIFY, Outcome, Table

    wrong = reach.opened.wrong
    if not wrong:
        return None
    return Outcome(
        command=command,
        answer=CANNOT_VERIFY,
        because="wrong cluster",
        go=False,
        next_action="correct the entry in the fleet file, its kubeconfig or its context; repeat",
        next_command="aicr nvcf status",
        do=["Correct the entry in the fleet file, its kubeconfig or its context; repeat."],
        tables=[Table("Wrong clusters (nothing else was read)", ("entry",), [(w,) for w in wrong])],
        extra={"reasons": list(wrong)},
    )


def no_answer(command: str, answer: str, error: AicrError) -> Outcome:
    """The answer where the record cannot be trusted or written: nothing is a go without it."""
    from aicr.nvcf.outcome import Outcome

    action = error.hint or "make the record folder readable and writable, or pass another one"
    return Outcome(
        command=command,
        answer=answer,
        because="record",
        go=False,
        next_action=action,
        do=[f"{action[0].upper()}{action[1:]}."],
        notes=[error.message],
        extra={"reasons": [error.message]},
    )


def countdown(text: str, whole: float) -> None:
    """Wait; on a terminal, show how long it still takes."""
    if not sys.stderr.isatty():
        time.sleep(whole)
        return
    end = time.monotonic() + whole
    while (left := end - time.monotonic()) > 0:
        sys.stderr.write(f"\r{text} in {left:.0f} s \x1b[K")
        sys.stderr.flush()
        time.sleep(min(1.0, left))
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()
