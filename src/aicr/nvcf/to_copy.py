"""Commands of ``aicr nvcf`` for a person to copy into a shell."""

from __future__ import annotations

import shlex

_WITH_FLEET = frozenset(
    (
        "agents", "drain", "gate", "nats-roll", "preflight", "pull-check", "recover", "status",
        "verify",
    )
)  # fmt: skip


def to_copy(verb: str, *words: str, then: str = "") -> str:
    """``words`` are quoted for a POSIX shell; ``then`` is for placeholders, and stands as it is."""
    return " ".join(["aicr nvcf", verb, *(shlex.quote(word) for word in words), *then.split()])


def with_fleet(command: str, fleet: str) -> str:
    """The same command for another fleet file than the default one; "" stays so."""
    words = command.split(" ")
    if words[2:3] and words[2] in _WITH_FLEET:
        words[3:3] = ["--fleet", shlex.quote(fleet)]
    return " ".join(words)
