"""Whether what ran before the upgrade still runs, and whether something new does."""

from __future__ import annotations

import json

from aicr.errors import AicrError
from aicr.nvcf.accounts import Client
from aicr.nvcf.outcome import KEPT_PAUSED, Outcome
from aicr.nvcf.page import (
    FAILED,
    PASSED,
    UNVERIFIED,
    Check,
    facts_of,
    look,
    table_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.nvcf.evidence import Record
    from aicr.nvcf.fleet import Account

VERIFIED = "verified"
FAILED_ANSWER = "failed"
NOT_VERIFIED = "not-verified"
_ACTIVE = "ACTIVE"
_WAY = ("QUEUED", "LAUNCHED", "RUNNING", "COMPLETED")


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
    recorded: dict[tuple[str, ...], tuple[str, str]] = {}
    for file in [one.file for one in record.entries if one.file.startswith("recorded/")]:
        try:
            said = json.loads(record.read(file))
            subject = tuple(str(one) for one in said["subject"])
            # A later recording of the same one replaces it: records outlive an upgrade.
            recorded[subject] = (str(said["status"]), str(said["deploymentId"]))
        except (AicrError, ValueError, KeyError, TypeError):
            checks.append(Check(file, UNVERIFIED, "cannot be read"))
    functions = [subject for subject in recorded if subject[0] == "function"]
    if not functions:
        checks.append(
            Check(
                "recorded function", UNVERIFIED, "none was recorded before the upgrade",
                then="aicr nvcf preflight --record-function, before the next one",
            )
        )  # fmt: skip
    checks += [_same(one, before, accounts, seconds) for one, before in recorded.items()]
    checks.append(_invocation(accounts, invoke, functions, seconds))
    checks += [_new(one, recorded.get(one), accounts, seconds) for one in deployments]
    if not deployments:
        checks.append(
            Check(
                "new deployment", UNVERIFIED, "none was named",
                then="deploy something, then pass --new-deployment NCA:FUNCTION:VERSION",
            )
        )  # fmt: skip
    return checks


def verify_page(checks: Sequence[Check], *, again: str) -> Outcome:
    """``again`` is the command that was run."""
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
        next_command="" if answer == VERIFIED else again,
        do=[f"{action[0].upper()}{action[1:]}."],
        callers="" if answer == VERIFIED else KEPT_PAUSED,
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
        went_on = _WAY[_WAY.index(status) :] if status in _WAY else ()
        if found.said == status or found.said in went_on:
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


def _new(
    subject: tuple[str, ...],
    recorded: tuple[str, str] | None,
    accounts: Sequence[Account],
    seconds: float,
) -> Check:
    name = f"new deployment {subject[-1]}"
    found = look(subject, accounts, seconds=seconds)
    if found.problem:
        return Check(name, UNVERIFIED, found.problem)
    if recorded is not None and found.deployment in ("", recorded[1]):
        return Check(
            name, UNVERIFIED, "it is the recorded deployment, which says nothing of a new one",
            then="deploy something, then pass --new-deployment NCA:FUNCTION:VERSION",
        )  # fmt: skip
    if found.said == _ACTIVE:
        return Check(name, PASSED, "ACTIVE", source="nvcf-cli")
    if found.said == "DEPLOYING":
        return Check(name, UNVERIFIED, "still DEPLOYING", then="wait, then repeat")
    return Check(name, FAILED, f"it is {found.said}", source="nvcf-cli")


def _invocation(
    accounts: Sequence[Account],
    invoke: str,
    functions: Sequence[tuple[str, ...]],
    seconds: float,
) -> Check:
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
    sent = [str(word) for word in words]
    named = any(one[2] in word.lower() for one in functions for word in sent)
    whose = (
        "" if named else "; its words name no recorded function, so whose it is, is yours to say"
    )
    with Client(entry, seconds=seconds) as client:
        if client.problem:
            return Check(name, UNVERIFIED, client.problem)
        ran = client.run(["function", "invoke", *sent], invoke=True)
    if ran.code == 0 and ran.stdout.strip():
        return Check(
            name, PASSED, f"answered with {len(ran.stdout)} bytes{whose}", source="nvcf-cli"
        )
    why = "no answer in time" if ran.code is None else f"nvcf-cli ended with {ran.code}"
    return Check(name, FAILED, why, source="nvcf-cli")
