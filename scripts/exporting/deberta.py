"""DeBERTa-v2 and v3 as a graph that does less: the same logits from fewer and larger operators.

In: the config and the weights of a `DebertaV2ForSequenceClassification`. Out: an ONNX model. What it saves beside
an exported one: position projections are folded into tables; a run takes only their rows for distances that occur,
one choice for all layers; both position terms are one product, aligned by two slices and no gather; queries, keys
and values are one product; the last layer computes the first token alone, which is all that the head reads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray

from exporting.blocks import Layer, Sizes, Weights, attend, classify, normalise, write_mask
from exporting.graph import Graph
from exporting.precision import Floats, Precision, look_up

EMBEDDINGS: Final = "deberta.embeddings"
ENCODER: Final = "deberta.encoder"
_TERMS: Final = ("c2p", "p2c")
_FOLDED: Final = {
    "model_type": "deberta-v2",
    "relative_attention": True,
    "position_biased_input": False,
    "type_vocab_size": 0,
    "hidden_act": "gelu",
    "pooler_hidden_act": "gelu",
}
"""What the graph takes for granted, as in all published v3 models."""


@dataclass(frozen=True, slots=True)
class Shape(Sizes):
    """The sizes that the graph needs."""

    buckets: int
    """Positions to either side that have a row of their own or share one."""
    longest: int
    """Longest input in tokens."""
    normed_positions: bool

    @property
    def scale(self) -> float:
        """What scores are multiplied by: three terms of one head's width are summed."""
        return 1 / math.sqrt((1 + len(_TERMS)) * self.width)


@dataclass(frozen=True, slots=True)
class Distances:
    """What all layers share of a run: names of vectors that follow from the input's length L."""

    length: str
    """[L]"""
    rows: str
    """The 2L rows of a position table for the distances 1-L to L."""
    skipped: str
    """[L - 1], the number of values before the first that counts; see `_align`."""
    end: str
    """[L - 1 + L(2L - 1)]"""
    folded: str
    """The shape [2, batch, heads, L, 2L - 1], the first three copied."""


def is_foldable(config: Any) -> bool:  # noqa: ANN401 - the library's config has no static fields
    """Tell whether a model is one that `build_graph` describes; others go through the stock exporter."""
    fixed = all(getattr(config, name, None) == value for name, value in _FOLDED.items())
    plain = getattr(config, "embedding_size", config.hidden_size) == config.hidden_size
    heads = getattr(config, "attention_head_size", None) in (None, config.hidden_size // config.num_attention_heads)
    convolved = getattr(config, "conv_kernel_size", 0) > 0
    bucketed = getattr(config, "position_buckets", -1) > 0
    return fixed and plain and heads and bucketed and not convolved and set(config.pos_att_type or ()) == set(_TERMS)


def build_graph(config: Any, weights: Weights, precision: Precision) -> onnx.ModelProto:  # noqa: ANN401 - the same
    """Write the graph.

    Args:
        config: a config for which `is_foldable` holds.
        weights: the state dict, as arrays.
        precision: what is quantised.
    """
    shape = _read_shape(config)
    graph = Graph()
    x = look_up(graph, weights[f"{EMBEDDINGS}.word_embeddings.weight"], "input_ids", int8=precision.int8_embedding)
    x = normalise(graph, x, weights, f"{EMBEDDINGS}.LayerNorm", shape.epsilon)
    mask = write_mask(graph)
    distances = _write_distances(graph, shape)
    positions = _read_positions(weights, shape)
    for index in range(shape.layers):
        layer = _Layer(graph, shape, weights, f"{ENCODER}.layer.{index}", precision)
        x = layer.apply(x, mask, distances, positions, first_only=index == shape.layers - 1)
    return graph.finish(classify(graph, x, weights, "pooler.dense", "Gelu"), config.num_labels)


class _Layer(Layer):
    """One layer of the encoder, written into a graph."""

    sizes: Shape

    def apply(
        self, x: str, mask: str, distances: Distances, positions: NDArray[np.float64], *, first_only: bool
    ) -> str:
        """Add the layer: [batch, length, hidden] to the same, or with `first_only` to [batch, 1, hidden]."""
        graph = self.graph
        projected = self.project(x, ("query_proj", "key_proj", "value_proj"), self.sizes.scale)
        asked_and_keyed, values = graph.split(projected, 2, 1)
        queries, keys = graph.split(asked_and_keyed, 1, 1)
        bias = self._score_positions(asked_and_keyed, distances, positions)
        if first_only:
            first = (graph.integers(0), graph.integers(1))
            queries, bias, x = graph.cut(queries, *first, 2), graph.cut(bias, *first, 2), graph.cut(x, *first, 1)
        scores = graph.apply_own("FusedMatMul", queries, keys, transB=1)
        scores = graph.apply("Add", graph.apply("Add", scores, bias), mask)
        return self.feed_forward(x, attend(graph, scores, values, self.sizes.hidden))

    def _score_positions(self, asked_and_keyed: str, distances: Distances, positions: NDArray[np.float64]) -> str:
        """Return what the distance of query and key adds to the scores, [batch, heads, length, length]."""
        graph = self.graph
        table = graph.constant(self._fold_positions(positions))
        rows = graph.apply("Gather", table, distances.rows, axis=3)
        products = graph.apply_own("FusedMatMul", asked_and_keyed, rows, transB=1)
        for_queries, for_keys = graph.split(_align(graph, products, distances), 1, 1)
        return graph.apply("Add", for_queries, graph.apply("Transpose", for_keys, perm=[0, 1, 3, 2]))

    def _fold_positions(self, positions: NDArray[np.float64]) -> Floats:
        """Return projected positions [2, 1, heads, 2 * buckets, width]: as keys, in reversed order, and as queries.

        Row r stands for distance r - buckets. A query i meets key j at i - j, and a key j meets query i at i - j:
        from the query's side j counts up as the distance goes down. Reversed, one choice of rows serves both.
        """
        shape = self.sizes
        shared = not self.has("attention.self.pos_key_proj")
        key, query = ("key_proj", "query_proj") if shared else ("pos_key_proj", "pos_query_proj")
        tables = []
        for name, scale in ((key, 1.0), (query, shape.scale)):
            weight, bias = self.read(f"attention.self.{name}")
            tables.append((positions @ weight + bias) * scale)
        reverse = np.clip(2 * shape.buckets - np.arange(2 * shape.buckets), 0, 2 * shape.buckets - 1)
        both = np.stack([tables[0][reverse], tables[1]])
        by_head = both.reshape(2, 1, 2 * shape.buckets, shape.heads, shape.width).transpose(0, 1, 3, 2, 4)
        return by_head.astype(np.float32)


def list_buckets(buckets: int, longest: int) -> NDArray[np.int64]:
    """Return the row of a position table for each distance from 1 - longest to longest.

    Distances under half of `buckets` have their own row, longer ones share rows on a logarithmic scale, rounded in
    float32 as the model was trained.
    """
    distances = np.arange(1 - longest, longest + 1)
    middle = buckets // 2
    far = np.maximum(np.abs(distances), middle).astype(np.float32)
    base = np.log(np.float32((longest - 1) / middle), dtype=np.float32)
    logarithmic = np.ceil(np.log(far / np.float32(middle)) / base * np.float32(middle - 1)) + middle
    rows = np.where(np.abs(distances) <= middle, distances, logarithmic * np.sign(distances))
    return np.clip(rows.astype(np.int64) + buckets, 0, 2 * buckets - 1)


def _read_shape(config: Any) -> Shape:  # noqa: ANN401 - the library's config
    limit = getattr(config, "max_relative_positions", -1)
    return Shape(
        hidden=config.hidden_size,
        heads=config.num_attention_heads,
        layers=config.num_hidden_layers,
        buckets=config.position_buckets,
        longest=limit if limit > 0 else config.max_position_embeddings,
        epsilon=config.layer_norm_eps,
        normed_positions="layer_norm" in str(getattr(config, "norm_rel_ebd", "none")).lower(),
    )


def _read_positions(weights: Weights, shape: Shape) -> NDArray[np.float64]:
    """Return the relative positions' embeddings, normalised if the model does so: [2 * buckets, hidden]."""
    rows = weights[f"{ENCODER}.rel_embeddings.weight"][: 2 * shape.buckets].astype(np.float64)
    if not shape.normed_positions:
        return rows
    centred = rows - rows.mean(axis=1, keepdims=True)
    deviation = np.sqrt(rows.var(axis=1, keepdims=True) + shape.epsilon)
    normed = centred / deviation * weights[f"{ENCODER}.LayerNorm.weight"] + weights[f"{ENCODER}.LayerNorm.bias"]
    return np.asarray(normed, np.float64)


def _write_distances(graph: Graph, shape: Shape) -> Distances:
    """Add what follows from the length alone."""
    length = graph.apply("Shape", "input_ids", start=1, end=2)
    longest, one = graph.integers(shape.longest), graph.integers(1)
    table = graph.constant(list_buckets(shape.buckets, shape.longest))
    first, last = graph.apply("Sub", longest, length), graph.apply("Add", longest, length)
    skipped = graph.apply("Sub", length, one)
    narrowed = graph.apply("Add", length, skipped)
    folded = graph.apply("Concat", graph.integers(0, 0, 0), length, narrowed, axis=0)
    return Distances(
        length=length,
        rows=graph.apply("Slice", table, first, last),
        skipped=skipped,
        end=graph.apply("Add", skipped, graph.apply("Mul", length, narrowed)),
        folded=folded,
    )


def _align(graph: Graph, products: str, distances: Distances) -> str:
    """Bring products with all 2L positions, [2, batch, heads, L, 2L], to those with each token: [..., L, L].

    Row i needs the columns from L - 1 - i on. Counted through all rows, they begin at L - 1 + i(2L - 1): read in
    rows that are one shorter, after L - 1 values, they stand in line.
    """
    flat = graph.apply("Reshape", products, graph.integers(0, 0, 0, -1))
    folded = graph.apply("Reshape", graph.cut(flat, distances.skipped, distances.end, 3), distances.folded)
    return graph.cut(folded, graph.integers(0), distances.length, 4)
