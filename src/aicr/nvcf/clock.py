"""Which time it was, by whose clock: server times read, compared and written as RFC 3339."""

from __future__ import annotations

from datetime import UTC, datetime

from aicr.errors import UNAVAILABLE, AicrError

MOST_SKEW = 5.0


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


def skew(times: dict[str, float]) -> tuple[float, str]:
    """How far the clocks that were read within one moment are apart, and which two."""
    if len(times) < 2:
        return 0.0, ""
    first = min(times, key=lambda name: times[name])
    last = max(times, key=lambda name: times[name])
    return times[last] - times[first], f"{first} and {last}"


def _unreadable(text: str, whose: str) -> AicrError:
    said = f'"{text[:60]}"' if text else "nothing"
    return AicrError(UNAVAILABLE, f"{whose}: its clock cannot be read, it says {said}")
