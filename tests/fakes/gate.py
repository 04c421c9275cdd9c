"""A gate that a test opens: what waits at it goes on then, so that order is decided and nobody sleeps."""

from __future__ import annotations

import asyncio
import threading


class Gate:
    """Shut until opened, from any thread; coroutines of any event loop may wait at it.

    With `parties`, it opens by itself once that many wait: each then knows that all the others have come. That is
    how two calls are shown to overlap.
    """

    def __init__(self, *, parties: int | None = None) -> None:
        self._parties = parties
        self._lock = threading.Lock()
        self._open = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def open(self) -> None:
        """Let everybody through, now and later."""
        with self._lock:
            self._open = True
            for loop, passed in self._waiting:
                loop.call_soon_threadsafe(passed.set)

    async def wait(self) -> None:
        """Return once the gate is open."""
        waiter = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._waiting.append(waiter)
            full = self._parties is not None and len(self._waiting) >= self._parties
            opened = self._open
        if full:
            self.open()
        try:
            if not opened:
                await waiter[1].wait()
        finally:
            # A waiter that was cancelled is forgotten, for its loop may be closed when the gate opens.
            with self._lock:
                self._waiting.remove(waiter)
