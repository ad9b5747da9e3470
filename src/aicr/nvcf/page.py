"""One page of checks: each passed, failed, could not be verified, or did not apply; and the tasks,
agents and recorded workloads that such a page asks about."""

from __future__ import annotations

import json

from aicr.nvcf.accounts import Client, read_answer, words_of
from aicr.nvcf.outcome import CANNOT_VERIFY, Fact, Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.nvcf.agents import Agent
    from aicr.nvcf.fleet import Account
    from aicr.nvcf.queues import Reading
    from aicr.nvcf.reach import Reach

PASSED = "passed"
FAILED = "failed"
UNVERIFIED = "could not be verified"
NOT_APPLICABLE = "not applicable"
NOT_YET_DUE = "not-yet-due"
STATUSES = ("QUEUED", "LAUNCHED", "RUNNING")
FULL_PAGE = 50


class Check:
    """One line: ``result`` is one of the words above, ``why`` says more, ``then`` what to do."""

    __slots__ = ("name", "result", "source", "then", "why")

    def __init__(
        self, name: str, result: str, why: str, *, then: str = "", source: str = ""
    ) -> None:
        self.name = name
        self.result = result
        self.why = why
        self.then = then
        self.source = source


def table_of(checks: Sequence[Check]) -> Table:
    rows = [(one.name, one.result, one.why, one.then or "-") for one in checks]
    return Table("Checks", ("check", "result", "why", "next"), rows)


def facts_of(checks: Sequence[Check]) -> list[Fact]:
    return [
        Fact(one.name, {"result": one.result, "why": one.why, "next": one.then or None}, one.source)
        for one in checks
    ]


def roll_check(reach: Reach, agents: Sequence[Agent], reading: Reading) -> Check:
    """The roll gate as one line: what was not read keeps it from opening."""
    from aicr.nvcf.roll_gate import OPEN, roll_of

    name = "agents and roll gate"
    found = roll_of(reach, agents, reading)
    source = "Kubernetes API, NATS servers"
    if found.answer == OPEN:
        why = "every agent is corrected, and every consumer is one of theirs"
        return Check(name, PASSED, why, source=source)
    result = UNVERIFIED if found.answer == CANNOT_VERIFY else FAILED
    return Check(name, result, "; ".join(found.reasons), then="aicr nvcf nats-roll", source=source)


def tasks_check(accounts: Sequence[Account], *, seconds: float, allowed: bool) -> Check:
    """Whether a task is queued, launched or running in any account."""
    name = "no task queued, launched or running"
    if allowed:
        return Check(name, NOT_APPLICABLE, "--allow-running-tasks was given")
    if not accounts:
        return Check(
            name, UNVERIFIED, "the fleet file has no accounts",
            then="add controlPlane.accounts, or pass --allow-running-tasks",
        )  # fmt: skip
    counts: dict[str, int] = {}
    for account in accounts:
        with Client(account, seconds=seconds) as client:
            if client.problem:
                return Check(name, UNVERIFIED, f"account {account.nca_id}: {client.problem}")
            for status in STATUSES:
                words = ["task", "list", "--status", status, "--limit", str(FULL_PAGE), "--json"]
                found = _count(client, words)
                if isinstance(found, str):
                    return Check(name, UNVERIFIED, f"account {account.nca_id}, {status}: {found}")
                if found >= FULL_PAGE:
                    return Check(
                        name, UNVERIFIED,
                        f"incomplete: account {account.nca_id} has {found} or more {status} tasks",
                        then="let them finish, or cancel them by your site's policy",
                    )  # fmt: skip
                counts[status] = counts.get(status, 0) + found
    left = ", ".join(f"{count} {status}" for status, count in counts.items() if count)
    source = f"nvcf-cli task list, {len(accounts)} accounts"
    if left:
        then = "let them finish, or cancel them by your site's policy"
        return Check(name, FAILED, left, then=then, source=source)
    return Check(name, PASSED, f"none in {len(accounts)} accounts", source=source)


def _count(client: Client, words: list[str]) -> int | str:
    ran = client.run(words)
    if ran.code is None:
        return "nvcf-cli did not end in time"
    if ran.code:
        return f"nvcf-cli ended with {ran.code}"
    try:
        found = json.loads(ran.stdout)
    except ValueError:
        return "nvcf-cli printed no JSON"
    tasks = found.get("tasks") if isinstance(found, dict) else found
    if not isinstance(tasks, list):
        return "nvcf-cli's answer has no list of tasks"
    return len(tasks)


class Workload:
    """A function version or a task as its account describes it: what has to stay the same."""

    __slots__ = ("deployment", "problem", "said", "state", "subject")

    def __init__(
        self, subject: tuple[str, ...], *, state: str, said: str, deployment: str, problem: str
    ) -> None:
        self.subject = subject
        self.state = state
        self.said = said
        self.deployment = deployment
        self.problem = problem

    def recorded(self) -> dict[str, object]:
        return {
            "subject": list(self.subject),
            "status": self.said,
            "deploymentId": self.deployment,
        }


def look(subject: tuple[str, ...], accounts: Sequence[Account], *, seconds: float) -> Workload:
    """Ask the owning account. What goes wrong is its ``problem``."""
    entry = next((one for one in accounts if one.nca_id == subject[1]), None)
    if entry is None:
        problem = f"the fleet file has no entry for the account {subject[1]}"
        return Workload(subject, state="unverified", said="", deployment="", problem=problem)
    with Client(entry, seconds=seconds) as client:
        if client.problem:
            return Workload(
                subject, state="unverified", said="", deployment="", problem=client.problem
            )
        answer = read_answer(subject, client.run(words_of(subject)))
    problem = "" if answer.state in ("wanted", "unwanted") else answer.said
    return Workload(
        subject, state=answer.state, said=answer.said, deployment=answer.deployment, problem=problem
    )


def subject_of_flag(flag: str, text: str) -> tuple[str, ...]:
    """``NCA:FUNCTION:VERSION`` or, for a task, ``NCA:TASK``. Raises INVALID_REQUEST."""
    from aicr.errors import invalid
    from aicr.nvcf.allow import UUID

    nca, *ids = text.split(":")
    kind = "task" if "task" in flag else "function"
    wanted = 1 if kind == "task" else 2
    if not nca or len(ids) != wanted or not all(UUID.fullmatch(one) for one in ids):
        form = "NCA:TASK" if kind == "task" else "NCA:FUNCTION:VERSION"
        raise invalid(f"{flag} {text}: expected {form}, with UUIDs")
    return (kind, nca, *(one.lower() for one in ids))
