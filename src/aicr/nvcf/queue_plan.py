"""What the commands that read queues would read, from the fleet file alone (``--plan``)."""

from __future__ import annotations

from aicr.nvcf.queues import CREATION, TERMINATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from aicr.nvcf.fleet import Fleet

_KEPT = "written: the record folder; created elsewhere: nothing\n"


def drain_plan(fleet: Fleet, args: argparse.Namespace, settle: float) -> str:
    """The reads of ``drain``."""
    return _identities(fleet, args) + _readings(fleet, args, f"twice, {settle:g} s apart") + _KEPT


def gate_plan(fleet: Fleet, args: argparse.Namespace, settle: float) -> str:
    """The reads of ``gate``: the agents and tasks, then those of ``drain``."""
    tasks = "task list (QUEUED, LAUNCHED, RUNNING)"
    return (
        _identities(fleet, args)
        + _agents(fleet)
        + ("" if args.allow_running_tasks else _accounts(fleet, args, tasks))
        + _readings(fleet, args, f"twice, {settle:g} s apart")
        + _KEPT
    )


def preflight_plan(fleet: Fleet, args: argparse.Namespace) -> str:
    """The reads of ``preflight``."""
    receipt = "" if args.old else "control-plane: read ConfigMap nvcf/nvcf-upgrade-receipt\n"
    remembered = len(args.record_function) + len(args.record_task)
    return (
        _identities(fleet, args)
        + receipt
        + (f"read the render {args.render}\n" if args.render else "")
        + (f"read the inventory {args.inventory}\n" if args.inventory else "")
        + _agents(fleet)
        + _readings(fleet, args, "once")
        + (_accounts(fleet, args, "function deploy get, task get") if remembered else "")
        + _KEPT
    )


def roll_plan(fleet: Fleet, args: argparse.Namespace) -> str:
    """The reads of ``nats-roll``."""
    return (
        _identities(fleet, args)
        + _agents(fleet)
        + _readings(fleet, args, "once")
        + "created: nothing\n"
    )


def recover_plan(fleet: Fleet, args: argparse.Namespace) -> str:
    """The reads of ``recover``."""
    streams = [CREATION] + [TERMINATION] * bool(args.termination)
    words = "function deploy get, task get, once for each work that no request explains"
    return (
        _identities(fleet, args)
        + _client(fleet, args)
        + "".join(
            f"every retained message of {stream}, without consuming it\n" for stream in streams
        )
        + _requests(fleet)
        + _accounts(fleet, args, words)
        + _agents(fleet)
        + _KEPT
    )


def verify_plan(fleet: Fleet, args: argparse.Namespace) -> str:
    """The reads of ``verify``."""
    invoked = f"sent: the invocation of account {args.invoke}, once\n" if args.invoke else ""
    return (
        "record: read what preflight recorded\n"
        + _accounts(fleet, args, "function deploy get, task get")
        + invoked
        + "written: nothing; created: nothing\n"
    )


def _identities(fleet: Fleet, args: argparse.Namespace) -> str:
    names = [fleet.control_plane.name, *(cluster.name for cluster in fleet.compute)]
    return "".join(
        f"{name}: read the UID of its kube-system namespace first; each read at most "
        f"{args.timeout_connect:g} s to connect and {args.timeout_read:g} s to answer, 3 tries\n"
        for name in names
    )


def _readings(fleet: Fleet, args: argparse.Namespace, often: str) -> str:
    return f"{often}:\n" + _requests(fleet) + _servers(fleet) + _client(fleet, args)


def _requests(fleet: Fleet) -> str:
    return "".join(
        f"{cluster.name}: read NVCFBackends (its cluster id) and ICMSRequests\n"
        for cluster in fleet.compute
    )


def _agents(fleet: Fleet) -> str:
    return "".join(
        f"{cluster.name}: read NVCFBackends, Deployment nvca and its pods\n"
        for cluster in fleet.compute
    )


def _accounts(fleet: Fleet, args: argparse.Namespace, words: str) -> str:
    return "".join(
        f"account {one.nca_id}: {one.nvcf_cli} {words}; each at most {args.timeout_account:g} s\n"
        for one in fleet.control_plane.accounts
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
