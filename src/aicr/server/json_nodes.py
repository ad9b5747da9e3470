"""What a JSON document says, as the nodes that a YAML document gives, an order of magnitude faster.

The text of numbers stays, as with YAML; duplicate keys and deep nesting are refused.
"""

from __future__ import annotations

import json

from aicr.documents.nodes import Map, Node, Scalar, Seq, first_twice, is_deeper
from aicr.documents.reader import MAX_DEPTH
from aicr.documents.scalars import is_text
from aicr.errors import AicrError, invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_CONSTANTS = {None: Scalar("null"), True: Scalar("true"), False: Scalar("false")}
# What the decoder leaves as it is to stay.
_DONE = frozenset((str, Scalar, Map))
# How the text of a document can name a NUL, or half of a surrogate pair.
_SHORT = 20
_SUSPECT = ("\\u0000", "\\ud", "\\uD")


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
            duplicates.append(first_twice(key for key, _ in pairs))
        for key, value in pairs:
            if type(value) not in _DONE:
                found[key] = _settled(value)
        return found

    try:
        found = _settled(
            json.loads(
                text,
                object_pairs_hook=mapping,
                parse_int=_number,
                parse_float=_number,
                parse_constant=_refused,
            )
        )
    except json.JSONDecodeError as error:
        raise invalid(f"{where}:{error.lineno}: not valid JSON: {error.msg}") from None
    except RecursionError:
        raise _too_deep(where) from None
    except _Constant as error:
        raise invalid(f"{where}: {error} is not JSON") from None
    if len(text) > 2 * MAX_DEPTH and is_deeper(found, MAX_DEPTH):
        raise _too_deep(where)
    if "\\" in text and any(one in text for one in _SUSPECT):
        _check_texts(found, where)
    if duplicates:
        raise invalid(f'{where}: the key "{duplicates[0]}" is there twice')
    return found


def _number(text: str) -> Scalar | str:
    """As in a YAML document: what no double can hold stays text."""
    if (len(text) > _SHORT or "e" in text or "E" in text) and is_text(text):
        return text
    return Scalar(text)


def _settled(value: object) -> Node:
    """The node for a value of the decoder, whose maps are nodes already."""
    if type(value) in _DONE:
        return value  # type: ignore[return-value]
    if isinstance(value, list):
        found = Seq()
        if _DONE.issuperset(map(type, value)):
            found.extend(value)
        else:
            found.extend([_settled(one) for one in value])
        found.lines = [0] * len(value)
        return found
    return _CONSTANTS[value]  # type: ignore[index]


def _check_texts(node: Node, where: str) -> None:
    """What no YAML document could carry either."""
    if isinstance(node, str):
        if "\0" in node:
            raise invalid(f"{where}: a NUL character in a text")
        if any("\ud800" <= char <= "\udfff" for char in node):
            raise invalid(f"{where}: half of a surrogate pair in a text")
    elif isinstance(node, Map):
        for key, item in node.items():
            _check_texts(key, where)
            _check_texts(item, where)
    elif isinstance(node, Seq):
        for item in node:
            _check_texts(item, where)


def _too_deep(where: str) -> AicrError:
    return invalid(f"{where}: nested deeper than {MAX_DEPTH} levels")


class _Constant(ValueError):
    """NaN, Infinity and -Infinity, which Python's decoder would let through."""


def _refused(name: str) -> NoReturn:
    raise _Constant(name)
