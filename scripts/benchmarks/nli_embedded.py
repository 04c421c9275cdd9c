"""The embedded model in the NLI benchmark: how often it is right, how sure it may be believed, how fast it is.

In: the model folder, and where there is one a folder with `nli/test.jsonl.gz`. Out: accuracy with 95 % intervals for
each source, the expected calibration error, and milliseconds beside the usual loop of transformers and torch.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from processes import ROOT
from tokenizers import Tokenizer
from transformers import AutoConfig, AutoModelForSequenceClassification

from exporting.gate import SHIPPED_PAIRS, interval_of_share
from exporting.sessions import Classifier, Feed
from proxy.nli.encoding import PairEncoder, build_feed
from proxy.nli.folder import TOKENIZER, ModelFolder, read_folder
from proxy.nli.scoring import Pair, softmax

MODEL: Final = ROOT / "models" / "embedded"
PAIRS: Final = 3
TOKENS: Final = 64
SLOT_SWAPS: Final = "slot_swaps"
TWO_WAY: Final = frozenset({"hans", "med", "scitail", "wice", "propsegment_wiki"})
"""Sources that tell entailment from the rest: there a contradiction counts as the rest."""
BINS: Final = 15


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How often the label was right in one source."""

    pairs: int
    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Quality:
    """What the embedded model is worth."""

    accuracy: dict[str, Accuracy]
    ece: float


def make_timings(threads: int) -> dict[str, Callable[[], object]]:
    """Return what is timed: three pairs, side by side as the server runs them, and in the usual loop."""
    folder = read_folder(MODEL)
    served = _load(folder, threads)
    pool = ThreadPoolExecutor(threads)
    feed = _draw_feed(Tokenizer.from_file(str(MODEL / TOKENIZER)).get_vocab_size())
    loop = AutoModelForSequenceClassification.from_config(AutoConfig.from_pretrained(MODEL)).eval()
    inputs = {name: torch.from_numpy(value) for name, value in feed.items()}

    def run_loop() -> None:
        torch.set_num_threads(threads)
        with torch.no_grad():
            for _ in range(PAIRS):
                loop(**inputs)

    return {"embedded": lambda: list(pool.map(served.run, [feed] * PAIRS)), "torch": run_loop}


def judge_embedded(data: Path | None, threads: int) -> Quality:
    """Score the slot swaps, and the test pairs if given, one pair at a time as the server does."""
    folder = read_folder(MODEL)
    served = _load(folder, threads)
    encoder = PairEncoder(Tokenizer.from_file(str(MODEL / TOKENIZER)), folder.max_tokens)
    order = {"entailment": folder.labels.entailment, "neutral": folder.labels.neutral}
    right: dict[str, list[bool]] = defaultdict(list)
    certainty = []
    for source, entry in _read_pairs(data):
        feed = build_feed(encoder.encode(Pair(entry["premise"], entry["hypothesis"])), served.inputs)
        shares = softmax(served.run(feed)[0])
        if source in TWO_WAY:
            sure = float(shares[order["entailment"]])
            right[source].append((sure >= 1 - sure) == (entry["label"] == "entailment"))
            sure = max(sure, 1 - sure)
        else:
            right[source].append(int(shares.argmax()) == getattr(folder.labels, entry["label"]))
            sure = float(shares.max())
        certainty.append((sure, right[source][-1]))
    accuracy = {
        source: Accuracy(len(hits), sum(hits) / len(hits), *interval_of_share(sum(hits), len(hits)))
        for source, hits in right.items()
    }
    return Quality(accuracy, _measure_ece(np.array(certainty)))


def _load(folder: ModelFolder, threads: int) -> Classifier:
    return Classifier(folder.graph, threads, weight_bits=folder.config.weight_bits)


def _read_pairs(data: Path | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield source and pair."""
    yield from ((SLOT_SWAPS, json.loads(shipped)) for shipped in SHIPPED_PAIRS.read_bytes().splitlines())
    if data is None:
        return
    with gzip.open(data / "nli" / "test.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            yield entry["source"], entry


def _measure_ece(certainty: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Return the mean distance of certainty and accuracy over bins of certainty, weighted by the pairs in them."""
    bins = np.minimum((certainty[:, 0] * BINS).astype(int), BINS - 1)
    gaps = [abs(np.sum(certainty[bins == index, 0] - certainty[bins == index, 1])) for index in range(BINS)]
    return float(sum(gaps) / len(certainty))


def _draw_feed(vocabulary: int) -> Feed:
    """Return one random pair."""
    ids = np.random.default_rng(0).integers(5, vocabulary, (1, TOKENS))
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
