"""How native values are written as YAML or JSON: the same bytes every time, read back the same.

Text that a YAML 1.1 reader (Helm is one) or a 1.2 reader would take for something else is quoted.
"""

from __future__ import annotations

from _json import encode_basestring

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Mapping, Sequence

_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_FIRST_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./")
_CHARS = _FIRST_CHARS | frozenset("@%+=,;()$<>^~-:# ")
# Every number, sexagesimal and date of YAML 1.1 and 1.2 is made of these, and then some.
_NUMBER_CHARS = frozenset("0123456789+-._,:aAbBcCdDeEfFiInNoOxXtTzZ ")
_DIGITS_AND_POINT = frozenset("0123456789.")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}
# Controls of eight bits, and what no eye sees: marks that reverse, hide or break a line.
_OBEYED = "\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
# What YAML calls printable, less these.
_PRINTABLE = (
    "\t\n\x20-\x7e\xa0-\u200a\u2010-\u2027\u202f-\u205f\u2070-\ud7ff\ue000-\ufefe\uff00-\ufffd"
    "\U00010000-\U0010ffff"
)


def yaml_text(value: object) -> str:
    """A block-style YAML document of native values, keys in the order given.

    Raises TypeError for a value that YAML has no word for, ValueError for text that UTF-8 cannot
    carry.
    """
    out: list[str] = []
    _write(value, 0, out, " ")
    text = "".join(out)
    return text[1:] if text.startswith((" ", "\n")) else text


def json_text(value: object, indent: int | None = 2) -> str:
    """A JSON document with a final newline; keys in the order given.

    Text stays readable, but for what a terminal would obey or what hides or reorders text.
    """
    return shown(_json(value, indent) + "\n")


def shown(text: str) -> str:
    """A JSON document without what a terminal would obey or what hides or reorders text."""
    if text.isascii():
        return text
    import re

    return re.sub(f"[{_OBEYED}]", lambda found: f"\\u{ord(found.group()):04x}", text)


class _NotPlainError(Exception):
    """A value that is left to the standard library: a float, a key that is no text."""


def _json(value: object, indent: int | None) -> str:
    """As ``json.dumps`` writes it, which has no C for an indent, and is slow."""
    if indent == 2:
        out: list[str] = []
        try:
            _write_json(value, "\n", out)
        except _NotPlainError:
            pass
        else:
            return "".join(out)
    import json

    return json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)


def _write_json(value: object, pad: str, out: list[str]) -> None:
    if type(value) is str:
        out.append(encode_basestring(value))
    elif type(value) is dict:
        inner = f"{pad}  "
        lead = "{" + inner
        for key, item in value.items():
            if type(key) is not str:
                raise _NotPlainError
            if type(item) is str:  # as it is nearly always
                out.append(f"{lead}{encode_basestring(key)}: {encode_basestring(item)}")
            else:
                out.append(f"{lead}{encode_basestring(key)}: ")
                _write_json(item, inner, out)
            lead = f",{inner}"
        out.append(pad + "}" if value else "{}")
    elif type(value) is list or type(value) is tuple:
        inner = f"{pad}  "
        lead = f"[{inner}"
        for item in value:
            out.append(lead)
            _write_json(item, inner, out)
            lead = f",{inner}"
        out.append(f"{pad}]" if value else "[]")
    elif value is None:
        out.append("null")
    elif value is True or value is False:
        out.append("true" if value else "false")
    elif type(value) is int:
        out.append(str(value))
    else:
        raise _NotPlainError


def _write(value: object, depth: int, out: list[str], lead: str) -> None:
    """Append ``value`` and a newline; ``lead`` stands before a scalar."""
    if isinstance(value, dict):
        if not value:
            out.append(lead + "{}\n")
            return
        if lead == " ":
            out.append("\n")
        _write_map(value, depth, out, first=lead != " ")
    elif isinstance(value, list | tuple):
        if not value:
            out.append(lead + "[]\n")
            return
        if lead == " ":
            out.append("\n")
        _write_list(value, depth, out, first=lead != " ")
    elif isinstance(value, str):
        out.append(lead + _scalar_text(value, depth) + "\n")
    else:
        out.append(lead + _scalar(value) + "\n")


def _write_map(value: Mapping[str, object], depth: int, out: list[str], *, first: bool) -> None:
    pad = "  " * depth
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError(f"a key must be text, not {type(key).__name__}")
        text = _key(key)
        if len(text) > 1000:  # beyond 1024 a reader takes no key without a question mark
            text = f"? {text}\n{pad}"
        out.append(("" if first else pad) + text + ":")
        first = False
        _write(item, depth + 1, out, " ")


def _write_list(value: Sequence[object], depth: int, out: list[str], *, first: bool) -> None:
    pad = "  " * depth
    for item in value:
        out.append(("" if first else pad) + "-")
        first = False
        if isinstance(item, dict | list | tuple) and item:
            out.append(" ")
            _write(item, depth + 1, out, "")
        else:
            _write(item, depth + 1, out, " ")


def _key(key: str) -> str:
    return key if _is_plain(key) and len(key) <= 120 else _quote(key)


def _is_plain(text: str) -> bool:
    """Whether every reader takes this for text without quotes. Rather too few than too many."""
    if not text or text[0] not in _FIRST_CHARS or text[-1] in ": " or not _CHARS.issuperset(text):
        return False
    if text.lower() in _WORDS or ": " in text or " #" in text:
        return False
    if text[0] in "0123456789." and _NUMBER_CHARS.issuperset(text):
        # 1.2.3 is a number to nobody; 1.2 is, and so are 1_000, 1:30, 2024-01-01 and 0x1f.
        return _DIGITS_AND_POINT.issuperset(text) and text.count(".") > 1 and text[0] != "."
    return True


def _scalar_text(text: str, depth: int) -> str:
    if _is_plain(text):
        return text
    # A block that begins with a blank would need an indentation indicator.
    if "\n" in text and text[0] not in " \n\t" and not _has_unprintable(text):
        return _block(text, depth)
    return _quote(text)


def _has_unprintable(text: str) -> bool:
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return False
    import re

    return re.search(f"[^{_PRINTABLE}]", text) is not None


def _block(text: str, depth: int) -> str:
    body = text.rstrip("\n")
    ends = len(text) - len(body)
    chomp = "-" if ends == 0 else "" if ends == 1 else "+"
    pad = "  " * max(depth, 1)
    lines = [pad + line if line else "" for line in body.split("\n")]
    return "|" + chomp + "\n" + "\n".join(lines) + "\n" * (ends - 1 if ends > 1 else 0)


def _quote(text: str) -> str:
    if text.isascii() and text.isprintable():
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    import re

    return '"' + re.sub(f'["\\\\\n\t]|[^{_PRINTABLE}]', _escape, text) + '"'


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    known = _ESCAPES.get(char)
    if known is not None:
        return known
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError("text with a lone surrogate cannot be written")
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float(value)
    raise TypeError(f"{type(value).__name__} has no YAML form")


def _float(value: float) -> str:
    if value != value:
        return ".nan"
    if value in (float("inf"), float("-inf")):
        return ".inf" if value > 0 else "-.inf"
    text = repr(float(value))
    if "e" in text:
        mantissa, exponent = text.split("e")
        # YAML 1.1 wants a point and a sign before it is a float.
        if "." not in mantissa:
            mantissa += ".0"
        if exponent[0] not in "+-":
            exponent = "+" + exponent
        return f"{mantissa}e{exponent}"
    return text
