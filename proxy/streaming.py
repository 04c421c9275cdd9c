"""A streamed completion, verified on its way (contract, section 4: streaming).

In: the upstream's reply as it comes. Out: the client's events. Content is held back until its verdict (`buffer`) or
passes live (`annotate`); everything else passes as it comes. The report rides on the last finish chunk.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import structlog
from msgspec import Raw

from proxy.errors import ANSWERS, HttpError, UpstreamIncomplete, UpstreamSilent, VerifierFailed, error_body
from proxy.headers import RawHeaders
from proxy.pipeline import Draft, Investigation
from proxy.report import ChoiceResult
from proxy.sse import DONE, is_event_stream, keep_alive, read_events, write_event
from proxy.upstream import UpstreamReply
from proxy.wire import Choice
from proxy.work import Work

Chunk = Mapping[str, Any]
"""A chunk's members, undecoded where nothing needs to look inside."""

_BAD_GATEWAY: Final = 502
_NULL: Final = Raw(b"null")
_BESIDE_DELTA: Final = frozenset({"index", "delta", "finish_reason"})
_JUDGED_BY: Final = frozenset({"tool_calls", "function_call", "refusal"})
"""Message members that decide what is verified at all."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class VerifiedStream:
    """A stream that has begun: the upstream's head and the events for the client."""

    status: int
    headers: RawHeaders
    events: AsyncIterator[bytes]


@asynccontextmanager
async def open_stream(
    work: Work, call: AbstractAsyncContextManager[UpstreamReply], *, keep_alive_s: float
) -> AsyncIterator[Draft | VerifiedStream]:
    """Begin a stream; what the upstream refuses at its first event is a plain `Draft`, with that status.

    Raises:
        HttpError: the upstream could not be asked, or sent nothing.
    """
    async with Investigation(work) as investigation, call as reply:
        if not (reply.is_success and is_event_stream(reply.headers)):
            yield Draft(reply.status, reply.headers, await reply.read(), None)
            return
        events = aiter(read_events(reply.stream_decoded()))
        with work.watch.stage("draft"):
            first = await anext(events, None)
        if first is None:
            raise UpstreamIncomplete("The upstream's stream ended before its first event.")
        refusal = read_refusal(first)
        if refusal is not None:
            yield Draft(refusal, [(b"content-type", b"application/json")], first, None)
            return
        written = write_stream(work, investigation, _resume(first, events))
        async with aclosing(keep_alive(written, keep_alive_s)) as client_events:
            yield VerifiedStream(reply.status, reply.headers, client_events)


async def write_stream(work: Work, investigation: Investigation, events: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """Yield the client's events for those of the upstream."""
    draft = StreamedDraft(live=work.controls.stream == "annotate")
    try:
        with work.watch.stage("draft"):
            async for data in events:
                if data == DONE:
                    break
                for chunk in draft.take(data):
                    yield write_event(chunk)
                draft.report_heard(investigation, work)
        draft.check_complete()
        results = await investigation.verify(draft.choices)
        report = investigation.report(results)
    except (UpstreamSilent, UpstreamIncomplete, VerifierFailed) as error:
        _log.warning("stream ended early", id=work.id, error=type(error).__name__)
        yield write_event(_describe(error))
        return
    for chunk in draft.end(results, report, usage=work.request.wants_usage_chunk):
        yield write_event(chunk)
    yield write_event(DONE)


class StreamedDraft:
    """What has come of a draft so far, and what of it is still to be sent."""

    def __init__(self, *, live: bool) -> None:
        """Begin empty; `live` lets content pass as it comes."""
        self._live = live
        self._held: dict[int, HeldChoice] = {}
        self._usage: Chunk | None = None

    @property
    def choices(self) -> list[Choice]:
        """The choices as they would stand in a completion."""
        return [held.choice for held in self._held.values()]

    def take(self, data: bytes) -> Iterator[Chunk]:
        """Take one event; yield the chunks that pass at once.

        Raises:
            UpstreamIncomplete: the event is an error, or no chunk at all.
        """
        try:
            # Members are kept undecoded below; a fault anywhere in them has to show here.
            msgspec.json.decode(data)
            chunk = msgspec.json.decode(data, type=dict[str, Raw])
            choices = msgspec.json.decode(chunk.get("choices", b"[]"), type=list[dict[str, Raw]] | None) or []
        except (msgspec.DecodeError, RecursionError) as error:
            raise UpstreamIncomplete("The upstream's stream holds an event that is no chunk.") from error
        if "error" in chunk and not choices:
            raise UpstreamIncomplete("The upstream broke its stream off with an error.")
        if not choices and _decode(chunk.get("usage")) is not None:
            self._usage = chunk
        elif not choices:
            yield chunk
        for choice in choices:
            index = _decode(choice.get("index"))
            index = index if isinstance(index, int) else 0
            held = self._held.setdefault(index, HeldChoice(index, live=self._live))
            yield from held.take(chunk, choice)

    def report_heard(self, investigation: Investigation, work: Work) -> None:
        """Let what has come be split into claims already, as far as it may be verified at all."""
        if work.nli is None or work.request.wants_json or not work.request.user_texts:
            return
        for position, held in enumerate(self._held.values()):
            for text in held.take_unheard():
                investigation.listen(position, work.nli).hear(text)

    def check_complete(self) -> None:
        """Return if every choice has ended.

        Raises:
            UpstreamIncomplete: one has not, so that its text may be cut.
        """
        if any(held.finish is None for held in self._held.values()):
            raise UpstreamIncomplete("The upstream's stream ended before its answer did.")

    def end(self, results: Sequence[ChoiceResult], report: object, *, usage: bool) -> Iterator[Chunk]:
        """Yield what was held back: content, finish chunks, the report on the last of them, the usage chunk."""
        last = len(self._held) - 1
        for position, (held, result) in enumerate(zip(self._held.values(), results, strict=True)):
            yield from held.end("".join(result.parts) if result.edits else None)
            assert held.finish is not None
            yield {**held.finish, "verification": report} if position == last else held.finish
        if usage and self._usage is not None:
            yield self._usage


class HeldChoice:
    """One choice of a stream: its text so far, and the chunks that wait for the verdict."""

    def __init__(self, index: int, *, live: bool) -> None:
        """Begin empty."""
        self.finish: Chunk | None = None
        self._index = index
        self._live = live
        self._message: dict[str, Raw] = {}
        self._texts: list[str] = []
        self._heard = 0
        self._waiting: list[tuple[Chunk, dict[str, Any]]] = []
        self._finish_reason: str | None = None
        self._logprobs = _NULL
        self._has_spoken = False

    @property
    def choice(self) -> Choice:
        """The choice as it would stand in a completion."""
        members = {"logprobs": self._logprobs}
        return Choice(self._index, members, self._message, "".join(self._texts), self._finish_reason)

    def take_unheard(self) -> list[str]:
        """Return the pieces of text that are new since the last time, as long as they look like something to verify.

        What begins like JSON, or comes beside a tool call, may turn out to be none of our business.
        """
        begun = next((text.lstrip() for text in self._texts if text.strip()), "")
        if not begun or begun.startswith(("{", "[")) or self._message:
            return []
        unheard, self._heard = self._texts[self._heard :], len(self._texts)
        return unheard

    def take(self, chunk: Chunk, choice: Mapping[str, Raw]) -> Iterator[Chunk]:
        """Take the choice's part of a chunk; yield what of it passes at once."""
        delta = msgspec.json.decode(choice.get("delta", b"{}"), type=dict[str, Raw] | None) or {}
        beside = {name: value for name, value in choice.items() if name not in _BESIDE_DELTA}
        self._message |= {n: v for n, v in delta.items() if n in _JUDGED_BY and _decode(v) is not None}
        content = _decode(delta.get("content"))
        if isinstance(content, str) and content:
            self._texts.append(content)
            if not self._live:
                held = {"logprobs": beside.pop("logprobs")} if "logprobs" in beside else {}
                self._logprobs = held["logprobs"] if _decode(held.get("logprobs")) is not None else self._logprobs
                self._waiting.append((chunk, {"delta": {"content": delta.pop("content")}, **held}))
        reason = _decode(choice.get("finish_reason"))
        if isinstance(reason, str):
            self._finish_reason = reason
            self.finish = self._chunk(chunk, {"delta": {}, **beside, "finish_reason": reason})
            beside = {}
        held_something = isinstance(reason, str) or (content and not self._live)
        if delta or beside or not held_something:
            yield self._chunk(chunk, {"delta": self._speak(delta), **beside, "finish_reason": None})

    def end(self, text: str | None) -> Iterator[Chunk]:
        """Yield the content that was held back: as it came, or `text` in its place."""
        if text is None:
            for chunk, choice in self._waiting:
                yield self._chunk(chunk, {**choice, "delta": self._speak(choice["delta"]), "finish_reason": None})
        elif self._waiting:
            chunk, choice = self._waiting[0]
            # The draft's token probabilities do not fit the edited text.
            nulled = dict.fromkeys(choice.keys() & {"logprobs"})
            yield self._chunk(chunk, {"delta": self._speak({"content": text}), **nulled, "finish_reason": None})

    def _speak(self, delta: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the delta, with the role if it is the choice's first and has none."""
        if self._has_spoken or not delta:
            return delta
        self._has_spoken = True
        return delta if "role" in delta else {"role": "assistant", **delta}

    def _chunk(self, chunk: Chunk, choice: Mapping[str, Any]) -> Chunk:
        return {**chunk, "choices": [{"index": self._index, **choice}]}


def read_refusal(data: bytes) -> int | None:
    """Return the status of an error that comes as the first event, or None where it is no error."""
    try:
        event = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None
    if not isinstance(event, dict) or "error" not in event or event.get("choices"):
        return None
    error = event["error"]
    code = error.get("code") if isinstance(error, dict) else None
    status = int(code) if isinstance(code, int) or (isinstance(code, str) and code.isdecimal()) else 0
    return status if 400 <= status < 600 else _BAD_GATEWAY  # noqa: PLR2004  # HTTP's own numbers


async def _resume(first: bytes, events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for event in events:
        yield event


def _describe(error: HttpError) -> dict[str, object]:
    """Return the error event: nothing that was cut counts as an answer."""
    kind = UpstreamIncomplete if isinstance(error, UpstreamSilent) else type(error)
    _, name, code = ANSWERS[kind]
    return error_body(str(error), name, error.param, code)


def _decode(raw: Raw | None) -> Any:  # noqa: ANN401  # whatever JSON holds
    return None if raw is None else msgspec.json.decode(raw)
