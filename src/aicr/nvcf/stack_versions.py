"""Which Self-Managed stack is meant by a version, and what applies on the way between two.

The editions of the documentation have numbers of their own: 1.0.4 is an edition whose stack is
1.0.10. One given for the other is refused with the map.
"""

from __future__ import annotations

from aicr.errors import invalid
from aicr.versions.semver import parse

# Edition: its Self-Managed stack. Those that are also a stack version are left as they are.
EDITIONS = {
    "1.0.2": "1.0.1",
    "1.0.3": "1.0.1",
    "1.0.4": "1.0.10",
    "1.1.0": "1.1.5",
    "1.1.1": "1.1.9",
}
_LAST_OLD_IMAGES = "1.0.1"
_FIRST_NEW_IMAGES = "1.0.8"


def check_stack(flag: str, text: str) -> str:
    """The version without a leading "v". Raises INVALID_REQUEST."""
    version = parse(text)
    if version is None:
        raise invalid(f"{flag} {text}: expected a Self-Managed stack version, such as 1.0.10")
    bare = text.removeprefix("v")
    if bare in EDITIONS:
        listed = ", ".join(f"{edition} has {stack}" for edition, stack in EDITIONS.items())
        raise invalid(
            f"{flag} {text}: is an edition of NVCF, not a stack version; its Self-Managed stack is "
            f"{EDITIONS[bare]}",
            hint=f"editions and their stacks: {listed}",
        )
    return bare


def task_images_apply(old: str, new: str) -> bool:
    """Whether the task images change their names on this path; an unknown start (a 0.x install
    without a receipt, "") is an old one."""
    first, last = parse(old), parse(new)
    limit, start = parse(_LAST_OLD_IMAGES), parse(_FIRST_NEW_IMAGES)
    assert limit is not None
    assert start is not None
    assert last is not None
    return (first is None or first <= limit) and last >= start
