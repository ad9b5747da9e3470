"""Artifacts in ConfigMaps: what is at ``cm://namespace/name``, and how a document gets there."""

from __future__ import annotations

from aicr.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aicr.cluster.connection import Connection

SCHEME = "cm://"
READ_ROLE = "docs/rbac/config-map-read.yaml"
WRITE_ROLE = "docs/rbac/config-map-write.yaml"
# Where this tool puts a recipe, and where the public one does.
RECIPE_KEYS = ("recipe.yaml", "recipe.json", "recipe.yml", "snapshot.yaml", "snapshot.json")
SNAPSHOT_KEYS = ("snapshot.yaml", "snapshot.json", "snapshot.yml")


class ClusterRef:
    """Which cluster a ConfigMap is in: a kubeconfig and a context, None for the usual ones.

    ``on_note`` gets what a person should know about the connection.
    """

    __slots__ = ("context", "kubeconfig", "on_note")

    def __init__(
        self,
        kubeconfig: str | None = None,
        context: str | None = None,
        on_note: Callable[[str], None] | None = None,
    ) -> None:
        self.kubeconfig = kubeconfig
        self.context = context
        self.on_note = on_note

    def connect(self, role: str, about: str = "") -> Connection:
        """A connection; ``role`` is the file with the rights that it is used for, ``about`` what
        an error begins with."""
        from aicr.cluster.connection import Connection
        from aicr.errors import AicrError

        try:
            return Connection(self.kubeconfig, self.context, role=role, on_note=self.on_note)
        except AicrError as error:
            if not about:
                raise
            raise AicrError(
                error.code, f"{about}: {error.message}", hint=error.hint, details=error.details
            ) from None


def read_config_map(
    location: str, flag: str, cluster: ClusterRef | None, keys: Sequence[str] = RECIPE_KEYS
) -> tuple[bytes, str]:
    """The document, and what to call it in messages."""
    from aicr.cluster.config_maps import parse_location, read_document

    place = parse_location(location, flag)
    connection = (cluster or ClusterRef()).connect(READ_ROLE, f"{flag} {location}")
    found = read_document(connection, place, keys)
    return found.text.encode("utf-8"), f"{place} ({found.key})"


def write_config_map(
    text: str, location: str, flag: str, cluster: ClusterRef | None, *, name: str
) -> None:
    """Put a document called ``name``, such as ``recipe.yaml``, into the ConfigMap."""
    from aicr.cluster.config_maps import parse_location, write_document

    place = parse_location(location, flag)
    connection = (cluster or ClusterRef()).connect(WRITE_ROLE, f"{flag} {location}")
    write_document(
        connection,
        place,
        text,
        key=name,
        component=name.partition(".")[0],
        version=__version__,
    )
