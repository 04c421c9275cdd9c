"""Bodies in, replies out, and what happens when the client hangs up."""

from __future__ import annotations

import asyncio
import gc
import logging
from typing import Any

import pytest

from proxy.asgi import ClientGone, StreamedBody, read_body, run_until_hangup, send_head, send_piece, send_reply
from proxy.errors import BodyTooLarge

pytestmark = pytest.mark.anyio

Event = dict[str, Any]
HANG_UP: Event = {"type": "http.disconnect"}


class Client:
    """The server's side of one request: events that were sent, then silence until the client hangs up."""

    def __init__(self, *events: Event) -> None:
        self._events = list(events)
        self._gone = asyncio.Event()
        self.received = 0
        self.sent: list[Any] = []

    async def receive(self) -> Any:  # noqa: ANN401  # ASGI's messages are plain dicts
        """Return the next event; wait for the hang-up where there is none."""
        self.received += 1
        if self._events:
            return self._events.pop(0)
        await self._gone.wait()
        return HANG_UP

    async def send(self, message: Any) -> None:  # noqa: ANN401  # as above
        """Note what the client is sent."""
        self.sent.append(message)

    def hang_up(self) -> None:
        """Leave."""
        self._gone.set()


def body(*pieces: bytes, cut: bool = False) -> list[Event]:
    """Return the events of a body; `cut` where the client hangs up within it."""
    events = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    return [*events, HANG_UP] if cut else [*events[:-1], events[-1] | {"more_body": False}]


@pytest.mark.parametrize(
    ("events", "whole"),
    [
        (body(b"all of it"), b"all of it"),
        (body(b"in ", b"", b"pieces", b""), b"in pieces"),
        (body(b""), b""),
        # The keys of an event may be left out.
        ([{"type": "http.request"}], b""),
        ([{"type": "http.request", "body": b"a", "more_body": True}, {"type": "http.request", "body": b"b"}], b"ab"),
        ([{"type": "http.request", "more_body": True}, {"type": "http.request", "body": b"b"}], b"b"),
        (body(b"12345", b"67890"), b"1234567890"),
    ],
)
async def test_read_body(events: list[Event], whole: bytes) -> None:
    """The body is read to its end, and no further: the next event belongs to who watches for the hang-up."""
    client = Client(*events)
    assert await read_body(client.receive, limit=10) == whole
    assert client.received == len(events)


@pytest.mark.parametrize("pieces", [[b"12345678901"], [b"1234567890", b"1"], [b"1"] * 11, [b"x" * 99, b"", b"yy"]])
async def test_body_over_the_limit(pieces: list[bytes]) -> None:
    """A body that is too large is read to its end first, so that the client gets to read the answer."""
    client = Client(*body(*pieces))
    with pytest.raises(BodyTooLarge):
        await read_body(client.receive, limit=10)
    assert client.received == len(pieces)


@pytest.mark.parametrize("pieces", [[], [b"12"], [b"x" * 99]])
async def test_hang_up_within_the_body(pieces: list[bytes]) -> None:
    """A client that leaves within its body is gone, however much it had sent."""
    with pytest.raises(ClientGone):
        await read_body(Client(*body(*pieces, cut=True)).receive, limit=10)


async def test_streamed_body() -> None:
    """A body is handed on piece by piece, empty ones left out, and says when it is at its end."""
    client = Client(*body(b"a", b"", b"b"))
    streamed = StreamedBody(client.receive)
    pieces = [(piece, streamed.finished.is_set()) async for piece in streamed]
    assert pieces == [(b"a", False), (b"b", True)]
    assert [piece async for piece in streamed] == []
    assert client.received == 3


async def test_streamed_body_that_was_read_before() -> None:
    """Where nothing is left to be read, nothing is asked for."""
    client = Client()
    assert [piece async for piece in StreamedBody(client.receive, done=True)] == []
    assert client.received == 0


async def test_streamed_body_cut() -> None:
    """What came before the hang-up is handed on; then the client is gone."""
    pieces = aiter(StreamedBody(Client(*body(b"a", cut=True)).receive))
    assert await anext(pieces) == b"a"
    with pytest.raises(ClientGone):
        await anext(pieces)


async def test_reply() -> None:
    """A reply's header lines go out as they are, repeated ones repeated."""
    client = Client()
    lines = [(b"X-A", b"1"), (b"x-a", b"2"), (b"content-length", b"2")]
    await send_reply(client.send, 201, lines, b"ok")
    await send_head(client.send, 200, lines)
    await send_piece(client.send, b"piece")
    assert client.sent == [
        {"type": "http.response.start", "status": 201, "headers": lines},
        {"type": "http.response.body", "body": b"ok", "more_body": False},
        {"type": "http.response.start", "status": 200, "headers": lines},
        {"type": "http.response.body", "body": b"piece", "more_body": True},
    ]


class Work:
    """Something to run: waits until let go, and notes how it ended."""

    def __init__(self, failure: Exception | None = None, *, failure_at_cancel: Exception | None = None) -> None:
        self.started = asyncio.Event()
        self.let_go = asyncio.Event()
        self.ended = "not"
        self._failure = failure
        self._failure_at_cancel = failure_at_cancel

    async def run(self) -> str:
        """Return or fail when let go."""
        self.started.set()
        try:
            await self.let_go.wait()
        except asyncio.CancelledError:
            self.ended = "cancelled"
            if self._failure_at_cancel is not None:
                raise self._failure_at_cancel from None
            raise
        self.ended = "by itself"
        if self._failure is not None:
            raise self._failure
        return "done"


async def test_work_is_done_while_the_client_waits() -> None:
    """The work's value is returned, and the client is no longer watched then."""
    client, work = Client(), Work()
    work.let_go.set()
    before = asyncio.all_tasks()
    assert await run_until_hangup(client.receive, work.run()) == "done"
    assert asyncio.all_tasks() == before


async def test_work_that_fails() -> None:
    """The work's own error comes through."""
    work = Work(LookupError())
    work.let_go.set()
    with pytest.raises(LookupError):
        await run_until_hangup(Client().receive, work.run())


async def test_hang_up_cancels_the_work() -> None:
    """A client that hangs up ends the work, and its end is waited for."""
    client, work = Client(), Work()
    running = asyncio.create_task(run_until_hangup(client.receive, work.run()))
    await work.started.wait()
    client.hang_up()
    with pytest.raises(ClientGone):
        await running
    assert work.ended == "cancelled"


async def test_what_fails_while_it_is_cancelled_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """An error on the way out is nobody's any more: its text must not turn up in the log."""
    client, work = Client(), Work(failure_at_cancel=LookupError("the user's text"))
    running = asyncio.create_task(run_until_hangup(client.receive, work.run()))
    await work.started.wait()
    client.hang_up()
    with caplog.at_level(logging.DEBUG):
        assert isinstance((await asyncio.gather(running, return_exceptions=True))[0], ClientGone)
        del running
        gc.collect()  # asyncio tells of an error that nobody has looked at when its task goes
    assert "the user's text" not in caplog.text


async def test_being_cancelled_cancels_the_work() -> None:
    """A server that shuts down ends both the work and the watching."""
    before = asyncio.all_tasks()
    client, work = Client(), Work()
    running = asyncio.create_task(run_until_hangup(client.receive, work.run()))
    await work.started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert work.ended == "cancelled"
    assert asyncio.all_tasks() == before


async def test_body_is_left_to_who_reads_it() -> None:
    """While the body streams, only its reader receives; the hang-up is watched for from its end on."""
    client = Client(*body(b"a", b"b"))
    streamed = StreamedBody(client.receive)
    read: list[bytes] = []

    async def forward() -> None:
        read.extend([piece async for piece in streamed])
        client.hang_up()
        await asyncio.Event().wait()

    with pytest.raises(ClientGone):
        await run_until_hangup(client.receive, forward(), after=streamed.finished)
    assert read == [b"a", b"b"]


async def test_events_that_are_no_hang_up() -> None:
    """An empty body's event that nobody has read is none."""
    client, work = Client(*body(b"")), Work()
    running = asyncio.create_task(run_until_hangup(client.receive, work.run()))
    await work.started.wait()
    work.let_go.set()
    assert await running == "done"
