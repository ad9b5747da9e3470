"""What ``UPGRADING.md`` of a bundle says of taking one release at a time."""

from __future__ import annotations

import re

from aicr.bundle.build import Bundle


def section(found: Bundle) -> str:
    text = found.files["UPGRADING.md"][0].decode()
    return text.partition("## One release at a time\n")[2].partition("\n## ")[0]


def rows(found: Bundle) -> list[tuple[int, str, str]]:
    """Number, command, and whose steps belong to it."""
    return [
        (int(number), command, steps)
        for number, command, steps in re.findall(
            r"^\| (\d+) \| `(.+?)` \| (.*?) ?\|$", section(found), re.M
        )
    ]


def blocks(found: Bundle) -> list[str]:
    """The commands around those of the releases."""
    return re.findall(r"```bash\n(.*?)```", section(found), re.S)
