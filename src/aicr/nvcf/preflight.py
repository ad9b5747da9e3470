"""What has to be ready before maintenance, one check after the other in the runbook's order.

Callers are not paused yet: queues are read once and never decide; that reading becomes the
baseline.
"""

from __future__ import annotations

import json

from aicr.cluster.failures import ApiError
from aicr.errors import NOT_FOUND, AicrError
from aicr.nvcf import clock
from aicr.nvcf.agent_starts import read_agents
from aicr.nvcf.baseline import read_live, read_past, write_baseline
from aicr.nvcf.outcome import CANNOT_VERIFY, Outcome
from aicr.nvcf.page import (
    FAILED,
    NOT_APPLICABLE,
    NOT_YET_DUE,
    PASSED,
    UNVERIFIED,
    Check,
    facts_of,
    look,
    roll_check,
    table_of,
)
from aicr.nvcf.pull_check import newest_result
from aicr.nvcf.reading import Sources, take_reading
from aicr.nvcf.stack_versions import task_images_apply
from aicr.nvcf.to_copy import to_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.nvcf.evidence import Record
    from aicr.nvcf.queues import Reading
    from aicr.nvcf.reach import Reach

READY = "ready"
NOT_READY = "not-ready"
PULL_FRESH = 24 * 3600.0
RECEIPT = ("nvcf", "nvcf-upgrade-receipt", "installed_stack_version")


class Plan:
    """What is to be checked. ``old`` is "" for what the receipt says. ``tasks`` is False where the
    operator stated that none are used. ``remember`` are workloads that ``verify`` compares."""

    __slots__ = ("account_seconds", "inventory", "new", "old", "remember", "render", "tasks")

    def __init__(
        self,
        *,
        old: str,
        new: str,
        render: str = "",
        inventory: str = "",
        tasks: bool = True,
        remember: Sequence[tuple[str, ...]] = (),
        account_seconds: float = 30.0,
    ) -> None:
        self.old = old
        self.new = new
        self.render = render
        self.inventory = inventory
        self.tasks = tasks
        self.remember = remember
        self.account_seconds = account_seconds


def preflight(reach: Reach, record: Record | None, plan: Plan) -> tuple[list[Check], float]:
    """Every check, and the servers' time. Raises AicrError for a record that cannot be written."""
    old, version = _version(reach, plan)
    checks = [version]
    checks += _images(reach, record, plan, old)
    agents = read_agents(reach)
    reading = take_reading(reach, set(), Sources())
    doubts = [str(one) for one in reach.doubts()]
    checks.append(roll_check(reach, agents, reading))
    checks.append(_baseline(reach, record, reading, doubts))
    checks.append(_queues(reading))
    checks += [_remembered(one, reach, record, plan) for one in plan.remember]
    return checks, reading.at


def preflight_page(checks: Sequence[Check], at: float, *, record: str) -> Outcome:
    deciding = [one for one in checks if one.result != NOT_YET_DUE]
    failed = [one for one in deciding if one.result == FAILED]
    unknown = [one for one in deciding if one.result == UNVERIFIED]
    answer = NOT_READY if failed else CANNOT_VERIFY if unknown else READY
    action = "pause callers, then drain: every queue has to be empty before NATS rolls"
    if failed or unknown:
        first = (failed or unknown)[0]
        action = f"{first.name}: {first.then or first.why}; then repeat"
    return Outcome(
        command="preflight",
        answer=answer,
        go=answer == READY,
        as_of=clock.shown(at),
        clock={"source": "NATS servers (varz.now)"} if at else {},
        next_action=action,
        next_command=to_copy("drain" if answer == READY else "preflight", "--record", record),
        do=[f"{action[0].upper()}{action[1:]}."],
        do_not=("Do not roll NATS before the complete drain gate has passed.",),
        paused=answer == READY,
        tables=[table_of(checks)],
        facts=facts_of(checks),
        notes=["queues are not due yet: callers are not paused, so that they decide nothing here"],
    )


def _version(reach: Reach, plan: Plan) -> tuple[str, Check]:
    name = "installed stack"
    if plan.old:
        why = f"{plan.old}, as given; target {plan.new}"
        return plan.old, Check(name, PASSED, why, source="--from")
    namespace, config_map, key = RECEIPT
    try:
        found = reach.control.get("configmaps", namespace, config_map)
    except ApiError as error:
        if error.code == NOT_FOUND and error.kind != "namespaces":
            return "", Check(name, PASSED, "no upgrade receipt: a 0.x install", source=config_map)
        return "", Check(name, UNVERIFIED, error.message, then="pass --from VERSION")
    except AicrError as error:
        return "", Check(name, UNVERIFIED, error.message, then="pass --from VERSION")
    version = str((found.get("data") or {}).get(key) or "")
    if not version:
        return "", Check(name, UNVERIFIED, f"{config_map} has no {key}", then="pass --from VERSION")
    return version, Check(name, PASSED, f"{version}; target {plan.new}", source=config_map)


def _images(reach: Reach, record: Record | None, plan: Plan, old: str) -> list[Check]:
    names = ("task worker images", "pull check")
    if not plan.tasks:
        return [Check(one, NOT_APPLICABLE, "stated: no tasks are used") for one in names]
    if not task_images_apply(old, plan.new):
        return [Check(one, NOT_APPLICABLE, "they do not change on this path") for one in names]
    resolved, images = _resolved(plan)
    clusters = [one.name for one in reach.fleet.compute]
    return [resolved, _pulled(record, [(name, image) for name in clusters for image in images])]


def _resolved(plan: Plan) -> tuple[Check, list[str]]:
    """The check, and the images of the target; none where they are not known."""
    from aicr.nvcf.inventory import compare, read_inventory
    from aicr.nvcf.render import TASKS, NoGo, read_render
    from aicr.nvcf.task_images import task_images

    name, then = "task worker images", "aicr nvcf task-images"
    if not plan.render:
        return Check(name, UNVERIFIED, "no render of the target", then="pass --render DIR"), []
    try:
        images = task_images(read_render(plan.render, TASKS)).chosen(with_ess_agent=False)
        texts = [image.text for image in images]
        if plan.inventory:
            inventory = read_inventory(plan.inventory)
            compared = [compare(image, inventory, TASKS.name) for image in images]
            bad = [one.why for one in compared if not one.agrees]
            if bad:
                return Check(name, FAILED, bad[0], then=then, source=plan.render), texts
    except NoGo as error:
        return Check(name, FAILED, str(error), then=then, source=plan.render), []
    except AicrError as error:
        return Check(name, UNVERIFIED, error.message, then=then), []
    shown = ", ".join(texts)
    if not plan.inventory:
        return Check(
            name, UNVERIFIED, f"{shown}: not compared with the target's inventory",
            then="pass --inventory FILE", source=plan.render,
        ), texts  # fmt: skip
    return Check(name, PASSED, shown, source=plan.render), texts


def _pulled(record: Record | None, wanted: Sequence[tuple[str, str]]) -> Check:
    """What the newest pull check in the record found of these clusters and images; preflight
    itself creates no pods."""
    import time

    name = "pull check"
    then = "aicr nvcf pull-check --render DIR, with the same --record"
    try:
        newest = newest_result(record) if record is not None else None
        age = time.time() - clock.from_rfc3339(newest.written, name) if newest is not None else 0.0
    except AicrError as error:
        return Check(name, UNVERIFIED, error.message, then=then)
    if newest is None:
        return Check(name, UNVERIFIED, "no pull check is in the record", then=then)
    if age > PULL_FRESH:
        return Check(name, UNVERIFIED, f"{newest.shown}: older than a day", then=then)
    if newest.exit != 0:
        return Check(name, FAILED, newest.shown, then=then, source="record")
    if not wanted:
        why = f"{newest.shown}: which images the target needs is not known"
        return Check(name, UNVERIFIED, why, then="pass --render DIR")
    missing = [f"{image} in {cluster}" for cluster, image in wanted
               if not newest.covers(cluster, image)]  # fmt: skip
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        why = f"{newest.shown}: it did not ask for {missing[0]}{more}"
        return Check(name, UNVERIFIED, why, then=then)
    return Check(name, PASSED, newest.shown, source="record")


def _baseline(
    reach: Reach, record: Record | None, reading: Reading, doubts: Sequence[str]
) -> Check:
    name = "baseline of the queues"
    then = "aicr nvcf drain names what could not be read"
    if record is None or not record.writable:
        return Check(name, UNVERIFIED, "there is no record that can be written", then=then)
    if read_past(record).timeline:
        return Check(name, PASSED, "there is one already; drain --new-baseline replaces it")
    if reading.problems or doubts:
        why = doubts[0] if doubts else str(reading.problems[0])
        return Check(name, UNVERIFIED, why, then=then)
    try:
        access = reach.access()
        try:
            live = read_live(access, reading)
        finally:
            access.close()
    except AicrError as error:
        return Check(name, UNVERIFIED, error.message, then=then)
    past = write_baseline(record, reading, live, "")
    return Check(name, PASSED, f"written: {past.file}", source="NATS servers")


def _queues(reading: Reading) -> Check:
    left = sum(queue.messages for queue in reading.queues.values())
    why = f"{len(reading.queues)} queues hold {left} messages; callers are not paused yet"
    if reading.problems:
        why += f"; not all could be read: {reading.problems[0]}"
    return Check("drain gate", NOT_YET_DUE, why, then="pause callers, then aicr nvcf drain")


def _remembered(subject: tuple[str, ...], reach: Reach, record: Record | None, plan: Plan) -> Check:
    name = f"recorded {subject[0]}"
    found = look(subject, reach.fleet.control_plane.accounts, seconds=plan.account_seconds)
    if found.problem:
        return Check(name, UNVERIFIED, found.problem)
    if record is None or not record.writable:
        return Check(name, UNVERIFIED, "there is no record that can be written")
    record.write(
        record.numbered(f"recorded/{subject[0]}-", 3), json.dumps(found.recorded()).encode(),
        source="nvcf-cli", command="preflight",
    )  # fmt: skip
    record.flush()
    return Check(name, PASSED, f"{found.said}; verify compares it later", source="nvcf-cli")
