"""Showing text from elsewhere: it stays readable, and what would do harm is shown as its escape."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aicr.documents.safe import cell, prose

HARMFUL = ["\x00", "\x07", "\x08", "\x1b", "\x7f", "\x9b", "\u200b", "\u200e", "\u202a", "\u202e",
           "\u2066", "\u2069", "\ufeff", "\u00ad", "\u061c", "\u180e", "\ufe0f", "\u3164",
           "\u115f", "\u2800", "\U000e0101", "\U000e0041", "\ud800", "\ue000"]  # fmt: skip


@pytest.mark.parametrize("char", HARMFUL)
def test_what_hides_reverses_or_commands_is_shown_as_its_escape(char: str) -> None:
    for show in (cell, prose):
        shown = show(f"a{char}b")
        assert char not in shown
        assert shown.startswith("a\\")
        assert shown.endswith("b")


def test_an_ansi_sequence_is_inert_and_readable() -> None:
    assert cell("\x1b[31mred\x1b[0m") == "\\x1b[31mred\\x1b[0m"


@pytest.mark.parametrize("text", ["gpu-operator", "naïve café", "日本語", "🚀", "a  b", "50 %", ""])
def test_ordinary_text_is_itself(text: str) -> None:
    assert cell(text) == text
    assert prose(text) == text


@pytest.mark.parametrize(
    "break_", ["\n", "\r", "\r\n", "\t", "\x0b", "\x0c", "\x85", "\u2028", "\u2029", "\u00a0"]
)
def test_blanks_of_any_kind_become_one_blank_in_a_cell(break_: str) -> None:
    assert cell(f"a{break_}b") == "a b"


@given(st.text())
def test_a_cell_is_one_line_of_ink_and_blanks(text: str) -> None:
    shown = cell(text)
    assert len((shown + "x").splitlines()) == 1
    for char in shown:
        assert char == " " or unicodedata.category(char)[0] not in "CZ", repr(char)


@given(st.text(), st.text())
def test_different_ink_stays_different(left: str, right: str) -> None:
    """Two texts that look the same differ in nothing but blanks, or hold a backslash."""
    if cell(left) == cell(right) and "\\" not in left + right:
        assert blanks_as_one(left) == blanks_as_one(right)


def blanks_as_one(text: str) -> str:
    return "".join(" " if char.isspace() else char for char in text.replace("\r\n", "\n"))


@given(st.text())
def test_prose_keeps_lines_and_each_line_is_safe(text: str) -> None:
    shown = prose(text)
    assert not shown.startswith("\n")
    assert not shown.endswith(("\n", " "))
    for line in shown.split("\n"):
        assert cell(line) == line


def test_prose_keeps_line_breaks_and_indentation() -> None:
    assert prose("\n\none\r\n\ttwo  \rthree\n\n") == "one\n    two\nthree"
