"""Server-sent events: read however they are cut, written so that every client reads them, kept alive in silence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.sse import DONE, KEEP_ALIVE, is_event_stream, keep_alive, read_events, write_event


async def send(pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    """Yield the pieces."""
    for piece in pieces:
        yield piece


def read(*pieces: bytes) -> list[bytes]:
    """Return the data of all events."""

    async def collect() -> list[bytes]:
        return [data async for data in read_events(send(pieces))]

    # Nothing here waits, so that no event loop is needed.
    with pytest.raises(StopIteration) as ended:
        collect().send(None)
    return list(ended.value.value)


def cut(stream: bytes, places: Iterable[int]) -> list[bytes]:
    """Return the stream in pieces that end at these places."""
    bounds = sorted({0, len(stream), *(place for place in places if place < len(stream))})
    return [stream[start:end] for start, end in pairwise(bounds)]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"", []),
        (b"\n\n\n", []),
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\n\r\ndata: b\r\n\n", [b"a", b"b"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a \n\n", [b" a "]),
        (b"data: a: b\n\n", [b"a: b"]),
        (b"data: {\ndata: }\n\n", [b"{\n}"]),
        (b"data: {\r\ndata: }\r\n\r\n", [b"{\n}"]),
        (b": keep-alive\n\ndata: a\n: comment\ndata: b\n\n:\n\n", [b"a\nb"]),
        (b"event: message\nid: 1\nretry: 5\ndata: a\n\n", [b"a"]),
        (b"event: ping\n\nevent: ping\ndata:\n\ndata\n\ndata: a\n\n", [b"a"]),
        (b"dataset: a\n\n data: b\n\ndata: c\n\n", [b"c"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        ("data: 서울 🌉 naïve\u2028\u0085\n\n".encode(), ["서울 🌉 naïve\u2028\u0085".encode()]),
        # An event at the end is read without its blank line, and without any line ending.
        (b"data: a\n\ndata: b\n", [b"a", b"b"]),
        (b"data: a\n\ndata: b", [b"a", b"b"]),
        (b"data: a\n\ndata: b\r", [b"a", b"b"]),
        (b"data: [DONE]", [b"[DONE]"]),
    ],
)
def test_read(stream: bytes, events: list[bytes]) -> None:
    """Events are read as the standard says, in one piece or byte by byte."""
    assert read(stream) == events
    assert read(*cut(stream, range(len(stream)))) == events


LINES = st.sampled_from(
    ["data: a", "data:", "data: 서울 🌉", "data: {", "", "", ": c", "event: x", "data", "d", "data: a\u2028b"]
)


@given(st.lists(st.tuples(LINES, st.sampled_from(["\n", "\r", "\r\n"]))), st.lists(st.integers(0, 99), max_size=9))
def test_cut_anywhere(lines: list[tuple[str, str]], places: list[int]) -> None:
    """However the network cuts a stream, inside a character or a line ending too, it says the same."""
    stream = "".join(line + ending for line, ending in lines).encode()
    whole = read(stream)
    assert read(*cut(stream, places)) == whole
    assert read(*cut(stream, range(len(stream)))) == whole


@given(st.lists(st.text(max_size=9).map(lambda text: {"content": text, text: None}), max_size=4))
def test_what_is_written_is_read_back(objects: list[dict[str, str | None]]) -> None:
    """Events that we write hold what they were given, for our own reader and for one that splits at line feeds."""
    stream = b"".join(write_event(value) for value in objects)
    assert [json.loads(data) for data in read(stream)] == objects
    lines = [line for line in stream.split(b"\n") if line]
    assert [json.loads(line.removeprefix(b"data: ")) for line in lines] == objects


def test_written_event() -> None:
    """An event is one line of data and a blank one; bytes go as they are."""
    assert write_event({"a": [1, None]}) == b'data: {"a":[1,null]}\n\n'
    assert write_event(DONE) == b"data: [DONE]\n\n"


def test_members_with_line_breaks_stay_one_line() -> None:
    """The upstream's own bytes keep their number formats and escapes, but no line breaks: those would end the data."""
    usage = msgspec.Raw(b'{\r\n  "cost": 1.0E+2,\n  "note": "\\u00e9\\n"\n}')
    assert write_event({"usage": usage}) == b'data: {"usage":{"cost":1.0E+2,"note":"\\u00e9\\n"}}\n\n'


@pytest.mark.parametrize(
    ("headers", "streams"),
    [
        ([(b"Content-Type", b"text/event-stream")], True),
        ([(b"content-type", b"TEXT/EVENT-STREAM; charset=utf-8")], True),
        ([(b"content-type", b"application/json")], False),
        ([(b"content-type", b"text/event-stream-like")], False),
        ([(b"accept", b"text/event-stream")], False),
        ([], False),
    ],
)
def test_event_stream_is_known_by_its_type(headers: list[tuple[bytes, bytes]], streams: bool) -> None:
    """A reply is a stream of events where its content type says so."""
    assert is_event_stream(headers) is streams


class Source:
    """Events that come when a test lets them, and a note of whether the source was closed."""

    def __init__(self) -> None:
        self.ready = asyncio.Event()
        self.closed = False

    async def events(self) -> AsyncGenerator[bytes]:
        """Yield one event at once and one when ready."""
        try:
            yield b"first"
            await self.ready.wait()
            yield b"second"
        finally:
            self.closed = True


@pytest.mark.anyio
async def test_comments_in_silence() -> None:
    """While nothing comes, a comment goes out again and again; then the event, and the end."""
    source = Source()
    kept = keep_alive(source.events(), 0.001)
    assert [await anext(kept) for _ in range(3)] == [b"first", KEEP_ALIVE, KEEP_ALIVE]
    source.ready.set()
    rest = [event async for event in kept]
    assert [event for event in rest if event != KEEP_ALIVE] == [b"second"]
    assert source.closed


@pytest.mark.anyio
async def test_no_comments_wanted() -> None:
    """With an interval of nought silence stays silent."""
    source = Source()
    kept = keep_alive(source.events(), 0)
    assert await anext(kept) == b"first"
    asyncio.get_running_loop().call_later(0.005, source.ready.set)
    assert [event async for event in kept] == [b"second"]


@pytest.mark.anyio
async def test_leaving_in_silence() -> None:
    """Who stops reading, in the middle of a silence too, closes the source."""
    source = Source()
    kept = keep_alive(source.events(), 0.001)
    assert [await anext(kept) for _ in range(2)] == [b"first", KEEP_ALIVE]
    await kept.aclose()
    assert source.closed


@pytest.mark.anyio
async def test_failure_of_the_source() -> None:
    """What the source raises comes through."""

    async def fail() -> AsyncGenerator[bytes]:
        yield b"first"
        raise LookupError

    kept = keep_alive(fail(), 1)
    assert await anext(kept) == b"first"
    with pytest.raises(LookupError):
        await anext(kept)
