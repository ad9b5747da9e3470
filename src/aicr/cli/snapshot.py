"""``aicr snapshot``: what the API alone can tell of a cluster, as ``aicr recipe --snapshot`` reads
it."""

from __future__ import annotations

from aicr.cli.connect import cluster_of, connect
from aicr.cli.flags import add_cluster_flags
from aicr.cli.output import warn, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

_EPILOG = """\
Examples:
  aicr snapshot -o snapshot.yaml
  aicr snapshot --context prod-west -o cm://gpu-operator/aicr-snapshot

aicr recipe --snapshot snapshot.yaml --intent training then reads it.

Reads the server's version and the nodes; starts no agent and changes nothing (but the ConfigMap
that -o cm:// names).

Exit codes: 0 done; 2 a bad invocation; 4 not allowed to read; 5 too slow; 6 not reachable.
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("--format", choices=("yaml", "json"), default="yaml", help="default: yaml")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file, or to cm://")
    add_cluster_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.cluster.nodes import read_nodes, read_version
    from aicr.documents.emit import json_text, yaml_text
    from aicr.recipe.measure import snapshot_values

    connection = connect(args, "snapshot")
    version = read_version(connection)
    values, doubts = snapshot_values(version, read_nodes(connection), connection.time)
    for doubt in doubts:
        warn(doubt)
    text = json_text(values) if args.format == "json" else yaml_text(values)
    write(text, args.output, name=f"snapshot.{args.format}", cluster=cluster_of(args))
    return 0
