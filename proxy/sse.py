"""Server-sent events: bytes to events and back (the HTML standard, "Server-sent events"), and staying alive.

In: bytes cut anywhere, or objects. Out: the data of each event, or bytes. What the events mean is for `streaming`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable
from contextlib import aclosing
from typing import Final

import msgspec

DONE: Final = b"[DONE]"
"""The data of the event that ends a stream of chunks."""
KEEP_ALIVE: Final = b": keep-alive\n\n"
CONTENT_TYPE: Final = b"text/event-stream"

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def is_event_stream(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether a reply's body is a stream of events."""
    kinds = [value for name, value in headers if name.lower() == b"content-type"]
    return any(kind.partition(b";")[0].strip().lower() == CONTENT_TYPE for kind in kinds)


async def read_events(pieces: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Yield the data of each event, its lines joined; comments, other fields and events without data are dropped.

    Any line ending and any cut will do. An event at the end without its blank line is still read, which the standard
    leaves out, since some servers forget it.
    """
    data: list[bytes] = []
    async for line in _read_lines(pieces):
        if not line:
            if any(data):
                yield b"\n".join(data)
            data = []
            continue
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
    if any(data):
        yield b"\n".join(data)


async def _read_lines(pieces: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    buffer = b""
    first = True
    async for piece in pieces:
        buffer += piece
        if first and len(buffer) >= len(_BYTE_ORDER_MARK):
            buffer, first = buffer.removeprefix(_BYTE_ORDER_MARK), False
        *lines, buffer = _split_lines(buffer)
        for line in lines:
            yield line
    if buffer:
        yield buffer.removesuffix(b"\r")


def _split_lines(buffer: bytes) -> list[bytes]:
    """Split at line endings; a carriage return at the very end may be half of one, and waits for what follows."""
    if buffer.endswith(b"\r"):
        lines = _LINE_END.split(buffer[:-1])
        return [*lines[:-1], lines[-1] + b"\r"]
    return _LINE_END.split(buffer)


def write_event(value: object) -> bytes:
    """Return one event with an object, or with bytes as they are, for data.

    Members that keep the upstream's own bytes may hold line breaks, which would end the data: they are taken out.
    """
    data = value if isinstance(value, bytes) else msgspec.json.format(msgspec.json.encode(value), indent=-1)
    return b"data: " + data + b"\n\n"


async def keep_alive(events: AsyncGenerator[bytes], interval_s: float) -> AsyncGenerator[bytes]:
    """Yield the events, and a comment for every `interval_s` seconds of silence; 0 is none."""
    async with aclosing(events):
        while True:
            waiting = asyncio.ensure_future(anext(events, None))
            try:
                while not (await asyncio.wait([waiting], timeout=interval_s or None))[0]:
                    yield KEEP_ALIVE
            finally:
                if not waiting.done():
                    waiting.cancel()
                    await asyncio.wait([waiting])
            event = waiting.result()
            if event is None:
                return
            yield event
