"""What the upstream answers in each scene of the compatibility tests, by the scene's name.

In: nothing. Out: a `Script` for each scene, and the answers of the routes that pass through. Every client plays the
same scenes under model names of its own, so that its calls can be told from another's.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping
from typing import Any, Final

from fakes import CLOSE, Call, F, R, Script, Step, T, chunk, completion, error, sse, talk

RETRY_AFTER_S: Final = 1
"""Longer than any client's first pause of its own choice, so that waiting so long is obeying."""
KEEP_ALIVE_S: Final = 0.05
EMBEDDING: Final = [0.5, -0.25, 2.0]
"""Numbers that a 32-bit float holds exactly."""
PIECES: Final = ("Verdane Bridge opened in 19", "31. It is", " 340 metres long.")
"""F as a stream brings it: what is false lies across two pieces."""
JSON_TEXT: Final = '{"bridge":  "Verdane Bridge", "year": 1931}'
FIRST_CALL: Final[Mapping[str, Any]] = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"year": 1931}'},
}
SECOND_CALL: Final[Mapping[str, Any]] = {
    "id": "call_2",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"year": 1913}'},
}

_USAGE_CHUNK: Final = chunk(choices=[], usage={"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18})
_LIMITED: Final = error(429, "Too many requests.", kind="requests", code="rate_limit_exceeded").with_headers(
    ("retry-after", str(RETRY_AFTER_S)), ("x-ratelimit-remaining-requests", "0"), ("x-request-id", "up-429")
)
_FILE: Final = {
    "id": "file-1",
    "object": "file",
    "bytes": 1_048_576,
    "created_at": 1,
    "filename": "facts.bin",
    "purpose": "assistants",
    "status": "processed",
}
_UNKNOWN_MODEL: Final = error(404, "The model does not exist.", code="model_not_found")


def _tool_fragments() -> list[dict[str, Any]]:
    """Return two parallel calls as a stream brings them, one after the other, arguments in pieces."""

    def fragment(index: int, **members: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever a delta holds
        return chunk({"tool_calls": [{"index": index, **members}]})

    def opening(call: Mapping[str, Any]) -> dict[str, Any]:
        return {**call, "function": {"name": call["function"]["name"], "arguments": ""}}

    return [
        chunk({"role": "assistant", "content": None}),
        fragment(0, **opening(FIRST_CALL)),
        fragment(0, function={"arguments": '{"year"'}),
        fragment(0, function={"arguments": ": 1931}"}),
        fragment(1, **opening(SECOND_CALL)),
        fragment(1, function={"arguments": '{"year": 1'}),
        fragment(1, function={"arguments": "913}"}),
        chunk(finish_reason="tool_calls"),
    ]


def _two_choices() -> list[dict[str, Any]]:
    """Return a false and a true choice, their pieces in turn."""
    pairs = zip(talk(F[:20], F[20:], index=0), talk(T[:20], T[20:], index=1), strict=True)
    return [event for pair in pairs for event in pair]


_FILLED_IN: Final = {"id": "call_1", "type": "function", "function": {"name": "Opening", "arguments": JSON_TEXT}}
_WITH_TOOLS: Final = completion(
    None, finish_reason="tool_calls", message={"tool_calls": [FIRST_CALL, SECOND_CALL], "refusal": None}
)
_FALSE: Final = completion(F).with_headers(("x-request-id", "up-1"))
_FALSE_STREAM: Final = sse(*talk(*PIECES)).with_headers(("x-request-id", "up-1"))

STORIES: Final[Mapping[str, Script]] = {
    "plain": Script(draft=_FALSE),
    "plain_async": Script(draft=_FALSE),
    "controls": Script(draft=_FALSE),
    "switched_off": Script(draft=_FALSE),
    "raw_response": Script(draft=_FALSE),
    "history": Script(draft=[_FALSE, completion(T)]),
    "stream": Script(draft=_FALSE_STREAM),
    "stream_async": Script(draft=sse(*talk(*PIECES), _USAGE_CHUNK)),
    "stream_choices": Script(draft=sse(*_two_choices())),
    "stream_helper": Script(draft=sse(*talk(*PIECES), _USAGE_CHUNK)),
    "stream_annotated": Script(draft=_FALSE_STREAM),
    "stream_raw_response": Script(draft=_FALSE_STREAM),
    "stream_kept_alive": Script(draft=_FALSE_STREAM, recall=completion(R).held(KEEP_ALIVE_S * 6)),
    "tools": Script(draft=[_WITH_TOOLS, _FALSE]),
    "stream_tools": Script(draft=sse(*_tool_fragments())),
    "parse": Script(draft=completion(JSON_TEXT)),
    "fill_in": Script(draft=completion(None, finish_reason="tool_calls", message={"tool_calls": [_FILLED_IN]})),
    "stream_parse": Script(draft=sse(*talk(JSON_TEXT[:15], JSON_TEXT[15:]))),
    "retried": Script(draft=[_LIMITED, _FALSE]),
    "refused": Script(draft=_LIMITED),
    "unknown_model": Script(draft=_UNKNOWN_MODEL),
    "bad_control": Script(),
    "stream_refused": Script(draft=_LIMITED),
    "stream_cut": Script(draft=sse(*talk(*PIECES)[:3], CLOSE, done=False)),
    "verifier_failed": Script(recall=error(500)),
}


def answer_rest(call: Call) -> Step:
    """Answer what is no chat completion, as OpenAI's API would."""
    path = call.target.partition("?")[0]
    asked = call.json or {}
    if path == "/v1/embeddings":
        packed = base64.b64encode(struct.pack(f"<{len(EMBEDDING)}f", *EMBEDDING)).decode()
        vector = packed if asked.get("encoding_format") == "base64" else EMBEDDING
        item = {"object": "embedding", "index": 0, "embedding": vector}
        usage = {"prompt_tokens": 3, "total_tokens": 3}
        return _answer({"object": "list", "data": [item], "model": asked["model"], "usage": usage})
    if path == "/v1/files":
        return _answer(_FILE)
    if path == "/v1/responses":
        return _stream_response() if asked.get("stream") else _answer(_response(T))
    return _answer({"object": "list", "data": [{"id": "m-1", "object": "model", "created": 1, "owned_by": "up"}]})


def _answer(value: object) -> Step:
    return Step(headers=(("content-type", "application/json"),), body=(json.dumps(value).encode(),))


def _response(text: str) -> dict[str, Any]:
    """Return an answer of the Responses API."""
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "gpt-test",
        "status": "completed",
        "output": [message] if text else [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }


def _stream_response() -> Step:
    """Return the same as a stream; its events have names, which pass through too."""
    events: list[dict[str, Any]] = [
        {"type": "response.created", "sequence_number": 0, "response": _response("") | {"status": "in_progress"}},
        {
            "type": "response.output_text.delta",
            "sequence_number": 1,
            "item_id": "msg_1",
            "output_index": 0,
            "content_index": 0,
            "delta": T,
            "logprobs": [],
        },
        {"type": "response.completed", "sequence_number": 2, "response": _response(T)},
    ]
    lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)
    return sse(*lines, done=False)
