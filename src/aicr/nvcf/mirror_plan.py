"""What to copy where, so that a mirror has the images of a render: text, JSON, or the commands of
skopeo and regctl, which keep every architecture and the digest."""

from __future__ import annotations

from aicr.artifact.image_ref import ImageRef
from aicr.documents.emit import json_text
from aicr.errors import invalid
from aicr.nvcf.inventory import Artifact, Comparison, Inventory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMATS = ("text", "json", "skopeo", "regctl")
# Charts that have their own settings for these images, whatever ``global.image`` says.
_OWN_SETTINGS = {
    "nats-server": "nats.container.image",
    "nats-box": "natsBox.container.image",
    "nats-server-config-reloader": "nats.reloader.image",
    "k8s": "api.accountBootstrap.image",
}
_CERT_MANAGER = "cert-manager-"


class Copy:
    """One image to mirror. ``follows`` is whether its destination comes from ``global.image``."""

    __slots__ = ("architectures", "destination", "digest", "follows", "source")

    def __init__(
        self,
        *,
        source: str,
        digest: str,
        destination: ImageRef,
        architectures: Sequence[str],
        follows: bool,
    ) -> None:
        self.source = source
        self.digest = digest
        self.destination = destination
        self.architectures = architectures
        self.follows = follows

    @property
    def exact_source(self) -> str:
        """By digest where it is known: a tag could have moved."""
        if not self.digest:
            return self.source
        return f"{_untagged(self.source)}@{self.digest}"

    @property
    def target(self) -> str:
        """By tag where it has one: no tool takes a tag and a digest."""
        ref = self.destination
        if ref.tag or not ref.digest:
            return f"{ref.repository}:{ref.tag or 'latest'}"
        return f"{ref.repository}@{ref.digest}"


class Apart:
    """An image of the inventory that the registry settings of the render do not move."""

    __slots__ = ("reference", "setting")

    def __init__(self, reference: str, setting: str) -> None:
        self.reference = reference
        self.setting = setting


def plan_copies(
    comparisons: Sequence[Comparison],
    *,
    architectures: Sequence[str],
    settings: Mapping[str, str],
) -> list[Copy]:
    """What to copy for images that the inventory selects; ``settings`` are those of the render."""
    home = "/".join(value for value in settings.values() if value)
    found = []
    for one in comparisons:
        if not one.agrees:
            raise invalid(f"no plan for {one.image.text}: {one.why}")
        selected = next((a for a in one.selected if a.digest), one.selected[0])
        found.append(
            Copy(
                source=selected.reference,
                digest=selected.digest,
                destination=one.image,
                architectures=architectures,
                follows=bool(home) and one.image.repository.startswith(home + "/"),
            )
        )
    return found


def apart(inventory: Inventory) -> list[Apart]:
    """Images of the inventory with mirror settings of their own."""
    home = _home(inventory.images)
    found = []
    for image in inventory.images:
        setting = _OWN_SETTINGS.get(image.name, "")
        if image.name.startswith(_CERT_MANAGER):
            setting = "cert-manager's own image settings"
        if not setting and home and not image.repository.startswith(home + "/"):
            setting = "its chart's own image settings"
        if setting:
            found.append(Apart(image.shown, setting))
    return found


def plan_text(copies: Sequence[Copy], others: Sequence[Apart], form: str) -> str:
    """The plan in one of ``FORMATS``."""
    if form == "json":
        return json_text(_json(copies, others))
    if form == "text":
        lines = [
            f"{one.exact_source} -> {one.target}  ({', '.join(one.architectures)})\n"
            + ("" if one.follows else "  does not follow global.image\n")
            for one in copies
        ]
        if others:
            lines.append("\nNot moved by global.image, mirror them by their own settings:\n")
            lines += [f"  {one.reference}  ({one.setting})\n" for one in others]
        return "".join(lines)
    head = "# Not moved by global.image:\n" if others else ""
    head += "".join(f"#   {one.reference}  ({one.setting})\n" for one in others)
    if form == "skopeo":
        command = "skopeo copy --multi-arch all --preserve-digests docker://{} docker://{}\n"
    else:
        command = "regctl image copy {} {}\n"
    return head + "".join(command.format(one.exact_source, one.target) for one in copies)


def _json(copies: Sequence[Copy], others: Sequence[Apart]) -> dict[str, object]:
    return {
        "images": [
            {
                "source": one.source,
                "digest": one.digest or None,
                "destination": one.destination.text,
                "architectures": list(one.architectures),
                "followsGlobalImage": one.follows,
            }
            for one in copies
        ],
        "apart": [{"reference": one.reference, "setting": one.setting} for one in others],
    }


def _home(images: Sequence[Artifact]) -> str:
    """Where most images of the inventory come from."""
    folders = [image.repository.rpartition("/")[0] for image in images]
    return max(sorted(set(folders)), key=folders.count) if folders else ""


def _untagged(reference: str) -> str:
    head, slash, last = reference.rpartition("/")
    return f"{head}{slash}{last.partition(':')[0]}"
