"""What goes wrong on the way: faults that the Kubernetes double is told to show, request by
request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kube_double_request import Request


class Answer(NamedTuple):
    """Answer this instead; text goes out as text/plain unless ``headers`` say otherwise."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = {}


class Cut(NamedTuple):
    """Send the right head and this many bytes of the right body, then close."""

    after: int = 0


class Drop(NamedTuple):
    """Close without a word."""


class Slow(NamedTuple):
    """Send the right body in pieces of ``piece`` bytes, ``pause`` seconds apart."""

    pause: float
    piece: int = 16


class Hang(NamedTuple):
    """Say nothing for ``seconds``, then close."""

    seconds: float


class Run(NamedTuple):
    """Do this, then answer as if nothing were wrong."""

    action: Callable[[], object]


Fault = Answer | Cut | Drop | Slow | Hang | Run

TOO_MANY = Answer(429, "Too many requests, please try again later.\n", {"Retry-After": "1"})


class Faults:
    """The faults that are still to come, asked for in the order in which they were added."""

    def __init__(self) -> None:
        self._planned: list[_Planned] = []

    def add(
        self,
        fault: Fault,
        when: Callable[[Request], bool] = lambda request: True,
        *,
        skip: int = 0,
        times: int = 1,
    ) -> None:
        """Show ``fault`` to ``times`` requests for which ``when`` holds, after ``skip`` of them."""
        self._planned.append(_Planned(fault, when, skip, times))

    def next(self, request: Request) -> Fault | None:
        for planned in self._planned:
            if planned.times and planned.when(request):
                if planned.skip:
                    planned.skip -= 1
                    continue
                planned.times -= 1
                return planned.fault
        return None


class _Planned:
    def __init__(
        self, fault: Fault, when: Callable[[Request], bool], skip: int, times: int
    ) -> None:
        self.fault = fault
        self.when = when
        self.skip = skip
        self.times = times
