"""The graphs that the NLI benchmark runs: ours, the stock rival's, and the matrix products alone.

In: a DeBERTa-v3 shape. Out: files under `.bench/nli/`. Weights are random, for they do not change speed; both sides
get the same ones. The stock export takes minutes and is kept from run to run; ours is written anew each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from transformers import DebertaV2Config, DebertaV2ForSequenceClassification

from exporting.deberta import build_graph
from exporting.graph import IR_VERSION, OPSET, RUNTIME_DOMAIN
from exporting.precision import LARGEST, Precision, quantise
from exporting.stock import export_stock, quantise_stock

OURS: Final = Precision("int7", int8_embedding=True)
STOCK: Final = Precision("int8")
"""Quantised the usual way: MatMul per channel."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a published DeBERTa-v3."""

    name: str
    hidden: int
    heads: int
    layers: int
    inner: int


SHAPES: Final = (
    Shape("xsmall", 384, 6, 12, 1536),
    Shape("base", 768, 12, 12, 3072),
    Shape("large", 1024, 16, 24, 4096),
)


def write_graphs(shape: Shape, vocabulary: int, folder: Path) -> tuple[Path, Path]:
    """Return the files of our int8 graph and of the stock one."""
    folder.mkdir(parents=True, exist_ok=True)
    ours, stock = folder / f"{shape.name}-{vocabulary}-ours.onnx", folder / f"{shape.name}-{vocabulary}-stock.onnx"
    model = make_model(shape, vocabulary)
    weights = {name: value.detach().numpy() for name, value in model.state_dict().items()}
    onnx.save(build_graph(model.config, weights, OURS), ours)
    if not stock.exists():
        with TemporaryDirectory(dir=folder) as scratch:
            quantised = Path(scratch) / stock.name
            quantise_stock(export_stock(model, Path(scratch)), quantised, STOCK)
            quantised.rename(stock)
    return ours, stock


def make_model(shape: Shape, vocabulary: int) -> Any:  # noqa: ANN401 - a transformers model
    """Return a random model of a shape."""
    torch.manual_seed(0)
    config = DebertaV2Config(
        vocab_size=vocabulary,
        hidden_size=shape.hidden,
        num_attention_heads=shape.heads,
        num_hidden_layers=shape.layers,
        intermediate_size=shape.inner,
        position_buckets=256,
        max_relative_positions=-1,
        relative_attention=True,
        share_att_key=True,
        pos_att_type=["p2c", "c2p"],
        norm_rel_ebd="layer_norm",
        position_biased_input=False,
        type_vocab_size=0,
        layer_norm_eps=1e-7,
        pooler_dropout=0,
        num_labels=3,
    )
    return DebertaV2ForSequenceClassification(config).eval()


class Products:
    """A graph of nothing but the matrix products of our graph: the same kernels, shapes and number of weights.

    Its inputs are quantised already. One value of each product is passed on, so that the runtime drops none.
    """

    def __init__(self, shape: Shape, batch: int, length: int) -> None:
        """Write the graph for one batch and length."""
        self._shape = shape
        self._batch = batch
        self._length = length
        self._draw = np.random.default_rng(0)
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []
        self._outputs: list[str] = []
        self._feed: dict[str, Any] = {"scale": np.array(0.01, np.float32), "zero": np.array(128, np.uint8)}

    def write(self) -> tuple[bytes, dict[str, Any]]:
        """Return the model and what it is fed."""
        hidden, inner = self._shape.hidden, self._shape.inner
        self._constants.append(numpy_helper.from_array(np.zeros(1, np.int64), "first"))
        self._constants.append(numpy_helper.from_array(np.ones(1, np.int64), "second"))
        for layer in range(self._shape.layers):
            rows = 1 if layer == self._shape.layers - 1 else self._length
            self._multiply_int8(self._length, hidden, 3 * hidden)
            self._multiply_attention(rows)
            self._multiply_int8(rows, hidden, hidden)
            self._multiply_int8(rows, hidden, inner)
            self._multiply_int8(rows, inner, hidden)
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in self._feed.items()
        ]
        outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self._outputs]
        graph = helper.make_graph(self._nodes, "products", inputs, outputs, self._constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(RUNTIME_DOMAIN, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION).SerializeToString(), self._feed

    def _multiply_int8(self, rows: int, inputs: int, outputs: int) -> None:
        values, scales = quantise(
            self._draw.normal(size=(inputs, outputs)).astype(np.float32), 0, LARGEST[OURS.products]
        )
        weight, scale = f"weight{len(self._constants)}", f"scale{len(self._constants)}"
        self._constants += [numpy_helper.from_array(values, weight), numpy_helper.from_array(scales[0], scale)]
        name = f"bytes{rows}x{inputs}"
        if name not in self._feed:
            shape = (self._batch, rows, inputs)
            self._feed[name] = self._draw.integers(0, 256, shape).astype(np.uint8)
        self._add("MatMulIntegerToFloat", [name, weight, "scale", scale, "zero"])

    def _multiply_attention(self, rows: int) -> None:
        """Multiply with positions, queries with keys, and probabilities with values, all in fp32."""
        heads, width = self._shape.heads, self._shape.hidden // self._shape.heads
        both = self._floats(2, self._batch, heads, self._length, width)
        positions = self._floats(2, 1, heads, 2 * self._length, width)
        queries = self._floats(self._batch, heads, rows, width)
        keys = self._floats(self._batch, heads, self._length, width)
        probabilities = self._floats(self._batch, heads, rows, self._length)
        self._add("FusedMatMul", [both, positions], transB=1)
        self._add("FusedMatMul", [queries, keys], transB=1)
        self._add("FusedMatMul", [probabilities, keys])

    def _floats(self, *shape: int) -> str:
        name = "floats" + "x".join(map(str, shape))
        if name not in self._feed:
            self._feed[name] = self._draw.random(shape, np.float32)
        return name

    def _add(self, operator: str, inputs: list[str], **attributes: int) -> None:
        product = f"product{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [product], domain=RUNTIME_DOMAIN, **attributes))
        self._outputs.append(f"kept{len(self._nodes)}")
        self._nodes.append(helper.make_node("Slice", [product, "first", "second", "first"], [self._outputs[-1]]))
