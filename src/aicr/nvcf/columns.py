"""Rows under each other: as wide as they are, or wrapped to a terminal; words stay whole."""

from __future__ import annotations

import textwrap

from aicr.documents.safe import cell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_GAP = "  "


def columns(head: Sequence[str], rows: Sequence[Sequence[str]], width: int = 0) -> str:
    """``width`` 0 is without limit; what has no blank to be broken at stays as wide as it is."""
    cells = [[cell(one) for one in row] for row in (head, *rows)]
    widths = [max(len(row[index]) for row in cells) for index in range(len(head))]
    if width:
        widths = _narrowed(cells, widths, width)
    return "".join(line for row in cells for line in _lines(row, widths))


def _narrowed(cells: Sequence[Sequence[str]], widths: list[int], width: int) -> list[int]:
    """The widest columns give until all fit, down to their longest word."""
    least = [
        max(len(word) for row in cells for word in (row[index].split(" ") or [""]))
        for index in range(len(widths))
    ]
    found = list(widths)
    over = sum(found) + len(_GAP) * (len(found) - 1) - width
    while over > 0:
        can = [index for index in range(len(found)) if found[index] > least[index]]
        if not can:
            break
        found[max(can, key=lambda index: found[index])] -= 1
        over -= 1
    return found


def _lines(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    wrapped = [
        [text] if len(text) <= width else textwrap.wrap(
            text, width, break_long_words=False, break_on_hyphens=False
        )
        for text, width in zip(row, widths, strict=True)
    ]  # fmt: skip
    return [
        _GAP.join(
            (parts[number] if number < len(parts) else "").ljust(width)
            for parts, width in zip(wrapped, widths, strict=True)
        ).rstrip()
        + "\n"
        for number in range(max(1, *map(len, wrapped)) if wrapped else 1)
    ]
