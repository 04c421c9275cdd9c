"""BERT as a graph that does less: the same logits from fewer and larger operators.

In: the config and the weights of a `BertForSequenceClassification`. Out: an ONNX model. What it saves beside an
exported one: queries, keys and values are one product, the scale of scores is folded into the queries' weights, and
the last layer computes the first token alone, which is all that the head reads. `models/embedded` is one.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import onnx

from exporting.blocks import Weights, add_and_normalise, attend, classify, normalise, read_linear, write_mask
from exporting.graph import Graph
from exporting.precision import Precision, Products, apply_linear, look_up

EMBEDDINGS: Final = "bert.embeddings"
ENCODER: Final = "bert.encoder"
INPUTS: Final = ("input_ids", "attention_mask", "token_type_ids")
_FOLDED: Final = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
}
"""What the graph takes for granted, as in all usual models."""


def is_foldable(config: Any) -> bool:  # noqa: ANN401 - the library's config has no static fields
    """Tell whether a model is one that `build_graph` describes; others go through the stock exporter."""
    return all(getattr(config, name, value) == value for name, value in _FOLDED.items())


def build_graph(config: Any, weights: Weights, precision: Precision) -> onnx.ModelProto:  # noqa: ANN401 - the same
    """Write the graph.

    Args:
        config: a config for which `is_foldable` holds.
        weights: the state dict, as arrays.
        precision: what is quantised.
    """
    graph = Graph(INPUTS)
    x = _embed(graph, config, weights, precision)
    mask = write_mask(graph)
    for index in range(config.num_hidden_layers):
        layer = _Layer(graph, config, weights, f"{ENCODER}.layer.{index}", precision)
        x = layer.apply(x, mask, first_only=index == config.num_hidden_layers - 1)
    return graph.finish(classify(graph, x, weights, "bert.pooler.dense", "Tanh"), config.num_labels)


def _embed(graph: Graph, config: Any, weights: Weights, precision: Precision) -> str:  # noqa: ANN401 - the same
    """Add words, positions and segments, [batch, length, hidden]."""
    words = look_up(graph, weights[f"{EMBEDDINGS}.word_embeddings.weight"], "input_ids", int8=precision.int8_embedding)
    segments = look_up(graph, weights[f"{EMBEDDINGS}.token_type_embeddings.weight"], "token_type_ids", int8=False)
    length = graph.apply("Shape", "input_ids", start=1, end=2)
    table = graph.constant(weights[f"{EMBEDDINGS}.position_embeddings.weight"])
    positions = graph.cut(table, graph.integers(0), length, 0)
    x = graph.apply("Add", graph.apply("Add", words, segments), positions)
    return normalise(graph, x, weights, f"{EMBEDDINGS}.LayerNorm", config.layer_norm_eps)


class _Layer:
    """One layer of the encoder, written into a graph."""

    def __init__(self, graph: Graph, config: Any, weights: Weights, name: str, precision: Precision) -> None:  # noqa: ANN401
        self._graph = graph
        self._config = config
        self._weights = weights
        self._name = name
        self._precision = precision

    def apply(self, x: str, mask: str, *, first_only: bool) -> str:
        """Add the layer: [batch, length, hidden] to the same, or with `first_only` to [batch, 1, hidden]."""
        graph = self._graph
        queries, keys, values = self._project(x)
        if first_only:
            first = (graph.integers(0), graph.integers(1))
            queries, x = graph.cut(queries, *first, 2), graph.cut(x, *first, 1)
        scores = graph.apply("Add", graph.apply_own("FusedMatMul", queries, keys, transB=1), mask)
        context = attend(graph, scores, values, self._config.hidden_size)
        x = self._join(
            x,
            self._apply_dense(context, "attention.output.dense", self._precision.products),
            "attention.output.LayerNorm",
        )
        inner = graph.apply_own("Gelu", self._apply_dense(x, "intermediate.dense", self._precision.products))
        return self._join(x, self._apply_dense(inner, "output.dense", self._precision.narrowing), "output.LayerNorm")

    def _project(self, x: str) -> list[str]:
        """Return queries, keys and values, [batch, heads, length, width] each."""
        heads = self._config.num_attention_heads
        width = self._config.hidden_size // heads
        parts = [self._read(f"attention.self.{part}") for part in ("query", "key", "value")]
        scales = (1 / math.sqrt(width), 1, 1)
        weight = np.concatenate([part[0] * scale for part, scale in zip(parts, scales, strict=True)], axis=1)
        bias = np.concatenate([part[1] * scale for part, scale in zip(parts, scales, strict=True)])
        projected = apply_linear(
            self._graph, x, weight.astype(np.float32), bias.astype(np.float32), self._precision.products
        )
        by_head = self._graph.apply("Reshape", projected, self._graph.integers(0, 0, 3, heads, width))
        return self._graph.split(self._graph.apply("Transpose", by_head, perm=[2, 0, 3, 1, 4]), 1, 1, 1)

    def _apply_dense(self, x: str, name: str, products: Products) -> str:
        return apply_linear(self._graph, x, *self._read(name), products)

    def _join(self, x: str, change: str, name: str) -> str:
        sides, epsilon = (x, change), self._config.layer_norm_eps
        return add_and_normalise(self._graph, sides, self._weights, f"{self._name}.{name}", epsilon)

    def _read(self, name: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        return read_linear(self._weights, f"{self._name}.{name}")
