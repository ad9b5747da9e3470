"""``aicr nvcf mirror-plan``: what to copy where before the nodes are asked."""

from __future__ import annotations

import sys

from aicr.cli.flags import add_bool
from aicr.cli.nvcf_task_images import add_inventory_flag, add_render_flag
from aicr.cli.output import note, write
from aicr.nvcf.outcome import plain_failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

failure_code = plain_failure_code


_EPILOG = """\
Examples:
  aicr nvcf mirror-plan --render out --inventory inventory.json --fleet fleet.yaml
  aicr nvcf mirror-plan --render out --inventory inventory.json --format skopeo | sh
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_render_flag(parser)
    add_inventory_flag(parser, required=True)
    add_bool(parser, "--include-ess-agent", help="the third image too, of tasks with secrets")
    parser.add_argument(
        "--arch", action="append", default=[], metavar="ARCH",
        help="a required architecture; may be repeated (default: those of --fleet, else amd64)",
    )  # fmt: skip
    parser.add_argument("--fleet", metavar="FILE", help="take the architectures from this fleet")
    parser.add_argument(
        "--format", choices=("text", "json", "skopeo", "regctl"), default="text",
        help="text, JSON, or the commands of a copying tool (default: text)",
    )  # fmt: skip


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.inventory import compare, read_inventory
    from aicr.nvcf.mirror_plan import apart, plan_copies, plan_text
    from aicr.nvcf.render import TASKS, NoGo, read_render
    from aicr.nvcf.task_images import task_images

    try:
        rendered = read_render(args.render, TASKS)
        found = task_images(rendered, with_ess_agent=args.include_ess_agent)
    except NoGo as error:
        sys.stderr.write(f"aicr: error: {error}\n")
        return 2
    inventory = read_inventory(args.inventory)
    images = found.chosen(with_ess_agent=args.include_ess_agent)
    compared = [compare(image, inventory) for image in images]
    bad = [one.why for one in compared if not one.agrees]
    for why in bad:
        sys.stderr.write(f"aicr: no-go: {why}\n")
    if bad:
        return 2
    for one in compared:
        for said in one.notes:
            note(said)
    copies = plan_copies(compared, architectures=architectures_of(args), settings=rendered.settings)
    write(plan_text(copies, apart(inventory), args.format))
    return 0


def architectures_of(args: argparse.Namespace) -> list[str]:
    """The architectures that are required."""
    if args.arch:
        return list(dict.fromkeys(args.arch))
    if args.fleet:
        from aicr.nvcf.fleet_file import read_fleet

        fleet = read_fleet(args.fleet)
        return sorted({one for cluster in fleet.compute for one in cluster.architectures})
    return ["amd64"]
