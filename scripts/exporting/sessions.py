"""The runtime as the server sets it, for verification and measurement.

In: a graph, in memory or as a file. Out: a session. It stands apart so that the parity gate and the benchmark run
graphs under the very options that `proxy.nli.onnx` runs them under.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from proxy.nli.onnx import make_options

Feed = Mapping[str, NDArray[np.int64]]


class Classifier:
    """A graph that classifies: what it asks for is fed, its first output is read."""

    def __init__(self, graph: Path | bytes, threads: int, *, weight_bits: int = 8) -> None:
        """Load a graph whose weights use so many bits."""
        options = make_options(threads, weight_bits)
        content = str(graph) if isinstance(graph, Path) else graph
        self._session: Any = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        self.inputs: Final = tuple(node.name for node in self._session.get_inputs())

    def run(self, feed: Feed) -> NDArray[np.float32]:
        """Return the logits, [batch, classes]; what the graph does not ask for is left out."""
        logits: NDArray[np.float32] = self._session.run(None, {name: feed[name] for name in self.inputs})[0]
        return logits
