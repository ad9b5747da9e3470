from __future__ import annotations

import json

import pytest

from aicr.errors import AicrError
from aicr.nvcf import clock
from aicr.nvcf.outcome import Fact, Outcome, Table, failure_code, plain_failure_code, render


def outcome(*, go: bool = False) -> Outcome:
    return Outcome(
        command="drain",
        answer="not-drained",
        go=go,
        because="rq_x",
        as_of="2026-11-30T16:00:00Z",
        valid_until="2026-11-30T16:05:00Z",
        clock={"skewSeconds": 0.2},
        baseline={"taken": "2026-11-30T15:00:00Z", "ageSeconds": 3600},
        next_action="wait until 16:06",
        next_command="aicr nvcf recover --record r",
        do=["Wait."],
        do_not=["Do not purge."],
        facts=[Fact("messages", 3, "nats-0", "2026-11-30T16:00:00Z")],
        tables=[Table("Queues", ["stream", "messages"], [["a|b\x1b[31m", "3"]])],
        notes=["two\nlines"],
        extra={"capture": "complete"},
    )


def test_the_keys_of_the_json_form() -> None:
    said = json.loads(render(outcome(), "json"))
    assert said["outcome"] == "not-drained"
    assert said["exit"] == 2
    assert said["asOf"] == "2026-11-30T16:00:00Z"
    assert said["validUntil"] == "2026-11-30T16:05:00Z"
    assert said["clock"] == {"skewSeconds": 0.2}
    assert said["baseline"]["ageSeconds"] == 3600
    assert said["next"] == "wait until 16:06"
    assert said["capture"] == "complete"
    assert said["facts"] == [
        {"name": "messages", "value": 3, "source": "nats-0", "asOf": "2026-11-30T16:00:00Z"}
    ]
    assert json.loads(render(outcome(go=True), "json"))["exit"] == 0


def test_people_read_what_to_do_and_what_not() -> None:
    text = render(outcome(), "table")
    assert text.startswith("drain: not-drained: rq_x (no-go, exit 2)\n")
    assert "as of 2026-11-30T16:00:00Z, valid until 2026-11-30T16:05:00Z" in text
    assert "baseline: taken 2026-11-30T15:00:00Z, ageSeconds 3600" in text
    assert "Do:      Wait.\n" in text
    assert "Do not:  Do not purge.\n" in text
    assert "Callers keep paused: deployments, scaling, invocations, tasks.\n" in text
    assert text.endswith("Next:    aicr nvcf recover --record r\n")
    assert "\x1b" not in text


def test_markdown_cannot_be_forged() -> None:
    text = render(outcome(), "markdown")
    assert "a\\|b\\\\x1b\\[31m" in text
    assert "\x1b" not in text


def test_exit_codes_of_errors() -> None:
    codes = (2, 3, 4, 5, 6, 7, 8)
    assert [failure_code([], code) for code in codes] == [1, 1, 2, 2, 2, 2, 8]
    assert [plain_failure_code([], code) for code in codes] == [1, 1, 4, 5, 6, 7, 8]


def test_times_of_servers() -> None:
    seconds = clock.from_rfc3339("2026-11-30T16:43:06.123456789Z", "nats-0")
    assert clock.shown(seconds) == "2026-11-30T16:43:06Z"
    for text in ("", "yesterday", "2026-11-30T16:43:06"):
        with pytest.raises(AicrError, match="nats-0: its clock cannot be read"):
            clock.from_rfc3339(text, "nats-0")
    assert clock.shown(0) == ""
    assert clock.skew({"a": 10.0, "b": 3.0, "c": 5.0}) == (7.0, "b and a")
    assert clock.skew({"a": 1.0}) == (0.0, "")
