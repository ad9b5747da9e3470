"""What a release's inventory says of an image, and whether a render agrees with it."""

from __future__ import annotations

from aicr.artifact.image_ref import ImageRef, parse_image
from aicr.documents.nodes import Map, Node, Scalar, Seq
from aicr.documents.reader import read_yaml
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

IMAGE_TYPE = "container-image"
TASK_RELEASE = "nvct-api"
NOT_COMPARED = "digest-not-compared"


class Artifact:
    """An image of an inventory. ``releases`` are the Helm releases that use it."""

    __slots__ = ("digest", "name", "reference", "releases", "repository", "tag")

    def __init__(
        self,
        *,
        name: str,
        repository: str,
        tag: str,
        digest: str,
        reference: str,
        releases: Sequence[str],
    ) -> None:
        self.name = name
        self.repository = repository
        self.tag = tag
        self.digest = digest
        self.reference = reference
        self.releases = releases

    @property
    def shown(self) -> str:
        return f"{self.reference}@{self.digest}" if self.digest else self.reference


class Inventory:
    """``version`` is the stack's, "" where it says none; ``where`` the file or address."""

    __slots__ = ("images", "version", "warnings", "where")

    def __init__(
        self, where: str, version: str, images: Sequence[Artifact], warnings: Sequence[str]
    ) -> None:
        self.where = where
        self.version = version
        self.images = images
        self.warnings = warnings

    def candidates(self, name: str, release: str) -> tuple[Sequence[Artifact], str]:
        """The images of this base name that ``release`` uses; where none of them says so, all of
        this name, with a note."""
        named = [image for image in self.images if image.name == name]
        used = [image for image in named if release in image.releases]
        if used or not named:
            return used, ""
        return named, f"{self.where} does not say that {release} uses {name}: compared by name"


class Comparison:
    """One image of a render against the inventory. ``agrees`` is the answer, ``why`` says what
    differs; ``digests`` are those that the inventory gives for it."""

    __slots__ = ("agrees", "digests", "image", "notes", "selected", "why")

    def __init__(
        self,
        image: ImageRef,
        *,
        agrees: bool,
        why: str,
        selected: Sequence[Artifact],
        digests: Sequence[str],
        notes: Sequence[str],
    ) -> None:
        self.image = image
        self.agrees = agrees
        self.why = why
        self.selected = selected
        self.digests = digests
        self.notes = notes


def read_inventory(location: str) -> Inventory:
    """The inventory in a file or at an https address. Raises what ``read_location`` raises."""
    from aicr.artifact.fetch import read_location

    if location.lower().startswith("http://"):
        raise invalid(f"--inventory {location}: expected a file or an https address")
    return inventory_from(read_location(location, "--inventory"), location)


def inventory_from(data: bytes, where: str) -> Inventory:
    """The inventory in ``data``. Unknown fields are passed over. Raises INVALID_REQUEST."""
    root = read_yaml(data, where)
    if not isinstance(root, Map):
        raise invalid(f"{where}: expected an inventory, a map")
    version = root.get("schema_version")
    if not isinstance(version, Scalar) or version.text != "1":
        found = version.text if isinstance(version, Scalar) else repr(version)
        raise invalid(
            f"{where}: schema_version: expected 1, found {found}",
            hint="pass a release's stack inventory, such as nvcf-self-managed-stack-inventory.json",
        )
    artifacts = root.get("artifacts")
    if not isinstance(artifacts, Seq):
        raise invalid(f"{where}: artifacts: expected a list")
    images = [
        _artifact(node, f"{where}:{line}")
        for node, line in zip(artifacts, artifacts.lines, strict=True)
        if isinstance(node, Map) and node.get("type") == IMAGE_TYPE
    ]
    source = root.get("source")
    warnings = root.get("warnings")
    return Inventory(
        where,
        _text(source.get("version")) if isinstance(source, Map) else "",
        images,
        [_text(one) for one in warnings] if isinstance(warnings, Seq) else [],
    )


def compare(image: ImageRef, inventory: Inventory, release: str = TASK_RELEASE) -> Comparison:
    """Whether the inventory selects this image, whatever the mirror's repository is."""
    candidates, note = inventory.candidates(image.name, release)
    notes = [note] if note else []
    if not candidates:
        why = f"{inventory.where} has no image {image.name}; the render has {image.text}"
        return Comparison(image, agrees=False, why=why, selected=(), digests=(), notes=notes)
    verdicts = [(one, *_agrees(image, one)) for one in candidates]
    good = [(one, compared) for one, agrees, compared in verdicts if agrees]
    if not good:
        listed = ", ".join(one.shown for one in candidates)
        why = f"the render has {image.text}, {inventory.where} selects {listed}"
        return Comparison(
            image, agrees=False, why=why, selected=candidates, digests=(), notes=notes
        )
    if not any(compared for _, compared in good):
        notes.append(f"{NOT_COMPARED}: {image.text}: equal by tag alone")
    if len(candidates) > 1:
        notes.append(
            f"{inventory.where} has {len(candidates)} images called {image.name}; "
            f"{good[0][0].shown} agrees"
        )
    return Comparison(
        image,
        agrees=True,
        why="",
        selected=[one for one, _ in good],
        digests=[one.digest for one, _ in good if one.digest],
        notes=notes,
    )


def _agrees(image: ImageRef, one: Artifact) -> tuple[bool, bool]:
    """Whether they are the same, and whether digests said so."""
    if image.digest and one.digest:
        return image.digest == one.digest, True
    return image.tag != "" and image.tag == one.tag, False


def _artifact(node: Map, where: str) -> Artifact:
    reference = _text(node.get("reference"))
    parsed = parse_image(reference)
    repository = _text(node.get("repository")) or (parsed.repository if parsed else "")
    name = _text(node.get("name")) or repository.rpartition("/")[2]
    if not name or not reference:
        raise invalid(f"{where}: an image needs a name and a reference")
    sources = node.get("sources")
    return Artifact(
        name=name.rpartition("/")[2],
        repository=repository,
        tag=(parsed.tag if parsed else "") or _text(node.get("version")),
        digest=_text(node.get("digest")) or (parsed.digest if parsed else ""),
        reference=reference.partition("@")[0],
        releases=[
            _text(one.get("release"))
            for one in (sources if isinstance(sources, Seq) else ())
            if isinstance(one, Map)
        ],
    )


def _text(node: Node | None) -> str:
    if isinstance(node, Scalar):
        return node.text
    return node if isinstance(node, str) else ""


def agent_digests(inventory: Inventory) -> dict[str, str]:
    """The versions of the agent's images by digest, of a compute plane's inventory."""
    return {one.digest: one.tag for one in inventory.images if one.name == "nvca" and one.digest}
