"""Raw forwarding to the upstream: the user's own calls (contract, sections 2, 8 and 11).

In: method, path, query, header lines and body as they came. Out: `UpstreamReply`, its header lines and its body's
bytes as they come, undecoded. The only importer of httpx: no redirects, no cookies, no retries, nothing added.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import urlsplit, urlunsplit

import httpx
import structlog

from proxy.errors import BadPath, UpstreamIncomplete, UpstreamSilent, UpstreamUnreachable
from proxy.headers import RawHeaders

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
    parts = urlsplit(url)
    path = parts.path.rstrip("/") or "/v1"
    return UpstreamUrl(urlunsplit((parts.scheme, parts.netloc, path, "", "")), parts.query)


@dataclass(frozen=True)
class UpstreamReply:
    """A reply whose head has come; the body is read once, by `read` or by `stream`."""

    status: int
    headers: RawHeaders
    _response: httpx.Response

    @property
    def is_success(self) -> bool:
        """Whether the upstream answered 2xx."""
        return httpx.codes.is_success(self.status)

    async def read(self) -> bytes:
        """Return the whole body's raw bytes.

        Raises:
            UpstreamSilent: nothing came for longer than the limit.
            UpstreamIncomplete: the body was cut.
        """
        return b"".join([piece async for piece in self.stream()])

    def stream(self) -> AsyncIterator[bytes]:
        """Yield the body's raw bytes as they come; raises as `read` does."""
        return _translate(self._response.aiter_raw())

    def stream_decoded(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes with its content encoding undone; raises as `read` does."""
        return _translate(self._response.aiter_bytes())

    def decode(self, raw: bytes) -> bytes | None:
        """Return the body with its content encoding undone, or None where it cannot be."""
        try:
            return httpx.Response(self.status, headers=self.headers, content=raw).content
        except httpx.DecodingError:
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
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(timeout_s, pool=None),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=100),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

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
        try:
            request = httpx.Request(method, self.url.join(path, query), headers=headers, content=body)
        except httpx.InvalidURL as error:
            raise BadPath("The path and query are too long or hold what no address may hold.") from error
        try:
            response = await self._client.send(request, stream=True)
        except httpx.ConnectTimeout as error:
            raise UpstreamUnreachable(_say("The upstream did not take the connection", error)) from error
        except httpx.TimeoutException as error:
            raise UpstreamSilent(_say("The upstream did not answer", error)) from error
        except httpx.HTTPError as error:
            raise UpstreamUnreachable(_say("The upstream could not be reached", error)) from error
        try:
            if response.status_code == httpx.codes.NOT_FOUND:
                _log.warning("upstream answered 404", url=self.url.mask(path, query))
            yield UpstreamReply(response.status_code, response.headers.raw, response)
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()


def _split_query(query: str) -> list[tuple[str, str, str]]:
    return [part.partition("=") for part in query.split("&") if part]


async def _translate(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces; the library's errors become ours."""
    try:
        async for piece in pieces:
            yield piece
    except httpx.TimeoutException as error:
        raise UpstreamSilent(_say("The upstream stopped sending", error)) from error
    except httpx.HTTPError as error:
        raise UpstreamIncomplete(_say("The upstream's reply was cut", error)) from error


def _say(what: str, error: httpx.HTTPError) -> str:
    """Name the exception, not its text: that may hold addresses with keys."""
    return f"{what} ({type(error).__name__}); check CORRIGENDA_UPSTREAM_URL and that the upstream is up."
