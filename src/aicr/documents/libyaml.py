"""PyYAML's C parser (libyaml) with its events and errors, for a third of what PyYAML costs.

PyYAML compiles the patterns of its Python scanner and resolver when it is imported, which takes
longer than a whole ``recipe``, and the C parser uses none of them. While it is imported here its
patterns stay text, and each is compiled by whoever first uses it. Other modules' are compiled as
ever.
"""

from __future__ import annotations

import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class LatePattern:
    """A pattern that is compiled when it is first used."""

    def __init__(self, pattern: str, flags: int | re.RegexFlag) -> None:
        self._given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name == "_late":
            self._late = _compile(*self._given)
            return self._late
        return getattr(self._late, name)


def _compile_late(pattern: str, flags: int | re.RegexFlag = 0) -> LatePattern | re.Pattern[str]:
    if sys._getframe(1).f_globals.get("__package__") == "yaml":
        return LatePattern(pattern, flags)
    return _compile(pattern, flags)


_compile = re.compile
re.compile = _compile_late  # type: ignore[assignment]
try:
    from yaml import YAMLError
    from yaml._yaml import CParser
    from yaml.error import MarkedYAMLError
    from yaml.events import (
        AliasEvent,
        DocumentStartEvent,
        MappingEndEvent,
        MappingStartEvent,
        ScalarEvent,
        SequenceEndEvent,
        SequenceStartEvent,
        StreamEndEvent,
    )
finally:
    re.compile = _compile

__all__ = [
    "AliasEvent",
    "CParser",
    "DocumentStartEvent",
    "MappingEndEvent",
    "MappingStartEvent",
    "MarkedYAMLError",
    "ScalarEvent",
    "SequenceEndEvent",
    "SequenceStartEvent",
    "StreamEndEvent",
    "YAMLError",
]
