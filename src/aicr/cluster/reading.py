"""A whole list, page by page: nothing of a page is kept but what its reader takes from it.

A ``continue`` token that is too old starts the list again, once; the token that the error offers
would give a list of two different times.
"""

from __future__ import annotations

from typing import TypeVar

from aicr.cluster.connection import JSON
from aicr.cluster.failures import ApiError, Permission
from aicr.errors import UNAVAILABLE, AicrError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from aicr.cluster.connection import Connection

    class Reader(Protocol):
        """Takes what it needs of each page and gives the token for the next, "" at the end."""

        def page(self, body: bytes) -> str: ...


R = TypeVar("R", bound="Reader")

_MOST_PAGES = 20_000
METADATA_ONLY = f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{JSON}"


class List:
    """Which objects: of ``resource``, everywhere or in one namespace, chosen by ``labels``.

    ``limit`` is for objects of which fewer than usual should come in one page.
    """

    __slots__ = ("accept", "group", "labels", "limit", "namespace", "resource", "version")

    def __init__(
        self,
        resource: str,
        *,
        group: str = "",
        version: str = "v1",
        namespace: str = "",
        labels: str = "",
        accept: str = JSON,
        limit: int = 0,
    ) -> None:
        self.resource = resource
        self.group = group
        self.version = version
        self.namespace = namespace
        self.labels = labels
        self.accept = accept
        self.limit = limit

    @property
    def path(self) -> str:
        return object_path(self.resource, self.namespace, group=self.group, version=self.version)

    @property
    def permission(self) -> Permission:
        return Permission("list", self.resource, group=self.group, namespace=self.namespace)


def object_path(
    resource: str, namespace: str = "", name: str = "", *, group: str = "", version: str = "v1"
) -> str:
    """Where a resource, or one object of it, is."""
    from urllib.parse import quote

    root = f"/apis/{group}/{version}" if group else f"/api/{version}"
    inside = f"/namespaces/{quote(namespace, safe='')}" if namespace else ""
    return f"{root}{inside}/{resource}" + (f"/{quote(name, safe='')}" if name else "")


def read_list(connection: Connection, wanted: List, fresh: Callable[[], R]) -> R:
    """A new reader that has seen the whole list.

    Raises ``ApiError`` for an answer that says no, UNAVAILABLE for a list that does not end.
    """
    restarted = False
    while True:
        reader = fresh()
        try:
            _pages(connection, wanted, reader)
        except ApiError as error:
            if error.status != 410 or restarted:
                raise
            restarted = True
            connection.note(
                f"the list of {wanted.resource} took longer than the server keeps its state, and "
                "was started again"
            )
            continue
        return reader


def _pages(connection: Connection, wanted: List, reader: Reader) -> None:
    page = connection.patience.page
    query = {"limit": str(min(wanted.limit or page, page))}
    if wanted.labels:
        query["labelSelector"] = wanted.labels
    seen: set[str] = set()
    while True:
        answer = connection.read(wanted.path, wanted.permission, query, accept=wanted.accept)
        token = reader.page(answer.body)
        del answer
        if not token:
            return
        if token in seen or len(seen) >= _MOST_PAGES:
            raise AicrError(
                UNAVAILABLE, f"{connection.server}: the list of {wanted.resource} does not end"
            )
        seen.add(token)
        query["continue"] = token
