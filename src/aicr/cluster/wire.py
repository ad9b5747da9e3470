"""How answers are decoded: the fields that are asked for, straight from the bytes; all else of an
object is passed over and never becomes a value."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from aicr.cluster.credentials import MISSING
from aicr.errors import UNAVAILABLE, AicrError, invalid

try:
    from msgspec import DecodeError as DecodeError
    from msgspec import Struct as Struct
    from msgspec import field as field
    from msgspec.json import Decoder as Decoder
    from msgspec.json import encode as _encode
except ModuleNotFoundError:
    raise invalid(MISSING) from None

T = TypeVar("T")


class Meta(Struct):
    """An object's metadata, as far as anything here reads it."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resourceVersion: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class Item(Struct):
    """An object of which only the metadata counts."""

    metadata: Meta = field(default_factory=Meta)


class ListMeta(Struct):
    next: str = field(name="continue", default="")


class Page(Struct, Generic[T]):
    items: list[T] | None = None
    metadata: ListMeta = field(default_factory=ListMeta)


def decode(decoder: Decoder[T], body: bytes, what: str) -> T:
    """The decoded answer. Raises UNAVAILABLE, without a word of the content, where it is none."""
    try:
        return decoder.decode(body)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        raise AicrError(
            UNAVAILABLE,
            f"the answer for {what} is not what a Kubernetes API server sends",
            hint="is something else, a proxy or a login page, answering at this address?",
        ) from None


def encode(value: Any) -> bytes:
    return _encode(value)
