"""How much time a proxy adds to a chat completion: this one with `X-Verify: off`, LiteLLM's and Portkey's.

    .venv/bin/python scripts/benchmarks/overhead.py [--json] [--rounds N]

In: nothing; the two others are installed under `.bench/` by uv and npm, at pinned versions. Out: a table, and with
`--json` an object on the last line. All proxies and the upstream run at once, each in a process of its own, on
loopback; they are asked in turn, round by round, so that whatever drifts on the machine meets all of them. The added
time is a percentile of the proxy's less the same percentile of direct calls by the same client.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from exchange import CHAT_PATH, Client, Cut, Message, write_request
from fixed_upstream import REPLY
from gateways import MODEL, Gateway, prepare_corrigenda, prepare_litellm, prepare_portkey
from processes import CannotStart, describe_machine, find_free_port, read_cpu_s, run_process

PREPARE: Final[Sequence[Callable[[int, int], Gateway]]] = (prepare_corrigenda, prepare_litellm, prepare_portkey)
DIRECT: Final = "direct"
LOADS: Final = {"sequential": 1, "concurrent50": 50}
"""Clients at a time, each asking again as soon as it is answered."""
REQUESTS: Final = {"sequential": 200, "concurrent50": 1000}
"""Requests of one round."""
WARM_UP: Final = 500
PERCENTILES: Final = {"p50": 50, "p99": 99}

_OK: Final = 200
_BODY: Final = {
    "model": MODEL,
    "messages": [
        {"role": "system", "content": "You are a helpful assistant. Answer in two sentences."},
        {"role": "user", "content": "When did Marie Curie win her Nobel Prizes, and what for?"},
    ],
    "temperature": 0.2,
    "max_tokens": 200,
}
_CONTENT: Final = json.loads(REPLY.partition(b"\r\n\r\n")[2])["choices"][0]["message"]["content"]


@dataclass
class Target:
    """What is asked, and what was measured of it."""

    name: str
    port: int
    pid: int
    request: bytes
    times_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """For each load, the time of each request."""
    cpu_s: float = 0.0
    """CPU time of its process over all rounds."""

    def percentile(self, load: str, percent: int) -> float:
        """Return a percentile of the times under a load, in milliseconds."""
        return statistics.quantiles(self.times_ms[load], n=100, method="inclusive")[percent - 1]

    @property
    def cpu_ms(self) -> float:
        """CPU time for each request, in milliseconds."""
        return 1000 * self.cpu_s / sum(map(len, self.times_ms.values()))


class WrongReply(Exception):
    """A target answered with something else than the upstream's completion."""


def main() -> None:
    """Measure, then print."""
    parser = argparse.ArgumentParser(description="Measure the time that a proxy adds to a chat completion.")
    parser.add_argument("--rounds", type=int, default=10, help="more take longer and vary less [10]")
    parser.add_argument("--json", action="store_true", help="print the added times as JSON on the last line")
    options = parser.parse_args()
    try:
        machine = describe_machine()
        targets = measure(options.rounds)
    except (CannotStart, WrongReply) as error:
        sys.exit(f"overhead: {error}")
    print(machine)
    print_table(targets)
    if options.json:
        print(json.dumps({"added_ms": added_ms(targets)}))


def measure(rounds: int) -> list[Target]:
    """Start everything and ask all targets in turn.

    Raises:
        CannotStart: something is missing or does not come up.
        WrongReply: a target does not pass on the completion.
    """
    with ExitStack() as running:
        targets = start_targets(running)
        asyncio.run(ask_in_rounds(targets, rounds))
        return targets


def start_targets(running: ExitStack) -> list[Target]:
    """Start the upstream and the proxies; they are stopped with `running`."""
    upstream_port = find_free_port()
    command = (sys.executable, Path(__file__).with_name("fixed_upstream.py"), str(upstream_port))
    upstream = running.enter_context(run_process("fixed_upstream", command, upstream_port, ready="/"))
    targets = [Target(DIRECT, upstream_port, upstream.pid, write_call({}))]
    for prepare in PREPARE:
        port = find_free_port()
        gateway = prepare(port, upstream_port)
        process = run_process(gateway.name, gateway.command, port, ready=gateway.ready, env=gateway.env)
        targets.append(Target(gateway.name, port, running.enter_context(process).pid, write_call(gateway.headers)))
    return targets


def write_call(headers: Mapping[str, str]) -> bytes:
    """Return the request that every target gets, as an OpenAI client sends it, with a proxy's own headers."""
    own = {
        "Accept": "application/json",
        "Accept-Encoding": "gzip, deflate",
        "User-Agent": "OpenAI/Python 3.57.0",
        "X-Stainless-Lang": "python",
        "X-Stainless-Async": "false",
        "X-Stainless-Retry-Count": "0",
        "Authorization": "Bearer sk-benchmark",
    }
    return write_request(CHAT_PATH, {**own, **headers}, _BODY)


async def ask_in_rounds(targets: Sequence[Target], rounds: int) -> None:
    """Ask all targets in each round, under each load, beginning with another one every time."""
    for target in targets:
        await ask(target, clients=LOADS["concurrent50"], requests=WARM_UP)
    gc.disable()
    for number in range(rounds):
        for load, clients in LOADS.items():
            for position in range(len(targets)):
                target = targets[(position + number) % len(targets)]
                before = read_cpu_s(target.pid)
                target.times_ms[load] += await ask(target, clients=clients, requests=REQUESTS[load])
                target.cpu_s += read_cpu_s(target.pid) - before
                gc.collect()


async def ask(target: Target, *, clients: int, requests: int) -> list[float]:
    """Ask `requests` times in all, from so many clients at a time; return each request's time in milliseconds."""
    asked = await asyncio.gather(*(_ask_one_by_one(target, requests // clients) for _ in range(clients)))
    return [time_ms for times_ms in asked for time_ms in times_ms]


async def _ask_one_by_one(target: Target, requests: int) -> list[float]:
    """Ask on one connection, which one more request opens first."""
    times_ms = []
    async with Client(target.port) as client:
        try:
            check(target, await client.ask(target.request))
            for _ in range(requests):
                begun = time.perf_counter()
                reply = await client.ask(target.request)
                times_ms.append(1000 * (time.perf_counter() - begun))
                check(target, reply)
        except (Cut, ConnectionError) as error:
            raise WrongReply(f"{target.name} closed the connection") from error
    return times_ms


def check(target: Target, reply: Message) -> None:
    """Refuse a reply that is not the upstream's completion: a fast error is no fast answer."""
    if reply.status != _OK or _CONTENT.encode() not in reply.body:
        raise WrongReply(f"{target.name} answered {reply.status}: {reply.body[:300]!r}")


def added_ms(targets: Sequence[Target]) -> dict[str, dict[str, dict[str, float]]]:
    """Return, for each proxy, load and percentile, the milliseconds over the direct call."""
    direct, *proxies = targets
    return {
        proxy.name: {
            load: {
                name: round(proxy.percentile(load, percent) - direct.percentile(load, percent), 3)
                for name, percent in PERCENTILES.items()
            }
            for load in LOADS
        }
        for proxy in proxies
    }


def print_table(targets: Sequence[Target]) -> None:
    """Print times and added times for people."""
    added = added_ms(targets)
    counts = ", ".join(f"{len(targets[0].times_ms[load])} {load}" for load in LOADS)
    print(f"Requests to each: {counts}. Milliseconds; in brackets what is added to the direct call.\n")
    columns = [(load, name) for load in LOADS for name in PERCENTILES]
    print(f"{'':12}" + "".join(f"{f'{load} {name}':>24}" for load, name in columns) + f"{'CPU a request':>16}")
    for target in targets:
        cells = []
        for load, name in columns:
            time_ms = target.percentile(load, PERCENTILES[name])
            extra = f"({added[target.name][load][name]:+.2f})" if target.name in added else ""
            cells.append(f"{time_ms:.2f} {extra:>10}")
        print(f"{target.name:12}" + "".join(f"{cell:>24}" for cell in cells) + f"{target.cpu_ms:>16.2f}")


if __name__ == "__main__":
    main()
