"""The parity gate: does the exported model still give the verdicts of the one it was made from?

In: labelled pairs, the transformers model and an exported one. Out: a `Parity` with honest intervals, and the
reasons why it is not enough, if any. It stands apart because no export is published that did not pass here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from exporting.checkpoint import Checkpoint
from exporting.failures import ExportFailed
from exporting.sessions import Classifier, Feed
from proxy.calibration.choice import Share
from proxy.nli.encoding import PairEncoder, build_feed
from proxy.nli.scoring import Label, LabelOrder, Pair, softmax

SHIPPED_PAIRS: Final = Path(__file__).resolve().parents[1] / "nli_data" / "slot_swaps.jsonl"
LEAST_AGREEMENT: Final = 0.98
"""Share of pairs whose label must be over this the same."""
MOST_ACCURACY_LOST: Final = 0.005
MOST_GRAPH_ERROR: Final = 1e-4
"""By how much an fp32 probability may differ."""
LENGTHS: Final = (2, 17, 64, 129, 130, 257, 384, 512)
"""Lengths on both sides of the border between exact and shared positions, up to the usual limit."""
_Z: Final = 1.96
_SPECIAL: Final = 5
"""Token ids under this are marks."""

Labelled = tuple[Pair, Label]


@dataclass(frozen=True, slots=True)
class Parity:
    """How an exported model compares with its source, on labelled pairs."""

    pairs: int
    source_accuracy: float
    accuracy: float
    accuracy_change_interval: tuple[float, float]
    """95 % interval of accuracy less source accuracy, the pairs taken as drawn at random."""
    agreement: float
    agreement_interval: tuple[float, float]
    mean_difference: float
    """Of the label probabilities."""
    largest_difference: float

    @property
    def faults(self) -> list[str]:
        """Why the exported model may not be published; empty if it may."""
        faults = []
        change = self.accuracy - self.source_accuracy
        if -change > MOST_ACCURACY_LOST:
            faults.append(f"accuracy changes by {100 * change:+.2f} points (0.5 allowed)")
        if self.agreement <= LEAST_AGREEMENT:
            faults.append(f"only {self.agreement:.1%} of labels agree (over {LEAST_AGREEMENT:.0%} needed)")
        return faults


def read_pairs(file: Path) -> list[Labelled]:
    """Read labelled pairs, one JSON object a line with `premise`, `hypothesis` and `label`.

    Raises:
        ExportFailed: the file cannot be read, is empty, or a line is no such object.
    """
    try:
        # Of bytes, for a text may hold line separators that only JSON's lines do not end with.
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise ExportFailed(f"--pairs {file}: cannot be read ({error})") from error
    pairs = [_read_pair(file, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not pairs:
        raise ExportFailed(f"--pairs {file}: holds no pairs")
    return pairs


def judge_source(checkpoint: Checkpoint, pairs: Sequence[Labelled]) -> NDArray[np.float64]:
    """Return the source model's probabilities, [pairs, 3], one pair at a time."""
    return _judge(lambda feed: run_source(checkpoint.model, feed), checkpoint, pairs, None)


def measure_parity(
    source: NDArray[np.float64], exported: Classifier, checkpoint: Checkpoint, pairs: Sequence[Labelled]
) -> Parity:
    """Compare an exported model's probabilities with its source's, which `judge_source` gave."""
    probabilities = _judge(exported.run, checkpoint, pairs, exported.inputs)
    truth = np.array([_class_of(label, checkpoint.labels) for _, label in pairs])
    before, after = source.argmax(axis=1), probabilities.argmax(axis=1)
    change = (after == truth).astype(float) - (before == truth)
    differences = np.abs(source - probabilities)
    return Parity(
        pairs=len(pairs),
        source_accuracy=float((before == truth).mean()),
        accuracy=float((after == truth).mean()),
        accuracy_change_interval=_interval_of_mean(change),
        agreement=float((before == after).mean()),
        agreement_interval=interval_of_share(int((before == after).sum()), len(pairs)),
        mean_difference=float(differences.mean()),
        largest_difference=float(differences.max()),
    )


def measure_graph_error(checkpoint: Checkpoint, exported: Classifier) -> float:
    """Return the largest difference of fp32 probabilities, over random inputs of many lengths, half of them padded."""
    draw = np.random.default_rng(0)
    errors = []
    for length in (length for length in LENGTHS if length <= checkpoint.max_length):
        feed = draw_feed(draw, checkpoint.config.vocab_size, length)
        expected = softmax(run_source(checkpoint.model, feed))
        errors.append(float(np.abs(softmax(exported.run(feed)) - expected).max()))
    return max(errors)


def draw_feed(draw: np.random.Generator, vocabulary: int, length: int) -> Feed:
    """Return random ids, [2, length]; the second row is padded from half its length on."""
    ids = draw.integers(_SPECIAL, vocabulary, (2, length))
    mask = np.ones_like(ids)
    mask[1, (length + 1) // 2 :] = 0
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def run_source(model: Any, feed: Feed) -> NDArray[np.float32]:  # noqa: ANN401 - a transformers model
    """Return the logits of a transformers model."""
    inputs = {name: torch.from_numpy(value) for name, value in feed.items()}
    if getattr(model.config, "type_vocab_size", 0) <= 1:
        inputs.pop("token_type_ids", None)
    with torch.no_grad():
        logits: NDArray[np.float32] = model(**inputs).logits.numpy()
    return logits


def interval_of_share(hits: int, count: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share, which holds for few pairs and shares near 1 too."""
    share = Share(hits, count)
    return share.low, share.high


def _interval_of_mean(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the 95 % interval of a mean; where no value differs, that of one that might have (rule of three)."""
    half = _Z * values.std() / math.sqrt(len(values)) if values.any() else 3 / len(values)
    return float(values.mean() - half), float(values.mean() + half)


def _judge(
    run: Callable[[Feed], NDArray[np.float32]],
    checkpoint: Checkpoint,
    pairs: Sequence[Labelled],
    inputs: Sequence[str] | None,
) -> NDArray[np.float64]:
    """Return probabilities, [pairs, 3], of pairs encoded as the server does."""
    encoder = PairEncoder(checkpoint.tokenizer, checkpoint.max_length)
    names = inputs or ("input_ids", "attention_mask", "token_type_ids")
    return np.concatenate([softmax(run(build_feed(encoder.encode(pair), names))) for pair, _ in pairs])


def _class_of(label: Label, order: LabelOrder) -> int:
    index: int = getattr(order, label)
    return index


def _read_pair(file: Path, number: int, line: bytes) -> Labelled:
    """Read one line."""
    try:
        entry = json.loads(line)
        pair, label = Pair(entry["premise"], entry["hypothesis"]), entry["label"]
    except (ValueError, KeyError, TypeError) as error:
        raise ExportFailed(f"--pairs {file}: line {number} has no premise, hypothesis and label") from error
    if label not in get_args(Label):
        raise ExportFailed(f"--pairs {file}: line {number}: label {label!r} is not one of {', '.join(get_args(Label))}")
    return pair, label
