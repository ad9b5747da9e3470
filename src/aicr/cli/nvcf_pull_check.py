"""``aicr nvcf pull-check``: can every node that runs tasks pull the images?"""

from __future__ import annotations

import os
import sys

from aicr.cli.flags import add_bool
from aicr.cli.nvcf_flags import (
    add_fleet_flags,
    add_format_flag,
    add_read_flags,
    add_registry_flags,
    add_seconds,
    answer,
    end_by_sigterm,
    patience_of,
    planned,
    refuse_variables,
    registry_of,
)
from aicr.cli.nvcf_task_images import add_inventory_flag, add_render_flag
from aicr.cli.output import note, warn, write
from aicr.errors import AicrError, invalid
from aicr.nvcf import outcome as outcomes
from aicr.nvcf.to_copy import to_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from aicr.artifact.image_ref import ImageRef
    from aicr.nvcf.evidence import Record
    from aicr.nvcf.fleet import ComputeCluster, Fleet
    from aicr.nvcf.inventory import Comparison
    from aicr.nvcf.kube import Opened
    from aicr.nvcf.mirror_check import MirrorAnswer
    from aicr.nvcf.outcome import Outcome
    from aicr.nvcf.pull_probe import Answered

ROLE = "docs/nvcf/roles/pull-check.yaml"


def failure_code(arguments: list[str], code: int) -> int:
    """Without outcomes where the command only cleans up."""
    if any(word.startswith("--clean-up") for word in arguments):
        return outcomes.plain_failure_code(arguments, code)
    return outcomes.failure_code(arguments, code)


_EPILOG = """\
Examples:
  aicr nvcf pull-check --render out --inventory inventory.json
  aicr nvcf pull-check --render out --sample --cluster gpu-east-1
  aicr nvcf pull-check --render out --only-failed 20261130-194303-da0261
  aicr nvcf pull-check --clean-up
"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.add_argument("image", nargs="*", metavar="IMAGE", help="instead of --render")
    add_render_flag(parser, required=False)
    add_inventory_flag(parser)
    add_bool(parser, "--include-ess-agent", help="the third image too, of tasks with secrets")
    add_fleet_flags(parser)
    add_bool(parser, "--sample", help="one Ready node of each pool and architecture")
    parser.add_argument(
        "--only-failed", metavar="RUN", help="ask again what this run did not answer well"
    )
    add_bool(parser, "--keep-failed", help="leave the pods of failed probes, and list them")
    parser.add_argument(
        "--record", metavar="DIR",
        help="the record folder for the evidence (default: nvcf-record/pull-check/<run> beside "
        "the fleet file)",
    )  # fmt: skip
    add_bool(parser, "--clean-up", help="remove probe pods that earlier runs left, nothing else")
    parser.add_argument("--run", metavar="ID", help="with --clean-up: the pods of this run")
    parser.add_argument(
        "--registry", choices=("auto", "required", "off"), default="auto",
        help="read digests and architectures from the registry; auto goes on, with a note, where "
        "it cannot be read from here (default: auto)",
    )  # fmt: skip
    add_bool(parser, "--plan", help="print what would be read and created, and do nothing")
    add_format_flag(parser)
    add_read_flags(parser)
    group = parser.add_argument_group("probes")
    group.add_argument(
        "--parallel", type=_count, default=32, metavar="N", help="pods at once (default: 32)"
    )
    for name, default, what in (
        ("pull", 180.0, "for one pull"),
        ("delete", 30.0, "for a pod to be gone"),
        ("events", 3.0, "for the events of a pull that succeeded"),
    ):
        add_seconds(group, f"--timeout-{name}", default, what)
    add_registry_flags(parser)


def run(args: argparse.Namespace) -> int:
    from aicr.nvcf.fleet_file import read_fleet
    from aicr.nvcf.plan import pull_plan

    end_by_sigterm()
    fleet = read_fleet(args.fleet)
    clusters = fleet.chosen(args.cluster)
    refuse_variables(args, "clean_up")
    if args.clean_up:
        return _clean_up(args, clusters)
    if args.run:
        raise invalid("--run: is for --clean-up alone", hint="--only-failed repeats a run")
    if bool(args.image) == bool(args.render):
        raise invalid("expected either --render DIR or images")
    images = _images(args)
    if isinstance(images, str):
        return answer(
            _early("no-images", images, "correct the render, and repeat"),
            args,
        )
    if planned(args):
        write(pull_plan(clusters, [image.text for image in images], args))
        return 0
    try:
        comparisons = _compared(args, images)
    except AicrError as error:
        if not 4 <= error.exit_code <= 7:
            raise
        return answer(
            _early("unknown", error.message, "make it readable, and repeat"),
            args,
        )
    bad = [one.why for one in comparisons if not one.agrees]
    if bad:
        action = "render the target release, or pass the inventory of that release"
        return answer(_early("inventory-differs", "; ".join(bad), action), args)
    return _check(args, fleet, clusters, images, comparisons)


def _check(
    args: argparse.Namespace,
    fleet: Fleet,
    clusters: Sequence[ComputeCluster],
    images: Sequence[ImageRef],
    comparisons: Sequence[Comparison],
) -> int:
    from aicr.nvcf.kube import open_fleet
    from aicr.nvcf.pull_check import (
        expected_images,
        identity_outcome,
        pull_outcome,
        read_done,
        write_result,
    )
    from aicr.nvcf.pull_probe import Limits
    from aicr.nvcf.pull_run import PullRun

    opened = open_fleet(clusters, role=ROLE, patience=patience_of(args))
    stopped = identity_outcome(opened)
    if stopped is not None:
        return answer(stopped, args)
    done = set()
    if args.only_failed:
        with _record_of(args, fleet, args.only_failed, new=False) as before:
            done = read_done(before, os.path.basename(args.only_failed.rstrip("/")))
    answers, doubts = _from_registry(args, images, comparisons)
    if doubts and args.registry == "required":
        action = "make the registry readable from here, or pass --registry off"
        return answer(_early("unknown", "; ".join(doubts), action), args)
    run_id = _new_run()
    with _record_of(args, fleet, run_id, new=True) as record:
        for said in record.notes:
            warn(said)
        running = PullRun(
            run_id,
            list(opened.found.values()),
            images,
            record=record,
            limits=Limits(
                pull=args.timeout_pull,
                delete=args.timeout_delete,
                events=args.timeout_events,
                parallel=args.parallel,
            ),
            expected=expected_images(images, comparisons, answers),
            sample=args.sample,
            keep_failed=args.keep_failed,
            done=done,
            progress=_progress,
        )
        code = _run(running)
        outcome = pull_outcome(
            running,
            opened,
            again=_again(args),
            done=done,
            sample=args.sample,
            notes=[
                *(n for one in comparisons for n in one.notes),
                *doubts,
                f"evidence: {record.path}",
            ],
        )
        write_result(record, running, outcome, done)
    printed = answer(outcome, args)
    return code or printed


def _run(running: object) -> int:
    """Plan and run; the exit code that a signal asks for, 0 without one."""
    from aicr.nvcf.interrupts import Interrupts
    from aicr.nvcf.pull_run import PullRun

    assert isinstance(running, PullRun)

    def left() -> str:
        pods = [f"{one.cluster} {one.namespace}/{one.name}" for one in running.live()]
        clean = to_copy("pull-check", "--clean-up", "--run", running.id)
        return f"{', '.join(pods) or 'no pod that is known'} ({clean} removes what is there)"

    with Interrupts(running.stop, left) as interrupts:
        note(f"run {running.id}")
        running.plan()
        running.run()
    return interrupts.code


def _images(args: argparse.Namespace) -> list[ImageRef] | str:
    """The images to ask for; what is wrong with the render where it gives none."""
    from aicr.cli.nvcf_mirror_check import parsed
    from aicr.nvcf.render import TASKS, NoGo, read_render
    from aicr.nvcf.task_images import task_images

    if args.image:
        return parsed(args.image)
    try:
        rendered = read_render(args.render, TASKS)
        found = task_images(rendered, with_ess_agent=args.include_ess_agent)
    except NoGo as error:
        return str(error)
    for one in rendered.notes:
        note(one)
    if found.ess_agent is not None and not args.include_ess_agent:
        warn(f"tasks with secrets pull {found.ess_agent.text} too: --include-ess-agent checks it")
    return found.chosen(with_ess_agent=args.include_ess_agent)


def _compared(args: argparse.Namespace, images: Sequence[ImageRef]) -> list[Comparison]:
    from aicr.nvcf.inventory import compare, read_inventory

    if args.inventory is None:
        return []
    inventory = read_inventory(args.inventory)
    return [compare(image, inventory) for image in images]


def _from_registry(
    args: argparse.Namespace, images: Sequence[ImageRef], comparisons: Sequence[Comparison]
) -> tuple[list[MirrorAnswer], list[str]]:
    """What the registry has, and why that is not known of an image."""
    from aicr.nvcf.mirror_check import mirror_check

    if args.registry == "off":
        return [], []
    registry = registry_of(args)
    answers = [mirror_check(registry, image, architectures=()) for image in images]
    doubts = [
        f"digest-not-compared with the registry: {one.why}" for one in answers if one.found is None
    ]
    return answers, doubts


def _record_of(args: argparse.Namespace, fleet: Fleet, run: str, *, new: bool) -> Record:
    """The record folder of a run."""
    from aicr.nvcf.evidence import append_record, create_record, open_record

    uid = fleet.control_plane.cluster_uid
    if args.record:
        record = open_record(args.record, uid) if new else append_record(args.record, "")
        if new and not record.writable:
            raise AicrError(
                "CONFLICT",
                f"--record {args.record}: another command is writing there",
                hint="pass another folder, or none: then each run has its own",
            )
        return record
    base = os.path.join(fleet.folder, "nvcf-record", "pull-check")
    if not new:
        return append_record(run if os.sep in run else os.path.join(base, run), "")
    os.makedirs(base, mode=0o700, exist_ok=True)
    return create_record(os.path.join(base, run), uid)


def _clean_up(args: argparse.Namespace, clusters: Sequence[ComputeCluster]) -> int:
    from aicr.nvcf.clean_up import clean_up, clean_up_text
    from aicr.nvcf.kube import open_fleet

    if planned(args):
        for cluster in clusters:
            write(
                f"{cluster.name}: list pods of the tool in {cluster.task_namespace}, delete them\n"
            )
        return 0
    opened = open_fleet(clusters, role=ROLE, patience=patience_of(args))
    if opened.wrong:
        return answer(_wrong(opened), args)
    found = []
    first: AicrError | None = next(iter(opened.failed.values()), None)
    for cluster in clusters:
        kube = opened.found.get(cluster.name)
        if kube is None:
            continue
        try:
            found += clean_up(kube, cluster.task_namespace, args.run or "")
        except AicrError as error:
            first = first or error
    write(clean_up_text(found))
    if first is not None:
        raise first
    return 2 if any(one.why_not for one in found) else 0


def _wrong(opened: Opened) -> Outcome:
    from aicr.nvcf.pull_check import identity_outcome

    outcome = identity_outcome(opened, pinned=False)
    assert outcome is not None
    return outcome


def _early(word: str, why: str, action: str) -> Outcome:
    """An answer before anything was created."""
    from aicr.nvcf.outcome import Fact, Outcome

    return Outcome(
        command="pull-check",
        answer=word,
        go=False,
        next_action=action,
        do_not=["Do not go on with the upgrade."],
        next_command="aicr nvcf pull-check --help",
        notes=[why, "nothing was created"],
        facts=[Fact(word, why, "render, inventory or registry")],
    )


def _again(args: argparse.Namespace) -> str:
    """This command again, to copy."""
    words = ["--render", args.render] if args.render else [*args.image]
    words += ["--inventory", args.inventory] if args.inventory else []
    words += ["--record", args.record] if args.record else []
    words += [word for name in args.cluster for word in ("--cluster", name)]
    words += ["--include-ess-agent"] if args.include_ess_agent else []
    return to_copy("pull-check", *words)


def _progress(done: int, total: int, answered: Answered) -> None:
    unit, reading = answered.unit, answered.reading
    cause = f" ({reading.cause})" if reading.cause else ""
    sys.stderr.write(
        f"[{done}/{total}] {unit.cluster.name} {unit.node} {unit.image.text}: "
        f"{reading.outcome}{cause}\n"
    )


def _new_run() -> str:
    """An id that sorts by time, and is a label's value."""
    import secrets
    import time

    return time.strftime("%Y%m%d-%H%M%S-", time.gmtime()) + secrets.token_hex(3)


def _count(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 1000:
        raise invalid(f'expected a number from 1 to 1000, found "{text}"')
    return int(text)
