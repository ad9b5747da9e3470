"""What the commands that read queues would read, from the fleet file alone (``--plan``)."""

from __future__ import annotations

from aicr.nvcf.queues import CREATION, TERMINATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.nvcf.fleet import Fleet


def drain_plan(fleet: Fleet, args: argparse.Namespace, settle: float) -> str:
    """The reads of ``drain``."""
    return (
        _identities(fleet, args)
        + f"twice, {settle:g} s apart:\n"
        + _clusters(fleet)
        + _servers(fleet)
        + _client(fleet, args)
        + "written: readings in the record folder; created elsewhere: nothing\n"
    )


def roll_plan(fleet: Fleet, args: argparse.Namespace) -> str:
    """The reads of ``nats-roll``."""
    return (
        _identities(fleet, args)
        + _clusters(fleet)
        + _servers(fleet)
        + _client(fleet, args)
        + "created: nothing\n"
    )


def recover_plan(fleet: Fleet, args: argparse.Namespace) -> str:
    """The reads of ``recover``."""
    streams = [CREATION] + [TERMINATION] * bool(args.termination)
    accounts = [
        f"account {one.nca_id}: {one.nvcf_cli} function deploy get, task get; one for each "
        "function version and task of a retained message\n"
        for one in fleet.control_plane.accounts
    ]
    return (
        _identities(fleet, args)
        + _client(fleet, args)
        + "".join(
            f"every retained message of {stream}, without consuming it\n" for stream in streams
        )
        + _clusters(fleet)
        + "".join(accounts)
        + "written: a new record folder; created elsewhere: nothing\n"
    )


def _identities(fleet: Fleet, args: argparse.Namespace) -> str:
    names = [fleet.control_plane.name, *(cluster.name for cluster in fleet.compute)]
    return "".join(
        f"{name}: read the UID of its kube-system namespace first; each read at most "
        f"{args.timeout_cluster:g} s, 3 tries\n"
        for name in names
    )


def _clusters(fleet: Fleet) -> str:
    return "".join(
        f"{cluster.name}: read NVCFBackends, ICMSRequests, Deployment nvca and its pods\n"
        for cluster in fleet.compute
    )


def _servers(fleet: Fleet) -> str:
    nats = fleet.control_plane.nats
    return (
        f"control-plane: read StatefulSet {nats.namespace}/{nats.stateful_set} and each of its "
        f"pods; /varz, /healthz and /jsz of each at port {nats.monitor_port} by pods/proxy, else "
        "by wget in nats-box\n"
    )


def _client(fleet: Fleet, args: argparse.Namespace) -> str:
    nats = fleet.control_plane.nats
    if nats.url or args.nats_context_file:
        return (
            f"NATS, directly: names of streams and consumers; information on {CREATION} and "
            f"{TERMINATION}; each answer at most {args.timeout_nats:g} s\n"
        )
    return (
        f"NATS, by commands in a ready pod {nats.selector}: nats stream ls; nats stream info, "
        f"consumer ls and consumer info of {CREATION} and {TERMINATION}; each at most "
        f"{args.timeout_exec:g} s\n"
    )
