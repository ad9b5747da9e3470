"""What an artifact on the command line is: a recipe file, or a bundle read through its recipe."""

from __future__ import annotations

import os

from aicr.errors import invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from aicr.artifact.bundle_info import BundleInfo
    from aicr.artifact.config_map import ClusterRef
    from aicr.documents.nodes import Node

RECIPE_FILE = "recipe.yaml"
INFO_FILE = "bundle-info.yaml"


class Artifact:
    """A recipe or a bundle.

    ``document`` is the parsed recipe and ``where`` its file; ``root`` is the folder of a bundle
    ("" for a recipe file) and ``info`` what the bundle says of itself (None where it does not).
    """

    __slots__ = ("document", "info", "location", "root", "where")

    def __init__(
        self, location: str, *, where: str, document: Node, root: str, info: BundleInfo | None
    ) -> None:
        # A name that is not UTF-8 is shown with its bytes as escapes: reports are UTF-8.
        self.location = location.encode("utf-8", "backslashreplace").decode("utf-8")
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


def open_artifact(location: str, flag: str, cluster: ClusterRef | None = None) -> Artifact:
    """Read what ``location`` names; ``flag`` is the argument that named it, for messages.

    ``cluster`` is where a ``cm://`` is looked up.
    Raises INVALID_REQUEST for a path that is not there, a folder that is no bundle, and a
    document that cannot be read.
    """
    from aicr.documents.reader import read_yaml

    if location == "cluster":
        raise invalid(
            f"{flag} {location}: a cluster itself is no artifact here",
            hint='a folder of the name "cluster" is ./cluster',
        )
    if location.startswith("cm://"):
        from aicr.artifact.config_map import read_config_map

        data, where = read_config_map(location, flag, cluster)
        return Artifact(location, where=where, document=read_yaml(data, where), root="", info=None)
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
        inside(root, RECIPE_FILE)
    document = read_yaml(read_path(where, flag), where)
    return Artifact(location, where=where, document=document, root=root, info=_info(root, flag))


def _info(root: str, flag: str) -> BundleInfo | None:
    """What a bundle says of itself; None where it is no bundle, or one that says nothing."""
    if not root or not os.path.lexists(os.path.join(root, INFO_FILE)):
        return None
    from aicr.artifact.bundle_info import read_bundle_info

    path = inside(root, INFO_FILE)
    return read_bundle_info(read_path(path, flag), path)


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
