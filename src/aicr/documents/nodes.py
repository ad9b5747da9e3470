"""What a parsed document is made of: text, other scalars as written, maps and lists with lines.

A schema field that is text keeps what was written (``version: 1.20`` is ``1.20``), so the reader
decides no type: a plain scalar that YAML 1.2 core would not read as a string is a ``Scalar`` that
keeps its text, and ``scalars.plain`` gives native values where a field is free-form.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class Scalar:
    """A plain scalar that is null, a boolean, an integer or a float to YAML 1.2 core."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"Scalar({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scalar) and other.text == self.text

    def __hash__(self) -> int:
        return hash((Scalar, self.text))


class Map(dict[str, "Node"]):
    """A mapping; ``lines`` has the 1-based line of each key, ``line`` that of the map."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int = 0) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


class Seq(list["Node"]):
    """A list; ``lines`` has the 1-based line of each item, ``line`` that of the list."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int = 0) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []


Node = str | Scalar | Map | Seq


def kind_of(node: Node) -> str:
    """What a person calls it, for messages."""
    if isinstance(node, Map):
        return "a map"
    if isinstance(node, Seq):
        return "a list"
    if isinstance(node, str):
        return "text"
    text = node.text
    if text in ("", "~") or text.lower() == "null":
        return "null"
    if text.lower() in ("true", "false"):
        return f"the boolean {text}"
    return f"the number {text}"


def is_deeper(value: object, levels: int) -> bool:
    """Whether maps and lists nest deeper than ``levels``; level by level, without recursion."""
    level = [value]
    for _ in range(levels + 1):
        inside = [one.values() if isinstance(one, dict) else one for one in level
                  if isinstance(one, dict | list)]  # fmt: skip
        if not inside:
            return False
        level = [item for one in inside for item in one]
    return True


def first_twice(keys: Iterable[str]) -> str:
    """The first key that was there before; "" where none was."""
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    return ""
