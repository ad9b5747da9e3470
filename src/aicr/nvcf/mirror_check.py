"""Whether a registry has an image as it is needed: every architecture, the digest that was
selected. Says what this machine sees of the registry; nodes may see another mirror."""

from __future__ import annotations

from aicr.nvcf.registry import Registry, RegistryError, RegistryImage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from aicr.artifact.image_ref import ImageRef

PRESENT = "present"
NEXT = {
    "present": "run aicr nvcf pull-check: nodes may use another mirror than this machine",
    "architecture-missing": "mirror it again with every architecture (aicr nvcf mirror-plan), "
    "then mirror-check",
    "not-found": "mirror it (aicr nvcf mirror-plan), then mirror-check",
    "digest-differs": "mirror it again from the selected digest (aicr nvcf mirror-plan), then "
    "mirror-check",
    "unauthorised": "correct the login for this registry (--registry-config), then mirror-check",
    "unreachable": "make the registry reachable from here (--registry-ca, --plain-http), then "
    "mirror-check",
}
# Which of several answers the command's is.
_ORDER = (
    "unreachable", "unauthorised", "not-found", "digest-differs", "architecture-missing", "present",
)  # fmt: skip


class MirrorAnswer:
    """One image: the outcome, why, and what the registry has (None where nothing was read)."""

    __slots__ = ("found", "image", "outcome", "why")

    def __init__(
        self, image: ImageRef, outcome: str, why: str, found: RegistryImage | None
    ) -> None:
        self.image = image
        self.outcome = outcome
        self.why = why
        self.found = found


def mirror_check(
    registry: Registry,
    image: ImageRef,
    *,
    architectures: Sequence[str],
    digests: Collection[str] = (),
) -> MirrorAnswer:
    """Ask for one image; ``digests`` are those that would do, none where any does."""
    try:
        found = registry.image(image)
    except RegistryError as error:
        return MirrorAnswer(image, error.outcome, str(error), None)
    if digests and not found.digests.intersection(digests):
        why = f"it is {found.digest}, selected was {' or '.join(sorted(digests))}"
        return MirrorAnswer(image, "digest-differs", why, found)
    missing = [one for one in architectures if one not in found.architectures]
    if missing:
        why = f"has {', '.join(found.architectures) or 'none'}, lacks {', '.join(missing)}"
        gone = [one for one in missing if one in found.absent]
        if gone:
            why += f" (its index lists {', '.join(gone)}, the manifest is not there)"
        return MirrorAnswer(image, "architecture-missing", why, found)
    return MirrorAnswer(image, PRESENT, "", found)


def worst(answers: Sequence[MirrorAnswer]) -> str:
    """The command's answer."""
    return min((answer.outcome for answer in answers), key=_ORDER.index)
