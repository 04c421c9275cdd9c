"""Paths to handlers: read the request, call, render (contract, section 2). Nothing is decided here.

In: HTTP. Out: HTTP. The verifying route and the transparent rest of `/v1` share one gate for credentials and one way
to answer: header lines as they are.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import Any, Final, cast

import structlog
from litestar import Request, get, post, route
from litestar.enums import MediaType
from litestar.handlers import asgi
from litestar.handlers.base import BaseRouteHandler
from litestar.response import Response
from litestar.types import ASGIApp, HTTPScope, Method, Receive, Scope, Send

from proxy.asgi import (
    LAST_PIECE,
    ClientGone,
    StreamedBody,
    read_body,
    run_until_hangup,
    send_head,
    send_piece,
    send_reply,
)
from proxy.controls import Controls, read_controls
from proxy.deployment import Deployment
from proxy.errors import NotJson, UpstreamIncomplete, UpstreamSilent
from proxy.headers import RawHeaders, reply_headers, request_headers
from proxy.openapi import ChatCompletionOperation
from proxy.pipeline import Answer, Draft, verify_completion
from proxy.streaming import open_stream
from proxy.upstream import UpstreamReply
from proxy.wire import ChatRequest, forwarded_body, read_completion, read_request
from proxy.work import Work

CHAT_PATH: Final = "/v1/chat/completions"
OTHER_METHODS: Final[list[Method]] = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]

_log = structlog.get_logger()


@dataclass(frozen=True)
class Incoming:
    """A request past the gate: where it goes and the header lines with the right credentials."""

    method: str
    path: str
    """After `/v1`, as it was sent."""
    query: str
    headers: RawHeaders


def build_routes(deployment: Deployment) -> list[BaseRouteHandler]:
    """Return the handlers of one deployment."""

    @post(
        CHAT_PATH,
        status_code=200,
        operation_id="createChatCompletion",
        operation_class=ChatCompletionOperation,
        tags=["OpenAI"],
    )
    async def create_chat_completion(request: Request[Any, Any, Any]) -> ASGIApp:
        """Answer a chat completion, verified as the `X-Verify-*` headers or the `verify` object of the body say."""
        incoming = admit(request.scope, deployment)
        require_json(incoming.headers)
        body = await read_body(request.receive, limit=deployment.settings.max_body_bytes)
        chat = read_request(body)
        verify = None if chat is None else chat.verify
        controls = read_controls(as_text(incoming.headers), verify, deployment.settings.controls)
        if chat is None:
            return Relay(incoming, deployment, body)
        if controls.mode == "off":
            return Relay(incoming, deployment, forwarded_body(chat))
        return Verification(chat, controls.for_stream() if chat.streamed else controls, incoming, deployment)

    @route(CHAT_PATH, http_method=OTHER_METHODS, status_code=200, include_in_schema=False)
    async def relay_other_methods(request: Request[Any, Any, Any]) -> ASGIApp:
        """Pass on what is no creation, such as listing stored completions."""
        return Relay(admit(request.scope, deployment), deployment)

    @asgi("/v1", is_mount=True, copy_scope=True)
    async def relay_rest(scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on everything else under `/v1`."""
        await Relay(admit(scope, deployment), deployment)(scope, receive, send)

    @get("/healthz", tags=["Operations"], sync_to_thread=False)
    def report_health() -> dict[str, str]:
        """Say that the process is up."""
        return {"status": "ok"}

    @get("/readyz", tags=["Operations"], sync_to_thread=False)
    def report_readiness() -> Response[dict[str, str]]:
        """Say whether the NLI model has passed its self-test; until then nothing is verified."""
        readiness = deployment.readiness
        if readiness.ready:
            return Response({"status": "ready"}, media_type=MediaType.JSON)
        return Response({"status": "not_ready", "reason": readiness.reason}, status_code=503)

    # Litestar answers OPTIONS itself unless the first handler of a path takes it.
    return [relay_other_methods, create_chat_completion, relay_rest, report_health, report_readiness]


def admit(scope: Scope, deployment: Deployment) -> Incoming:
    """Let a request through the gate, or raise one of its errors."""
    method, raw_path = cast("HTTPScope", scope)["method"], scope["raw_path"]
    headers = deployment.gate.admit(method, raw_path, list(scope["headers"]))
    path = raw_path.decode("latin-1").removeprefix("/v1")
    return Incoming(method, path, scope["query_string"].decode("latin-1"), headers)


def require_json(headers: RawHeaders) -> None:
    """Refuse what a web page could send without asking; the verifying route needs application/json."""
    kinds = [value.partition(b";")[0].strip().lower() for name, value in headers if name.lower() == b"content-type"]
    if kinds != [b"application/json"]:
        raise NotJson("Send the request with the header `Content-Type: application/json`.")


def as_text(headers: RawHeaders) -> list[tuple[str, str]]:
    """Return header lines as text, names in lower case."""
    return [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers]


@dataclass(frozen=True)
class Verification:
    """A chat completion to be verified, streamed or not; an ASGI application."""

    chat: ChatRequest
    controls: Controls
    incoming: Incoming
    deployment: Deployment

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  # ASGI's signature
        """Verify the request and send the answer; a client that hangs up ends it at any stage."""
        deployment, incoming = self.deployment, self.incoming
        with suppress(ClientGone), deployment.in_flight.enter():
            work = deployment.open_work(self.chat, self.controls, incoming.headers, incoming.query)
            if self.chat.streamed:
                await run_until_hangup(receive, self._stream(work, send))
                await send(LAST_PIECE)
            else:
                answer = await run_until_hangup(receive, verify_completion(work, self._fetch_draft))
                await send_reply(send, *render(answer))

    async def _fetch_draft(self) -> Draft:
        """Make the user's own call and read its whole reply."""
        async with self._call() as reply:
            raw = await reply.read()
            decoded = reply.decode(raw) if reply.is_success else None
            completion = None if decoded is None else read_completion(decoded)
            return Draft(reply.status, reply.headers, raw, completion)

    async def _stream(self, work: Work, send: Send) -> None:
        interval_s = self.deployment.settings.sse_keepalive_s
        async with open_stream(work, self._call(), keep_alive_s=interval_s) as begun:
            if isinstance(begun, Draft):
                status, headers, body = render(Answer(begun, begun.raw, None))
                await send_head(send, status, headers)
                await send_piece(send, body)
                return
            headers = [*reply_headers(begun.headers, rebuilt=True), (b"x-verify-id", work.id.encode())]
            await send_head(send, begun.status, headers)
            async for event in begun.events:
                await send_piece(send, event)

    def _call(self) -> AbstractAsyncContextManager[UpstreamReply]:
        incoming = self.incoming
        headers = request_headers(incoming.headers, verifying=True)
        body = forwarded_body(self.chat)
        return self.deployment.upstream.send(incoming.method, incoming.path, incoming.query, headers, body)


def render(answer: Answer) -> tuple[int, RawHeaders, bytes]:
    """Return status, headers and body: the upstream's own where nothing was verified, else the rebuilt ones."""
    draft = answer.draft
    if answer.report is None:
        extra = [(b"x-verify-status", b"unavailable"), (b"x-verify-reason", b"upstream_invalid")]
        headers = reply_headers(draft.headers, rebuilt=False)
        return draft.status, headers + (extra if draft.is_success else []), draft.raw
    headers = reply_headers(draft.headers, rebuilt=True)
    own = [(b"content-length", str(len(answer.body)).encode()), *report_headers(answer.report)]
    return draft.status, headers + own, answer.body


def report_headers(report: dict[str, Any]) -> RawHeaders:
    """Return the headers that sum a report up; never a claim's text."""
    named = {
        "x-verify-status": report["status"],
        "x-verify-id": report["id"],
        "x-verify-overhead-ms": f"{report['timings_ms']['overhead']:.1f}",
        "x-verify-reason": report["reason"],
    }
    return [(name.encode(), value.encode()) for name, value in named.items() if value is not None]


@dataclass(frozen=True)
class Relay:
    """A request passed on as it is, the reply streamed back as it comes; an ASGI application."""

    incoming: Incoming
    deployment: Deployment
    body: bytes | None = None
    """None where it has not been read yet and is to be streamed too."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  # ASGI's signature
        """Pass on the request and its reply."""
        is_read = self.body is not None or not has_body(self.incoming.headers)
        body = StreamedBody(receive, done=is_read)
        with suppress(ClientGone):
            if await run_until_hangup(receive, self._relay(self.body if is_read else body, send), after=body.finished):
                await send(LAST_PIECE)

    async def _relay(self, content: bytes | StreamedBody | None, send: Send) -> bool:
        """Send all but the end of the reply; return whether it came whole."""
        incoming = self.incoming
        headers = request_headers(incoming.headers, verifying=False)
        if self.body is not None:
            headers = [line for line in headers if line[0].lower() != b"content-length"]
        upstream = self.deployment.upstream
        async with upstream.send(incoming.method, incoming.path, incoming.query, headers, content) as reply:
            await send_head(send, reply.status, reply_headers(reply.headers, rebuilt=False))
            try:
                async for piece in reply.stream():
                    await send_piece(send, piece)
            except (UpstreamSilent, UpstreamIncomplete) as error:
                # The head is out. Without an end the server cuts the connection, so that the client sees an
                # incomplete reply as what it is.
                _log.warning("reply cut", reason=str(error))
                return False
        return True


def has_body(headers: RawHeaders) -> bool:
    """Return whether a request announces a body (RFC 9112, section 6.3)."""
    names = {name.lower(): value for name, value in headers}
    return b"transfer-encoding" in names or names.get(b"content-length", b"0") != b"0"
