"""``--from cluster`` of ``aicr upgrade-check``: what is needed before the cluster is asked, and the
FROM side that it then gives."""

from __future__ import annotations

from aicr.cli.connect import connect
from aicr.cli.output import warn
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.catalog.layers import Catalog
    from aicr.cluster.connection import Connection
    from aicr.upgrade.sides import Side
    from aicr.upgrade.source import SourceBlock

CLUSTER = "cluster"


def require(args: argparse.Namespace) -> None:
    """Raise INVALID_REQUEST where --to is missing, or --deployer and --to cannot name it."""
    if args.after is None:
        raise invalid(
            "--to is required with --from cluster: a cluster carries no criteria to resolve again",
            hint="pass the recipe or bundle that you intend to move to",
        )
    if not args.deployer and args.after.startswith("cm://"):
        raise _no_deployer()


def side(
    args: argparse.Namespace, new: Side, catalog: Catalog, deployer: str
) -> tuple[Side, SourceBlock, Connection]:
    """What is installed, how it was read, and the connection that it was read through."""
    from aicr.upgrade.cluster_side import installed_recipe, read_installed
    from aicr.upgrade.installed import known_components
    from aicr.upgrade.sides import Side
    from aicr.upgrade.source import SourceBlock

    if not deployer:
        raise _no_deployer()
    refs = new.recipe.components
    known = known_components(catalog, refs)
    connection = connect(args, "upgrade-check")
    installed = read_installed(connection, deployer, known, excluded=args.exclude)
    recipe, notes = installed_recipe(installed, known, {ref.name: ref for ref in refs})
    for message in (*installed.notes, *notes):
        warn(message)
    source = SourceBlock(installed, installed.failures(allow_empty=args.allow_empty))
    return Side(CLUSTER, recipe), source, connection


def _no_deployer() -> Exception:
    from aicr.artifact.deployers import DEPLOYERS

    return invalid(
        "--deployer is required with --from cluster: each deployer keeps its own record of what it "
        "installed",
        hint=f"one of {', '.join(DEPLOYERS)}, or a --to bundle that names it",
    )
