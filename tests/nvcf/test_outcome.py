from __future__ import annotations

import json

import pytest

from aicr.errors import AicrError
from aicr.nvcf import clock
from aicr.nvcf.columns import columns
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
        baseline={
            "file": "readings/baseline-0001.json",
            "at": "2026-11-30T15:00:00Z",
            "ageMinutes": 60,
            "answersSince": 2,
        },
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
    assert said["baseline"]["ageMinutes"] == 60
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
    about = "of 2026-11-30T15:00:00Z (60 min ago), 2 answers since"
    assert f"baseline: readings/baseline-0001.json, {about}\n" in text
    assert "Do:      Wait.\n" in text
    assert "Do not:  Do not purge.\n" in text
    assert "Callers keep paused: deployments, scaling, invocations, tasks.\n" in text
    assert text.endswith("Next:    aicr nvcf recover --record r\n")
    assert "\x1b" not in text


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_who_said_what(form: str) -> None:
    found = outcome()
    found.facts = [
        *(Fact(f"queue {number}", number, "monitors by proxy") for number in range(5)),
        Fact("names", "compared", "direct connection"),
        Fact("names", "compared", "direct connection"),
    ]
    lines = [line.strip("| ") for line in render(found, form).splitlines()]
    start = next(at for at, line in enumerate(lines) if line.strip("# ") == "Sources")
    said = [" ".join(line.replace("|", " ").split()) for line in lines[start:]]
    assert "monitors by proxy queue 0, queue 1, queue 2 and 2 more" in said
    assert "direct connection names" in said


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
    offsets = {
        "a": clock.measured(110.0, 100.0, 100.0),
        "b": clock.measured(103.0, 100.0, 100.0),
        "c": clock.measured(105.0, 100.0, 100.0),
    }
    assert clock.skew(offsets) == (7.0, "b and a")
    assert clock.skew({"a": offsets["a"]}) == (0.0, "")


def test_a_slow_answer_is_no_skew() -> None:
    """Its time is somewhere between question and answer."""
    quick, slow = clock.measured(100.5, 100.0, 101.0), clock.measured(100.5, 100.0, 108.0)
    assert clock.skew({"a": quick, "b": slow})[0] == 0.0
    assert clock.skew({"a": quick, "b": clock.measured(120.0, 100.0, 108.0)})[0] == 11.5
    assert clock.unclear({"a": quick, "b": slow}) == []
    vague = clock.measured(100.0, 90.0, 101.0)
    assert clock.unclear({"b": vague}) == [
        "b takes 11 s to answer, so that its clock cannot be compared"
    ]
    # The closest one is kept for a while: a clock may be set.
    assert clock.closer(quick, vague) is quick
    assert clock.closer(vague, quick) is quick
    later = clock.measured(200.0, 190.0, 201.0)
    assert clock.closer(quick, later) is later
    assert clock.closer(clock.UNKNOWN, vague) is vague


def test_rows_are_wrapped_to_a_terminal() -> None:
    head = ("check", "why", "id")
    row = ("drain", "one word after the other until it is too long", "d30423a8-99ce-51ca-911a")
    assert len(columns(head, [row]).splitlines()) == 2
    wrapped = columns(head, [row], 50)
    lines = wrapped.splitlines()
    assert max(map(len, lines)) <= 50
    assert len(lines) > 2
    assert "d30423a8-99ce-51ca-911a" in lines[1]
    assert " ".join(wrapped.split()) != ""
    words = {word for line in lines for word in line.split()}
    assert set(row[1].split()) <= words
    # What cannot be broken is left as it is.
    assert "d30423a8-99ce-51ca-911a" in columns(head, [row], 10)
    assert columns(("a",), [("\x1b[2J",)], 40).splitlines()[1] == "\\x1b[2J"
