"""Our own calls to the model: recall, decomposition and correction share this one door (contract, section 10).

In: an instruction and a text. Out: the reply's text, or `LlmCallFailed`. The only importer of the openai SDK, whose
environment variables, retries and cookies are all shut off here: a call of ours is on the account of the request
that it serves, and is made once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final
from urllib.parse import parse_qsl

import httpx2
import openai
import structlog
from openai import AsyncOpenAI, Omit
from openai.types.chat import ChatCompletion

from proxy.errors import LlmCallFailed
from proxy.headers import RawHeaders, credentials_of
from proxy.services import Reply, Task
from proxy.upstream import UpstreamUrl

CONCURRENT_CALLS: Final = 8
"""Calls of one request that run at a time."""

_OPTIONAL: Final[Mapping[str, Any]] = {"temperature": 0}
"""What a model may refuse: sent until it does, then no more."""

_log = structlog.get_logger()


@dataclass
class Usage:
    """What our calls for one request cost so far."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    calls: int = 0

    def add(self, reply: ChatCompletion) -> None:
        """Add one reply's bill, as far as the upstream states one."""
        self.prompt_tokens += _read_count(reply.usage, "prompt_tokens")
        self.completion_tokens += _read_count(reply.usage, "completion_tokens")
        self.total_tokens += _read_count(reply.usage, "total_tokens")


class OpenAiModels:
    """The upstream seen through the official SDK; one for the whole process."""

    def __init__(self, url: UpstreamUrl, *, timeout_s: float) -> None:
        """Set up; no connection is made yet."""
        self._query = url.query
        self._client = AsyncOpenAI(
            api_key="",
            base_url=url.base,
            max_retries=0,
            timeout=timeout_s,
            http_client=httpx2.AsyncClient(
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
                cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
                follow_redirects=False,
            ),
            _enforce_credentials=False,
        )
        # The SDK fills these from the operator's environment; a request's own credentials are all that may count.
        self._client.organization = None
        self._client.project = None
        self._client._custom_headers = {}  # noqa: SLF001  # OPENAI_CUSTOM_HEADERS has no public way to be left out
        self._refused: dict[str, frozenset[str]] = {}

    def session(self, *, models: Mapping[Task, str], credentials: RawHeaders, query: str, max_calls: int) -> LlmSession:
        """Return the door for one user request.

        Args:
            models: the model for each task.
            credentials: header lines of the user's call; those that say who asks go on every call of ours.
            query: the query of the user's call, sent after the base address's own.
            max_calls: most calls that the request may make.
        """
        return LlmSession(self, models, credentials_of(credentials), parse_query(self._query, query), max_calls)

    async def complete(
        self,
        model: str,
        messages: list[dict[str, str]],
        headers: Mapping[str, str | Omit],
        query: Mapping[str, str],
        spend: Callable[[], None],
    ) -> ChatCompletion:
        """Make one call; a parameter that the model refuses is left out from then on, and the call made once more.

        `spend` is called before that second call, which counts as one too.
        """
        refused = self._refused.get(model, frozenset())
        options = {name: value for name, value in _OPTIONAL.items() if name not in refused}
        try:
            return await self._create(model, messages, options, headers, query)
        except openai.BadRequestError as error:
            # Not every server names it where OpenAI does, in `param` or `message`.
            named = {name for name in options if name in f"{error.message} {error.body}"}
            if not named:
                raise
            self._refused[model] = refused | named
            _log.info("model refuses a parameter; left out from now on", model=model, parameters=sorted(named))
        spend()
        kept = {name: value for name, value in options.items() if name not in named}
        return await self._create(model, messages, kept, headers, query)

    async def _create(
        self,
        model: str,
        messages: Any,  # noqa: ANN401  # the SDK's own typed dicts, built here from plain ones
        options: Mapping[str, Any],
        headers: Mapping[str, str | Omit],
        query: Mapping[str, str],
    ) -> ChatCompletion:
        reply: object = await self._client.chat.completions.create(
            model=model, messages=messages, extra_headers=headers, extra_query=query, **options
        )
        if not isinstance(reply, ChatCompletion):
            raise LlmCallFailed("The upstream answered our call with something that is no chat completion.")
        return reply

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()


class LlmSession:
    """`Llm` for one user request: its credentials, its budget, its bill."""

    def __init__(
        self,
        models: OpenAiModels,
        names: Mapping[Task, str],
        credentials: RawHeaders,
        query: Mapping[str, str],
        max_calls: int,
    ) -> None:
        """Keep what every call of this request shares."""
        self.usage = Usage()
        self._models = models
        self._names = names
        self._query = query
        self._headers: dict[str, str | Omit] = {"Authorization": Omit()} | {
            ("Authorization" if name.lower() == b"authorization" else name.decode("latin-1")): value.decode("latin-1")
            for name, value in credentials
        }
        self._max_calls = max_calls
        self._slots = asyncio.Semaphore(CONCURRENT_CALLS)

    def model_of(self, task: Task) -> str:
        """Return the model that a task is put to."""
        return self._names[task]

    def calls_left(self) -> int:
        """Return how many more calls this request may make."""
        return self._max_calls - self.usage.calls

    async def ask(self, task: Task, instruction: str, text: str) -> Reply:
        """Ask once, with a system and a user message; see `services.Llm`."""
        self._spend()
        messages = [{"role": "system", "content": instruction}, {"role": "user", "content": text}]
        try:
            async with self._slots:
                reply = await self._models.complete(
                    self._names[task], messages, self._headers, self._query, self._spend
                )
            self.usage.add(reply)
            return _read_reply(reply)
        except LlmCallFailed:
            raise
        except Exception as error:
            # The SDK raises a class of its own for what it foresees, and any other for what a broken reply holds.
            _log.warning("own call failed", task=task, error=type(error).__name__)
            raise LlmCallFailed(f"The {task} call failed ({type(error).__name__}).") from error

    def _spend(self) -> None:
        if self.calls_left() < 1:
            raise LlmCallFailed("This request has made all the calls it may make (CORRIGENDA_MAX_CALLS).")
        self.usage.calls += 1


def parse_query(*queries: str) -> dict[str, str]:
    """Return the parameters of several query strings, a later one winning."""
    return {name: value for query in queries for name, value in parse_qsl(query, keep_blank_values=True)}


def _read_reply(reply: ChatCompletion) -> Reply:
    """Take the text of the first choice; content may be a string or, from some servers, a list of parts."""
    if not reply.choices:
        raise LlmCallFailed("The upstream answered our call without a choice.")
    choice = reply.choices[0]
    content: object = choice.message.content if choice.message is not None else None
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content if isinstance(part, dict))
    if not isinstance(content, str):
        raise LlmCallFailed("The upstream answered our call without text.")
    return Reply(_encodable(content), complete=choice.finish_reason != "length")


def _read_count(usage: object, name: str) -> int:
    """Return a count of tokens; nought where the upstream states none, or something that is no count."""
    count = getattr(usage, name, None)
    return count if isinstance(count, int) else 0


def _encodable(text: str) -> str:
    """Replace lone surrogates: Python's JSON reader lets them through, and no JSON of ours can carry them."""
    return text.encode("utf-8", "replace").decode("utf-8")
