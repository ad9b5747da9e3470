"""Documents in ConfigMaps: ``cm://namespace/name`` read, and written without losing another's
write."""

from __future__ import annotations

import re

from aicr.cluster import wire
from aicr.cluster.failures import ApiError, Permission
from aicr.cluster.reading import object_path
from aicr.errors import CONFLICT, NOT_FOUND, AicrError, invalid, not_found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aicr.cluster.connection import Connection

SCHEME = "cm://"
# The server counts the values, not the keys.
LIMIT = 1_048_576
_RESOURCE = "configmaps"
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_NAME_LABEL = "app.kubernetes.io/name"
_OURS = "aicr"


class _ConfigMap(wire.Item):
    data: dict[str, str] | None = None
    immutable: bool | None = None


_DECODER = wire.Decoder(_ConfigMap)


class Location:
    """Which ConfigMap."""

    __slots__ = ("name", "namespace")

    def __init__(self, namespace: str, name: str) -> None:
        self.namespace = namespace
        self.name = name

    def __str__(self) -> str:
        return f"{SCHEME}{self.namespace}/{self.name}"


class Document:
    """The text of a ConfigMap's document, and the key that it stood under."""

    __slots__ = ("key", "text")

    def __init__(self, key: str, text: str) -> None:
        self.key = key
        self.text = text


def parse_location(text: str, flag: str) -> Location:
    """Which ConfigMap ``cm://namespace/name`` names. Raises INVALID_REQUEST where none."""
    namespace, slash, name = text.removeprefix(SCHEME).partition("/")
    if not text.startswith(SCHEME) or not slash:
        raise invalid(f"{flag} {text}: expected cm://namespace/name")
    if not _LABEL.fullmatch(namespace):
        raise invalid(f'{flag} {text}: "{namespace}" is no name of a namespace')
    if len(name) > 253 or not _SUBDOMAIN.fullmatch(name):
        raise invalid(f'{flag} {text}: "{name}" is no name of a ConfigMap')
    return Location(namespace, name)


def read_document(connection: Connection, location: Location, keys: Sequence[str]) -> Document:
    """The document under the first of ``keys`` that is there, else under the only key that looks
    like a document.

    Raises NOT_FOUND where the ConfigMap, its namespace or such a key is not there.
    """
    found = _get(connection, location)
    if found is None:
        raise not_found(f"{location}: there is no such ConfigMap on {connection.server}")
    data = found.data or {}
    for key in keys:
        if key in data:
            return Document(key, data[key])
    likely = [key for key in data if key.endswith((".yaml", ".yml", ".json"))]
    if len(likely) == 1:
        return Document(likely[0], data[likely[0]])
    raise not_found(
        f"{location} holds no {keys[0]}; its keys are {', '.join(sorted(data)) or 'none'}"
    )


def write_document(
    connection: Connection,
    location: Location,
    text: str,
    *,
    key: str,
    component: str,
    version: str,
) -> str:
    """Put the document into the ConfigMap, which is created where it is not there.

    Gives "created" or "updated". Raises CONFLICT where somebody else wrote meanwhile or the
    ConfigMap is not of this tool, INVALID_REQUEST for a document that is too large.
    """
    data = {key: text, "format": key.rpartition(".")[2]}
    size = sum(len(value.encode("utf-8")) for value in data.values())
    if size > LIMIT:
        raise invalid(
            f"{location}: the document has {size} bytes, and a ConfigMap holds at most {LIMIT}",
            hint="write it to a file",
        )
    labels = {
        _NAME_LABEL: _OURS,
        "app.kubernetes.io/component": component,
        "app.kubernetes.io/version": _label_value(version),
        "app.kubernetes.io/managed-by": _OURS,
    }
    old = _get(connection, location)
    if old is None:
        _create(connection, location, {"name": location.name, "labels": labels}, data)
        return "created"
    if (old.metadata.labels or {}).get(_NAME_LABEL) != _OURS:
        raise AicrError(
            CONFLICT,
            f"{location} is there already and was not written by aicr (no label "
            f"{_NAME_LABEL}={_OURS}); it was left alone",
            hint="choose another name",
        )
    if old.immutable:
        raise AicrError(CONFLICT, f"{location} is immutable", hint="choose another name")
    metadata: dict[str, object] = {
        "name": location.name,
        "namespace": location.namespace,
        "resourceVersion": old.metadata.resourceVersion,
        "labels": (old.metadata.labels or {}) | labels,
    }
    if old.metadata.annotations:
        metadata["annotations"] = old.metadata.annotations
    _update(connection, location, metadata, data)
    return "updated"


def _get(connection: Connection, location: Location) -> _ConfigMap | None:
    path = object_path(_RESOURCE, location.namespace, location.name)
    try:
        answer = connection.read(path, _permission("get", location))
    except ApiError as error:
        if error.status == 404:
            return None
        raise
    return wire.decode(_DECODER, answer.body, str(location))


def _create(
    connection: Connection,
    location: Location,
    metadata: Mapping[str, object],
    data: Mapping[str, str],
) -> None:
    path = object_path(_RESOURCE, location.namespace)
    permission = Permission("create", _RESOURCE, namespace=location.namespace)
    try:
        connection.write("POST", path, permission, _body(metadata, data))
    except ApiError as error:
        if error.status == 404 and error.kind == "namespaces":
            raise AicrError(
                NOT_FOUND,
                f"{location}: there is no namespace {location.namespace} on {connection.server}",
                hint=f"kubectl create namespace {location.namespace}",
            ) from None
        if error.status == 409:
            raise _conflict(location) from None
        raise


def _update(
    connection: Connection,
    location: Location,
    metadata: Mapping[str, object],
    data: Mapping[str, str],
) -> None:
    path = object_path(_RESOURCE, location.namespace, location.name)
    try:
        connection.write("PUT", path, _permission("update", location), _body(metadata, data))
    except ApiError as error:
        if error.status in (404, 409):
            raise _conflict(location) from None
        raise


def _conflict(location: Location) -> AicrError:
    return AicrError(
        CONFLICT,
        f"{location} was changed by somebody else meanwhile; nothing was written",
        hint="look at what is there now, then try again",
    )


def _body(metadata: Mapping[str, object], data: Mapping[str, str]) -> bytes:
    return wire.encode(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
    )


def _permission(verb: str, location: Location) -> Permission:
    return Permission(verb, _RESOURCE, namespace=location.namespace, name=location.name)


def _label_value(text: str) -> str:
    """The text as a label may have it."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)[:63].strip("._-")
