"""``aicr nvcf nats-roll``: may NATS restart, as far as the agents go?"""

from __future__ import annotations

from aicr.cli.flags import add_bool
from aicr.cli.nvcf_agents import digests_of, read_agents
from aicr.cli.nvcf_flags import (
    add_fleet_flags,
    add_format_flag,
    add_read_flags,
    answer,
    end_by_sigterm,
)
from aicr.cli.output import write
from aicr.nvcf.outcome import failure_code as failure_code

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


_EPILOG = """\
Examples:
  aicr nvcf nats-roll
  aicr nvcf nats-roll --inventory nvcf-compute-plane-stack-inventory.json --format json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_fleet_flags(parser, choose=False)
    parser.add_argument(
        "--inventory", metavar="FILE|URL",
        help="the compute plane's inventory, for images that have only a digest",
    )  # fmt: skip
    add_bool(parser, "--plan", help="print what would be read, and read nothing")
    add_format_flag(parser)
    add_read_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf import clock
    from aicr.nvcf.fleet_file import read_fleet
    from aicr.nvcf.plan import agents_plan

    end_by_sigterm()
    fleet = read_fleet(args.fleet)
    if args.plan:
        write(agents_plan(fleet.compute, args))
        return 0
    from aicr.nvcf.roll_gate import gate_outcome, roll_gate, wrong_cluster_outcome

    opened, agents = read_agents(args, fleet.compute, digests_of(args, fleet))
    if opened.wrong:
        return answer(wrong_cluster_outcome("nats-roll", opened), args.format, fleet=args.fleet)
    doubts = [f"unpinned: {name} is {uid}" for name, uid in opened.unpinned.items()]
    seconds, which = opened.skew
    if seconds > clock.MOST_SKEW:
        doubts.append(f"the clocks of {which} are {seconds:.0f} s apart")
    gate = roll_gate(agents, None, fleet.retired, doubts)
    return answer(gate_outcome(gate, agents, opened), args.format, fleet=args.fleet)
