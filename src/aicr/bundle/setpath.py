"""Where in a component's values an override lands: its path, read and followed.

    assignments = path "=" value *("," path "=" value)
    path        = key *("." key | "[" number "]")

A backslash takes the next character as it is. Types are those of ``helm --set``: ``true``,
``false`` and ``null`` in any case, integers of 64 bits that do not begin with 0, else text.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Path = tuple[str | int, ...]

_INTEGER = r"[+-]?[0-9]+"
LONGEST_LIST = 1024
# Documents nest to 64 levels, and what is set has to be read again.
DEEPEST = 48
# What ``lookup`` gives where nothing is; None is a value.
MISSING = object()


class PathError(ValueError):
    """Why a text is no path, or why a path leads nowhere in the values; the text says what to
    write instead."""


def parse_assignments(text: str) -> list[tuple[Path, object]]:
    """The paths and typed values in ``a.b=1,c[0]=x``. Raises PathError."""
    found: list[tuple[Path, object]] = []
    at = 0
    while True:
        path, at = _path(text, at, "=")
        if at >= len(text):
            raise PathError(
                f'"{spell(path)}" has no =value'
                + (r" (a comma inside a value is written \,)" if found else "")
            )
        if text[at + 1 : at + 2] == "{":
            raise PathError(f'"{spell(path)}" is set to a list; lists are for --set-json')
        word, at = _until(text, at + 1, ",")
        found.append((path, typed(word)))
        if at >= len(text):
            return found
        at += 1


def split_assignment(text: str) -> tuple[Path, str]:
    """The path in ``a.b=anything``, and all that stands behind the "=". Raises PathError."""
    path, at = _path(text, 0, "=")
    if at >= len(text):
        raise PathError(f'"{spell(path)}" has no =value')
    return path, text[at + 1 :]


def parse_path(text: str) -> Path:
    """The path that the whole of ``text`` is. Raises PathError."""
    path, _ = _path(text, 0, "")
    return path


def typed(word: str) -> object:
    """The value that a text stands for."""
    lower = word.lower() if word.isascii() else word
    if lower in ("true", "false"):
        return lower == "true"
    if lower == "null":
        return None
    if word == "0":
        return 0
    if not word.startswith("0") and re.fullmatch(_INTEGER, word) and len(word) <= 20:
        number = int(word)
        if -(2**63) <= number < 2**63:
            return number
    return word


def spell(path: Path) -> str:
    """A path as a person writes it."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            escaped = re.sub(r"([\\.,=\[])", r"\\\1", part)
            text += f".{escaped}" if text else escaped
    return text


def lookup(values: object, path: Path) -> object:
    """What stands at ``path``, ``MISSING`` where nothing does."""
    node = values
    for key in path:
        if isinstance(node, dict):
            node = node.get(key, MISSING)
        elif isinstance(node, list) and isinstance(key, int) and key < len(node):
            node = node[key]
        else:
            return MISSING
    return node


def place(
    values: Mapping[str, object], path: Path, value: object, *, removes: bool = True
) -> dict[str, object]:
    """A copy of ``values`` with ``value`` at ``path``.

    Maps are made on the way, a list grows by one item at its end, and null removes what is there;
    where it is not to (``removes``), it is put there like any value. Raises PathError where that
    cannot take effect.
    """
    changed = _place(values, path, 0, value, removes)
    assert isinstance(changed, dict)
    return changed


def _place(node: object, path: Path, at: int, value: object, removes: bool) -> object:
    if at == len(path):
        return value
    key = path[at]
    if isinstance(key, int):
        return _place_item(node, path, at, key, value, removes)
    if isinstance(node, list):
        raise PathError(f'"{spell(path[:at])}" is a list; write the number of an item, as in [0]')
    known = isinstance(node, dict)
    copy: dict[str, object] = dict(node) if isinstance(node, dict) else {}
    if value is None and removes and at == len(path) - 1 and known:
        if key not in copy:
            raise PathError(f'"{spell(path)}" is not in the values, so null has nothing to remove')
        del copy[key]
        return copy
    copy[key] = _place(copy.get(key, MISSING), path, at + 1, value, removes)
    return copy


def _place_item(
    node: object, path: Path, at: int, index: int, value: object, removes: bool
) -> object:
    if isinstance(node, dict):
        raise PathError(f'"{spell(path[:at])}" is a map; write a key instead of [{index}]')
    items = list(node) if isinstance(node, list) else []
    if index > len(items):
        raise PathError(
            f'"{spell(path[:at])}" has {len(items)} items, so [{index}] would leave a gap; '
            f"the next one is [{len(items)}]"
        )
    if index == len(items):
        items.append(MISSING)
    items[index] = _place(items[index], path, at + 1, value, removes)
    return items


def _path(text: str, at: int, end: str) -> tuple[Path, int]:
    """The path that starts at ``at``, and where it ends: at one of ``end`` or with the text."""
    path: list[str | int] = []
    while True:
        key, stop = _until(text, at, end + ".[" + ("," if end else ""))
        if key == "":
            where = f'after "{spell(tuple(path))}"' if path else "at the beginning"
            raise PathError(f"a key is empty {where}")
        path.append(key)
        if len(path) > DEEPEST:
            raise PathError(f"a path has no more than {DEEPEST} steps")
        at = stop
        while text[at : at + 1] == "[":
            close = text.find("]", at)
            digits = text[at + 1 : close] if close > 0 else ""
            plain = digits.isascii() and digits.isdigit() and len(digits) <= 6
            if not plain or int(digits) >= LONGEST_LIST:
                raise PathError(
                    f'"{spell(tuple(path))}[" needs the number of an item and "]" behind it'
                )
            path.append(int(digits))
            if len(path) > DEEPEST:
                raise PathError(f"a path has no more than {DEEPEST} steps")
            at = close + 1
        if at >= len(text) or text[at] == (end or None):
            return tuple(path), at
        if text[at] != ".":
            if text[at] == ",":
                return tuple(path), len(text)
            raise PathError(f'"{spell(tuple(path))}" is followed by "{text[at]}"')
        at += 1


def _until(text: str, at: int, stops: str) -> tuple[str, int]:
    """The characters up to one of ``stops``, escapes resolved, and where that one is."""
    found: list[str] = []
    while at < len(text) and text[at] not in stops:
        if text[at] == "\\":
            at += 1
            if at == len(text):
                raise PathError("a backslash at the end has nothing to escape")
        found.append(text[at])
        at += 1
    return "".join(found), at
