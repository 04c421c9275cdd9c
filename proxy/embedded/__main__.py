"""The process of the embedded model: `python -m proxy.embedded WEIGHTS`, started by the launcher.

In: the path of the weights. Out: one line on standard output, the address, once it answers there; then it serves
until standard input ends, which it does when the parent ends, however that comes. It prints nothing of prompts.
"""

from __future__ import annotations

import http.client
import os
import sys
from typing import Any, Final
from urllib.parse import urlsplit

from proxy.embedded.launcher import MODEL_NAME
from proxy.nli.cpu import usable_cores

REPLY_TOKENS: Final = 256
"""Replies end here unless a request sets a limit of its own; so small a model may otherwise never stop."""
PARALLEL: Final = 4
"""Requests answered at once, which is also the largest `n` it takes; more wait."""
CONTEXT_TOKENS: Final = 2048
"""Prompt and reply of one request; 23 kB of memory a token."""
MOST_THREADS: Final = 4
"""So small a model gains nothing from more."""
_ERRORS_ONLY: Final = 1


def main(weights: str) -> None:
    """Serve until standard input ends."""
    # What goes wrong is shown to a person in a line or two.
    sys.tracebacklimit = 0
    # Native code may write to standard output, where the parent expects one line and then reads no more.
    announcements = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    server = start_server(weights)
    check_health(server.listening_address)
    with announcements:
        print(server.listening_address, file=announcements)
    sys.stdin.buffer.read()
    # Nobody is left to read what is still being written: no tidy end, which would wait for it.
    os._exit(0)


def start_server(weights: str) -> Any:  # noqa: ANN401  # the package has no types
    """Load the model and serve it on a free loopback port."""
    # OpenMP reads this when it is loaded. Its threads spin while they wait: with other work on the same cores an
    # answer that takes a fifth of a second has been seen to take forty.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    import xllamacpp  # noqa: PLC0415  # not before the line above

    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.model_alias = {MODEL_NAME}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = PARALLEL
    params.n_ctx = PARALLEL * CONTEXT_TOKENS
    # Nothing shared with other requests and nothing kept of earlier ones: either changes the order of sums, and with
    # it now and then a word. So one request with one seed gives one text.
    params.kv_unified = params.cache_prompt = False
    params.n_predict = REPLY_TOKENS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = min(usable_cores(), MOST_THREADS)
    # A second cache of prompts, by default of up to 8 GiB; and a trial load to measure what fits on a GPU.
    params.cache_ram_mib = 0
    params.fit_params = False
    params.verbosity = _ERRORS_ONLY
    # No page, no view of others' requests, and no other site's scripts: the proxy is the only client.
    params.ui = params.endpoint_slots = False
    params.cors_origins = ""
    return xllamacpp.Server(params)


def check_health(address: str) -> None:
    """Ask the server over HTTP whether it is up.

    Raises:
        OSError, HTTPException: it does not answer.
        RuntimeError: it answers that it is not.
    """
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    connection.request("GET", "/health")
    status = connection.getresponse().status
    connection.close()
    if status != http.HTTPStatus.OK:
        raise RuntimeError(f"the model's server answers {status} to a health check")


if __name__ == "__main__":
    main(sys.argv[1])
