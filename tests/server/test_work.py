"""The places where requests are computed: how many there are, and for how long one may take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from threading import Event

import pytest

from aicr.errors import TIMEOUT, UNAVAILABLE, AicrError
from aicr.server.work import Work


class Gate:
    """A computation that the test lets go on; ``entered`` is set when it has begun."""

    def __init__(self, answer: str) -> None:
        self.entered = Event()
        self.go = Event()
        self._answer = answer

    def __call__(self) -> str:
        self.entered.set()
        assert self.go.wait(120)
        return self._answer


async def begun(work: Work, gate: Gate) -> asyncio.Task[str]:
    task = asyncio.create_task(work.run(gate))
    while not gate.entered.is_set():
        await asyncio.sleep(0.001)
    return task


def done(scenario: Callable[[], Coroutine[object, object, None]]) -> None:
    asyncio.run(scenario())


def test_what_has_no_place_is_told_at_once() -> None:
    async def scenario() -> None:
        work, gate, waiting = Work(threads=1, waiting=1, seconds=600), Gate("a"), Gate("b")
        first = await begun(work, gate)
        second = asyncio.create_task(work.run(waiting))
        while work.taken < 2:
            await asyncio.sleep(0)
        assert not waiting.entered.is_set()
        with pytest.raises(AicrError, match="busy") as caught:
            await work.run(lambda: "c")
        assert caught.value.code == UNAVAILABLE
        gate.go.set()
        waiting.go.set()
        assert (await first, await second) == ("a", "b")
        while work.taken:
            await asyncio.sleep(0.001)
        assert await work.run(lambda: "c") == "c"
        work.close()

    done(scenario)


def test_what_takes_too_long_keeps_its_place_until_it_ends() -> None:
    async def scenario() -> None:
        work, gate = Work(threads=1, waiting=0, seconds=0.01), Gate("late")
        while not gate.entered.is_set():  # what has not begun by then is given up for good
            with pytest.raises(AicrError, match=r"longer than the 0\.01 s") as caught:
                await work.run(gate)
            assert caught.value.code == TIMEOUT
        assert work.taken == 1
        with pytest.raises(AicrError, match="busy"):
            await work.run(lambda: "no place")
        gate.go.set()
        while work.taken:
            await asyncio.sleep(0.001)
        work.close()

    done(scenario)


def test_a_quick_one_does_not_wait_for_a_slow_one() -> None:
    async def scenario() -> None:
        work, slow = Work(threads=2, waiting=0, seconds=600), Gate("slow")
        first = await begun(work, slow)
        assert await work.run(lambda: "quick") == "quick"
        assert not first.done()
        slow.go.set()
        assert await first == "slow"
        work.close()

    done(scenario)


def test_an_error_is_passed_on_and_gives_its_place_back() -> None:
    async def scenario() -> None:
        work = Work(threads=1, waiting=0, seconds=600)

        def fails() -> str:
            raise AicrError("CONFLICT", "no")

        for _ in range(3):
            with pytest.raises(AicrError, match="no"):
                await work.run(fails)
            while work.taken:
                await asyncio.sleep(0.001)
        work.close()

    done(scenario)
