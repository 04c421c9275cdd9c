"""Connections to the upstream: dialled where none is idle, through the environment's proxy where it names one.

In: the origin of the base address. Out: connections, each lent for one exchange, and at its end, however it ends, taken
back or dropped. Apart from `connection` because nothing here reads HTTP, and from `upstream` because nothing here
knows a request.
"""

from __future__ import annotations

import asyncio
import base64
import select
import socket
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from ssl import SSLContext
from typing import Final
from urllib.parse import unquote, urlsplit

import httpx2

from proxy.connection import Connection
from proxy.errors import SettingsInvalid

IDLE_S: Final = 4.0
"""An idle connection is closed after so many seconds: most servers do it after 5, and might under a request."""
ADDRESS_LIMIT_S: Final = 2.0
"""A host's address that does not answer in so many seconds gives way to its next one."""

_PORTS: Final = {"http": 80, "https": 443}
_OK: Final = 200


class ProxyRefused(ConnectionError):
    """The environment's proxy does not let us through."""


@dataclass(frozen=True)
class Origin:
    """A server: where it listens, and whether it is spoken to in TLS."""

    scheme: str
    host: str
    port: int
    credentials: str = field(default="", repr=False)
    """`user:password`, of a proxy."""

    @cached_property
    def authority(self) -> str:
        """What `Host` says of it: without the port that goes without saying."""
        return self.address.removesuffix(f":{_PORTS[self.scheme]}")

    @property
    def address(self) -> str:
        """Host and port."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_secure(self) -> bool:
        """Whether it is spoken to in TLS."""
        return self.scheme == "https"

    @cached_property
    def authorization(self) -> bytes:
        """The header line that a proxy with credentials wants, with its end; empty for others."""
        if not self.credentials:
            return b""
        return b"Proxy-Authorization: Basic " + base64.b64encode(self.credentials.encode()) + b"\r\n"


def read_origin(url: str) -> Origin:
    """Return the origin of an absolute `http` or `https` address."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else ""
    ascii_host = host if host.isascii() else host.encode("idna").decode("ascii")
    return Origin(parts.scheme, ascii_host, parts.port or _PORTS[parts.scheme], credentials)


def find_proxy(origin: Origin) -> Origin | None:
    """Return the proxy that the environment names for an origin (`HTTPS_PROXY`, `NO_PROXY` and the like), or None.

    Raises:
        SettingsInvalid: it is of a kind that we do not speak to.
    """
    named = urllib.request.getproxies()
    url = named.get(origin.scheme) or named.get("all")
    bypassed = any(urllib.request.proxy_bypass(name) for name in (origin.host, origin.address))
    if not url or bypassed:
        return None
    url = url if "://" in url else f"http://{url}"
    if urlsplit(url).scheme not in _PORTS:
        raise SettingsInvalid("The environment names a proxy that is no HTTP proxy; name another, or set NO_PROXY.")
    return read_origin(url)


def _has_news(connection: Connection) -> bool:
    """Return whether an idle connection has closed, or been spoken on, and the loop has not told yet."""
    waiting = select.poll()
    waiting.register(connection.transport.get_extra_info("socket").fileno(), select.POLLIN)
    return bool(waiting.poll(0))


class Pool:
    """Connections to one origin; at most one exchange on each at a time."""

    def __init__(self, origin: Origin, *, timeout_s: float) -> None:
        """Set up; no connection is made yet.

        Args:
            origin: the upstream's.
            timeout_s: limit in seconds of dialling, and of each wait of an exchange.
        """
        self.origin = origin
        self.proxy = find_proxy(origin)
        self._timeout_s = timeout_s
        self._idle: dict[Connection, asyncio.TimerHandle] = {}

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[Connection]:
        """Lend a connection for one exchange; one that is not at its end when the block ends is dropped.

        Raises:
            OSError: none can be made.
        """
        connection = self._take_idle() or await self._dial()
        try:
            yield connection
        finally:
            if connection.is_reusable:
                later = asyncio.get_running_loop().call_later(IDLE_S, self._drop, connection)
                self._idle[connection] = later
            else:
                connection.transport.abort()
                await asyncio.sleep(0)  # the loop closes the socket: the upstream is told before we go on

    async def close(self) -> None:
        """Close the idle connections."""
        for connection in list(self._idle):
            self._idle[connection].cancel()
            self._drop(connection)
        await asyncio.sleep(0)

    def _take_idle(self) -> Connection | None:
        """Return the connection that was used last, which is the likeliest to be open still."""
        while self._idle:
            connection, dropping = self._idle.popitem()
            dropping.cancel()
            if connection.is_reusable and not _has_news(connection):
                return connection
            connection.transport.abort()
        return None

    def _drop(self, connection: Connection) -> None:
        self._idle.pop(connection)
        connection.transport.abort()

    async def _dial(self) -> Connection:
        async with asyncio.timeout(self._timeout_s):
            if self.proxy is None:
                return await self._connect(self.origin)
            connection = await self._connect(self.proxy)
            try:
                if self.origin.is_secure:
                    await self._tunnel(connection, self.proxy)
            except BaseException:
                connection.transport.abort()
                raise
            return connection

    async def _connect(self, origin: Origin) -> Connection:
        """Connect to the first of the host's addresses that answers."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
        for position, (family, *_, address) in enumerate(found):
            is_last = position == len(found) - 1
            try:
                async with asyncio.timeout(None if is_last else ADDRESS_LIMIT_S):
                    _, connection = await loop.create_connection(
                        lambda: Connection(self._timeout_s),
                        *address[:2],
                        family=family,
                        ssl=self._tls if origin.is_secure else None,
                        server_hostname=origin.host if origin.is_secure else None,
                    )
                    return connection
            except OSError:
                if is_last:
                    raise
        raise ConnectionError("The upstream's name has no address.")

    async def _tunnel(self, connection: Connection, proxy: Origin) -> None:
        """Have the proxy connect us to the origin, and speak TLS through it (RFC 9110, section 9.3.6)."""
        target = self.origin.address.encode()
        connection.begin(head_only=True)
        await connection.write(b"CONNECT %b HTTP/1.1\r\nHost: %b\r\n%b\r\n" % (target, target, proxy.authorization))
        await connection.read_head()
        if connection.status != _OK:
            raise ProxyRefused(f"The proxy answered with {connection.status}.")
        transport = await asyncio.get_running_loop().start_tls(
            connection.transport, connection, self._tls, server_hostname=self.origin.host
        )
        if transport is None:
            raise ConnectionResetError("The proxy has closed.")
        connection.connection_made(transport)

    @cached_property
    def _tls(self) -> SSLContext:
        context = httpx2.create_ssl_context()
        context.set_alpn_protocols(["http/1.1"])
        return context
