"""An upstream that answers every request with the same chat completion, as fast as this language can.

Run by `overhead.py` in a process of its own: `python fixed_upstream.py PORT`. What it costs is in the direct calls
as in the others, and cancels.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Final

from exchange import HOST, write_reply

_TEXT: Final = (
    "Marie Curie won her first Nobel Prize, in physics, in 1903, together with Pierre Curie and Henri Becquerel. "
    "Her second one, in chemistry, followed in 1911 for the discovery of polonium and radium."
)
_COMPLETION: Final = {
    "id": "chatcmpl-benchmark",
    "object": "chat.completion",
    "created": 1_700_000_000,
    "model": "gpt-3.5-turbo",
    "choices": [
        {"index": 0, "message": {"role": "assistant", "content": _TEXT}, "logprobs": None, "finish_reason": "stop"}
    ],
    "usage": {"prompt_tokens": 24, "completion_tokens": 47, "total_tokens": 71},
}
REPLY: Final = write_reply(
    "200 OK",
    {"Content-Type": "application/json", "x-request-id": "req_benchmark", "x-ratelimit-remaining-requests": "9999"},
    json.dumps(_COMPLETION).encode(),
)

_HEAD_END: Final = b"\r\n\r\n"
_LENGTH: Final = b"\r\ncontent-length:"


class FixedReplies(asyncio.Protocol):
    """One connection; requests are read as far as is needed to find their ends."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        self._buffer = b""
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the connection."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer each request that is complete."""
        self._buffer += data
        while (end := self._buffer.find(_HEAD_END)) >= 0:
            _, _, after = self._buffer[:end].lower().partition(_LENGTH)
            size = end + len(_HEAD_END) + int(after.partition(b"\r\n")[0] or 0)
            if len(self._buffer) < size:
                return
            self._buffer = self._buffer[size:]
            self._transport.write(REPLY)


async def serve(port: int) -> None:
    """Serve until the process is stopped."""
    server = await asyncio.get_running_loop().create_server(FixedReplies, HOST, port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
