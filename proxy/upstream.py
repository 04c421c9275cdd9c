"""Raw forwarding to the upstream: the user's own calls (contract, sections 2, 8 and 11).

In: method, path, query, header lines and body as they came. Out: `UpstreamReply`, its header lines and its body's
bytes as they come, undecoded. No redirects, no cookies, no retries; only `Host` and the body's framing are set.
"""

from __future__ import annotations

import re
import string
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

import httpx2
import structlog

from proxy.connection import Connection
from proxy.errors import BadPath, UpstreamIncomplete, UpstreamSilent, UpstreamUnreachable
from proxy.headers import RawHeaders
from proxy.pool import Pool, read_origin

LONGEST_TARGET: Final = 65536
"""Bytes of a request's path and query."""

_NOT_FOUND: Final = 404
_NO_ADDRESS: Final = re.compile(r"[\x00-\x20\x7f]")
_NO_HEADER: Final = re.compile(rb"[\r\n\x00]")
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class UpstreamUrl:
    """Where the upstream is: `base` ends without a slash and has no query, which stands in `query`."""

    base: str
    query: str

    def join(self, path: str, query: str = "") -> str:
        """Return the full address for the client's path after `/v1`; the base's query comes first."""
        joined = "&".join(part for part in (self.query, query) if part)
        return f"{self.base}{path}{'?' + joined if joined else ''}"

    def mask(self, path: str, query: str = "") -> str:
        """Return the address for a log: every query value hidden, since some hold keys."""
        base, _, joined = self.join(path, query).partition("?")
        masked = "&".join(f"{name}=***" if equals else "***" for name, equals, _ in _split_query(joined))
        return f"{base}{'?' + masked if masked else ''}"


def read_upstream_url(url: str) -> UpstreamUrl:
    """Read the setting: an empty path means `/v1`, else the path as given, a trailing slash ignored."""
    parts = urlsplit(quote(url, safe=string.printable))  # what is no ASCII is sent percent-encoded
    path = parts.path.rstrip("/") or "/v1"
    return UpstreamUrl(urlunsplit((parts.scheme, urlsplit(url).netloc, path, "", "")), parts.query)


@dataclass(frozen=True)
class UpstreamReply:
    """A reply whose head has come; the body is read once, by `read` or by `stream`."""

    status: int
    headers: RawHeaders
    _connection: Connection

    @property
    def is_success(self) -> bool:
        """Whether the upstream answered 2xx."""
        return httpx2.codes.is_success(self.status)

    async def read(self) -> bytes:
        """Return the whole body's raw bytes.

        Raises:
            UpstreamSilent: nothing came for longer than the limit.
            UpstreamIncomplete: the body was cut.
        """
        return b"".join([piece async for piece in self.stream()])

    def stream(self) -> AsyncIterator[bytes]:
        """Yield the body's raw bytes as they come; raises as `read` does."""
        return _translate(self._connection.read_pieces())

    def stream_decoded(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes with its content encoding undone; raises as `read` does."""
        reply = httpx2.Response(self.status, headers=self.headers, stream=_Pieces(self._connection.read_pieces()))
        return _translate(reply.aiter_bytes())

    def decode(self, raw: bytes) -> bytes | None:
        """Return the body with its content encoding undone, or None where it cannot be."""
        try:
            return httpx2.Response(self.status, headers=self.headers, content=raw).content
        except httpx2.DecodingError:
            return None


class Upstream:
    """The upstream's address and a pool of connections to it."""

    def __init__(self, url: UpstreamUrl, *, timeout_s: float) -> None:
        """Set up; no connection is made yet.

        Args:
            url: where it is.
            timeout_s: limit in seconds to the first byte and between bytes.
        """
        self.url = url
        self._pool = Pool(read_origin(url.base), timeout_s=timeout_s)

    @asynccontextmanager
    async def send(
        self, method: str, path: str, query: str, headers: RawHeaders, body: bytes | AsyncIterable[bytes] | None
    ) -> AsyncIterator[UpstreamReply]:
        """Send a request and yield the reply once its head has come; leaving the context drops what is unread.

        Raises:
            BadPath: path and query make no address.
            UpstreamUnreachable: no connection, or it broke before the head.
            UpstreamSilent: no head within the limit.
        """
        head = self._write_head(method, path, query, headers, body)
        async with AsyncExitStack() as lent:
            try:
                connection = await lent.enter_async_context(self._pool.lend())
            except OSError as error:
                raise UpstreamUnreachable(_say("The upstream did not take the connection", error)) from error
            try:
                connection.begin(head_only=method == "HEAD")
                await _send(connection, head, body, chunked=_is_chunked(headers, body))
                await connection.read_head()
            except TimeoutError as error:
                raise UpstreamSilent(_say("The upstream did not answer", error)) from error
            except OSError as error:
                raise UpstreamUnreachable(_say("The upstream could not be reached", error)) from error
            if connection.status == _NOT_FOUND:
                _log.warning("upstream answered 404", url=self.url.mask(path, query))
            yield UpstreamReply(connection.status, connection.headers, connection)

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()

    def _write_head(
        self, method: str, path: str, query: str, headers: RawHeaders, body: bytes | AsyncIterable[bytes] | None
    ) -> bytes:
        """Return the request's head: the lines as they are, after `Host` and before what frames the body."""
        address = self.url.join(path, query)
        if len(address) > LONGEST_TARGET or _NO_ADDRESS.search(address):
            raise BadPath("The path and query are too long or hold what no address may hold.")
        if _NO_HEADER.search(b"".join(chain.from_iterable(headers))):
            raise UpstreamUnreachable("A header, maybe the server's own key, holds a line break; mend it.")
        origin, proxy = self._pool.origin, self._pool.proxy
        # To a secure origin it is the connection that goes through the proxy, not the request.
        through = None if origin.is_secure else proxy
        target = address if through else address[address.index("/", len(origin.scheme) + 3) :]
        lines = [f"{method} {target} HTTP/1.1\r\nHost: {origin.authority}\r\n".encode("latin-1")]
        for name, value in headers:
            lines += (name, b": ", value, b"\r\n")
        if isinstance(body, bytes):
            lines.append(b"Content-Length: %d\r\n" % len(body))
        elif _is_chunked(headers, body):
            lines.append(b"Transfer-Encoding: chunked\r\n")
        if through:
            lines.append(through.authorization)
        return b"".join([*lines, b"\r\n"])


def _split_query(query: str) -> list[tuple[str, str, str]]:
    return [part.partition("=") for part in query.split("&") if part]


class _Pieces(httpx2.AsyncByteStream):
    """A body for the library to decode."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._pieces


def _is_chunked(headers: RawHeaders, body: bytes | AsyncIterable[bytes] | None) -> bool:
    """Return whether the body is of unknown length."""
    is_streamed = body is not None and not isinstance(body, bytes)
    return is_streamed and not any(name.lower() == b"content-length" for name, _ in headers)


async def _send(
    connection: Connection, head: bytes, body: bytes | AsyncIterable[bytes] | None, *, chunked: bool
) -> None:
    """Send the request as its head has announced it; where the reply comes before its end, the rest is not sent."""
    if body is None or isinstance(body, bytes):
        await connection.write(head + (body or b""))
        connection.is_sent = True
        return
    await connection.write(head)
    async for piece in body:
        if connection.status or connection.failure is not None:
            return
        if piece:
            await connection.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
    if chunked:
        await connection.write(b"0\r\n\r\n")
    connection.is_sent = True


async def _translate(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces; errors on the way become ours."""
    try:
        async for piece in pieces:
            yield piece
    except TimeoutError as error:
        raise UpstreamSilent(_say("The upstream stopped sending", error)) from error
    except (OSError, httpx2.DecodingError) as error:
        raise UpstreamIncomplete(_say("The upstream's reply was cut", error)) from error


def _say(what: str, error: Exception) -> str:
    """Name the exception, not its text: that may hold addresses with keys."""
    return f"{what} ({type(error).__name__}); check CORRIGENDA_UPSTREAM_URL and that the upstream is up."
