"""What changes in a cluster as it changes: the events of a watch, one by one.

A watch that the server ends is gone on with from where it was; one whose start is too old (410) is
for the caller to begin again with a list.
"""

from __future__ import annotations

import json

from aicr.cluster.connection import JSON, USER_AGENT, Answer, Connection
from aicr.cluster.failures import Permission, broken
from aicr.cluster.reading import List
from aicr.errors import UNAVAILABLE, AicrError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CHUNK = 64 * 1024
_LONGEST_LINE = 8 * 1024 * 1024


class Change:
    """``kind`` is ADDED, MODIFIED or DELETED; ``item`` the object as it was sent."""

    __slots__ = ("item", "kind")

    def __init__(self, kind: str, item: Mapping[str, object]) -> None:
        self.kind = kind
        self.item = item


class Expired(Exception):
    """The server no longer knows where the watch was to start."""


def watch(connection: Connection, wanted: List, since: str, *, seconds: int) -> Iterator[Change]:
    """The changes after the version ``since``, for up to ``seconds``.

    Raises ``Expired``, ``ApiError`` for an answer that says no, AicrError where the connection
    does not last.
    """
    permission = Permission(
        "watch", wanted.resource, group=wanted.group, namespace=wanted.namespace
    )
    query = {"watch": "true", "resourceVersion": since, "timeoutSeconds": str(seconds)}
    if wanted.labels:
        query["labelSelector"] = wanted.labels
    rest = b""
    for piece in _stream(connection, wanted.path, permission, query, quiet=seconds + 10.0):
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > _LONGEST_LINE:
            raise AicrError(UNAVAILABLE, f"{connection.server}: a watch event without an end")
        for line in lines:
            if line.strip():
                yield _change(line, connection)


def _change(line: bytes, connection: Connection) -> Change:
    try:
        said = json.loads(line)
        kind, item = said["type"], said["object"]
        if not isinstance(kind, str) or not isinstance(item, dict):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise AicrError(
            UNAVAILABLE, f"{connection.server}: a watch event that is none of Kubernetes"
        ) from None
    if kind == "ERROR":
        if item.get("code") == 410:
            raise Expired
        raise AicrError(UNAVAILABLE, f"{connection.server}: the watch ended: {item.get('message')}")
    return Change(kind, item)


def _stream(
    connection: Connection,
    path: str,
    permission: Permission,
    query: Mapping[str, str],
    *,
    quiet: float,
) -> Iterator[bytes]:
    """The pieces of an answer that goes on; ``quiet`` is how long nothing may come."""
    from urllib.parse import urlencode

    from urllib3 import Timeout
    from urllib3.exceptions import HTTPError

    headers = connection._access.headers()  # first: it may renew the pool
    headers.update({"User-Agent": USER_AGENT, "Accept": JSON})
    try:
        response = connection._access.pool.request(
            "GET",
            f"{connection.server}{path}?{urlencode(query)}",
            headers=headers,
            timeout=Timeout(connect=connection.patience.connect, read=quiet),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        try:
            if response.status >= 300:
                answer = Answer(dict(response.headers), response.read(_CHUNK))
                raise connection._failure(response.status, answer, permission)
            while piece := response.read1(_CHUNK):
                yield piece
        finally:
            response.close()
    except HTTPError as error:
        raise broken(error, server=connection.server, context=connection.context, tries=1) from None
