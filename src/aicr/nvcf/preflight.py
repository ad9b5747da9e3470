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
from aicr.nvcf.outcome import CANNOT_VERIFY, TO_PAUSE, Outcome
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
from aicr.versions.semver import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.nvcf.evidence import Record
    from aicr.nvcf.inventory import Inventory
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
    from aicr.nvcf.inventory import agent_digests

    old, version = _version(reach, plan)
    checks = [version]
    inventory, unread = _inventory(plan)
    checks += unread
    checks += _images(reach, record, plan, old, inventory)
    agents = read_agents(reach, agent_digests(inventory) if inventory is not None else None)
    reading = take_reading(reach, set(), Sources())
    doubts = [str(one) for one in reach.doubts()]
    checks.append(roll_check(reach, agents, reading))
    checks.append(_baseline(reach, record, reading, doubts))
    checks.append(_queues(reading))
    checks += [_remembered(one, reach, record, plan) for one in plan.remember]
    return checks, reading.at


def _inventory(plan: Plan) -> tuple[Inventory | None, list[Check]]:
    """The inventory that was given, read once; a check of its own where it cannot be read."""
    from aicr.nvcf.inventory import read_inventory

    if not plan.inventory:
        return None, []
    try:
        return read_inventory(plan.inventory), []
    except AicrError as error:
        return None, [Check("inventory", UNVERIFIED, error.message, then="pass --inventory FILE")]


def preflight_page(checks: Sequence[Check], at: float, *, again: str, record: str) -> Outcome:
    """``again`` is the command that was run."""
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
        next_command=to_copy("drain", "--record", record) if answer == READY else again,
        do=[f"{action[0].upper()}{action[1:]}."],
        do_not=("Do not roll NATS before the complete drain gate has passed.",),
        callers=TO_PAUSE,
        tables=[table_of(checks)],
        facts=facts_of(checks),
        notes=["queues are not due yet: callers are not paused, so that they decide nothing here"],
    )


def _version(reach: Reach, plan: Plan) -> tuple[str, Check]:
    name = "installed stack"
    _, config_map, key = RECEIPT
    receipt, doubt = _receipt(reach)
    if plan.old and receipt and parse(receipt) != parse(plan.old):
        why = f"{plan.old} was given, and the upgrade receipt says {receipt}"
        return plan.old, Check(name, FAILED, why, then="correct --from, or leave it out",
                               source=config_map)  # fmt: skip
    version, source = (plan.old, "--from") if plan.old else (receipt, config_map)
    if not version and doubt:
        return "", Check(name, UNVERIFIED, doubt, then="pass --from VERSION")
    if not version:
        return "", Check(name, PASSED, "no upgrade receipt: a 0.x install", source=config_map)
    before, after = parse(version), parse(plan.new)
    if before is None or after is None:
        why = f"{config_map}: {key} {version} is no version"
        return "", Check(name, UNVERIFIED, why, then="pass --from VERSION")
    if after < before:
        why = f"{version} is installed, and the target {plan.new} is older"
        return version, Check(name, FAILED, why, then="correct --from and --to", source=source)
    given = ", as given" if plan.old else ""
    return version, Check(name, PASSED, f"{version}{given}; target {plan.new}", source=source)


def _receipt(reach: Reach) -> tuple[str, str]:
    """The version that the upgrade receipt says, and why it is not known: both "" for none."""
    namespace, config_map, key = RECEIPT
    try:
        found = reach.control.get("configmaps", namespace, config_map)
    except ApiError as error:
        absent = error.code == NOT_FOUND and error.kind != "namespaces"
        return "", "" if absent else error.message
    except AicrError as error:
        return "", error.message
    version = str((found.get("data") or {}).get(key) or "")
    return version, "" if version else f"{config_map} has no {key}"


def _images(
    reach: Reach, record: Record | None, plan: Plan, old: str, inventory: Inventory | None
) -> list[Check]:
    names = ("task worker images", "pull check")
    if not plan.tasks:
        return [Check(one, NOT_APPLICABLE, "stated: no tasks are used") for one in names]
    if not task_images_apply(old, plan.new):
        return [Check(one, NOT_APPLICABLE, "they do not change on this path") for one in names]
    resolved, images = _resolved(plan, inventory)
    clusters = [one.name for one in reach.fleet.compute]
    return [resolved, _pulled(record, [(name, image) for name in clusters for image in images])]


def _resolved(plan: Plan, inventory: Inventory | None) -> tuple[Check, list[str]]:
    """The check, and the images of the target; none where they are not known."""
    from aicr.nvcf.inventory import compare
    from aicr.nvcf.render import TASKS, NoGo, read_render
    from aicr.nvcf.task_images import task_images

    name, then = "task worker images", "aicr nvcf task-images"
    if not plan.render:
        return Check(name, UNVERIFIED, "no render of the target", then="pass --render DIR"), []
    try:
        images = task_images(read_render(plan.render, TASKS)).chosen(with_ess_agent=False)
        texts = [image.text for image in images]
        if inventory is not None:
            compared = [compare(image, inventory, TASKS.name) for image in images]
            bad = [one.why for one in compared if not one.agrees]
            if bad:
                return Check(name, FAILED, bad[0], then=then, source=plan.render), texts
    except NoGo as error:
        return Check(name, FAILED, str(error), then=then, source=plan.render), []
    except AicrError as error:
        return Check(name, UNVERIFIED, error.message, then=then), []
    shown = ", ".join(texts)
    if inventory is None:
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
    words = () if record is None else ("--record", record.path)
    then = to_copy("pull-check", *words, then="--render <DIR>")
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
    past = read_past(record)
    if past.timeline:
        why = (
            f"there is one already: {past.file}, of {clock.shown(past.timeline[0].reading.at)}; "
            "drain --new-baseline --reason replaces it"
        )
        return Check(name, PASSED, why, source="record")
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
    if subject[0] == "function" and (found.said != "ACTIVE" or not found.deployment):
        why = f"it is {found.said}, and its deployment is {found.deployment or 'not stated'}"
        return Check(
            name, UNVERIFIED, f"{why}: verify could compare nothing",
            then="record one that is ACTIVE, with a deployment",
        )  # fmt: skip
    if record is None or not record.writable:
        return Check(name, UNVERIFIED, "there is no record that can be written")
    record.write(
        record.numbered(f"recorded/{subject[0]}-", 3), json.dumps(found.recorded()).encode(),
        source="nvcf-cli", command="preflight",
    )  # fmt: skip
    record.flush()
    return Check(name, PASSED, f"{found.said}; verify compares it later", source="nvcf-cli")
