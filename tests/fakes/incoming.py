"""The requests that come in on one connection of the scripted upstream, parsed with h11."""

from __future__ import annotations

import asyncio

import h11

_READ_BYTES = 65536


class Incoming:
    """One client's side of a connection."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._ahead = b""
        self._was_last = False

    async def read_request(self) -> tuple[h11.Request, bytes] | None:
        """Return the head and body of the next request; None where the peer wants none or closes within it."""
        if self._was_last:
            return None
        # A parser a request: h11's own cycle would want to know what is answered, which is raw bytes here.
        parser = h11.Connection(h11.SERVER)
        if self._ahead:
            parser.receive_data(self._ahead)
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = parser.next_event()
            if isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                assert head is not None
                self._ahead = parser.trailing_data[0]
                self._was_last = parser.their_state is h11.MUST_CLOSE
                return head, bytes(body)
            else:
                data = await self._read()
                if not data:
                    return None
                parser.receive_data(data)

    async def wait_closed(self) -> None:
        """Return once the peer has closed its side; what it sends before that is kept for the next request."""
        while data := await self._read():
            self._ahead += data

    async def _read(self) -> bytes:
        try:
            return await self._reader.read(_READ_BYTES)
        except ConnectionError:
            return b""
