"""How text from elsewhere is shown without harm: what it says stays readable, what it does not.

Text of an artifact, a record or a cluster may hold control characters, ANSI sequences, newlines
that would forge a row, or characters that reverse or hide what follows. Blanks of any kind become
a blank; everything else of this kind is shown as its escape, such as ``\\x1b``.
"""

from __future__ import annotations

# Printable by their category, yet without ink: they would make two different texts look alike.
_INVISIBLE = frozenset(
    (
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
        *range(0x180B, 0x1810),
        *range(0xFE00, 0xFE10),
        *range(0xE0100, 0xE01F0),
    )
)

# What Markdown or HTML inside it would take for markup; a mention would notify somebody.
_MARKUP = str.maketrans({char: "\\" + char for char in "\\`*_{}[]<>#|~&@!"})


def cell(text: str) -> str:
    """The text on one line."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text.replace("\r\n", " ")))


def escaped(text: str) -> str:
    """The text on one line of Markdown, meaning only itself."""
    return cell(text).translate(_MARKUP)


def prose(text: str) -> str:
    """The text with its line breaks, each line safe, without blank lines around.

    Where rows could be forged, indent the lines.
    """
    if text.isascii() and text.isprintable():
        return text.rstrip(" ")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", "    ")
    lines = [cell(line).rstrip() for line in text.split("\n")]
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines).rstrip("\n")


def _shown(char: str) -> str:
    if char == " " or (char.isprintable() and ord(char) not in _INVISIBLE):
        return char
    if char.isspace():
        return " "
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
