"""A small writer of ONNX graphs: operators and constants in, a model out.

In: operators, one call each, by the names of their inputs. Out: the names of their outputs, and at the end a model
whose inputs are token ids. It stands apart so that `deberta` reads as the network and not as protobuf.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET: Final = 17
IR_VERSION: Final = 8
"""The first of that opset: every runtime that has the operators reads it."""
RUNTIME_DOMAIN: Final = "com.microsoft"
"""The operators that ONNX Runtime adds to the standard's."""
INPUTS: Final = ("input_ids", "attention_mask")
ABSENT: Final = ""
"""Stands for an optional input that is not given."""


class Graph:
    """A graph in the making."""

    def __init__(self, inputs: tuple[str, ...] = INPUTS) -> None:
        """Begin without operators; the inputs are int64, [batch, length]."""
        self._inputs = inputs
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def constant(self, value: NDArray[Any]) -> str:
        """Add a constant and return its name."""
        return self._store(f"constant_{len(self._constants)}", value)

    def integers(self, *values: int) -> str:
        """Return the name of a constant int64 vector; the same values are stored once."""
        name = "integers_" + "_".join(map(str, values))
        return name if name in self._constants else self._store(name, np.array(values, np.int64))

    def apply(self, operator: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401 - ints, floats, lists
        """Add a standard operator with one output and return the output's name."""
        return self._add(operator, inputs, "", 1, attributes)[0]

    def apply_own(self, operator: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401 - the same
        """Add one of the runtime's own operators with one output and return the output's name."""
        return self._add(operator, inputs, RUNTIME_DOMAIN, 1, attributes)[0]

    def split(self, value: str, *sizes: int) -> list[str]:
        """Cut a tensor along its first axis and return the names of the pieces; a piece of size 1 loses that axis."""
        pieces = self._add("Split", (value, self.integers(*sizes)), "", len(sizes), {"axis": 0})
        first = self.integers(0)
        return [
            self.apply("Squeeze", piece, first) if size == 1 else piece
            for piece, size in zip(pieces, sizes, strict=True)
        ]

    def cut(self, value: str, begin: str, end: str, axis: int) -> str:
        """Take the half-open range of an axis; both bounds are names of vectors of one number."""
        return self.apply("Slice", value, begin, end, self.integers(axis))

    def finish(self, logits: str, classes: int) -> onnx.ModelProto:
        """Return the model; its one output is `logits`, float, [batch, classes]."""
        self._nodes.append(helper.make_node("Identity", [logits], ["logits"], name="logits"))
        graph = helper.make_graph(
            self._nodes,
            "classifier",
            [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in self._inputs],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", classes])],
            list(self._constants.values()),
        )
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(RUNTIME_DOMAIN, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="corrigenda")

    def _store(self, name: str, value: NDArray[Any]) -> str:
        self._constants[name] = numpy_helper.from_array(np.asarray(value, order="C"), name)
        return name

    def _add(
        self, operator: str, inputs: tuple[str, ...], domain: str, count: int, attributes: dict[str, Any]
    ) -> list[str]:
        name = f"{operator}_{len(self._nodes)}"
        outputs = [f"{name}_{index}" for index in range(count)]
        self._nodes.append(helper.make_node(operator, list(inputs), outputs, name=name, domain=domain, **attributes))
        return outputs
