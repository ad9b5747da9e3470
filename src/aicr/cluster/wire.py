"""How answers are decoded: the fields that are asked for, straight from the bytes; all else of an
object is passed over and never becomes a value."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from aicr.cluster.credentials import MISSING
from aicr.errors import UNAVAILABLE, AicrError, invalid

try:
    import msgspec
except ModuleNotFoundError:
    raise invalid(MISSING) from None

T = TypeVar("T")


class Meta(msgspec.Struct):
    """An object's metadata, as far as anything here reads it."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class Item(msgspec.Struct):
    """An object of which only the metadata counts."""

    metadata: Meta = msgspec.field(default_factory=Meta)


class ListMeta(msgspec.Struct):
    next: str = msgspec.field(name="continue", default="")


class Page(msgspec.Struct, Generic[T]):
    items: list[T] | None = None
    metadata: ListMeta = msgspec.field(default_factory=ListMeta)


def decode(decoder: msgspec.json.Decoder[T], body: bytes, what: str) -> T:
    """The decoded answer. Raises UNAVAILABLE, without a word of the content, where it is none."""
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise AicrError(
            UNAVAILABLE,
            f"the answer for {what} is not what a Kubernetes API server sends",
            hint="is something else, a proxy or a login page, answering at this address?",
        ) from None


def encode(value: Any) -> bytes:
    return msgspec.json.encode(value)
