"""Which native value a node stands for, by YAML 1.2 core as the field's Go readers have it.

``on``, ``yes``, ``1:30`` and ``1_000`` are text; ``0o17`` is octal and so is ``017``; an integer
beyond 64 bits is a float. (Rule: resolving a recipe, "Scalars" and "Fine print".)
"""

from __future__ import annotations

from aicr.documents.nodes import Map, Node, Scalar, Seq

_WORDS: dict[str, object] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INFINITY = frozenset((".inf", ".Inf", ".INF"))
_NOT_A_NUMBER = frozenset((".nan", ".NaN", ".NAN"))
_FIRST = frozenset("0123456789+-.~nNtTfF")
_FLOAT_CHARS = frozenset("0123456789.eE+-")
_BASES = {"0x": (16, frozenset("0123456789abcdefABCDEF")), "0o": (8, frozenset("01234567"))}


def is_text(text: str) -> bool:
    """Whether a plain scalar written like this is a string."""
    if text and text[0] not in _FIRST:
        return True
    return text not in _WORDS and _number(text) is None


def native(text: str) -> object:
    """The value of a plain scalar that is not text."""
    if text in _WORDS:
        return _WORDS[text]
    return _number(text)


def _number(text: str) -> object:
    """The number that ``text`` is written as; None where it is none.

    Without regular expressions: to compile them would cost a command more than all its scalars.
    """
    body = text[1:] if text[0] in "+-" else text
    if body.isdigit() and body.isascii():
        if len(body) == 1 or body[0] != "0":
            return _within_64_bits(text, 10)
        if "8" in body or "9" in body:
            return _finite(text)
        return _within_64_bits(text, 8)
    if body[:2] in _BASES:
        base, digits = _BASES[body[:2]]
        return _within_64_bits(text, base) if body[2:] and digits.issuperset(body[2:]) else None
    if body in _INFINITY:
        return float("-inf") if text[0] == "-" else float("inf")
    if text in _NOT_A_NUMBER:
        return float("nan")
    if not _FLOAT_CHARS.issuperset(text):
        return None
    return _finite(text)


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    # A number too large for a double would turn into infinity without a word: it stays text.
    return None if value in (float("inf"), float("-inf")) else value


def _within_64_bits(text: str, base: int) -> object:
    if len(text) > 70:
        return None
    value = int(text, base)
    return value if -(2**63) <= value < 2**64 else float(value)


def plain(node: Node) -> object:
    """Native values of a whole node: None, bool, int, float, str, dict, list."""
    if isinstance(node, str):
        return node
    if isinstance(node, Map):
        return {key: plain(value) for key, value in node.items()}
    if isinstance(node, Seq):
        return [plain(item) for item in node]
    return native(node.text)


def text_of(node: Node) -> str | None:
    """The text of a scalar as written; None for null.

    Raises TypeError for a map or a list.
    """
    if isinstance(node, str):
        return node
    if isinstance(node, Scalar):
        return None if _WORDS.get(node.text, 0) is None else node.text
    raise TypeError(f"not a scalar: {type(node).__name__}")
