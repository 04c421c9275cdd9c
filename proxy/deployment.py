"""What every request of one running proxy is served with, and what changes while it runs.

In: settings and the two services. Out: `Deployment`, handed to the routes. State that changes lives here and nowhere
else: whether the NLI model is ready, and how many requests are being verified.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog

from proxy.controls import Controls
from proxy.credentials import Gate
from proxy.errors import SelfTestFailed, TooManyRequests
from proxy.headers import RawHeaders
from proxy.language import load_detector
from proxy.llm import OpenAiModels
from proxy.matching import RequestTexts, read_request_texts
from proxy.nli.selftest import run_selftest
from proxy.retrieval import Retrieval
from proxy.services import Nli, Task
from proxy.settings import Settings
from proxy.stopwatch import Stopwatch
from proxy.upstream import Upstream
from proxy.wire import ChatRequest
from proxy.work import Policy, Work

_log = structlog.get_logger()


@dataclass
class Readiness:
    """The NLI model, handed out once its self-test has passed."""

    nli: Nli
    ready: bool = False
    reason: str = "The NLI model's self-test has not finished; try again in a moment."
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the self-test has ended, either way."""

    async def prove(self) -> None:
        """Run the self-test, which also warms the model up; what else is slow the first time is loaded beside it."""
        try:
            await asyncio.gather(run_selftest(self.nli), asyncio.to_thread(load_detector))
        except SelfTestFailed as error:
            self.reason = str(error)
            _log.error("self-test failed; nothing is verified", reason=str(error))  # no traceback
        else:
            self.ready = True
        self.settled.set()

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
    gate: Gate
    upstream: Upstream
    models: OpenAiModels
    readiness: Readiness
    policy: Policy
    in_flight: InFlight
    retrieval: Retrieval | None = None

    def open_work(self, chat: ChatRequest, controls: Controls, credentials: RawHeaders, query: str) -> Work:
        """Gather what the stages of one request share.

        Args:
            chat: the request.
            controls: what was asked for.
            credentials: header lines; those that say who asks go on every call of ours.
            query: the query of the user's call.
        """
        settings, nli = self.settings, self.readiness.usable
        models: dict[Task, str] = {
            "recall": settings.recall_model or chat.model,
            "claims": settings.claims_model or chat.model,
            "correction": settings.correction_model or chat.model,
        }
        llm = self.models.session(models=models, credentials=credentials, query=query, max_calls=settings.max_calls)
        texts = RequestTexts((), ()) if nli is None else read_request_texts(chat, nli)
        return Work(
            f"ver_{uuid.uuid4().hex}", chat, controls, self.policy, llm, nli, texts, Stopwatch(), self.retrieval
        )

    async def close(self) -> None:
        """Close all connections."""
        await self.upstream.close()
        await self.models.close()
        if self.retrieval is not None:
            await self.retrieval.close()
