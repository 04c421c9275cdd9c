"""The gate lets a faithful copy pass and stops a damaged one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from exporting.checkpoint import Checkpoint, load_checkpoint
from exporting.deberta import build_graph
from exporting.failures import ExportFailed
from exporting.gate import Parity, interval_of_share, judge_source, measure_parity, read_pairs
from exporting.precision import FP32, Precision
from exporting.sessions import Classifier

PARITY = Parity(
    pairs=1000,
    source_accuracy=0.9,
    accuracy=0.9,
    accuracy_change_interval=(-0.01, 0.01),
    agreement=0.99,
    agreement_interval=(0.98, 1.0),
    mean_difference=0.01,
    largest_difference=0.1,
)


@pytest.fixture(scope="module")
def checkpoint(sources: dict[str, Path]) -> Checkpoint:
    """The tiny DeBERTa."""
    return load_checkpoint(str(sources["deberta"]), None, [])


def _measure(checkpoint: Checkpoint, file: Path, precision: Precision, *, damage: float = 1) -> Parity:
    pairs = read_pairs(file)
    weights = checkpoint.read_weights()
    for part in ("attention.self.value_proj", "output.dense"):
        name = f"deberta.encoder.layer.1.{part}.weight"
        weights[name] = weights[name] * np.float32(damage)
    graph = build_graph(checkpoint.config, weights, precision)
    exported = Classifier(graph.SerializeToString(), threads=1)
    return measure_parity(judge_source(checkpoint, pairs), exported, checkpoint, pairs)


def test_a_faithful_copy_passes(checkpoint: Checkpoint, pairs_file: Path) -> None:
    """The same weights give the same labels."""
    parity = _measure(checkpoint, pairs_file, FP32)
    assert parity.faults == []
    assert parity.agreement == 1
    assert parity.largest_difference < 1e-5


def test_damaged_weights_fail(checkpoint: Checkpoint, pairs_file: Path) -> None:
    """A layer whose weights changed their sign is noticed, and the fault says by how much."""
    parity = _measure(checkpoint, pairs_file, Precision("int8"), damage=-1)
    assert any("labels agree" in fault for fault in parity.faults)


def test_faults_have_the_stated_limits() -> None:
    """Half a point of accuracy passes, more does not; exactly 98 % agreement does not."""
    values = {name: getattr(PARITY, name) for name in Parity.__dataclass_fields__}
    assert PARITY.faults == []
    assert Parity(**{**values, "accuracy": 0.896}).faults == []
    assert Parity(**{**values, "accuracy": 0.894}).faults == ["accuracy changes by -0.60 points (0.5 allowed)"]
    assert Parity(**{**values, "agreement": 0.98}).faults == ["only 98.0% of labels agree (over 98% needed)"]


def test_intervals_widen_for_few_pairs() -> None:
    """Ten of ten prove less than a thousand of a thousand."""
    few, many = interval_of_share(10, 10), interval_of_share(1000, 1000)
    assert few == pytest.approx((0.7225, 1.0), abs=1e-3)
    assert many == pytest.approx((0.9962, 1.0), abs=1e-3)


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85"])
def test_a_text_may_hold_a_line_separator(tmp_path: Path, mark: str) -> None:
    """JSON leaves these as they are within a text; only a newline ends a line of the file."""
    file = tmp_path / "pairs.jsonl"
    entry = {"premise": f"One.{mark}Two.", "hypothesis": "One.", "label": "entailment"}
    file.write_text(json.dumps(entry, ensure_ascii=False) + "\n", encoding="utf-8")
    ((pair, _),) = read_pairs(file)
    assert pair.premise == entry["premise"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no pairs"),
        ('{"premise": "a", "hypothesis": "b"}\n', "line 1 has no premise, hypothesis and label"),
        ('\n{"premise": "a", "hypothesis": "b", "label": "yes"}\n', "line 2: label 'yes'"),
        ("nonsense", "line 1 has no"),
    ],
)
def test_pairs_that_cannot_be_used(tmp_path: Path, content: str, message: str) -> None:
    """The line at fault is named."""
    file = tmp_path / "pairs.jsonl"
    file.write_text(content)
    with pytest.raises(ExportFailed, match=message):
        read_pairs(file)
