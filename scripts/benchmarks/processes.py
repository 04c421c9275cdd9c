"""Servers in processes of their own, and what the kernel says of them.

In: a command line. Out: a running server that is stopped at the end of a block; its CPU time, memory, files and
threads, read from `/proc`, so that nothing is measured by the process itself.
"""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from exchange import HOST

ROOT: Final = Path(__file__).resolve().parents[2]
SCRATCH: Final = ROOT / ".bench"
"""Environments and logs; git ignores it."""
CORRIGENDA: Final = ROOT / ".venv" / "bin" / "corrigenda"

_START_LIMIT_S: Final = 120
_STOP_LIMIT_S: Final = 10
_POLL_S: Final = 0.1
_OK: Final = 200
_OWN_SETTINGS: Final = ("CORRIGENDA_", "OPENAI_")


class CannotStart(Exception):
    """A server did not come up, or something that it needs is missing; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a process holds at one moment."""

    memory_mib: float
    """Resident memory."""
    files: int
    """Open file descriptors, sockets included."""
    threads: int


@contextmanager
def run_process(
    name: str, command: Sequence[str | Path], port: int, *, ready: str, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server for as long as the block; its output goes to a log under `.bench/`.

    Args:
        name: names the log.
        command: starts a server that listens on `port`.
        port: on loopback.
        ready: a path that answers 200 once the server serves.
        env: added to the environment, which is passed on less what would set up another proxy than the plain one.

    Raises:
        CannotStart: it did not answer in time, or ended.
    """
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(_OWN_SETTINGS)}
    SCRATCH.mkdir(exist_ok=True)
    log = SCRATCH / f"{name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603  # the command lines are our own
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={**inherited, **(env or {})},
            start_new_session=True,
        )
        try:
            _await_ready(process, port, ready, log)
            yield process
        finally:
            _stop(process)


def find_free_port() -> int:
    """Return a port on loopback that nobody listens on."""
    with socket.create_server((HOST, 0)) as listener:
        return int(listener.getsockname()[1])


def read_cpu_s(pid: int) -> float:
    """Return the CPU time that a process has used, in seconds, user and system together."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system = int(fields[11]), int(fields[12])
    return (user + system) / os.sysconf("SC_CLK_TCK")


def read_footprint(pid: int) -> Footprint:
    """Return what a process holds now."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines() if ":" in line)
    files = len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208  # names only: a file closed meanwhile is no error
    return Footprint(int(status["VmRSS"].split()[0]) / 1024, files, int(status["Threads"]))


def describe_machine() -> str:
    """Return the machine in a line: processor, cores, memory, load."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    memory_gib = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    return f"{model}, {os.cpu_count()} cores, {memory_gib:.0f} GiB; load average at the start {load:.2f}"


def _await_ready(process: subprocess.Popen[bytes], port: int, path: str, log: Path) -> None:
    limit = time.monotonic() + _START_LIMIT_S
    while not _answers(port, path):
        if process.poll() is not None:
            raise CannotStart(f"The server ended with status {process.returncode}; see {log}.")
        if time.monotonic() > limit:
            raise CannotStart(f"The server did not answer within {_START_LIMIT_S} s; see {log}.")
        time.sleep(_POLL_S)


def _answers(port: int, path: str) -> bool:
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == _OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server and whatever it started, which is in its session."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, sign)
            try:
                process.wait(_STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                continue
        return
