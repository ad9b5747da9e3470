"""Which time it was, by whose clock: server times read, compared and written as RFC 3339."""

from __future__ import annotations

from datetime import UTC, datetime

from aicr.errors import UNAVAILABLE, AicrError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_SKEW = 5.0
# How long a statement holds.
VALID = 300.0
_STALE = 60.0


def from_rfc3339(text: str, whose: str) -> float:
    """Seconds since the epoch of a Kubernetes or NATS time. Raises UNAVAILABLE."""
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is None:
            raise ValueError
        return found.timestamp()
    except ValueError:
        raise _unreadable(text, whose) from None


def shown(seconds: float) -> str:
    """RFC 3339 in UTC, to the second; "" for 0, which is no time."""
    if not seconds:
        return ""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Offset:
    """By how much another clock is ahead of this machine's, at least (``low``) and at most
    (``high``), as found at the time ``at`` (this machine's): an answer's time lies between question
    and answer, and a slow answer says little."""

    __slots__ = ("at", "high", "low")

    def __init__(self, low: float, high: float, at: float) -> None:
        self.low = low
        self.high = high
        self.at = at

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    @property
    def width(self) -> float:
        return self.high - self.low


UNKNOWN = Offset(0.0, 0.0, 0.0)


def measured(said: float, sent: float, received: float, grain: float = 0.0) -> Offset:
    """Of an answer that says ``said``, in steps of ``grain``."""
    return Offset(said - received, said + grain - sent, received)


def closer(old: Offset, new: Offset) -> Offset:
    """The one that says more; an old one counts for a while only (a clock may be set)."""
    stale = new.at - old.at > _STALE or new.at < old.at
    return new if old is UNKNOWN or stale or new.width <= old.width else old


def skew(offsets: Mapping[str, Offset]) -> tuple[float, str]:
    """How far the clocks are apart at least, and which two."""
    if len(offsets) < 2:
        return 0.0, ""
    ahead = max(offsets, key=lambda name: offsets[name].low)
    behind = min(offsets, key=lambda name: offsets[name].high)
    if ahead == behind:
        ahead = max((name for name in offsets if name != behind), key=lambda n: offsets[n].low)
    return max(0.0, offsets[ahead].low - offsets[behind].high), f"{behind} and {ahead}"


def unclear(offsets: Mapping[str, Offset]) -> list[str]:
    """Whose clocks could not be read closely enough to compare them."""
    return [
        f"{name} takes {one.width:.0f} s to answer, so that its clock cannot be compared"
        for name, one in offsets.items()
        if one.width > 2 * MOST_SKEW
    ]


def _unreadable(text: str, whose: str) -> AicrError:
    said = f'"{text[:60]}"' if text else "nothing"
    return AicrError(UNAVAILABLE, f"{whose}: its clock cannot be read, it says {said}")
