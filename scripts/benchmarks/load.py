"""200 clients at once, for a minute, against an upstream that also errs, stalls and hangs up.

    .venv/bin/python scripts/benchmarks/load.py [--json] [--clients N] [--seconds S] [--seed N]

In: nothing. Out: what came of every call, what the proxy held before and after, and, as exit status 1, any problem: a
call without an answer, an answer that its fault does not explain, a mark of one client in another's reply, a task,
file or thread left over, memory that grew. The proxy is `corrigenda serve` with its shipped NLI model; all is on
loopback and bounded in time, and which calls meet which faults follows from the seed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from exchange import HOST, Client, Cut, Message
from faulty_upstream import FAULTS, Plan
from outcomes import HUNG_UP, Call, Kind, find_foreign_marks, lacks_own_marks, name_outcome
from processes import SCRATCH, CannotStart, describe_machine, find_free_port, read_footprint, run_process

KINDS: Final[Sequence[Kind]] = (
    *("off", "off", "off streamed", "off streamed"),
    *("plain", "plain", "plain", "streamed", "streamed", "annotated"),
)
"""Each client keeps to one kind; every ten share them like this."""
FAULT_SHARE: Final = 0.25
HANG_UP_SHARE: Final = 0.05
LONGEST_PATIENCE_S: Final = 2.0
LONGEST_REST_S: Final = 1.0
"""Between two calls of a client."""
ANSWER_LIMIT_S: Final = 120
SETTLE_LIMIT_S: Final = 60
IDLE_S: Final = 6.0
"""Longer than the proxy keeps idle connections to the upstream."""
MEMORY_LIMIT_MIB: Final = 20.0
"""Most that memory may grow from the second quarter of the run to the last."""
SETTINGS: Final = {
    "CORRIGENDA_UPSTREAM_TIMEOUT_S": "5",
    "CORRIGENDA_VERIFY_TIMEOUT_MS": "20000",
    "CORRIGENDA_MAX_IN_FLIGHT": "100",
    "CORRIGENDA_SSE_KEEPALIVE_S": "1",
}
"""Such that faults end in seconds, and that some clients are turned away."""

_TOLD: Final = 20
"""Problems that are printed; all are counted."""


@dataclass
class Ledger:
    """What was sent and what came of it."""

    sent: int = 0
    outcomes: dict[Kind, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    times_s: dict[Kind, list[float]] = field(default_factory=lambda: defaultdict(list))
    memory_mib: list[float] = field(default_factory=list)
    """The proxy's, once a second."""
    problems: list[str] = field(default_factory=list)

    @property
    def accounted(self) -> int:
        """How many calls have an outcome."""
        return sum(count.total() for count in self.outcomes.values())

    def enter(self, call: Call, outcome: str, reply: Message | Cut | None, took_s: float) -> None:
        """Take down one call's outcome and whatever is wrong with it."""
        self.outcomes[call.kind][outcome] += 1
        self.times_s[call.kind].append(took_s)
        if outcome not in call.expected():
            self.problems.append(f"unexpected outcome {outcome!r}: {call}")
        if reply is None:
            return
        if foreign := find_foreign_marks(call, reply):
            self.problems.append(f"foreign marks {sorted(foreign)}: {call}")
        if lacks_own_marks(call, outcome, reply):
            self.problems.append(f"own marks missing, {outcome!r}: {call}")

    @property
    def memory_growth_mib(self) -> float:
        """Memory of the last quarter of the run over that of the second, each at its median."""
        quarter = max(1, len(self.memory_mib) // 4)
        return statistics.median(self.memory_mib[-quarter:]) - statistics.median(self.memory_mib[quarter : 2 * quarter])


@dataclass(frozen=True, slots=True)
class Proxy:
    """The proxy under load, seen from outside."""

    port: int
    process: subprocess.Popen[bytes]
    counted: Path
    """Where it writes the number of its tasks when it is asked to."""

    def read(self) -> Holding:
        """Return what it holds now."""
        self.counted.unlink(missing_ok=True)
        self.process.send_signal(signal.SIGUSR1)
        while not (self.counted.exists() and self.counted.read_text()):
            time.sleep(0.01)
        footprint = read_footprint(self.process.pid)
        return Holding(int(self.counted.read_text()), footprint.files, footprint.threads)


@dataclass(frozen=True, slots=True)
class Holding:
    """What a proxy with nothing to do holds."""

    tasks: int
    files: int
    threads: int

    def exceeds(self, other: Holding) -> bool:
        """Return whether there is more of anything than in another."""
        return self.tasks > other.tasks or self.files > other.files or self.threads > other.threads


def main() -> None:
    """Run, print, and exit with 1 where anything is wrong."""
    parser = argparse.ArgumentParser(description="Put the proxy under load and account for every reply.")
    parser.add_argument("--clients", type=int, default=200, help="[200]")
    parser.add_argument("--seconds", type=int, default=60, help="how long new calls are made [60]")
    parser.add_argument("--seed", type=int, default=1, help="[1]")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON on the last line")
    options = parser.parse_args()
    machine = describe_machine()
    try:
        with start_proxy() as proxy:
            ledger, before, after = asyncio.run(run_load(proxy, options.clients, options.seconds, options.seed))
    except CannotStart as error:
        sys.exit(f"load: {error}")
    print(machine)
    print_outcome(ledger, before, after)
    if options.json:
        print(json.dumps(describe(ledger, before, after)))
    sys.exit(1 if ledger.problems else 0)


@contextmanager
def start_proxy() -> Iterator[Proxy]:
    """Start the upstream and the proxy for as long as the block."""
    here, counted = Path(__file__).parent, SCRATCH / "tasks"
    upstream_port, port = find_free_port(), find_free_port()
    upstream = (sys.executable, here / "faulty_upstream.py", str(upstream_port))
    served = ("serve", "--port", str(port), "--upstream", f"http://{HOST}:{upstream_port}/v1")
    command = (sys.executable, here / "probe.py", counted, *served)
    with ExitStack() as running:
        running.enter_context(run_process("faulty_upstream", upstream, upstream_port, ready="/"))
        process = running.enter_context(run_process("loaded_proxy", command, port, ready="/readyz", env=SETTINGS))
        yield Proxy(port, process, counted)


async def run_load(proxy: Proxy, clients: int, seconds: int, seed: int) -> tuple[Ledger, Holding, Holding]:
    """Put the load on; return what came of it, and what the proxy held before and after."""
    ledger = Ledger()
    before = await settle(proxy, None)
    end = time.monotonic() + seconds
    watching = asyncio.create_task(watch_memory(proxy, ledger))
    await asyncio.gather(*(run_client(number, proxy.port, ledger, end, seed) for number in range(clients)))
    watching.cancel()
    after = await settle(proxy, before)
    if ledger.accounted != ledger.sent:
        ledger.problems.append(f"{ledger.sent} calls were sent and {ledger.accounted} are accounted for")
    if after.exceeds(before):
        ledger.problems.append(f"left over: {before} before, {after} after")
    if ledger.memory_growth_mib > MEMORY_LIMIT_MIB:
        ledger.problems.append(f"memory grew by {ledger.memory_growth_mib:.0f} MiB in the second half")
    return ledger, before, after


async def run_client(client: int, port: int, ledger: Ledger, end: float, seed: int) -> None:
    """Make calls one after the other until the time is up; the last one is waited for."""
    dice = random.Random(f"{seed}-{client}")  # noqa: S311  # no secret
    number = 0
    async with Client(port) as connection:
        while time.monotonic() < end:
            call = draw_call(client, number, dice)
            await make_call(call, connection, ledger)
            await asyncio.sleep(dice.uniform(0, LONGEST_REST_S))
            number += 1


def draw_call(client: int, number: int, dice: random.Random) -> Call:
    """Return a client's next call, with a fault at one time of four on either side of the proxy's work."""
    draft, own = (dice.choice(FAULTS[1:]) if dice.random() < FAULT_SHARE else FAULTS[0] for _ in range(2))
    return Call(
        client=client,
        number=number,
        kind=KINDS[client % len(KINDS)],
        plan=Plan(draft, own),
        detail=dice.choice(["summary", "full"]),
        patience_s=dice.uniform(0, LONGEST_PATIENCE_S) if dice.random() < HANG_UP_SHARE else None,
    )


async def make_call(call: Call, connection: Client, ledger: Ledger) -> None:
    """Make one call and enter what came of it."""
    ledger.sent += 1
    begun = time.monotonic()
    reply: Message | Cut | None
    try:
        async with asyncio.timeout(ANSWER_LIMIT_S if call.patience_s is None else call.patience_s):
            reply = await connection.ask(call.write())
    except TimeoutError:
        reply = None
        outcome = "no answer" if call.patience_s is None else HUNG_UP
    except Cut as cut:
        reply = cut
        outcome = name_outcome(call, cut)
    except ConnectionError as error:
        reply = None
        outcome = type(error).__name__
    else:
        outcome = name_outcome(call, reply)
    ledger.enter(call, outcome, reply, time.monotonic() - begun)


async def watch_memory(proxy: Proxy, ledger: Ledger) -> None:
    """Read the proxy's memory once a second until cancelled."""
    while True:
        ledger.memory_mib.append(read_footprint(proxy.process.pid).memory_mib)
        await asyncio.sleep(1)


async def settle(proxy: Proxy, before: Holding | None) -> Holding:
    """Return what the proxy holds when it has nothing to do: no more than before, or whatever it is at the limit.

    Its pools close idle connections after some seconds, some of them only when they are next used; so two calls are
    made in between.
    """
    limit = time.monotonic() + SETTLE_LIMIT_S
    while True:
        async with Client(proxy.port) as connection:
            for kind in ("off", "plain"):
                await connection.ask(Call(0, 0, kind).write())
        await asyncio.sleep(IDLE_S)
        holding = proxy.read()
        if before is None or not holding.exceeds(before) or time.monotonic() > limit:
            return holding


def print_outcome(ledger: Ledger, before: Holding, after: Holding) -> None:
    """Print what came of it for people."""
    print(f"{ledger.sent} calls sent, {ledger.accounted} accounted for\n")
    for kind, times_s in ledger.times_s.items():
        print(f"{kind}: {len(times_s)} calls, median {statistics.median(times_s):.2f} s, longest {max(times_s):.2f} s")
        for outcome, count in ledger.outcomes[kind].most_common():
            print(f"  {count:6}  {outcome}")
    memory = ledger.memory_mib
    print(f"\nmemory: {memory[0]:.0f} MiB at first, {max(memory):.0f} at most, {memory[-1]:.0f} at last;", end=" ")
    print(f"{ledger.memory_growth_mib:+.1f} MiB from the second quarter to the last")
    print(f"idle before: {before}\nidle after:  {after}")
    print(f"problems: {len(ledger.problems)}")
    for problem in ledger.problems[:_TOLD]:
        print(f"  {problem}")


def describe(ledger: Ledger, before: Holding, after: Holding) -> dict[str, Any]:
    """Return the same as data."""
    return {
        "sent": ledger.sent,
        "accounted": ledger.accounted,
        "outcomes": ledger.outcomes,
        "memory_mib": {
            "first": ledger.memory_mib[0],
            "most": max(ledger.memory_mib),
            "growth": ledger.memory_growth_mib,
        },
        "before": asdict(before),
        "after": asdict(after),
        "problems": ledger.problems,
    }


if __name__ == "__main__":
    main()
