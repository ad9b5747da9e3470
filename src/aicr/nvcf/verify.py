"""Whether what ran before the upgrade still runs, and whether something new does."""

from __future__ import annotations

import json

from aicr.errors import AicrError
from aicr.nvcf.accounts import Client
from aicr.nvcf.outcome import Outcome
from aicr.nvcf.page import (
    FAILED,
    PASSED,
    UNVERIFIED,
    Check,
    facts_of,
    look,
    table_of,
)
from aicr.nvcf.to_copy import to_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.nvcf.evidence import Record
    from aicr.nvcf.fleet import Account

VERIFIED = "verified"
FAILED_ANSWER = "failed"
NOT_VERIFIED = "not-verified"
_ACTIVE = "ACTIVE"
_KEPT = ("QUEUED", "LAUNCHED", "RUNNING", "COMPLETED")


def verify(
    record: Record,
    accounts: Sequence[Account],
    *,
    deployments: Sequence[tuple[str, ...]],
    invoke: str,
    seconds: float,
) -> list[Check]:
    """``deployments`` are those that the operator made since; ``invoke`` the account whose
    invocation is to be sent, "" for none: it is traffic."""
    checks = []
    recorded = [one.file for one in record.entries if one.file.startswith("recorded/")]
    if not recorded:
        checks.append(
            Check(
                "recorded function", UNVERIFIED, "nothing was recorded before the upgrade",
                then="aicr nvcf preflight --record-function, before the next one",
            )
        )  # fmt: skip
    for file in recorded:
        try:
            said = json.loads(record.read(file))
            subject = tuple(str(one) for one in said["subject"])
            before = (str(said["status"]), str(said["deploymentId"]))
        except (AicrError, ValueError, KeyError, TypeError):
            checks.append(Check(file, UNVERIFIED, "cannot be read"))
            continue
        checks.append(_same(subject, before, accounts, seconds))
    checks.append(_invocation(accounts, invoke, seconds))
    checks += [_new(subject, accounts, seconds) for subject in deployments]
    if not deployments:
        checks.append(
            Check(
                "new deployment", UNVERIFIED, "none was named",
                then="deploy something, then pass --new-deployment NCA:FUNCTION:VERSION",
            )
        )  # fmt: skip
    return checks


def verify_page(checks: Sequence[Check], *, record: str) -> Outcome:
    failed = [one for one in checks if one.result == FAILED]
    unknown = [one for one in checks if one.result == UNVERIFIED]
    answer = FAILED_ANSWER if failed else NOT_VERIFIED if unknown else VERIFIED
    action = "let callers go on"
    if failed or unknown:
        first = (failed or unknown)[0]
        action = f"{first.name}: {first.then or first.why}"
    return Outcome(
        command="verify",
        answer=answer,
        go=answer == VERIFIED,
        next_action=action,
        next_command="" if answer == VERIFIED else to_copy("verify", "--record", record),
        do=[f"{action[0].upper()}{action[1:]}."],
        paused=answer != VERIFIED,
        tables=[table_of(checks)],
        facts=facts_of(checks),
    )


def _same(
    subject: tuple[str, ...], before: tuple[str, str], accounts: Sequence[Account], seconds: float
) -> Check:
    name = f"recorded {subject[0]} {subject[-1]}"
    found = look(subject, accounts, seconds=seconds)
    status, deployment = before
    if found.problem:
        result = FAILED if found.state == "absent" else UNVERIFIED
        return Check(name, result, found.problem)
    if subject[0] == "task":
        if found.said == status or (status in _KEPT[:3] and found.said in _KEPT):
            return Check(name, PASSED, f"{status} before, {found.said} now", source="nvcf-cli")
        return Check(name, FAILED, f"{status} before, {found.said} now", source="nvcf-cli")
    if not deployment:
        why = "its deployment was not stated when it was recorded, so that none can be compared"
        return Check(name, UNVERIFIED, why, source="nvcf-cli")
    if found.deployment != deployment:
        why = f"its deployment was {deployment} and is {found.deployment or 'not stated'}"
        return Check(name, FAILED, why, source="nvcf-cli")
    if found.said != _ACTIVE:
        return Check(name, FAILED, f"it is {found.said}", source="nvcf-cli")
    return Check(name, PASSED, "ACTIVE, the same deployment", source="nvcf-cli")


def _new(subject: tuple[str, ...], accounts: Sequence[Account], seconds: float) -> Check:
    name = f"new deployment {subject[-1]}"
    found = look(subject, accounts, seconds=seconds)
    if found.problem:
        return Check(name, UNVERIFIED, found.problem)
    if found.said == _ACTIVE:
        return Check(name, PASSED, "ACTIVE", source="nvcf-cli")
    if found.said == "DEPLOYING":
        return Check(name, UNVERIFIED, "still DEPLOYING", then="wait, then repeat")
    return Check(name, FAILED, f"it is {found.said}", source="nvcf-cli")


def _invocation(accounts: Sequence[Account], invoke: str, seconds: float) -> Check:
    name = "invocation"
    if not invoke:
        then = "pass --invoke NCA: it sends that account's invocation, which is traffic"
        return Check(name, UNVERIFIED, "none was sent", then=then)
    entry = next((one for one in accounts if one.nca_id == invoke), None)
    words = entry.invocation if entry is not None else None
    if entry is None or not isinstance(words, list) or not words:
        return Check(
            name, UNVERIFIED, f"the fleet file has no invocation for the account {invoke}",
            then="accounts[].invocation: the words after nvcf-cli function invoke, as a list",
        )  # fmt: skip
    with Client(entry, seconds=seconds) as client:
        if client.problem:
            return Check(name, UNVERIFIED, client.problem)
        ran = client.run(["function", "invoke", *map(str, words)], invoke=True)
    if ran.code == 0 and ran.stdout.strip():
        return Check(name, PASSED, f"answered with {len(ran.stdout)} bytes", source="nvcf-cli")
    why = "no answer in time" if ran.code is None else f"nvcf-cli ended with {ran.code}"
    return Check(name, FAILED, why, source="nvcf-cli")
