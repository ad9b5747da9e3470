"""How prose fits a terminal: lines of 78 columns in which no URL and no range is ever split."""

from __future__ import annotations

from aicr.documents.safe import prose

WIDTH = 78
_OPERATORS = ("<", ">", "=")
_LONE = frozenset(("<", "<=", ">", ">=", "="))


def wrapped(text: str, indent: str, *, first: str = "") -> list[str]:
    """The text in lines of at most ``WIDTH`` columns, each behind ``indent`` (the first one
    behind ``first`` if given).

    Each line of the text is wrapped by itself, and one that the author indented stays as it is:
    it may be a command to copy.
    """
    lines: list[str] = []
    for line in prose(text).split("\n"):
        head = first if first and not lines else indent
        if not line:
            lines.append("")
        elif line[0] == " ":
            lines.append(head + line)
        else:
            lines += _fill(_words(line), head, indent)
    return lines


def _fill(words: list[str], head: str, indent: str) -> list[str]:
    lines: list[str] = []
    line: list[str] = []
    taken, lead = len(head), head
    for word in words:
        size = len(word) + 1
        # Before the first word of a line stands no blank.
        if line and taken + size > WIDTH:
            lines.append(lead + " ".join(line))
            lead = indent
            line, taken = [word], len(indent) + size - 1
        else:
            taken += size if line else size - 1
            line.append(word)
    lines.append(lead + " ".join(line))
    return lines


def _words(line: str) -> list[str]:
    """The words of a line, the comparators of a range kept together as one."""
    if not any(operator in line for operator in _OPERATORS):
        return line.split()
    words: list[str] = []
    in_range = lone_operator = False
    for word in line.split():
        bare = word.lstrip("(\"'`[")
        comparator = _is_comparator(bare)
        if lone_operator or (in_range and (comparator or bare in _LONE)):
            words[-1] += " " + word
        else:
            words.append(word)
        in_range = comparator or lone_operator or bare in _LONE
        lone_operator = bare in _LONE
    return words


def _is_comparator(word: str) -> bool:
    return word[:1] in _OPERATORS and word.lstrip("<>=v")[:1].isdigit()
