"""BERT as a graph that does less: the same logits from fewer and larger operators.

In: the config and the weights of a `BertForSequenceClassification`. Out: an ONNX model. What it saves beside an
exported one: queries, keys and values are one product, the scale of scores is folded into the queries' weights, and
the last layer computes the first token alone, which is all that the head reads. `models/embedded` is one.
"""

from __future__ import annotations

import math
from typing import Any, Final

import onnx

from exporting.blocks import Layer, Sizes, Weights, attend, classify, normalise, write_mask
from exporting.graph import Graph
from exporting.precision import Precision, look_up

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
    sizes = Sizes(config.hidden_size, config.num_attention_heads, config.num_hidden_layers, config.layer_norm_eps)
    x = _embed(graph, sizes, weights, precision)
    mask = write_mask(graph)
    for index in range(sizes.layers):
        layer = _Layer(graph, sizes, weights, f"{ENCODER}.layer.{index}", precision)
        x = layer.apply(x, mask, first_only=index == sizes.layers - 1)
    return graph.finish(classify(graph, x, weights, "bert.pooler.dense", "Tanh"), config.num_labels)


def _embed(graph: Graph, sizes: Sizes, weights: Weights, precision: Precision) -> str:
    """Add words, positions and segments, [batch, length, hidden]."""
    words = look_up(graph, weights[f"{EMBEDDINGS}.word_embeddings.weight"], "input_ids", int8=precision.int8_embedding)
    segments = look_up(graph, weights[f"{EMBEDDINGS}.token_type_embeddings.weight"], "token_type_ids", int8=False)
    length = graph.apply("Shape", "input_ids", start=1, end=2)
    table = graph.constant(weights[f"{EMBEDDINGS}.position_embeddings.weight"])
    positions = graph.cut(table, graph.integers(0), length, 0)
    x = graph.apply("Add", graph.apply("Add", words, segments), positions)
    return normalise(graph, x, weights, f"{EMBEDDINGS}.LayerNorm", sizes.epsilon)


class _Layer(Layer):
    """One layer of the encoder, written into a graph."""

    def apply(self, x: str, mask: str, *, first_only: bool) -> str:
        """Add the layer: [batch, length, hidden] to the same, or with `first_only` to [batch, 1, hidden]."""
        graph = self.graph
        projected = self.project(x, ("query", "key", "value"), 1 / math.sqrt(self.sizes.width))
        queries, keys, values = graph.split(projected, 1, 1, 1)
        if first_only:
            first = (graph.integers(0), graph.integers(1))
            queries, x = graph.cut(queries, *first, 2), graph.cut(x, *first, 1)
        scores = graph.apply("Add", graph.apply_own("FusedMatMul", queries, keys, transB=1), mask)
        return self.feed_forward(x, attend(graph, scores, values, self.sizes.hidden))
