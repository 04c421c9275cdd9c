"""The threads behind the NLI model: turns, order, and the ends that work can come to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.errors import NliBusy, NliFailed
from proxy.nli.workers import Workers

pytestmark = pytest.mark.anyio


@contextmanager
def working(count: int = 2, limit: int = 100) -> Iterator[Workers]:
    """Offer workers, closed at the end."""
    team = Workers(count, limit=limit)
    try:
        yield team
    finally:
        team.close()


class Turnstile:
    """Work that notes what it was given, and lets one item at a time pass when told so."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.entered = threading.Semaphore(0)
        self.allowed = threading.Semaphore(0)

    def __call__(self, item: int) -> int:
        self.begun.append(item)
        self.entered.release()
        assert self.allowed.acquire(timeout=10)
        return item

    async def wait_for(self, count: int) -> None:
        """Wait until so many more items were begun, without blocking the event loop."""
        for _ in range(count):
            assert await asyncio.to_thread(self.entered.acquire, timeout=10)


def itself(item: int) -> int:
    return item


@settings(deadline=None)
@given(st.lists(st.integers(0, 50), max_size=20), st.integers(1, 4))
def test_results_in_input_order(items: list[int], count: int) -> None:
    """Whatever the sizes and however many threads, each item gets its own result, as if it had been alone."""

    async def square() -> list[int]:
        return await team.map(lambda item: item * item, items, itself)

    with working(count) as team:
        assert asyncio.run(square()) == [item * item for item in items]


async def test_the_largest_goes_first() -> None:
    """Items are begun in falling order of size; of equal ones the first given goes first."""
    begun: list[str] = []
    with working(count=1) as team:
        await team.map(begun.append, ["bb", "a", "dddd", "cc"], len)
    assert begun == ["dddd", "bb", "cc", "a"]


async def test_items_side_by_side() -> None:
    """Two threads are inside two items of one call at once; with one thread this test could not end."""
    barrier = threading.Barrier(2, timeout=10)
    with working(count=2) as team:
        assert sorted(await team.map(lambda _: barrier.wait(), [1, 1], itself)) == [0, 1]


async def test_callers_take_turns() -> None:
    """While a call of many items is served, a small one gets a thread after the items begun and queued before it."""
    turnstile = Turnstile()
    with working(count=2) as team:
        large = asyncio.create_task(team.map(turnstile, [9] * 6, itself))
        await turnstile.wait_for(2)
        small = asyncio.create_task(team.map(turnstile, [1], itself))
        await checkpoint()
        await checkpoint()
        turnstile.allowed.release()
        await turnstile.wait_for(1)
        assert turnstile.begun == [9, 9, 1]
        turnstile.allowed.release(6)
        assert (await large, await small) == ([9] * 6, [1])


async def test_a_cancelled_call_is_dropped() -> None:
    """C06: of a caller who is gone nothing more is begun, and the call ends before what is under way."""
    turnstile = Turnstile()
    with working(count=2) as team:
        gone = asyncio.create_task(team.map(turnstile, [9] * 6, itself))
        await turnstile.wait_for(2)
        waiting = asyncio.create_task(team.map(turnstile, [5] * 6, itself))
        await checkpoint()
        await checkpoint()
        for task in (gone, waiting):
            task.cancel()
        for task in (gone, waiting):
            with pytest.raises(asyncio.CancelledError):
                await task
        turnstile.allowed.release(3)
        assert await team.map(turnstile, [1], itself) == [1]
    assert turnstile.begun == [9, 9, 1]


async def test_a_failure_ends_its_call_alone() -> None:
    """The first failure comes out as it was raised, cause included; the items behind it are not begun."""
    begun: list[int] = []

    def refuse(item: int) -> int:
        begun.append(item)
        raise NliFailed("broken") from ValueError("why")

    with working(count=1) as team:
        with pytest.raises(NliFailed, match="broken") as caught:
            await team.map(refuse, [3, 2, 1], itself)
        assert isinstance(caught.value.__cause__, ValueError)
        assert begun == [3]
        assert await team.map(itself, [1, 2], itself) == [1, 2]


async def test_a_full_queue_is_busy() -> None:
    """Who comes to a full queue is refused, unless he brings nothing; when it has emptied, all is as before."""
    turnstile = Turnstile()
    with working(count=2, limit=3) as team:
        first = asyncio.create_task(team.map(turnstile, [1] * 3, itself))
        await turnstile.wait_for(2)
        with pytest.raises(NliBusy, match="3 pairs wait"):
            await team.map(itself, [1], itself)
        assert await team.map(itself, [], itself) == []
        turnstile.allowed.release(3)
        await first
        assert await team.map(itself, [1], itself) == [1]


async def test_closing() -> None:
    """After closing, waiting calls and new ones get an error, none hangs; closing twice is closing."""
    turnstile = Turnstile()
    with working(count=2) as team:
        running = asyncio.create_task(team.map(turnstile, [1] * 4, itself))
        await turnstile.wait_for(2)
        queued = asyncio.create_task(team.map(itself, [1], itself))
        await checkpoint()
        await checkpoint()
        team.close()
        turnstile.allowed.release(2)
        for task in (running, queued, asyncio.create_task(team.map(itself, [1], itself))):
            with pytest.raises(NliFailed, match="closed"):
                await task
    assert turnstile.begun == [1, 1]
