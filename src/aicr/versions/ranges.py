"""What a range in an upgrade record means, and what to write instead of one that means nothing.

Grammar (one group, all of whose comparators must hold)::

    range      = *separator comparator *(1*separator comparator) *separator
    separator  = " " | TAB | ","
    comparator = ["<" | "<=" | ">" | ">=" | "="] version      no space in between
    version    = ["v"] MAJOR "." MINOR "." PATCH ["-" prerelease]

At most one lower and one upper bound; an exact version stands alone. Everything that other
tools read in their own way (``||``, ``^``, ``~``, hyphens, wildcards, partial versions, build
metadata) is refused, since a range read differently is an upgrade judged wrongly.
"""

from __future__ import annotations

from functools import lru_cache

from aicr.versions.intervals import Interval
from aicr.versions.semver import Version, parse, without_v

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_OPERATORS = (">=", "<=", ">", "<", "=")
_WILDCARDS = frozenset(("x", "X", "*"))


class RangeError(ValueError):
    """A range outside the grammar; the message says what to write instead."""


class Range:
    """A range as written, the interval it means, and its comparators in the order written."""

    __slots__ = ("bounds", "interval", "text")

    def __init__(self, text: str, interval: Interval, bounds: list[tuple[str, Version]]) -> None:
        self.text = text
        self.interval = interval
        self.bounds = bounds

    def contains(self, version: Version) -> bool:
        return self.interval.contains(version)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Range({self.text!r})"


@lru_cache(maxsize=4096)
def parse_range(text: str) -> Range:
    """The range that ``text`` writes; RangeError where it is outside the grammar."""
    if "|" in text:
        raise RangeError(
            f"{text!r}: '||' (or) is not part of the grammar; "
            "write one transition for each alternative"
        )
    tokens = [t for t in text.replace("\t", " ").replace(",", " ").split(" ") if t]
    if not tokens:
        raise RangeError(f"{text!r}: the range is empty; write one such as '>=1.2.0 <2.0.0'")
    if "-" in tokens:
        raise RangeError(_hyphen(tokens))
    bounds = []
    for position, token in enumerate(tokens):
        following = tokens[position + 1] if position + 1 < len(tokens) else ""
        bounds.append(_comparator(token, following))
    return Range(text, _interval(text, bounds), bounds)


def _interval(text: str, bounds: Sequence[tuple[str, Version]]) -> Interval:
    exact = [(op, v) for op, v in bounds if op in ("", "=")]
    lower = [(op, v) for op, v in bounds if op[:1] == ">"]
    upper = [(op, v) for op, v in bounds if op[:1] == "<"]
    if exact and len(bounds) > 1:
        raise RangeError(
            f"{text!r}: the exact version {exact[0][1]} stands beside another comparator; "
            f"write {str(exact[0][1])!r} alone, or bounds such as '>=1.2.0 <2.0.0'"
        )
    for side, found in (("lower", lower), ("upper", upper)):
        if len(found) > 1:
            listed = " and ".join(op + v.text for op, v in found)
            keep = _tightest(found)
            raise RangeError(
                f"{text!r}: two {side} bounds ({listed}); write one of them, "
                f"where all must hold that is {keep!r}"
            )
    if exact:
        version = exact[0][1]
        return Interval(version, True, version, True)
    return Interval(
        low=lower[0][1] if lower else None,
        low_inclusive=not lower or lower[0][0] == ">=",
        high=upper[0][1] if upper else None,
        high_inclusive=not upper or upper[0][0] == "<=",
    )


def _tightest(found: Sequence[tuple[str, Version]]) -> str:
    # Of equal versions the exclusive comparator (one character) is the tighter one.
    ordered = sorted(found, key=lambda b: (b[1].key, b[0] == ">", b[0] == "<="))
    op, version = ordered[-1] if found[0][0][0] == ">" else ordered[0]
    return op + version.text


def _comparator(token: str, following: str) -> tuple[str, Version]:
    for refused, message in (
        ("==", "'==' is not part of the grammar; write {exact!r}"),
        ("=>", "'=>' is not part of the grammar; write {at_least!r}"),
        ("=<", "'=<' is not part of the grammar; write {at_most!r}"),
        ("!", "'!=' is not part of the grammar; write bounds that leave the version out"),
        ("^", "'^' is not part of the grammar; write {caret}"),
        ("~", "'~' is not part of the grammar; write {tilde}"),
    ):  # fmt: skip
        if token.startswith(refused):
            rest = token.lstrip("=<>!^~") or following or "1.2.3"
            raise RangeError(
                f"{token!r}: "
                + message.format(
                    exact=rest,
                    at_least=f">={rest}",
                    at_most=f"<={rest}",
                    caret=_span(rest, caret=True),
                    tilde=_span(rest, caret=False),
                )
            )
    operator = next((op for op in _OPERATORS if token.startswith(op)), "")
    return operator, _version(token, operator, token[len(operator) :], following)


def _version(token: str, operator: str, body: str, following: str) -> Version:
    if not body:
        example = operator + (following if parse(following) else "1.2.3")
        raise RangeError(
            f"{token!r}: no version right after the operator; write them together: {example!r}"
        )
    core, dash, tail = body.partition("+")[0].partition("-")
    parts = without_v(core).split(".")
    if any(part in _WILDCARDS for part in parts):
        raise RangeError(f"{token!r}: wildcards are not part of the grammar; write {_wild(parts)}")
    version = parse(body)
    if version is None:
        raise RangeError(f"{token!r}: {_not_a_version(body)}")
    if version.build:
        plain = operator + body.partition("+")[0]
        raise RangeError(
            f"{token!r}: build metadata does not order, so no range may carry it; write {plain!r}"
        )
    if len(parts) < 3:
        full = operator + core + ".0" * (3 - len(parts)) + dash + tail
        raise RangeError(f"{token!r}: partial version; write all three parts: {full!r}")
    return version


def _not_a_version(body: str) -> str:
    if body[:1] == "V" and parse(body[1:]) is not None:
        return f"a capital V is not accepted; write {'v' + body[1:]!r}"
    if any(c in body for c in "<>=!^~"):
        return (
            "comparators that touch each other; "
            "write them with a space between, such as '>=1.2.0 <2.0.0'"
        )
    return "not a version; write MAJOR.MINOR.PATCH without leading zeros, such as '1.2.3'"


def _hyphen(tokens: Sequence[str]) -> str:
    at = tokens.index("-")
    low = tokens[at - 1] if at else "1.2.0"
    high = tokens[at + 1] if at + 1 < len(tokens) else "2.0.0"
    return (
        f"{' '.join(tokens)!r}: hyphen ranges are not part of the grammar; "
        f"write {f'>={low} <={high}'!r}"
    )


def _span(text: str, *, caret: bool) -> str:
    """The bounds that ``^text`` or ``~text`` stand for elsewhere, quoted."""
    version = parse(text)
    if version is None:
        return "bounds such as '>=1.2.0 <2.0.0'"
    low = Version(version.major, version.minor, version.patch, version.prerelease)
    given = len(without_v(text).partition("-")[0].split("."))
    if caret and (version.major or given == 1):
        high = Version(version.major + 1, 0, 0)
    elif caret and not version.minor and given == 3:
        high = Version(0, 0, version.patch + 1)
    elif given == 1:
        high = Version(version.major + 1, 0, 0)
    else:
        high = Version(version.major, version.minor + 1, 0)
    return f"'>={low} <{high}'"


def _wild(parts: Sequence[str]) -> str:
    fixed = []
    for part in parts:
        if part in _WILDCARDS:
            break
        fixed.append(part)
    if not fixed:
        return "bounds such as '>=1.2.0 <2.0.0'"
    return _span(".".join(fixed), caret=False)
