"""The thin layer between the server and us: bodies in, replies out, and noticing that a client has gone.

In: ASGI's `receive` and `send`. Out: bytes, and replies whose header lines go out as they are, repeated ones
repeated. Frameworks' own response classes fold, sort and add header lines, which a proxy must not.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Mapping
from typing import Any, Final, TypeVar

from litestar.types import HTTPResponseBodyEvent, Receive, Send

from proxy.errors import BodyTooLarge
from proxy.headers import RawHeaders

T = TypeVar("T")


LAST_PIECE: Final[HTTPResponseBodyEvent] = {"type": "http.response.body", "body": b"", "more_body": False}
"""The end of a reply. Once it is sent the server reports a hang-up, so it is sent when all work is done."""


class ClientGone(Exception):  # no error of ours: nobody is left to be told
    """The client hung up."""


async def send_head(send: Send, status: int, headers: RawHeaders) -> None:
    """Send a reply's status and header lines."""
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def send_piece(send: Send, piece: bytes) -> None:
    """Send a piece of a reply's body that is not its last."""
    await send({"type": "http.response.body", "body": piece, "more_body": True})


async def send_reply(send: Send, status: int, headers: RawHeaders, body: bytes) -> None:
    """Send a whole reply."""
    await send_head(send, status, headers)
    await send({"type": "http.response.body", "body": body, "more_body": False})


class StreamedBody:
    """The request's body as it comes; an async iterable."""

    def __init__(self, receive: Receive, *, done: bool = False) -> None:
        """Read from `receive`; `done` where nothing is left to be read."""
        self._receive = receive
        self.finished: Final = asyncio.Event()
        """Set once the body is at its end, when `receive` has only a hang-up left to tell."""
        if done:
            self.finished.set()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the pieces.

        Raises:
            ClientGone: the client hung up before the end.
        """
        while not self.finished.is_set():
            event: Mapping[str, Any] = await self._receive()
            if event["type"] == "http.disconnect":
                raise ClientGone
            if not event.get("more_body"):
                self.finished.set()
            if event.get("body"):
                yield event["body"]


async def read_body(receive: Receive, *, limit: int) -> bytes:
    """Return the request's whole body.

    Raises:
        BodyTooLarge: it is over `limit` bytes; the rest was read and dropped, so that the client can read our answer.
        ClientGone: the client hung up before its end.
    """
    pieces: list[bytes] = []
    size = 0
    async for piece in StreamedBody(receive):
        size += len(piece)
        if size <= limit:
            pieces.append(piece)
        else:
            pieces.clear()
    if size > limit:
        raise BodyTooLarge(f"The body is over {limit} bytes; send less, or raise CORRIGENDA_MAX_BODY_BYTES.")
    return b"".join(pieces)


async def run_until_hangup(receive: Receive, work: Coroutine[Any, Any, T], *, after: asyncio.Event | None = None) -> T:
    """Return what the work returns, or cancel it as soon as the client hangs up.

    Args:
        receive: the request's.
        work: what to run.
        after: set once the request's body is at its end; None where it was read before.

    Raises:
        ClientGone: the client hung up first.
    """
    working = asyncio.ensure_future(work)
    watching = asyncio.create_task(_wait_for_hangup(receive, after))
    try:
        await asyncio.wait([working, watching], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientGone
        return working.result()
    finally:
        working.cancel()
        watching.cancel()
        # Whatever else they raise now is taken in: nobody is left to be told, and the log must not tell it.
        await asyncio.gather(working, watching, return_exceptions=True)


async def _wait_for_hangup(receive: Receive, after: asyncio.Event | None) -> None:
    if after is not None:
        await after.wait()
    while (await receive())["type"] != "http.disconnect":
        pass
