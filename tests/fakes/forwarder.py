"""A real forward proxy on loopback, such as companies have: it records the head of what it is asked, and lets it on.

In: how it answers a CONNECT. Out: the recorded heads. Other requests go on to the server that their target names.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_READ_BYTES = 65536


@dataclass
class Forwarder:
    """The proxy; it listens inside `listening`."""

    answer: bytes = b"HTTP/1.1 200 Connection established\r\n\r\n"
    heads: list[bytes] = field(default_factory=list)
    address: str = ""
    """`127.0.0.1:PORT`."""

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen on the running event loop."""
        async with await asyncio.start_server(self._accept, "127.0.0.1", 0) as server:
            self.address = "{}:{}".format(*server.sockets[0].getsockname())
            yield

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        method, target, _ = head.decode("latin-1").split(" ", 2)
        if method == "CONNECT":
            writer.write(self.answer)
        server = urlsplit(f"//{target}" if method == "CONNECT" else target)
        far_reader, far_writer = await asyncio.open_connection(server.hostname, server.port)
        if method != "CONNECT":
            far_writer.write(head)
        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what comes, and the end."""
    try:
        while data := await reader.read(_READ_BYTES):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass  # One side is gone; the other is told below.
    finally:
        writer.close()
