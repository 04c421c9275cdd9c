"""How fast our DeBERTa graphs are beside the stock export, and how good the embedded model is.

    make bench-nli [DATA=FOLDER] [ARGS="--json --rounds N"]

In: nothing, and for the embedded model's accuracy a folder with `nli/test.jsonl.gz`. Out: tables, and with `--json`
an object on the last line. Both sides run in one process under the server's session options, on two threads, in turn,
round by round; figures are medians. CPU time is given too, for on a busy machine the time says little. The rival is
optimum's export, simplified and quantised by the runtime's tools.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from nli_embedded import Quality, judge_embedded, make_timings
from nli_graphs import OURS, SHAPES, STOCK, Products, Shape, write_graphs
from processes import SCRATCH, describe_machine

from exporting.sessions import Classifier, Feed

THREADS: Final = 2
BATCHES: Final = ((1, 32), (1, 64), (3, 64), (8, 64), (3, 128))
RAGGED: Final = tuple(int(length) for length in np.linspace(38, 160, 8))
"""Lengths of pairs that arrive together: ours runs them one by one, the rival pads them into one batch."""
PRODUCTS: Final = {"large": (3, 128)}
"""Where the matrix products alone are timed."""
PUBLISHED_VOCABULARY: Final = 128_100
BITS: Final = {"ours": OURS.weight_bits, "stock": STOCK.weight_bits}
"""Each side runs by the kernels that the server would run it by: exact ones."""

Action = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Cost:
    """Medians of what one action took."""

    time_ms: float
    cpu_ms: float
    """Of all threads: what it takes of a machine that is not idle."""


@dataclass
class Result:
    """What was measured of one shape, by what was run and by which side."""

    shape: Shape
    costs: dict[str, dict[str, Cost]] = field(default_factory=dict)
    holding: dict[str, dict[str, float]] = field(default_factory=dict)
    """For large: file size, memory and load time by side."""

    def ratio(self, name: str) -> float:
        """Return our time over the rival's."""
        return self.costs[name]["ours"].time_ms / self.costs[name]["stock"].time_ms

    def cpu_ratio(self, name: str) -> float:
        """Return our CPU time over the rival's."""
        return self.costs[name]["ours"].cpu_ms / self.costs[name]["stock"].cpu_ms

    def share(self, name: str) -> float:
        """Return the time of the matrix products alone over ours."""
        return self.costs[name]["products"].time_ms / self.costs[name]["ours"].time_ms


def main() -> None:
    """Measure, then print."""
    parser = argparse.ArgumentParser(description="Measure NLI graphs and the embedded model.")
    parser.add_argument("--rounds", type=int, default=15, help="more take longer and vary less [15]")
    parser.add_argument("--shapes", nargs="+", default=[shape.name for shape in SHAPES], help="which to measure [all]")
    parser.add_argument("--vocabulary", type=int, default=8192, help="rows of the embedding; speed is the same [8192]")
    parser.add_argument("--data", type=Path, help="folder with nli/test.jsonl.gz, for the embedded model's accuracy")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON on the last line")
    options = parser.parse_args()
    print(describe_machine())
    print(f"{THREADS} threads, {options.rounds} rounds, medians in ms, vocabulary {options.vocabulary}\n", flush=True)
    results = []
    for shape in SHAPES:
        if shape.name in options.shapes:
            results.append(measure_shape(shape, options.vocabulary, options.rounds))
            print_shape(results[-1])
    timings = measure(make_timings(THREADS), options.rounds)
    quality = judge_embedded(options.data, THREADS)
    print_embedded(timings, quality)
    if options.json:
        print(json.dumps(summarise(results, timings, quality)))


def measure_shape(shape: Shape, vocabulary: int, rounds: int) -> Result:
    """Time one shape on both sides, and the products alone where they are asked for."""
    files = dict(zip(("ours", "stock"), write_graphs(shape, vocabulary, SCRATCH / "nli"), strict=True))
    result = Result(shape)
    if shape.name in PRODUCTS:
        result.holding = {side: measure_holding(file, BITS[side]) for side, file in files.items()}
    graphs = {side: Classifier(file, THREADS, weight_bits=BITS[side]) for side, file in files.items()}
    for batch, length in BATCHES:
        feed = draw_feed(vocabulary, [length] * batch)
        actions: dict[str, Action] = {side: _bind(graph, [feed]) for side, graph in graphs.items()}
        if PRODUCTS.get(shape.name) == (batch, length):
            actions["products"] = _bind_products(shape, batch, length)
        result.costs[f"{batch}x{length}"] = measure(actions, rounds)
    alone = [draw_feed(vocabulary, [length]) for length in RAGGED]
    padded = [draw_feed(vocabulary, RAGGED)]
    result.costs["ragged"] = measure(
        {"ours": _bind(graphs["ours"], alone), "stock": _bind(graphs["stock"], padded)}, rounds
    )
    return result


def measure(actions: Mapping[str, Action], rounds: int) -> dict[str, Cost]:
    """Return what each action costs; all are run in each round, the first of which does not count."""
    spent: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for number in range(rounds + 1):
        for name, action in actions.items():
            begun, cpu_begun = time.perf_counter(), time.process_time()
            action()
            if number:
                spent[name].append((time.perf_counter() - begun, time.process_time() - cpu_begun))
    return {
        name: Cost(*(1000 * statistics.median(values) for values in zip(*pairs, strict=True)))
        for name, pairs in spent.items()
    }


def draw_feed(vocabulary: int, lengths: Sequence[int]) -> Feed:
    """Return one batch of random ids, shorter rows padded."""
    ids = np.random.default_rng(0).integers(5, vocabulary, (len(lengths), max(lengths)))
    mask = (np.arange(max(lengths)) < np.array(lengths)[:, None]).astype(np.int64)
    return {"input_ids": ids * mask, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def measure_holding(file: Path, weight_bits: int) -> dict[str, float]:
    """Return file size, resident memory and load time of a graph, from a process of its own."""
    command = (sys.executable, Path(__file__).with_name("nli_load.py"), file, str(weight_bits))
    report = subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own script
    return {"file_mib": file.stat().st_size / 2**20, **json.loads(report.stdout)}


def summarise(results: Sequence[Result], timings: Mapping[str, Cost], quality: Quality) -> dict[str, Any]:
    """Return the object of `--json`."""
    batches = [f"{batch}x{length}" for batch, length in BATCHES]
    return {
        "time_ratio": {
            result.shape.name: {name: round(result.ratio(name), 3) for name in batches} for result in results
        },
        "cpu_ratio": {
            result.shape.name: {name: round(result.cpu_ratio(name), 3) for name in result.costs} for result in results
        },
        "ragged_ratio": {result.shape.name: round(result.ratio("ragged"), 3) for result in results},
        "gemm_share": {
            result.shape.name: {
                name: round(result.share(name), 3) for name, costs in result.costs.items() if "products" in costs
            }
            for result in results
            if result.shape.name in PRODUCTS
        },
        "holding": {result.shape.name: result.holding for result in results if result.holding},
        "embedded": {
            "ms_3x64": round(timings["embedded"].time_ms, 2),
            "ms_3x64_torch": round(timings["torch"].time_ms, 2),
            "accuracy": {source: round(accuracy.share, 4) for source, accuracy in quality.accuracy.items()},
            "ece": round(quality.ece, 4),
        },
    }


def print_shape(result: Result) -> None:
    """Print one shape's times for people."""
    titles = ("ours", "stock", "ratio", "CPU ratio", "products", "share")
    print(f"{result.shape.name:8}" + "".join(f"{title:>11}" for title in titles))
    for name, costs in result.costs.items():
        times = f"{costs['ours'].time_ms:11.1f}{costs['stock'].time_ms:11.1f}"
        line = f"{name:8}{times}{result.ratio(name):11.2f}{result.cpu_ratio(name):11.2f}"
        if "products" in costs:
            line += f"{costs['products'].time_ms:11.1f}{result.share(name):11.2f}"
        print(line)
    for side, holding in result.holding.items():
        print(
            f"{side:8}file {holding['file_mib']:.0f} MiB, resident {holding['resident_mib']:.0f} MiB, "
            f"loaded in {holding['load_s']:.1f} s"
        )
    if result.holding:
        rows = result.shape.hidden / 2**20
        print(f"each 1000 rows of vocabulary more ({PUBLISHED_VOCABULARY} are published) add to file and memory:")
        print(f"ours {1000 * (rows + 4 / 2**20):.1f} MiB, stock {4000 * rows:.1f} MiB")
    print(flush=True)


def print_embedded(timings: Mapping[str, Cost], quality: Quality) -> None:
    """Print the embedded model's figures for people."""
    ours, loop = timings["embedded"].time_ms, timings["torch"].time_ms
    print(
        f"embedded model: three pairs of 64 tokens side by side {ours:.1f} ms, in a loop of transformers {loop:.1f} ms"
    )
    for source, accuracy in quality.accuracy.items():
        print(f"{source:24}{accuracy.share:8.3f}  ({accuracy.low:.3f} to {accuracy.high:.3f}, {accuracy.pairs} pairs)")
    print(f"expected calibration error {quality.ece:.3f}")


def _bind(graph: Classifier, feeds: Sequence[Feed]) -> Action:
    return lambda: [graph.run(feed) for feed in feeds]


def _bind_products(shape: Shape, batch: int, length: int) -> Action:
    content, feed = Products(shape, batch, length).write()
    graph = Classifier(content, THREADS, weight_bits=OURS.weight_bits)
    return lambda: graph.run(feed)


if __name__ == "__main__":
    main()
