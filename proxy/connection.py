"""One HTTP/1.1 connection to the upstream (RFC 9112): a request goes out, the reply comes back piece by piece.

In: bytes as they are to stand on the wire. Out: bytes as they stood there. Only the parser is a library's (httptools):
httpx costs three times the rest of a passed-on request and leaves sockets behind; aiohttp merges and re-encodes header
lines, hangs on a broken chunk, and hands a reply that nobody asked for to whoever asks next.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final, cast

import httptools

from proxy.headers import RawHeaders

LONGEST_HEAD: Final = 1 << 18
"""Bytes of a reply's head; more is no reply."""
MOST_BUFFERED: Final = 1 << 17
"""Bytes of a body that wait to be read before the upstream has to."""

_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})
_FIRST_FINAL: Final = 200


class ProtocolError(ConnectionError):
    """What came is no HTTP reply to what was asked."""


class Connection(asyncio.Protocol):
    """One connection; exchanges follow one another on it."""

    transport: asyncio.Transport
    status: int
    """The reply's, 0 until its head has come."""
    headers: RawHeaders
    """The reply's header lines as they came."""

    def __init__(self, timeout_s: float) -> None:
        """Prepare for a connection that the loop makes; `timeout_s` is the limit of each wait."""
        self.failure: OSError | None = None
        """Why nothing more can be asked; None while it can."""
        self.is_sent = False
        """Whether the request is out to its end; who sends it says so."""
        self._timeout_s = timeout_s
        self._waiter: asyncio.Future[None] | None = None
        self._may_write = asyncio.Event()
        self._may_write.set()
        self._pieces: list[bytes] = []
        self._is_complete = True
        self._keeps_alive = self._ends_with_connection = False

    def begin(self, *, head_only: bool) -> None:
        """Begin an exchange; `head_only` where the reply may tell the length of a body that does not come."""
        self.status = 0
        self.headers = []
        self.is_sent = False
        self._parser = httptools.HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=True)  # as the SDKs' clients are
        self._head_only = head_only
        self._head_size = 0
        self._pieces = []
        self._buffered = 0
        self._is_complete = self._keeps_alive = self._ends_with_connection = False

    @property
    def is_reusable(self) -> bool:
        """Whether the exchange is over, read to its end, and another may begin."""
        is_over = self._is_complete and self.is_sent and not self._pieces
        return is_over and self._keeps_alive and self.failure is None

    async def write(self, data: bytes) -> None:
        """Send bytes; where the upstream has closed or answered they may be dropped, since a reply may be there.

        Raises:
            TimeoutError: the upstream takes nothing more.
        """
        if self.failure is None:
            self.transport.write(data)
        if not self._may_write.is_set():
            async with asyncio.timeout(self._timeout_s):
                await self._may_write.wait()

    async def read_head(self) -> None:
        """Wait for the reply's status and headers.

        Raises:
            TimeoutError: the upstream says nothing.
            OSError: the connection broke, or what came is no reply.
        """
        while not self.status:
            await self._wait()

    async def read_pieces(self) -> AsyncIterator[bytes]:
        """Yield the reply's body as it comes; raises as `read_head` does, after the last byte that came."""
        while True:
            if self._pieces:
                piece = b"".join(self._pieces)
                self._pieces.clear()
                self._buffered = 0
                self.transport.resume_reading()
                yield piece
            elif self._is_complete:
                return
            else:
                await self._wait()

    async def _wait(self) -> None:
        """Wait until something has come."""
        if self.failure is not None:
            raise self.failure
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, failure: OSError) -> None:
        self.failure = self.failure or failure
        self.transport.abort()
        self._may_write.set()
        self._wake()

    # What the loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection."""
        # uvloop's transports share no class with asyncio's.
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Read what has come."""
        if self._is_complete:
            self._fail(ProtocolError("The upstream says what it was not asked."))
            return
        self._head_size += 0 if self.status else len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail(ProtocolError("The upstream's reply is no HTTP."))
        if not self.status and self._head_size > LONGEST_HEAD:
            self._fail(ProtocolError("The upstream's reply has no end to its head."))
        if self._buffered > MOST_BUFFERED:
            self.transport.pause_reading()
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end, which is also that of a body without a length."""
        if exc is None and self._ends_with_connection:
            self._is_complete = True
        self._fail(exc if isinstance(exc, OSError) else ConnectionResetError("The upstream has closed."))

    def pause_writing(self) -> None:
        """Hold writers back."""
        self._may_write.clear()

    def resume_writing(self) -> None:
        """Let writers on."""
        self._may_write.set()

    # What the parser calls.

    def on_message_begin(self) -> None:
        """Refuse a second reply to one request: the next request must not get it."""
        if self._is_complete:
            self._fail(ProtocolError("The upstream answers twice."))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header line; after the head it is a trailer, which is dropped."""
        if not self.status:
            self.headers.append((name, value.rstrip(b" \t")))

    def on_headers_complete(self) -> None:
        """Take the head, unless it is an interim one (RFC 9110, section 15.2)."""
        status = self._parser.get_status_code()
        if self._is_complete:
            return
        if status < _FIRST_FINAL:
            self.headers.clear()
            return
        self.status = status
        self._ends_with_connection = not any(name.lower() in _FRAMING for name, _ in self.headers)
        self._may_write.set()  # who still sends need not wait any more
        if self._head_only:
            self._complete()

    def on_body(self, piece: bytes) -> None:
        """Take a piece of the body."""
        if not self._is_complete:
            self._pieces.append(piece)
            self._buffered += len(piece)

    def on_message_complete(self) -> None:
        """Take the end of the reply, unless it was an interim one."""
        if self.status and not self._is_complete:
            self._complete()

    def _complete(self) -> None:
        self._is_complete = True
        self._keeps_alive = self._parser.should_keep_alive()
