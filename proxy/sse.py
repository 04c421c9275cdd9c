"""A verified completion as server-sent events: the reply to a client that asked for a stream (contract, section 4).

In: a completion's bytes with its report. Out: one valid stream: role, content and finish chunk of each choice, the
object on the last finish chunk, a usage chunk where it was asked for, `[DONE]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Raw

DONE: Final = b"data: [DONE]\n\n"
CONTENT_TYPE: Final = b"text/event-stream; charset=utf-8"

_OF_THE_WHOLE: Final = frozenset({"choices", "usage", "verification", "object"})


def write_stream(body: bytes, *, usage: bool) -> Iterator[bytes]:
    """Yield the events of a completion.

    Args:
        body: the completion as it would be answered without a stream.
        usage: whether the client asked for a usage chunk.
    """
    members = msgspec.json.decode(body, type=dict[str, Raw])
    choices = msgspec.json.decode(members["choices"], type=list[dict[str, Any]])
    head = {"object": "chat.completion.chunk"} | {k: v for k, v in members.items() if k not in _OF_THE_WHOLE}
    for position, choice in enumerate(choices):
        last = position == len(choices) - 1
        yield from _write_choice(head, choice, members["verification"] if last else None)
    if usage and "usage" in members:
        yield _event(head | {"choices": [], "usage": members["usage"]})
    yield DONE


def _write_choice(head: Mapping[str, Any], choice: Mapping[str, Any], report: Raw | None) -> Iterator[bytes]:
    message = {name: value for name, value in (choice.get("message") or {}).items() if value is not None}
    role = message.pop("role", "assistant")
    if isinstance(message.get("tool_calls"), list):
        message["tool_calls"] = [
            {"index": index} | call if isinstance(call, dict) else call
            for index, call in enumerate(message["tool_calls"])
        ]
    index = choice.get("index", 0)
    beside = {name: value for name, value in choice.items() if name not in {"message", "finish_reason", "index"}}

    def chunk(delta: Mapping[str, Any], finish_reason: str | None = None, **more: object) -> bytes:
        return _event(head | {"choices": [{"index": index, "delta": delta, "finish_reason": finish_reason} | more]})

    yield chunk({"role": role, "content": ""} if "content" in message else {"role": role})
    if message:
        yield chunk(message, None, **beside)
    ending = {"index": index, "delta": {}, "finish_reason": choice.get("finish_reason")}
    yield _event(head | {"choices": [ending]} | ({} if report is None else {"verification": report}))


def _event(chunk: Mapping[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(chunk) + b"\n\n"
