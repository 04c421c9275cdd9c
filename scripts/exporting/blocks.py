"""The parts that transformer graphs have in common, written into a graph by one call each.

In: a graph, names of tensors, weights by the names of transformers' state dicts. Out: names of tensors. It stands
apart so that `deberta` and `bert` each show only what makes them different.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import numpy as np
from onnx import TensorProto

from exporting.graph import Graph
from exporting.precision import Floats

MASKED: Final = -3e4
"""Added to the scores of padding: finite, so that a row of nothing but padding stays a number."""

Weights = Mapping[str, Floats]
Pooling = Literal["Gelu", "Tanh"]
"""What the pooler applies to its product."""


def read_linear(weights: Weights, name: str) -> tuple[Floats, Floats]:
    """Return weight [inputs, outputs] and bias of a linear layer."""
    return weights[f"{name}.weight"].T, weights[f"{name}.bias"]


def write_mask(graph: Graph) -> str:
    """Return what is added to the scores, [batch, 1, 1, length]: 0, or `MASKED` for padding."""
    shown = graph.apply("Cast", graph.apply("Unsqueeze", "attention_mask", graph.integers(1, 2)), to=TensorProto.FLOAT)
    hidden = graph.apply("Sub", graph.constant(np.float32(1)), shown)  # type: ignore[arg-type]
    return graph.apply("Mul", hidden, graph.constant(np.float32(MASKED)))  # type: ignore[arg-type]


def normalise(graph: Graph, x: str, weights: Weights, name: str, epsilon: float) -> str:
    """Add a layer normalisation."""
    gain, offset = graph.constant(weights[f"{name}.weight"]), graph.constant(weights[f"{name}.bias"])
    return graph.apply("LayerNormalization", x, gain, offset, axis=-1, epsilon=epsilon)


def add_and_normalise(graph: Graph, sides: tuple[str, str], weights: Weights, name: str, epsilon: float) -> str:
    """Add a sum of two sides and its layer normalisation."""
    gain, offset = graph.constant(weights[f"{name}.weight"]), graph.constant(weights[f"{name}.bias"])
    return graph.apply_own("SkipLayerNormalization", *sides, gain, offset, epsilon=epsilon)


def attend(graph: Graph, scores: str, values: str, hidden: int) -> str:
    """Weight values [batch, heads, length, width] by masked scores, and join the heads: [batch, rows, hidden]."""
    context = graph.apply("MatMul", graph.apply("Softmax", scores, axis=-1), values)
    context = graph.apply("Transpose", context, perm=[0, 2, 1, 3])
    return graph.apply("Reshape", context, graph.integers(0, 0, hidden))


def classify(graph: Graph, x: str, weights: Weights, pooler: str, activation: Pooling) -> str:
    """Return the logits of [batch, 1, hidden]; the head stays in fp32, for it costs nothing."""
    first = graph.apply("Squeeze", x, graph.integers(1))
    pooled = graph.apply("Gemm", first, *_constants(graph, weights, pooler), transB=1)
    active = graph.apply_own("Gelu", pooled) if activation == "Gelu" else graph.apply("Tanh", pooled)
    return graph.apply("Gemm", active, *_constants(graph, weights, "classifier"), transB=1)


def _constants(graph: Graph, weights: Weights, name: str) -> tuple[str, str]:
    return graph.constant(weights[f"{name}.weight"]), graph.constant(weights[f"{name}.bias"])
