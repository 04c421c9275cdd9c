"""Work beside a block of code, which ends when the block does.

In: a coroutine. Out: the task that runs it. It stands apart because a request has its recall beside it, and the
server its self-test and its clearing up.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, TypeVar

T = TypeVar("T")


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, T]) -> AsyncIterator[asyncio.Task[T]]:
    """Run something beside the block; what is unfinished at its end is cancelled, so nothing outlives a request."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
