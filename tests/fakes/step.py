"""One scripted answer: status, headers and body, cut where the test says, with pauses where it says.

In: nothing. Out: frozen `Step`s and, from `Step.wire`, the exact bytes and pauses in the order in which the
scripted upstream performs them. It stands apart because it is pure: what is sent is known before anything runs.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from http import HTTPStatus
from itertools import accumulate, pairwise
from typing import Literal

from fakes.gate import Gate


class Act(Enum):
    """What a server may do instead of going on."""

    CLOSE = "close the connection"
    HANG = "send nothing more and keep the connection open"


CLOSE, HANG = Act.CLOSE, Act.HANG

Pause = Gate | float | Act
"""What may stand between two pieces of an answer; a number is seconds, for tests about time alone."""
Item = bytes | Pause
Header = tuple[str, str]
Framing = Literal["length", "chunked", "close", "raw"]
"""How the body's end is told: `Content-Length`, chunks (each piece is one), the end of the connection; or `raw`:
the body is the whole response, head and all, and the connection is closed after it."""

_NO_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One answer.

    Every piece of the body is flushed on its own. A client may still read several at once where they are joined by
    `Content-Length`; with `chunked` framing it sees the cuts, however the network joins them.
    """

    status: int = 200
    headers: tuple[Header, ...] = ()
    """Sent as they stand, before the one header that `framing` adds."""
    before: tuple[Pause, ...] = ()
    body: tuple[Item, ...] = ()
    framing: Framing = "length"

    @property
    def content(self) -> bytes:
        """The whole body, cuts and pauses aside, bytes that a `CLOSE` holds back included."""
        return b"".join(item for item in self.body if isinstance(item, bytes))

    @property
    def keeps_alive(self) -> bool:
        """Whether the connection can serve another request."""
        return self.framing in ("length", "chunked")

    def held(self, *pauses: Pause) -> Step:
        """Return the step with pauses before its first byte: `held(gate)`, `held(HANG)`, `held(CLOSE)`."""
        return replace(self, before=(*self.before, *pauses))

    def cut(self, *offsets: int) -> Step:
        """Return the step with its body written in pieces that end at these byte offsets."""
        pieces: list[Item] = []
        start = 0
        for item in self.body:
            if not isinstance(item, bytes):
                pieces.append(item)
                continue
            inside = sorted({offset - start for offset in offsets if 0 < offset - start < len(item)})
            pieces += [item[left:right] for left, right in pairwise((0, *inside, len(item)))]
            start += len(item)
        return replace(self, body=tuple(pieces))

    def interrupt(self, offset: int, *pauses: Pause) -> Step:
        """Return the step with pauses after `offset` bytes of its body: `interrupt(20, CLOSE)` breaks off there.

        Raises:
            ValueError: the body is shorter than that.
        """
        body = self.cut(offset).body
        sizes = (len(item) if isinstance(item, bytes) else 0 for item in body)
        place = list(accumulate(sizes, initial=0)).index(offset)
        return replace(self, body=(*body[:place], *pauses, *body[place:]))

    def chunked(self) -> Step:
        """Return the step with each piece as one chunk."""
        return replace(self, framing="chunked")

    def with_headers(self, *headers: Header) -> Step:
        """Return the step with more headers; a name may repeat."""
        return replace(self, headers=(*self.headers, *headers))

    def gzipped(self) -> Step:
        """Return the step compressed piece by piece, so that a stream stays readable as it comes."""
        packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
        packed = (
            packer.compress(item) + packer.flush(zlib.Z_SYNC_FLUSH) if isinstance(item, bytes) else item
            for item in self.body
        )
        step = replace(self, body=(*packed, packer.flush()))
        return step.with_headers(("content-encoding", "gzip"))

    def wire(self, *, method: str = "POST") -> Iterator[Item]:
        """Yield what the server does, in order: bytes to write and flush, pauses to make."""
        yield from self.before
        if self.framing != "raw":
            yield self._head()
        if method == "HEAD" or self.status in _NO_BODY:
            return
        for item in self.body:
            if isinstance(item, bytes) and self.framing == "chunked":
                yield b"%x\r\n%b\r\n" % (len(item), item)
            else:
                yield item
        if self.framing == "chunked":
            yield b"0\r\n\r\n"

    def _head(self) -> bytes:
        headers = [*self.headers]
        if self.status not in _NO_BODY:
            headers += {
                "length": [("content-length", str(len(self.content)))],
                "chunked": [("transfer-encoding", "chunked")],
            }.get(self.framing, [("connection", "close")])
        known = self.status in HTTPStatus.__members__.values()
        reason = HTTPStatus(self.status).phrase if known else "Scripted"
        lines = [f"HTTP/1.1 {self.status} {reason}", *(f"{name}: {value}" for name, value in headers)]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


def raw(*items: Item) -> Step:
    """Return a step that writes these bytes and nothing else, status line and headers being the test's own."""
    return Step(framing="raw", body=items)
