"""What a JSON document says, as the nodes that a YAML document gives, an order of magnitude faster.

The text of numbers stays, as with YAML; duplicate keys and deep nesting are refused.
"""

from __future__ import annotations

import json

from aicr.documents.nodes import Map, Node, Scalar, Seq
from aicr.documents.reader import MAX_DEPTH
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_CONSTANTS = {None: Scalar("null"), True: Scalar("true"), False: Scalar("false")}


def read_json(data: bytes, where: str) -> Node:
    """The document in ``data``; ``where`` names it in messages. Raises INVALID_REQUEST."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise invalid(f"{where}:{line}: not UTF-8 text") from None
    duplicates: list[str] = []

    def mapping(pairs: list[tuple[str, object]]) -> Map:
        found = Map()
        dict.update(found, pairs)  # settled below
        if len(found) != len(pairs):
            keys = [key for key, _ in pairs]
            duplicates.append(next(key for key in keys if keys.count(key) > 1))
        return found

    try:
        found = json.loads(
            text,
            object_pairs_hook=mapping,
            parse_int=Scalar,
            parse_float=Scalar,
            parse_constant=_refused,
        )
    except json.JSONDecodeError as error:
        raise invalid(f"{where}:{error.lineno}: not valid JSON: {error.msg}") from None
    except RecursionError:
        raise _too_deep(where) from None
    except _Constant as error:
        raise invalid(f"{where}: {error} is not JSON") from None
    if duplicates:
        raise invalid(f'{where}: the key "{duplicates[0]}" is there twice')
    return _settled(found, where, 1)


def _settled(value: object, where: str, depth: int) -> Node:
    """The node for a value of the decoder; maps are filled in place."""
    kind = type(value)
    if kind is str:
        text: str = value  # type: ignore[assignment]
        if not text.isascii() or "\0" in text:
            _check_text(text, where)
        return text
    if kind is Scalar:
        return value  # type: ignore[return-value]
    if depth > MAX_DEPTH:
        raise _too_deep(where)
    if isinstance(value, Map):
        for key, item in value.items():
            if type(item) is not str or not item.isascii() or "\0" in item:
                value[key] = _settled(item, where, depth + 1)
            if not key.isascii() or "\0" in key:
                _check_text(key, where)
        return value
    if isinstance(value, list):
        found = Seq()
        for item in value:
            found.append(_settled(item, where, depth + 1))
        found.lines = [0] * len(found)
        return found
    return _CONSTANTS[value]  # type: ignore[index]


def _check_text(text: str, where: str) -> None:
    """What no YAML document could carry either."""
    if "\0" in text:
        raise invalid(f"{where}: a NUL character in a text")
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise invalid(f"{where}: half of a surrogate pair in a text")


def _too_deep(where: str) -> AicrError:
    return invalid(f"{where}: nested deeper than {MAX_DEPTH} levels")


class _Constant(ValueError):
    """NaN, Infinity and -Infinity, which Python's decoder would let through."""


def _refused(name: str) -> NoReturn:
    raise _Constant(name)
