"""A few threads that all callers share in turn: where the work goes that must not hold up the event loop.

In: items and the function that works on one of them. Out: its results, in input order. It knows nothing of models;
it stands apart because who waits for whom, who is dropped and what happens at the end can be tested by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from proxy.errors import NliBusy, NliFailed

Item = TypeVar("Item")
Result = TypeVar("Result")


class Workers:
    """The threads for the runs of one model. It belongs to one event loop; only the work itself leaves it."""

    def __init__(self, count: int, *, limit: int) -> None:
        """Work on up to `count` items at a time, and refuse callers once `limit` of them wait."""
        self.count: Final = count
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="nli")
        self._limit = limit
        self._waiting = 0
        self._closed = False

    async def map(
        self, work: Callable[[Item], Result], items: Sequence[Item], size: Callable[[Item], int]
    ) -> list[Result]:
        """Work on every item, results in input order.

        The largest item goes first, so that no thread is left with it at the end while the others idle. Of each
        call at most `count` items stand in the queue: calls at the same time take turns, and one with many items
        does not keep a small one waiting till its end. A cancelled call ends at once: none of its waiting items is
        begun, and those being worked on go unseen.

        Raises:
            NliBusy: as many items as allowed are waiting already.
            NliFailed: the model is closed; and whatever `work` raises first, after which no other item is begun.
        """
        if items and self._waiting >= self._limit:
            raise NliBusy(f"{self._waiting} pairs wait for the NLI model; try again later")
        results: dict[int, Result] = {}

        async def work_along(turns: Iterator[int]) -> None:
            for at in turns:
                results[at] = await self._submit(work, items[at])

        turns = iter(sorted(range(len(items)), key=lambda at: size(items[at]), reverse=True))
        self._waiting += len(items)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self.count, len(items))):
                    group.create_task(work_along(turns))
        except ExceptionGroup as failures:
            first = failures.exceptions[0]
            raise first from first.__cause__
        finally:
            self._waiting -= len(items)
        return [results[at] for at in range(len(items))]

    def close(self) -> None:
        """Stop the threads after the items that they are at; calls that still have items get `NliFailed`."""
        self._closed = True
        self._threads.shutdown(wait=False)

    async def _submit(self, work: Callable[[Item], Result], item: Item) -> Result:
        """Have one item worked on when its turn comes; cancelling takes it out of the queue."""
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._start, work, item)

    def _start(self, work: Callable[[Item], Result], item: Item) -> Result:
        """Work on one item, on one of the threads, unless they were closed while the item waited."""
        self._check_open()
        return work(item)

    def _check_open(self) -> None:
        """Refuse work after `close`."""
        if self._closed:
            raise NliFailed("the NLI model is closed")
