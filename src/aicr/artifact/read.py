"""What an artifact on the command line is: a recipe file, or a bundle read through its recipe."""

from __future__ import annotations

import os

from aicr.artifact.bundle_info import INFO_FILE, read_bundle_info
from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.artifact.bundle_info import BundleInfo
    from aicr.documents.nodes import Node

RECIPE_FILE = "recipe.yaml"


class Artifact:
    """A recipe or a bundle.

    ``document`` is the parsed recipe and ``where`` its file; ``root`` is the folder of a bundle
    ("" for a recipe file) and ``info`` what the bundle says of itself (None where it does not).
    """

    __slots__ = ("document", "info", "location", "root", "where")

    def __init__(
        self, location: str, *, where: str, document: Node, root: str, info: BundleInfo | None
    ) -> None:
        self.location = location
        self.where = where
        self.document = document
        self.root = root
        self.info = info

    @property
    def kind(self) -> str:
        return "bundle" if self.root else "recipe"

    @property
    def deployer(self) -> str:
        """The deployer that a bundle was built for; "" where nothing says so."""
        return self.info.deployer if self.info is not None else ""


def open_artifact(location: str, flag: str) -> Artifact:
    """Read what ``location`` names; ``flag`` is the argument that named it, for messages.

    Raises INVALID_REQUEST for a path that is not there, a folder that is no bundle, and a
    document that cannot be read.
    """
    from aicr.documents.reader import read_yaml

    if location.startswith("cm://") or location == "cluster":
        raise invalid(
            f"{flag} {location}: this version reads files and folders, not clusters",
            hint='a folder of the name "cluster" is ./cluster' if location == "cluster" else "",
        )
    root = ""
    where = location
    if os.path.isdir(location):
        root = location
        where = os.path.join(location, RECIPE_FILE)
        if not os.path.isfile(where):
            raise invalid(
                f"{flag} {location}: a folder without {RECIPE_FILE} is no bundle",
                hint="name a recipe file, or a folder that aicr bundle wrote",
            )
    data = read_path(where, flag)
    info = None
    if root and os.path.exists(os.path.join(root, INFO_FILE)):
        path = os.path.join(root, INFO_FILE)
        inside(root, INFO_FILE)
        info = read_bundle_info(read_path(path, flag), path)
    if root:
        inside(root, RECIPE_FILE)
    return Artifact(location, where=where, document=read_yaml(data, where), root=root, info=info)


def inside(root: str, path: str) -> str:
    """The full path of a file of a bundle, which no link may lead out of.

    Raises INVALID_REQUEST where one does.
    """
    full = os.path.join(root, path)
    real_root = os.path.realpath(root)
    if not os.path.realpath(full).startswith(real_root.rstrip(os.sep) + os.sep):
        raise invalid(f"{full}: leads out of the bundle, and is not followed")
    return full


def read_path(path: str, flag: str) -> bytes:
    """The bytes of a file named on the command line; INVALID_REQUEST where it cannot be read."""
    from aicr.documents.reader import MAX_BYTES

    if not os.path.exists(path):
        raise invalid(f"{flag} {path}: there is no such file or folder")
    if not os.path.isfile(path):
        raise invalid(f"{flag} {path}: not a regular file")
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise invalid(f"{flag} {path}: cannot be read: {error.strerror}") from None
