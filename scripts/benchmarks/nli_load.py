"""One fresh process that loads a graph and runs it once: how long the load takes and what stays resident.

    python nli_load.py FILE

Out: a JSON object. A process of its own, as memory that another graph left behind cannot be told apart.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from exporting.sessions import Classifier


def main() -> None:
    """Load, run, report."""
    before = _read_resident_mib()
    begun = time.perf_counter()
    graph = Classifier(Path(sys.argv[1]), threads=2, weight_bits=int(sys.argv[2]))
    loaded_s = time.perf_counter() - begun
    ids = np.full((1, 64), 7, np.int64)
    graph.run({"input_ids": ids, "attention_mask": np.ones_like(ids)})
    print(json.dumps({"load_s": loaded_s, "resident_mib": _read_resident_mib() - before}))


def _read_resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    main()
