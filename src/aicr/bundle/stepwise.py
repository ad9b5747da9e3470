"""How an upgrade is taken one release at a time, so that there is time for the records' steps.

Every deployer goes through a whole bundle by itself. Its writer says how that is stopped before it
begins (``before``), with which command a single release then goes on, and how all is as it was
(``after``).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aicr.bundle.guidance import Advice
    from aicr.bundle.plan import DeploymentPlan, PlannedRelease


_THEN = """
Then, in this folder and in this order, with the steps below before, at and after the
command of their component as they say, and each release healthy before the next:

| # | command | steps |
| --- | --- | --- |
"""


class Stepwise:
    """What a writer says of it: Markdown, and the command of a release."""

    __slots__ = ("after", "before", "command")

    def __init__(
        self, before: str, command: Callable[[PlannedRelease], str], after: str = ""
    ) -> None:
        self.before = before
        self.command = command
        self.after = after


def stepwise_section(plan: DeploymentPlan, advice: Sequence[Advice], how: Stepwise) -> str:
    """The section of ``UPGRADING.md``: the releases in order, each with its command and whose
    steps belong to it."""
    waiting = {one.component for one in advice}
    rows: list[str] = []
    for release in plan.releases:
        steps = f"of {release.component}" if release.component in waiting else ""
        waiting.discard(release.component)  # at its first release
        rows.append(f"| {release.index} | `{how.command(release)}` | {steps} |\n")
    return "".join(
        [
            "\n## One release at a time\n\n",
            how.before,
            _THEN,
            *rows,
            f"\n{how.after}" if how.after else "",
        ]
    )


def names_of(plan: DeploymentPlan, indent: str = "  ") -> str:
    """The names of all releases as words of a shell, a line of them ending with a backslash."""
    lines: list[str] = [""]
    for release in plan.releases:
        if len(lines[-1]) + len(release.name) > 76:
            lines.append("")
        lines[-1] += f" {release.name}" if lines[-1] else f"{indent}{release.name}"
    return " \\\n".join(lines)
