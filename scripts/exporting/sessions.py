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

ERRORS_ONLY: Final = 3
EIGHT_BITS: Final = 8

Feed = Mapping[str, NDArray[np.int64]]


class Classifier:
    """A graph that classifies: what it asks for is fed, its first output is read."""

    def __init__(self, graph: Path | bytes, threads: int, *, weight_bits: int = 8) -> None:
        """Load a graph whose weights use so many bits."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = ERRORS_ONLY
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Without it CPUs that lack VNNI saturate in products of 8-bit weights.
        options.add_session_config_entry("session.x64quantprecision", "0" if weight_bits < EIGHT_BITS else "1")
        content = str(graph) if isinstance(graph, Path) else graph
        self._session: Any = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        self.inputs: Final = tuple(node.name for node in self._session.get_inputs())

    def run(self, feed: Feed) -> NDArray[np.float32]:
        """Return the logits, [batch, classes]; what the graph does not ask for is left out."""
        logits: NDArray[np.float32] = self._session.run(None, {name: feed[name] for name in self.inputs})[0]
        return logits
