"""``aicr nvcf agents``: which agent runs in each compute cluster."""

from __future__ import annotations

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
    from collections.abc import Sequence

    from aicr.nvcf.agents import Agent
    from aicr.nvcf.fleet import ComputeCluster, Fleet
    from aicr.nvcf.kube import Opened

ROLE = "docs/nvcf/roles/agents.yaml"


_EPILOG = """\
Examples:
  aicr nvcf agents
  aicr nvcf agents --save registrations.json
  aicr nvcf agents --expect registrations.json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    add_fleet_flags(parser)
    parser.add_argument(
        "--inventory", metavar="FILE|URL",
        help="the compute plane's inventory, for images that have only a digest",
    )  # fmt: skip
    parser.add_argument("--save", metavar="FILE", help="write the clusters' registrations")
    parser.add_argument(
        "--expect", metavar="FILE", help="compare the registrations with what --save wrote"
    )
    add_plan_flag(parser)
    add_format_flag(parser)
    add_read_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.fleet_file import read_fleet
    from aicr.nvcf.plan import agents_plan

    end_by_sigterm()
    fleet = read_fleet(args.fleet)
    clusters = fleet.chosen(args.cluster)
    if planned(args):
        write(agents_plan(clusters, args))
        return 0
    from aicr.nvcf.registrations import registration_differences, registrations_text
    from aicr.nvcf.roll_report import agents_outcome, wrong_cluster_outcome

    digests = digests_of(args, fleet)
    saved = b""
    if args.expect:
        from aicr.artifact.read import read_path

        saved = read_path(args.expect, "--expect")
    opened, agents = read_agents(args, clusters, digests)
    if opened.wrong:
        return answer(wrong_cluster_outcome("agents", opened), args)
    notes = [f"{name}: not pinned, it is {uid}" for name, uid in opened.unpinned.items()]
    differences = []
    if args.expect:
        differences = registration_differences(saved, args.expect, agents, fleet)
    if args.save:
        write(registrations_text(agents), args.save)
        note(f"{args.save}: the registrations of {len(agents)} clusters")
    return answer(
        agents_outcome(agents, opened, differences=differences, notes=notes),
        args,
    )


def digests_of(args: argparse.Namespace, fleet: Fleet) -> dict[str, str]:
    """The versions of agent images by digest: of the inventory, then of the fleet file."""
    from aicr.nvcf.inventory import agent_digests, read_inventory

    found = agent_digests(read_inventory(args.inventory)) if args.inventory is not None else {}
    return found | dict(fleet.agent_digests)


def read_agents(
    args: argparse.Namespace, clusters: Sequence[ComputeCluster], digests: dict[str, str]
) -> tuple[Opened, list[Agent]]:
    """The agent of every cluster; none is read where one is another cluster than its entry's."""
    from aicr.nvcf.agent_starts import agents_of
    from aicr.nvcf.kube import open_fleet

    opened = open_fleet(clusters, role=ROLE, patience=patience_of(args))
    return opened, [] if opened.wrong else agents_of(opened, clusters, digests)
