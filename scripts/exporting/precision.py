"""How exactly weights are kept: as they are, as int8, or as int8 for storage alone.

In: a weight matrix or an embedding table. Out: the operators that apply it, added to a graph. The three kinds of
linear layer share one call, so that `deberta` describes the network once. Int8 is symmetric, one scale an output
channel (a row of an embedding table); activations get one scale a run, as the runtime measures it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from exporting.graph import ABSENT, Graph

Floats = NDArray[np.float32]
Products = Literal["fp32", "int7", "int8", "weights8"]
"""How linear layers multiply: in fp32; int8 by int8, of which the weights use all bits or seven; int8 weights by
activations quantised block by block."""

LARGEST: Final = {"int7": 64, "int8": 127, "weights8": 127}
"""The largest weight. CPUs without VNNI add two products in 16 bits: with 64 they cannot overflow (2 * 255 * 64), with
127 they can, unless the runtime takes its slower exact kernels, as the server then tells it to."""
BLOCK: Final = 128
"""Rows that share a scale in `weights8`."""
OFFSET: Final = 128
"""`weights8` stores unsigned bytes."""
INT8_ACTIVATIONS: Final = 4
"""The level of accuracy at which the runtime computes `weights8` with int8 products."""


@dataclass(frozen=True, slots=True)
class Precision:
    """What is quantised; the classification head never is, for it costs nothing."""

    products: Products = "fp32"
    int8_embedding: bool = False
    exact_narrowing: bool = False
    """The product back from a layer's wide middle stays fp32: its inputs have outliers, and all share one scale."""

    @property
    def narrowing(self) -> Products:
        """How the product back from a layer's wide middle is computed."""
        return "fp32" if self.exact_narrowing else self.products

    @property
    def weight_bits(self) -> int:
        """Bits that a weight takes at most, as the model's config tells the server."""
        return {"fp32": 32, "int7": 7}.get(self.products, 8)

    @property
    def name(self) -> str:
        """What reports call it."""
        kept = ", narrowing fp32" if self.exact_narrowing else ""
        return self.products + (" with an int8 embedding" if self.int8_embedding else "") + kept


FP32: Final = Precision()
CANDIDATES: Final = (
    Precision("int7", int8_embedding=True),
    Precision("int8", int8_embedding=True),
    Precision("int7", int8_embedding=True, exact_narrowing=True),
    Precision("int8", int8_embedding=True, exact_narrowing=True),
    Precision("int8"),
    Precision("weights8"),
)
"""What an export tries in turn, the smallest and fastest first, until one keeps the verdicts."""


def quantise(values: Floats, axis: int, largest: int) -> tuple[NDArray[np.int8], Floats]:
    """Return int8 values and their scales, one for each slice across `axis`, which is kept with length 1."""
    scales = np.abs(values).max(axis, keepdims=True) / largest
    scales[scales == 0] = 1
    return np.rint(values / scales).astype(np.int8), scales.astype(np.float32)


def apply_linear(graph: Graph, x: str, weight: Floats, bias: Floats, products: Products) -> str:
    """Add `x @ weight + bias`; weight [inputs, outputs], bias [outputs]."""
    if products == "fp32":
        return graph.apply("Add", graph.apply("MatMul", x, graph.constant(weight)), graph.constant(bias))
    if products in ("int7", "int8"):
        values, scales = quantise(weight, axis=0, largest=LARGEST[products])
        constants = (graph.constant(values), graph.constant(scales[0]), ABSENT, graph.constant(bias))
        return graph.apply_own("DynamicQuantizeMatMul", x, *constants)
    return _apply_weights8(graph, x, weight, bias)


def look_up(graph: Graph, table: Floats, indices: str, *, int8: bool) -> str:
    """Add the lookup of rows of an embedding table [rows, width]."""
    if not int8:
        return graph.apply("Gather", graph.constant(table), indices)
    values, scales = quantise(table, axis=1, largest=LARGEST["int8"])
    rows = graph.apply("Cast", graph.apply("Gather", graph.constant(values), indices), to=TensorProto.FLOAT)
    return graph.apply("Mul", rows, graph.apply("Gather", graph.constant(scales), indices))


def _apply_weights8(graph: Graph, x: str, weight: Floats, bias: Floats) -> str:
    """Add a linear layer whose bytes are stored as [outputs, blocks, BLOCK], the rest of the last block as zeros."""
    inputs, outputs = weight.shape
    padded = np.pad(weight.T, ((0, 0), (0, -inputs % BLOCK))).reshape(outputs, -1, BLOCK)
    values, scales = quantise(padded, axis=2, largest=LARGEST["weights8"])
    return graph.apply_own(
        "MatMulNBits",
        x,
        graph.constant((values.astype(np.int16) + OFFSET).astype(np.uint8)),
        graph.constant(scales[..., 0]),
        ABSENT,
        ABSENT,
        graph.constant(bias),
        bits=8,
        block_size=BLOCK,
        K=inputs,
        N=outputs,
        accuracy_level=INT8_ACTIVATIONS,
    )
