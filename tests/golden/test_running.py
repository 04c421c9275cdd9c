"""The shipped model at work: on the cores it is allowed, in steady memory, fast from the first request (C35, C36)."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import process_time

import pytest

from proxy.nli.onnx import OnnxNli, load_onnx_nli
from proxy.nli.scoring import Pair
from proxy.nli.selftest import run_selftest

EMBEDDED = Path(__file__).parents[2] / "models" / "embedded"
MEMORY = Path("/proc/self/statm")
ON_ONE_CORE = """
import os, runpy, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
sys.argv = ["corrigenda", "check"]
runpy.run_module("proxy", run_name="__main__")
"""
PAIR = Pair("Verdane Bridge opened in 1913. It is 340 metres long.", "Verdane Bridge opened in 1931.")


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
@pytest.mark.parametrize(("setting", "threads"), [("", "1"), ("3", "3")], ids=["default", "override"])
def test_threads_follow_the_affinity(setting: str, threads: str) -> None:
    """C35: a process that may use one core runs one thread, more if told so; the runtime says nothing of affinity."""
    done = subprocess.run(
        [sys.executable, "-c", ON_ONE_CORE],
        env=os.environ | {"CORRIGENDA_NLI_THREADS": setting},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    rows = dict(line.split(None, 1) for line in done.stdout.splitlines())
    assert (rows["threads"], rows["workers"].split()[0]) == (threads, threads)
    assert (done.returncode, done.stderr) == (0, "")


def read_memory() -> int:
    """Return the resident memory of this process in pages."""
    return int(MEMORY.read_text().split()[1])


async def ask_mixed(nli: OnnxNli, count: int, chance: random.Random) -> None:
    """Score pairs of 5 to 512 tokens, most of them short, 1 to 16 calls at a time."""
    while count > 0:
        together = min(count, chance.randint(1, 16))
        words = [1 if at % 3 else round(500 ** chance.random()) for at in range(together)]
        await asyncio.gather(*(nli.score([Pair("toll " * length, "toll")]) for length in words))
        count -= together


@pytest.mark.skipif(not MEMORY.exists(), reason="the system does not tell its memory")
def test_memory_stays_flat() -> None:
    """C36: after the first hundred of 500 requests of all lengths, memory grows by less than 15 %."""
    nli = load_onnx_nli(EMBEDDED)

    async def measure() -> tuple[int, int]:
        chance = random.Random(36)
        await nli.score([Pair("toll " * 600, "toll")] * nli.describe().workers)  # the longest side by side
        await ask_mixed(nli, 100, chance)
        early = read_memory()
        await ask_mixed(nli, 400, chance)
        return early, read_memory()

    early, late = asyncio.run(measure())
    nli.close()
    assert late < 1.15 * early


def test_the_first_request_is_no_slower() -> None:
    """C36: after the self-test a first request takes less than three times the median, in CPU time of all threads."""
    nli = load_onnx_nli(EMBEDDED)

    async def measure() -> list[float]:
        await run_selftest(nli)
        taken = []
        for _ in range(15):
            start = process_time()
            await nli.score([PAIR])
            taken.append(process_time() - start)
        return taken

    first, *later = asyncio.run(measure())
    nli.close()
    assert first < 3 * median(later)
