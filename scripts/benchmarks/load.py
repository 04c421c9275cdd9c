"""200 clients at once, a minute long, against an upstream that also errs, stalls and hangs up.

    .venv/bin/python scripts/benchmarks/load.py [--json] [--clients N] [--seconds S] [--seed N]

In: nothing. Out: what came of every call, what the proxy held before and after, and, as exit status 1, any problem: a
call without an answer, an answer that its fault does not explain, a mark of one client in another's reply, a task,
file or thread left over, memory that grew. The proxy is `corrigenda serve` with its shipped NLI model; all is on
loopback and bounded in time, and which call meets which fault follows from the seed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from exchange import HOST, Client, Cut, Message
from faulty_upstream import FAULTS, Plan
from outcomes import HUNG_UP, STREAMS, Call, Kind, find_foreign_marks, has_own_marks, name_outcome
from processes import (
    SCRATCH,
    CannotStart,
    Footprint,
    describe_machine,
    find_free_port,
    read_footprint,
    run_process,
)

KINDS: Final[Sequence[Kind]] = ("off", "off", "off streamed", "off streamed", "plain", "plain", "plain")
KINDS_STREAMED: Final[Sequence[Kind]] = ("streamed", "streamed", "annotated")
"""Kinds of ten clients, which then repeat."""
FAULT_SHARE: Final = 0.25
HANG_UP_SHARE: Final = 0.05
LONGEST_PATIENCE_S: Final = 2.0
LONGEST_REST_S: Final = 1.0
"""Between a client's calls."""
ANSWER_LIMIT_S: Final = 120
SETTLE_LIMIT_S: Final = 60
MEMORY_LIMIT_MIB: Final = 20
"""Most that memory may grow from the second quarter of the run to the last."""
SETTINGS: Final = {
    "CORRIGENDA_UPSTREAM_TIMEOUT_S": "5",
    "CORRIGENDA_VERIFY_TIMEOUT_MS": "20000",
    "CORRIGENDA_MAX_IN_FLIGHT": "100",
    "CORRIGENDA_SSE_KEEPALIVE_S": "1",
}
"""Such that faults end in seconds, and that some clients are turned away."""

_OK: Final = 200
_MOST_PROBLEMS: Final = 20
"""Problems of one kind that are told in full."""


@dataclass
class Ledger:
    """What was sent and what came of it."""

    sent: int = 0
    outcomes: dict[Kind, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    times_s: dict[Kind, list[float]] = field(default_factory=lambda: defaultdict(list))
    problems: list[str] = field(default_factory=list)

    @property
    def accounted(self) -> int:
        """How many calls have an outcome."""
        return sum(count.total() for count in self.outcomes.values())

    def enter(self, call: Call, outcome: str, reply: Message | Cut | None, took_s: float) -> None:
        """Take down one call's outcome and whatever is wrong with it."""
        self.outcomes[call.kind][outcome] += 1
        self.times_s[call.kind].append(took_s)
        if outcome not in call.expected():
            self.problems.append(f"unexpected: {outcome!r} on {call}")
        if reply is None:
            return
        if foreign := find_foreign_marks(call, reply):
            self.problems.append(f"foreign marks: {sorted(foreign)} in the reply to {call}")
        if isinstance(reply, Message) and reply.status == _OK and not has_own_marks(call, reply):
            self.problems.append(f"own marks missing: {outcome!r} on {call}")


@dataclass(frozen=True, slots=True)
class Holdings:
    """What the idle proxy holds."""

    footprint: Footprint
    tasks: int


class Proxy:
    """The proxy under load, seen from outside."""

    def __init__(self, port: int, pid: int, counted: Path, send_signal: Any) -> None:  # noqa: ANN401
        """Watch a running proxy."""
        self.port = port
        self.pid = pid


def main() -> None:
    """Run, print, and exit with 1 where anything is wrong."""


if __name__ == "__main__":
    main()
