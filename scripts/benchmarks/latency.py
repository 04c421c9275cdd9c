"""How long a verified answer takes beside an unverified one, with an upstream as fast as the paper's model.

    .venv/bin/python scripts/benchmarks/latency.py [--rounds N] [--json]

In: nothing. Out: total time over the base model's, by decomposition (`local`, `llm`, `llm` on a stream) and number of
contradictions (0, 1, 2), with the time of each stage; with `--json` an object on the last line. The upstream is
scripted (`paced_upstream.py`), the NLI model is the embedded one. The ways are asked in turn, round by round. A reply
with another number of edits than its draft has false sentences stops the run: a wrong verdict is no fast answer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from exchange import CHAT_PATH, Client, Message, write_request
from paced_upstream import SCENES, Scene, name_model
from processes import CORRIGENDA, CannotStart, describe_machine, find_free_port, run_process

ERRORS: Final = (0, 1, 2)
PAPER: Final = 980 / 820
"""The paper's total over its base model, in milliseconds."""
SHOWN: Final = 1
"""Stage times are shown for answers with so many errors: every stage has work there."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to ask: how the proxy is to take the answer apart, and whether the client streams."""

    name: str
    headers: Mapping[str, str]
    stream: bool = False


WAYS: Final = (
    Way("local", {"X-Verify-Claims": "local"}),
    Way("llm", {"X-Verify-Claims": "llm"}),
    Way("llm_stream", {"X-Verify-Claims": "llm"}, stream=True),
)


@dataclass
class Times:
    """Everything measured, in milliseconds."""

    direct: dict[bool, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Direct calls, by whether they were streamed."""
    proxied: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    """Calls through the proxy, by way and number of errors."""
    stages: dict[str, list[Mapping[str, float]]] = field(default_factory=lambda: defaultdict(list))
    """The reported stage times of answers with `SHOWN` errors, by way."""

    def ratio(self, way: Way, errors: int, percent: int = 50) -> float:
        """Return a percentile of the proxy's times over the same percentile of direct calls."""
        over = _percentile(self.proxied[way.name, errors], percent)
        return over / _percentile(self.direct[way.stream], percent)

    def mean_stages(self, way: Way) -> dict[str, float]:
        """Return the mean time of each stage."""
        reported = self.stages[way.name]
        return {stage: round(statistics.fmean(times[stage] for times in reported), 1) for stage in reported[0]}


class WrongVerdict(Exception):
    """An answer came back with another number of edits than it had errors."""


def main() -> None:
    """Measure, then print."""
    parser = argparse.ArgumentParser(description="Measure the time of verified answers beside unverified ones.")
    parser.add_argument("--rounds", type=int, default=20, help="each asks every way once [20]")
    parser.add_argument("--json", action="store_true", help="print the ratios as JSON on the last line")
    options = parser.parse_args()
    try:
        machine = describe_machine()
        times = measure(options.rounds)
    except (CannotStart, WrongVerdict) as error:
        sys.exit(f"latency: {error}")
    print(machine)
    print_tables(times, options.rounds)
    if options.json:
        print(json.dumps(summarise(times)))


def measure(rounds: int) -> Times:
    """Start upstream and proxy, and ask in rounds.

    Raises:
        CannotStart: one of them does not come up.
        WrongVerdict: an answer was not corrected as it should be.
    """
    with ExitStack() as running:
        upstream, proxy = find_free_port(), find_free_port()
        script = Path(__file__).with_name("paced_upstream.py")
        running.enter_context(
            run_process("paced_upstream", (sys.executable, script, str(upstream)), upstream, ready="/")
        )
        command = (CORRIGENDA, "serve", "--port", str(proxy), "--upstream", f"http://127.0.0.1:{upstream}")
        running.enter_context(run_process("latency_corrigenda", command, proxy, ready="/readyz"))
        return asyncio.run(_ask_in_rounds(upstream, proxy, rounds))


async def _ask_in_rounds(upstream: int, proxy: int, rounds: int) -> Times:
    times = Times()
    async with Client(upstream) as direct, Client(proxy) as proxied:
        for number in range(-1, rounds):
            scene = SCENES[number % len(SCENES)]
            kept = times if number >= 0 else Times()
            await _ask_round(direct, proxied, scene, kept)
    return times


async def _ask_round(direct: Client, proxied: Client, scene: Scene, times: Times) -> None:
    """Ask everything once; the round before the first is for warming up."""
    for stream in (False, True):
        taken_ms, _ = await _ask(direct, scene, Way("direct", {}, stream), 0)
        times.direct[stream].append(taken_ms)
    for way in WAYS:
        for errors in ERRORS:
            taken_ms, reply = await _ask(proxied, scene, way, errors)
            report = _read_report(reply, way)
            edits = sum(len(choice["edits"]) for choice in report["choices"])
            if edits != errors:
                raise WrongVerdict(
                    f"{way.name}: {edits} edits where {errors} sentences are false, for {scene.question!r}: "
                    f"{report['status']}"
                )
            times.proxied[way.name, errors].append(taken_ms)
            if errors == SHOWN:
                times.stages[way.name].append(report["timings_ms"])


async def _ask(client: Client, scene: Scene, way: Way, errors: int) -> tuple[float, Message]:
    """Ask one question and return the milliseconds to the last byte, and the reply."""
    messages = [{"role": "user", "content": scene.question}]
    body = {"model": name_model(errors), "messages": messages, "stream": way.stream}
    request = write_request(CHAT_PATH, {"Authorization": "Bearer sk-benchmark", **way.headers}, body)
    begun = time.perf_counter()
    reply = await client.ask(request)
    return 1000 * (time.perf_counter() - begun), reply


def _read_report(reply: Message, way: Way) -> Mapping[str, Any]:
    """Return the verification object of a reply, on a stream that of the last chunk that has one."""
    if not way.stream:
        report: Mapping[str, Any] = json.loads(reply.body)["verification"]
        return report
    events = [line.removeprefix("data: ") for line in reply.body.decode().splitlines() if line.startswith("data: {")]
    found: Mapping[str, Any] = next(
        chunk["verification"] for chunk in map(json.loads, events) if "verification" in chunk
    )
    return found


def summarise(times: Times) -> dict[str, Any]:
    """Return the ratios, rounded; `one_edit` and `two_edits` are whole ratios too, not differences."""
    keys = {"ratio": 0, "one_edit": 1, "two_edits": 2}
    ratios = {key: {way.name: round(times.ratio(way, errors), 3) for way in WAYS} for key, errors in keys.items()}
    return {
        **ratios,
        "p95_ratio": {way.name: round(times.ratio(way, 0, 95), 3) for way in WAYS},
        "stages_ms": {way.name: times.mean_stages(way) for way in WAYS},
    }


def print_tables(times: Times, rounds: int) -> None:
    """Print ratios and stage times for people."""
    plain, streamed = (statistics.median(times.direct[stream]) for stream in (False, True))
    print(f"{rounds} rounds. Base: {plain:.0f} ms plain, {streamed:.0f} ms streamed. The paper's ratio: {PAPER:.3f}.\n")
    print(f"{'total / base (p50, p95)':24}" + "".join(f"{f'{errors} contradictions':>22}" for errors in ERRORS))
    for way in WAYS:
        cells = [f"{times.ratio(way, errors):.3f}  {times.ratio(way, errors, 95):.3f}" for errors in ERRORS]
        print(f"{way.name:24}" + "".join(f"{cell:>22}" for cell in cells))
    stages: Sequence[str] = list(times.mean_stages(WAYS[0]))
    print(f"\n{f'mean ms, {SHOWN} contradiction':24}" + "".join(f"{stage:>12}" for stage in stages))
    for way in WAYS:
        print(f"{way.name:24}" + "".join(f"{ms:12.1f}" for ms in times.mean_stages(way).values()))


def _percentile(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


if __name__ == "__main__":
    main()
