"""Fixtures for ``aicr nvcf`` on real NATS servers, and how a test runs the gate on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import aicr.nvcf.drain
from aicr.nvcf.drain import Answered, Gate, Wishes
from aicr.nvcf.evidence import Record, open_record
from aicr.nvcf.fleet_file import read_fleet
from aicr.nvcf.reach import Limits, Reach, open_reach
from nvcf_world import EAST, WEST, World, started
from waiting import until

SETTLE = 0.15


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands take a short ``--settle``."""
    monkeypatch.setattr(aicr.nvcf.drain, "LEAST_SETTLE", 0.01)
    for name in ("NATS_CONTEXT", "NATS_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def world(tmp_path: Path, quick: None) -> Iterator[World]:
    """One server, nothing in it."""
    yield from started(tmp_path, 1)


@pytest.fixture
def small_world(world: World) -> World:
    """One server with the NVCA streams of two clusters and two functions."""
    world.servers.nvca(EAST, WEST)
    world.servers.functions(2)
    return world


@pytest.fixture
def wide_world(tmp_path: Path, quick: None) -> Iterator[World]:
    """Three servers; the NVCA streams are on one of them each, the function's on all."""
    for found in started(tmp_path, 3):
        found.servers.nvca(EAST, WEST)
        found.servers.functions(1, replicas=3)
        yield found


def limits(*, nats: float = 30.0) -> Limits:
    """Longer than a busy machine takes; less where a test waits for an answer that never comes."""
    return Limits(connect=60.0, read=60.0, exec=60.0, nats=nats, tries=1)


def reach_of(world: World, *, direct: bool = True, bounds: Limits | None = None) -> Reach:
    fleet = read_fleet(str(world.fleet(direct=direct)))
    return open_reach(fleet, bounds or limits(), role="a role")


class Operator:
    """Asks the gate again and again, with one record."""

    def __init__(
        self,
        world: World,
        *,
        direct: bool = True,
        bounds: Limits | None = None,
        record: str = "record",
    ) -> None:
        self.world = world
        self.direct = direct
        self.bounds = bounds
        self.folder = world.folder / record

    def record(self) -> Record:
        return open_record(str(self.folder), "uid")

    def drain(
        self,
        *,
        settle: float = SETTLE,
        between: Callable[[], object] | None = None,
        **wishes: Any,
    ) -> Answered:
        """One answer; ``between`` happens between the two readings."""

        def sleep(seconds: float) -> None:
            import time

            if between is not None:
                between()
            time.sleep(seconds)

        reach = reach_of(self.world, direct=self.direct, bounds=self.bounds)
        with self.record() as record:
            gate = Gate(reach, record, Wishes(settle=settle, **wishes), sleep=sleep)
            return gate.answer()

    def word(self, **more: Any) -> str:
        return self.drain(**more).decision.answer

    def settled(self, *, passing: tuple[str, ...] = ("cannot-verify",), **more: Any) -> str:
        """The answer once it is none of ``passing``: servers that come back agree after a while."""

        def ask() -> str:
            word = self.word(**more)
            return "" if word in passing else word

        return until(ask, f"an answer other than {', '.join(passing)}")
