"""How prose fits a terminal: lines of 78 columns in which no URL and no range is ever split."""

from __future__ import annotations

from aicr.documents.safe import prose

WIDTH = 78
_OPERATORS = ("<", ">", "=")
_LONE = frozenset(("<", "<=", ">", ">=", "="))
# Stands for a blank at which no line ends; prose shows no control character as it is.
_TIED = "\0"


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
            lines += _fill(_tied(line), head, indent)
    return lines


def _fill(text: str, head: str, indent: str) -> list[str]:
    lines: list[str] = []
    start, lead = 0, head
    while len(text) - start > (room := max(WIDTH - len(lead), 1)):
        end = text.rfind(" ", start, start + room + 1)
        if end < 0:  # a word that is longer than a line
            end = text.find(" ", start)
        if end < 0:
            break
        lines.append(lead + text[start:end])
        start, lead = end + 1, indent
    lines.append(lead + text[start:])
    return [line.replace(_TIED, " ") for line in lines]


def _tied(line: str) -> str:
    """The line with single blanks, those between the comparators of a range tied."""
    if not any(operator in line for operator in _OPERATORS):
        return " ".join(line.split())
    words: list[str] = []
    in_range = lone_operator = False
    for word in line.split():
        bare = word.lstrip("(\"'`[")
        comparator = _is_comparator(bare)
        if lone_operator or (in_range and (comparator or bare in _LONE)):
            words[-1] += _TIED + word
        else:
            words.append(word)
        in_range = comparator or lone_operator or bare in _LONE
        lone_operator = bare in _LONE
    return " ".join(words)


def _is_comparator(word: str) -> bool:
    return word[:1] in _OPERATORS and word.lstrip("<>=v")[:1].isdigit()
