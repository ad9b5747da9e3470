"""``aicr nvcf status``: what is behind each entry of the fleet file."""

from __future__ import annotations

from aicr.cli.flags import add_bool
from aicr.cli.nvcf_flags import (
    add_fleet_flags,
    add_format_flag,
    add_plan_flag,
    add_read_flags,
    answer,
    end_by_sigterm,
    patience_of,
    planned,
)
from aicr.cli.output import note, write
from aicr.nvcf.outcome import failure_code as failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.nvcf.fleet import Fleet
    from aicr.nvcf.kube import Entry, Opened

ROLE = "docs/nvcf/roles/status.yaml"


_EPILOG = """\
Examples:
  aicr nvcf status
  aicr nvcf status --fleet staging.yaml --pin
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_fleet_flags(parser, choose=False)
    add_bool(parser, "--pin", help="write the UIDs that were found into entries that state none")
    add_plan_flag(parser)
    add_format_flag(parser)
    add_read_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.fleet_file import read_fleet
    from aicr.nvcf.plan import status_plan

    end_by_sigterm()
    fleet = read_fleet(args.fleet)
    if planned(args):
        write(status_plan(fleet, args))
        return 0
    from aicr.nvcf.kube import open_fleet
    from aicr.nvcf.side_by_side import side_by_side
    from aicr.nvcf.status import look, status_outcome

    opened = open_fleet(entries_of(fleet), role=ROLE, patience=patience_of(args))
    seen = []
    if not opened.wrong:  # else nothing more is read, of no cluster
        if args.pin and opened.unpinned:
            fleet = _pin(args.fleet, fleet, opened)
        seen = side_by_side(look, list(opened.found.values()), 32)
    return answer(status_outcome(fleet, opened, seen), args)


def entries_of(fleet: Fleet) -> list[Entry]:
    """Every entry of the fleet file, the control plane first."""
    return [fleet.control_plane, *fleet.compute]


def _pin(path: str, fleet: Fleet, opened: Opened) -> Fleet:
    """Write the UIDs that were found; the fleet as it is then."""
    from aicr.artifact.atomic import write_file
    from aicr.nvcf.fleet_file import fleet_from
    from aicr.nvcf.fleet_text import pinned

    with open(path, "rb") as file:
        data = file.read()
    uids = {entry.line: opened.unpinned[entry.name] for entry in entries_of(fleet)
            if entry.name in opened.unpinned}  # fmt: skip
    text = pinned(data, fleet, uids)
    write_file(path, text)
    note(f"{path}: {len(uids)} clusterUids written")
    new = fleet_from(text, path)
    for entry in entries_of(new):
        if entry.name in opened.found:
            opened.found[entry.name].entry = entry
    opened.unpinned.clear()
    return new
