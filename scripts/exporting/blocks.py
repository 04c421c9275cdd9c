"""The parts that transformer graphs have in common, written into a graph by one call each.

In: a graph, names of tensors, weights by the names of transformers' state dicts. Out: names of tensors. It stands
apart so that `deberta` and `bert` each show only what makes them different.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from onnx import TensorProto

from exporting.graph import Graph
from exporting.precision import Floats, Precision, Products, apply_linear

MASKED: Final = -3e4
"""Added to the scores of padding: finite, so that a row of nothing but padding stays a number."""

Weights = Mapping[str, Floats]
Pooling = Literal["Gelu", "Tanh"]
"""What the pooler applies to its product."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes that every encoder layer needs."""

    hidden: int
    heads: int
    layers: int
    epsilon: float

    @property
    def width(self) -> int:
        """Width of a head."""
        return self.hidden // self.heads


def write_mask(graph: Graph) -> str:
    """Return what is added to the scores, [batch, 1, 1, length]: 0, or `MASKED` for padding."""
    shown = graph.apply("Cast", graph.apply("Unsqueeze", "attention_mask", graph.integers(1, 2)), to=TensorProto.FLOAT)
    hidden = graph.apply("Sub", graph.constant(np.float32(1)), shown)  # type: ignore[arg-type]
    return graph.apply("Mul", hidden, graph.constant(np.float32(MASKED)))  # type: ignore[arg-type]


def normalise(graph: Graph, x: str, weights: Weights, name: str, epsilon: float) -> str:
    """Add a layer normalisation."""
    return graph.apply("LayerNormalization", x, *_constants(graph, weights, name), axis=-1, epsilon=epsilon)


class Layer:
    """What the encoder layers of both architectures have in common, written into a graph."""

    def __init__(self, graph: Graph, sizes: Sizes, weights: Weights, name: str, precision: Precision) -> None:
        """Write the layer whose weights are called `name`."""
        self.graph = graph
        self.sizes = sizes
        self.precision = precision
        self._weights = weights
        self._name = name

    def project(self, x: str, parts: Sequence[str], scale: float) -> str:
        """Return queries, keys and values as one product, [3, batch, heads, length, width]; queries are scaled."""
        linears = [self.read(f"attention.self.{part}") for part in parts]
        scales = (scale, 1, 1)
        weight = np.concatenate([part[0] * by for part, by in zip(linears, scales, strict=True)], axis=1)
        bias = np.concatenate([part[1] * by for part, by in zip(linears, scales, strict=True)])
        products = self.precision.products
        projected = apply_linear(self.graph, x, weight.astype(np.float32), bias.astype(np.float32), products)
        shape = self.graph.integers(0, 0, 3, self.sizes.heads, self.sizes.width)
        return self.graph.apply("Transpose", self.graph.apply("Reshape", projected, shape), perm=[2, 0, 3, 1, 4])

    def feed_forward(self, x: str, context: str) -> str:
        """Add what follows attention: [batch, rows, hidden] both, to the same."""
        products = self.precision.products
        x = self._join(x, self._apply(context, "attention.output.dense", products), "attention.output.LayerNorm")
        inner = self.graph.apply_own("Gelu", self._apply(x, "intermediate.dense", products))
        return self._join(x, self._apply(inner, "output.dense", self.precision.narrowing), "output.LayerNorm")

    def read(self, name: str) -> tuple[Floats, Floats]:
        """Return weight [inputs, outputs] and bias of one of the layer's linear parts."""
        return self._weights[f"{self._name}.{name}.weight"].T, self._weights[f"{self._name}.{name}.bias"]

    def has(self, name: str) -> bool:
        """Tell whether the layer has a linear part of this name."""
        return f"{self._name}.{name}.weight" in self._weights

    def _apply(self, x: str, name: str, products: Products) -> str:
        return apply_linear(self.graph, x, *self.read(name), products)

    def _join(self, x: str, change: str, name: str) -> str:
        gain, offset = _constants(self.graph, self._weights, f"{self._name}.{name}")
        return self.graph.apply_own("SkipLayerNormalization", x, change, gain, offset, epsilon=self.sizes.epsilon)


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
