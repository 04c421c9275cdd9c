"""HTTP/1.1 over loopback, as little of it as a benchmark needs: the time measured is to be the servers'.

In: whole messages as bytes. Out: messages read to their ends. Used by both sides of both benchmarks; it needs the
standard library alone, so that it runs in any environment.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

HOST: Final = "127.0.0.1"
CHAT_PATH: Final = "/v1/chat/completions"

_HEAD_END: Final = b"\r\n\r\n"
_LINE_END: Final = b"\r\n"
_LIMIT: Final = 1 << 20
"""Longest head or line, in bytes."""


class Cut(Exception):
    """The other side closed before its message was complete; `head` and `body` are what had come."""

    def __init__(self, head: bytes = b"", body: bytes = b"") -> None:
        """Keep what had come."""
        super().__init__("the connection was closed too early")
        self.head = head
        self.body = body


@dataclass(frozen=True, slots=True)
class Message:
    """A request or a reply, read to its end; the head is without its empty line."""

    head: bytes
    body: bytes

    @property
    def status(self) -> int:
        """A reply's status."""
        return int(self.head.split(b" ", 2)[1])

    @property
    def path(self) -> str:
        """A request's path, with its query."""
        return self.head.split(b" ", 2)[1].decode("latin-1")

    def header(self, name: str) -> str | None:
        """Return a header's value, None where it is absent; the first one where it is repeated."""
        return _find_header(self.head, name)

    @property
    def stays_open(self) -> bool:
        """Whether the connection goes on after this message."""
        return (self.header("connection") or "").lower() != "close"


class Client:
    """One connection to a server; a context manager, connecting where a request needs it."""

    def __init__(self, port: int) -> None:
        """Prepare for a server on loopback."""
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def __aenter__(self) -> Self:
        """Connect nothing yet."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()

    async def ask(self, request: bytes) -> Message:
        """Send one request and return its whole reply.

        Raises:
            Cut: the server closed before the reply's end.
        """
        reader, writer = self._streams or await self._connect()
        writer.write(request)
        try:
            reply = await read_message(reader)
        except BaseException:
            self.close()
            raise
        if reply is None:
            self.close()
            raise Cut
        if not reply.stays_open:
            self.close()
        return reply

    def close(self) -> None:
        """Drop the connection, whatever is on it."""
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self._streams = await asyncio.open_connection(HOST, self._port, limit=_LIMIT)
        return self._streams


async def read_message(reader: asyncio.StreamReader) -> Message | None:
    """Return the next message, None where the other side closed before it began.

    Raises:
        Cut: the other side closed within it.
    """
    try:
        head = (await reader.readuntil(_HEAD_END)).removesuffix(_HEAD_END)
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise Cut(error.partial) from None
        return None
    except ConnectionError:
        return None
    if (_find_header(head, "transfer-encoding") or "").lower() == "chunked":
        return Message(head, await _read_chunks(reader, head))
    length = int(_find_header(head, "content-length") or 0)
    try:
        return Message(head, await reader.readexactly(length))
    except asyncio.IncompleteReadError as error:
        raise Cut(head, error.partial) from None
    except ConnectionError:
        raise Cut(head) from None


def write_request(path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> bytes:
    """Return a POST of a JSON object."""
    content = json.dumps(body).encode()
    lines = {"Host": HOST, "Content-Type": "application/json", **headers, "Content-Length": str(len(content))}
    return write_head(f"POST {path} HTTP/1.1", lines) + content


def write_reply(status: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """Return a reply of known length; `status` is like `200 OK`."""
    return write_head(f"HTTP/1.1 {status}", {**headers, "Content-Length": str(len(body))}) + body


def write_head(start: str, headers: Mapping[str, str]) -> bytes:
    """Return a start line and headers, with the empty line that ends them."""
    lines = [start, *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def write_chunk(data: bytes) -> bytes:
    """Return one chunk of a body of unknown length; an empty one is its end (RFC 9112, section 7.1)."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def _find_header(head: bytes, name: str) -> str | None:
    _, found, rest = head.lower().partition(f"\r\n{name}:".encode())
    if not found:
        return None
    start = len(head) - len(rest)
    return head[start:].partition(_LINE_END)[0].strip().decode("latin-1")


async def _read_chunks(reader: asyncio.StreamReader, head: bytes) -> bytes:
    body = bytearray()
    try:
        while size := int((await reader.readuntil(_LINE_END)).partition(b";")[0], 16):
            body += (await reader.readexactly(size + len(_LINE_END)))[:size]
        await reader.readuntil(_LINE_END)
    except asyncio.IncompleteReadError as error:
        raise Cut(head, bytes(body + error.partial)) from None
    except ConnectionError:
        raise Cut(head, bytes(body)) from None
    return bytes(body)
