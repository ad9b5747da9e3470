"""What a command of ``aicr nvcf`` answers: one word, its exit code, what to do, and the facts.

Exit 0 is a go and nothing else; every other answer, an unreachable part included, is 2.
``render`` writes it for people (``table``, ``markdown``) or machines (``json``).
"""

from __future__ import annotations

from aicr.documents.emit import json_text
from aicr.documents.safe import cell, escaped, prose
from aicr.nvcf.columns import columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GO = 0
NO_GO = 2
BAD_INVOCATION = 1
FORMATS = ("table", "json", "markdown")
CANNOT_VERIFY = "cannot-verify"
_NAMED = 3
_CALLERS = "deployments, scaling, invocations, tasks"
KEPT_PAUSED = f"Callers keep paused: {_CALLERS}."
TO_PAUSE = f"Callers to pause before the drain: {_CALLERS}."


class Fact:
    """Something that was found: ``value`` is JSON-ready, ``source`` who or what said so."""

    __slots__ = ("as_of", "name", "source", "value")

    def __init__(self, name: str, value: object, source: str, as_of: str = "") -> None:
        self.name = name
        self.value = value
        self.source = source
        self.as_of = as_of


class Table:
    """Rows for people; what they say is in the facts too."""

    __slots__ = ("head", "rows", "title")

    def __init__(self, title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        self.title = title
        self.head = head
        self.rows = rows


class Outcome:
    """One answer.

    ``answer`` is a word of the command's table of outcomes, ``because`` what narrows it down
    (``unpinned``). ``as_of`` and ``valid_until`` are RFC 3339 times of a server, "" where none was
    read. ``clock`` says whose times they are and how far apart; ``baseline`` which one was used.
    ``next_action`` is in words, ``next_command`` to copy. ``do`` and ``do_not`` are whole
    sentences. ``callers`` says what callers keep paused, "" that they go on. ``extra`` are further
    top-level keys of the JSON form.
    """

    __slots__ = (
        "answer",
        "as_of",
        "baseline",
        "because",
        "callers",
        "clock",
        "command",
        "do",
        "do_not",
        "extra",
        "facts",
        "go",
        "next_action",
        "next_command",
        "notes",
        "tables",
        "valid_until",
    )  # fmt: skip

    def __init__(
        self,
        *,
        command: str,
        answer: str,
        go: bool,
        next_action: str,
        because: str = "",
        as_of: str = "",
        valid_until: str = "",
        clock: Mapping[str, object] | None = None,
        baseline: Mapping[str, object] | None = None,
        next_command: str = "",
        do: Sequence[str] = (),
        do_not: Sequence[str] = (),
        callers: str = KEPT_PAUSED,
        facts: Sequence[Fact] = (),
        tables: Sequence[Table] = (),
        notes: Sequence[str] = (),
        extra: Mapping[str, object] | None = None,
    ) -> None:
        self.command = command
        self.answer = answer
        self.go = go
        self.because = because
        self.as_of = as_of
        self.valid_until = valid_until
        self.clock = clock or {}
        self.baseline = baseline or {}
        self.next_action = next_action
        self.next_command = next_command
        self.do = do
        self.do_not = do_not
        self.callers = callers
        self.facts = facts
        self.tables = tables
        self.notes = notes
        self.extra = extra or {}

    @property
    def exit(self) -> int:
        return GO if self.go else NO_GO


def failure_code(arguments: list[str], code: int) -> int:
    """The exit code of an error under ``aicr nvcf``, of a command with a table of outcomes: 1 for a
    bad invocation, and a no-go for whatever could not be read."""
    return NO_GO if 4 <= code <= 7 else plain_failure_code(arguments, code)


def plain_failure_code(arguments: list[str], code: int) -> int:
    """The same of a command without outcomes: 2 is taken, and 3 is never used."""
    return BAD_INVOCATION if code in (2, 3) else code


def render(outcome: Outcome, form: str, width: int = 0) -> str:
    """The answer in one of ``FORMATS``; tables are wrapped to ``width``, 0 is a line a row."""
    if form == "json":
        return json_text(as_json(outcome))
    return _markdown(outcome) if form == "markdown" else _table(outcome, width)


def as_json(outcome: Outcome) -> dict[str, object]:
    """The JSON form: its keys are an interface."""
    return {
        "command": outcome.command,
        "outcome": outcome.answer,
        "because": outcome.because or None,
        "exit": outcome.exit,
        "asOf": outcome.as_of or None,
        "validUntil": outcome.valid_until or None,
        "clock": dict(outcome.clock) or None,
        "baseline": dict(outcome.baseline) or None,
        "next": outcome.next_action,
        "nextCommand": outcome.next_command or None,
        "do": list(outcome.do),
        "doNot": list(outcome.do_not),
        "keepPaused": _CALLERS.split(", ") if outcome.callers else [],
        "notes": list(outcome.notes),
        **outcome.extra,
        "facts": [_fact(fact) for fact in outcome.facts],
    }


def _fact(fact: Fact) -> dict[str, object]:
    found: dict[str, object] = {"name": fact.name, "value": fact.value, "source": fact.source}
    if fact.as_of:
        found["asOf"] = fact.as_of
    return found


def _table(outcome: Outcome, width: int) -> str:
    parts = [f"{outcome.command}: {_word(outcome)}\n"]
    parts += [f"{line}\n" for line in _times(outcome)]
    for table in (*outcome.tables, _sources(outcome)):
        if table.rows:
            title = f"{cell(table.title)}\n" if table.title else ""
            parts.append(f"\n{title}{columns(table.head, table.rows, width)}")
    if outcome.notes:
        parts.append("\n" + "".join(f"note: {_indented(note)}\n" for note in outcome.notes))
    parts.append("\n")
    parts += [f"Do:      {_indented(line)}\n" for line in _do(outcome)]
    parts += [f"Do not:  {_indented(line)}\n" for line in outcome.do_not]
    if outcome.callers:
        parts.append(f"{outcome.callers}\n")
    if outcome.next_command:
        parts.append(f"Next:    {cell(outcome.next_command)}\n")
    return "".join(parts)


def _markdown(outcome: Outcome) -> str:
    parts = [f"# {outcome.command}: {_word(outcome)}\n\n"]
    parts += [f"{escaped(line)}\n\n" for line in _times(outcome)]
    for table in (*outcome.tables, _sources(outcome)):
        if table.rows:
            parts.append(f"## {escaped(table.title)}\n\n" if table.title else "")
            parts.append(_markdown_row(table.head))
            parts.append("|" + " --- |" * len(table.head) + "\n")
            parts += [_markdown_row(row) for row in table.rows]
            parts.append("\n")
    if outcome.notes:
        parts += [f"- note: {escaped(note)}\n" for note in outcome.notes]
        parts.append("\n")
    parts += [f"- **Do:** {escaped(line)}\n" for line in _do(outcome)]
    parts += [f"- **Do not:** {escaped(line)}\n" for line in outcome.do_not]
    if outcome.callers:
        parts.append(f"- {outcome.callers}\n")
    if outcome.next_command:
        parts.append(f"\n```\n{cell(outcome.next_command)}\n```\n")
    return "".join(parts)


def _sources(outcome: Outcome) -> Table:
    """Who or what said what: each source with the first of its facts."""
    named: dict[str, dict[str, None]] = {}
    for fact in outcome.facts:
        named.setdefault(fact.source, {})[fact.name] = None
    rows = []
    for source, names in named.items():
        first = list(names)[:_NAMED]
        more = f" and {len(names) - len(first)} more" if len(names) > len(first) else ""
        rows.append((source or "-", ", ".join(first) + more))
    return Table("Sources", ("source", "said"), rows)


def _word(outcome: Outcome) -> str:
    because = f": {cell(outcome.because)}" if outcome.because else ""
    return f"{outcome.answer}{because} ({'go' if outcome.go else 'no-go'}, exit {outcome.exit})"


def _times(outcome: Outcome) -> list[str]:
    found = []
    if outcome.as_of:
        until = f", valid until {outcome.valid_until}" if outcome.valid_until else ""
        found.append(f"as of {outcome.as_of}{until}")
    if outcome.clock:
        found.append("clock: " + ", ".join(f"{k} {v}" for k, v in outcome.clock.items()))
    if outcome.baseline:
        found.append(f"baseline: {_baseline(outcome.baseline)}")
    return [cell(line) for line in found]


def _baseline(said: Mapping[str, object]) -> str:
    reason = f" ({said['reason']})" if "reason" in said else ""
    return (
        f"{said['file']}, of {said['at']} ({said['ageMinutes']} min ago), "
        f"{said['answersSince']} answers since{reason}"
    )


def _do(outcome: Outcome) -> list[str]:
    return list(outcome.do) or [outcome.next_action]


def _indented(text: str) -> str:
    return prose(text).replace("\n", "\n         ")


def _markdown_row(row: Sequence[str]) -> str:
    return "| " + " | ".join(escaped(one) for one in row) + " |\n"
