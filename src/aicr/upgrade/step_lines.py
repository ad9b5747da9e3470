"""Steps for people at a terminal: a numbered list, each with why it is needed."""

from __future__ import annotations

from aicr.documents.safe import cell
from aicr.upgrade.wrap import wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from aicr.upgrade.model import Step


def step_lines(
    steps: Sequence[Step], deployer: str, *, indent: str = "  ", title: str = "STEPS"
) -> list[str]:
    """A heading that names the deployer, and the steps below it."""
    lines = [f"{indent}{title} (deployer: {cell(deployer)})"]
    for number, step in enumerate(steps, 1):
        lead = f"{indent}  {number}. "
        below = " " * len(lead)
        lines.append(lead + cell(step.id))
        lines += wrapped(step.description, below)
        if step.reason:
            lines += wrapped(step.reason, below, first=f"{below}Why: ")
    return lines
