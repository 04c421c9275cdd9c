"""The stock export, for architectures without a graph of our own, and as the rival that benchmarks measure against.

In: a transformers model. Out: ONNX files that optimum writes and the runtime's own tools quantise. Temporary files
lie in the folder that the caller names.
"""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any, Final

import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
from onnxruntime.quantization.shape_inference import quant_pre_process
from optimum.exporters.onnx import export
from optimum.exporters.tasks import TasksManager

from exporting.precision import BLOCK, INT8_ACTIVATIONS, Precision

TASK: Final = "text-classification"


def export_stock(model: Any, folder: Path) -> Path:  # noqa: ANN401 - a transformers model
    """Write the model's fp32 graph as optimum does, simplified for quantisation, and return the file."""
    raw, graph = folder / "raw.onnx", folder / "fp32.onnx"
    describe = TasksManager.get_exporter_config_constructor("onnx", model, task=TASK, library_name="transformers")
    with warnings.catch_warnings():
        # The tracer warns of Python conditions in the model, all of which optimum has checked.
        warnings.simplefilter("ignore")
        export(model, describe(model.config, task=TASK), raw)
    _quiet_quantiser()
    # Without it the products of queries and keys stay fp32.
    quant_pre_process(str(raw), str(graph), skip_symbolic_shape=True)
    raw.unlink()
    return graph


def quantise_stock(graph: Path, output: Path, precision: Precision) -> None:
    """Write a quantised copy of a graph; the classification head, a Gemm, stays fp32."""
    _quiet_quantiser()
    if precision.products == "weights8":
        quantiser = MatMulNBitsQuantizer(
            onnx.load(graph), bits=8, block_size=BLOCK, is_symmetric=True, accuracy_level=INT8_ACTIVATIONS
        )
        quantiser.process()
        onnx.save(quantiser.model.model, output)
        return
    nodes = onnx.load(graph, load_external_data=False).graph.node
    quantize_dynamic(
        str(graph),
        str(output),
        per_channel=True,
        reduce_range=precision.products == "int7",
        weight_type=QuantType.QInt8,
        op_types_to_quantize=["MatMul", "Gather"] if precision.int8_embedding else ["MatMul"],
        # The quantiser takes a Gemm for a MatMul.
        nodes_to_exclude=[node.name for node in nodes if node.op_type == "Gemm" or _is_kept(node.name, precision)],
    )


def _is_kept(node: str, precision: Precision) -> bool:
    """Tell whether a node is the product back from a layer's wide middle and stays fp32."""
    return precision.exact_narrowing and node.endswith("/output/dense/MatMul") and "attention" not in node


def _quiet_quantiser() -> None:
    """Keep the quantiser's advice, logged on the root logger, off the terminal."""
    logging.getLogger().setLevel(logging.ERROR)
