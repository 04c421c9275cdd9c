"""How long each stage took, and where overhead begins."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from proxy.stopwatch import STAGES, Stopwatch


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Put the stopwatch on a clock of the test's."""
    clock = Clock()
    monkeypatch.setattr(time, "perf_counter", clock)
    return clock


def test_names(clock: Clock) -> None:
    """A fresh stopwatch reports every stage of the contract, and no time."""
    watch = Stopwatch()
    clock.now_s += 0
    assert watch.read() == dict.fromkeys((*STAGES, "overhead"), 0.0)
    assert set(watch.read()) == {"draft", "recall", "claims", "nli", "correction", "overhead"}


def test_slowest_of_several_counts(clock: Clock) -> None:
    """Of choices that run side by side the slowest is what the client waits for, also where it fails."""
    watch = Stopwatch()
    with watch.stage("claims"):
        clock.now_s += 0.02
    with suppress(ZeroDivisionError), watch.stage("claims"):
        clock.now_s += 0.25
        raise ZeroDivisionError
    with watch.stage("claims"):
        clock.now_s += 0.1
    assert watch.read()["claims"] == 250.0


def test_overhead_starts_at_the_draft(clock: Clock) -> None:
    """Overhead is the time since the draft's last byte, in milliseconds."""
    watch = Stopwatch()
    clock.now_s += 3
    watch.mark_draft()
    clock.now_s += 0.5
    assert watch.read()["overhead"] == 500.0


@pytest.mark.anyio
async def test_awaited_stage(clock: Clock) -> None:
    """Something awaited is timed as a stage and returns what it returns."""

    async def work() -> str:
        clock.now_s += 0.004
        return "done"

    watch = Stopwatch()
    assert await watch.time("recall", work()) == "done"
    assert watch.read()["recall"] == 4.0
