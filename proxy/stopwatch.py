"""How long each stage of one request took.

In: the stages as they run. Out: milliseconds by stage. Of choices that run side by side the slowest counts, since
that is what the client waits for.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

STAGES: Final = ("draft", "recall", "claims", "nli", "correction")

T = TypeVar("T")


class Stopwatch:
    """Runs for one request."""

    def __init__(self) -> None:
        """Start with every stage at nought."""
        self._ms = dict.fromkeys(STAGES, 0.0)
        self._draft_at = time.perf_counter()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what runs inside, however it ends."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._ms[name] = max(self._ms[name], (time.perf_counter() - started) * 1000)

    async def time(self, name: str, work: Awaitable[T]) -> T:
        """Await something as a stage."""
        with self.stage(name):
            return await work

    def mark_draft(self) -> None:
        """Note that the draft's last byte has come: from here on time is overhead."""
        self._draft_at = time.perf_counter()

    def read(self) -> dict[str, float]:
        """Return the milliseconds of each stage, and those since the draft under `overhead`."""
        overhead = (time.perf_counter() - self._draft_at) * 1000
        return {name: round(ms, 3) for name, ms in (self._ms | {"overhead": overhead}).items()}
