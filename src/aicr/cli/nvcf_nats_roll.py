"""``aicr nvcf nats-roll``: may NATS restart, as far as the agents and their consumers go?"""

from __future__ import annotations

from aicr.cli.nvcf_agents import digests_of
from aicr.cli.nvcf_flags import (
    add_fleet_flags,
    add_format_flag,
    add_plan_flag,
    answer,
    end_by_sigterm,
    planned,
)
from aicr.cli.nvcf_nats import add_access_flags, reach_of
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
    add_plan_flag(parser)
    add_format_flag(parser)
    add_access_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.fleet_file import read_fleet

    end_by_sigterm()
    fleet = read_fleet(args.fleet)
    if planned(args):
        from aicr.nvcf.queue_plan import roll_plan

        write(roll_plan(fleet, args))
        return 0
    from aicr.nvcf.agent_starts import agents_of
    from aicr.nvcf.reading import Sources, take_reading
    from aicr.nvcf.roll_gate import consumers_of, roll_of
    from aicr.nvcf.roll_report import gate_outcome, wrong_cluster_outcome

    digests = digests_of(args, fleet)
    reach = reach_of(args, fleet)
    opened = reach.opened
    if opened.wrong:
        return answer(wrong_cluster_outcome("nats-roll", opened), args)
    agents = agents_of(opened, fleet.compute, digests)
    sources = Sources()
    reading = take_reading(reach, set(), sources)
    gate = roll_of(reach, agents, reading)
    outcome = gate_outcome(gate, agents, opened, consumers_of(reading), str(sources), reading.at)
    return answer(outcome, args)
