"""What every request of one running proxy is served with, and what changes while it runs.

In: settings and the two services. Out: `Deployment`, handed to the routes. State that changes lives here and nowhere
else: whether the NLI model is ready, and how many requests are being verified.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog

from proxy.credentials import Gate
from proxy.errors import NliFailed, SelfTestFailed, TooManyRequests
from proxy.llm import OpenAiModels
from proxy.nli.selftest import run_selftest
from proxy.pipeline import Policy
from proxy.services import Nli
from proxy.settings import Settings
from proxy.upstream import Upstream

_log = structlog.get_logger()


@dataclass
class Readiness:
    """The NLI model, handed out once its self-test has passed."""

    nli: Nli
    ready: bool = False
    reason: str = "The NLI model's self-test has not finished; try again in a moment."

    async def prove(self) -> None:
        """Run the self-test, which also warms the model up."""
        try:
            await run_selftest(self.nli)
        except (SelfTestFailed, NliFailed) as error:
            self.reason = f"The NLI model failed its self-test: {error}"
            _log.error("self-test failed; nothing is verified", reason=str(error))  # no traceback
        else:
            self.ready = True

    @property
    def usable(self) -> Nli | None:
        """The model, or None while it may not judge."""
        return self.nli if self.ready else None


@dataclass
class InFlight:
    """How many requests are being verified."""

    limit: int
    count: int = 0

    @contextmanager
    def enter(self) -> Iterator[None]:
        """Count one request for as long as it is inside.

        Raises:
            TooManyRequests: as many as allowed are inside.
        """
        if self.count >= self.limit:
            raise TooManyRequests(
                f"{self.limit} requests are being verified; try again, send `X-Verify: off`, "
                "or raise CORRIGENDA_MAX_IN_FLIGHT.",
                retry_after_s=1,
            )
        self.count += 1
        try:
            yield
        finally:
            self.count -= 1


@dataclass(frozen=True)
class Deployment:
    """Everything a request is served with."""

    settings: Settings
    upstream: Upstream
    models: OpenAiModels
    readiness: Readiness
    policy: Policy
    gate: Gate = field(init=False)
    in_flight: InFlight = field(init=False)

    def __post_init__(self) -> None:
        """Derive what follows from the settings."""
        object.__setattr__(self, "gate", Gate(self.settings))
        object.__setattr__(self, "in_flight", InFlight(self.settings.max_in_flight))
