"""What ``mirror-check`` answers."""

from __future__ import annotations

from aicr.nvcf.mirror_check import NEXT, PRESENT, worst
from aicr.nvcf.outcome import Fact, Outcome, Table
from aicr.nvcf.to_copy import to_copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.nvcf.mirror_check import MirrorAnswer


def mirror_outcome(
    answers: Sequence[MirrorAnswer], architectures: Sequence[str], notes: Sequence[str]
) -> Outcome:
    """One answer for all images."""
    answer = worst(answers)
    bad = sorted({one.outcome for one in answers} - {PRESENT})
    return Outcome(
        command="mirror-check",
        answer=answer,
        go=answer == PRESENT,
        next_action=NEXT[answer],
        do=[f"{one}: {NEXT[one]}" for one in bad] or [NEXT[PRESENT]],
        do_not=["Do not take this for the nodes' view: a node may pull through another mirror."],
        next_command=to_copy(
            "pull-check" if answer == PRESENT else "mirror-check",
            *(one.image.text for one in answers),
        ),
        tables=[
            Table(
                "",
                ["image", "outcome", "digest", "architectures", "why"],
                [
                    [
                        one.image.text,
                        one.outcome,
                        one.found.digest if one.found else "-",
                        ", ".join(one.found.architectures) if one.found else "-",
                        one.why,
                    ]
                    for one in answers
                ],
            )
        ],
        notes=[*notes, f"required: {', '.join(architectures)}"],
        facts=[
            Fact(
                "image",
                {
                    "image": one.image.text,
                    "outcome": one.outcome,
                    "why": one.why or None,
                    "digest": one.found.digest if one.found else None,
                    "architectures": one.found.architectures if one.found else None,
                },
                one.image.registry,
            )
            for one in answers
        ],
    )
