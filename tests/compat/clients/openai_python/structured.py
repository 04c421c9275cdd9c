"""Answers that are no prose: tool calls and JSON for a schema, whole and streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import BaseModel

from compat.clients.openai_python.session import ASK, connect, dump
from compat.clients.outcomes import Scene, Stage

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionToolParam

TOOLS: Final[list[ChatCompletionToolParam]] = [
    {
        "type": "function",
        "function": {
            "name": "look_up",
            "parameters": {"type": "object", "properties": {"year": {"type": "integer"}}},
        },
    }
]


class Opening(BaseModel):
    """What the model is to fill in."""

    bridge: str
    year: int


def tools(stage: Stage) -> object:
    """Be asked to call two tools, send what they say, and get an answer."""
    client, model = connect(stage.proxy_url), stage.model("tools")
    asked = client.chat.completions.create(model=model, messages=ASK, tools=TOOLS)
    message = asked.choices[0].message
    results = [{"role": "tool", "tool_call_id": call.id, "content": "Found."} for call in message.tool_calls or ()]
    answered = client.chat.completions.create(model=model, messages=[*ASK, message, *results], tools=TOOLS)  # type: ignore[list-item]  # taken too
    return {"asked": dump(asked), "answered": dump(answered)}


def stream_tools(stage: Stage) -> object:
    """Get the same calls in fragments, and let the helper put them together."""
    with connect(stage.proxy_url).chat.completions.stream(
        model=stage.model("stream_tools"), messages=ASK, tools=TOOLS
    ) as events:
        seen = list(events)
    chunks = [dump(event.chunk) for event in seen if event.type == "chunk"]
    done = [event.arguments for event in seen if event.type == "tool_calls.function.arguments.done"]
    return {"chunks": chunks, "done": done, "final": dump(events.get_final_completion())}


def parse(stage: Stage) -> object:
    """Get an object of a class."""
    completion = connect(stage.proxy_url).chat.completions.parse(
        model=stage.model("parse"), messages=ASK, response_format=Opening
    )
    parsed = completion.choices[0].message.parsed
    report = (completion.model_extra or {})["verification"]
    return {"parsed": None if parsed is None else dump(parsed), "report": report, "completion": dump(completion)}


def stream_parse(stage: Stage) -> object:
    """Get an object of a class from a stream."""
    with connect(stage.proxy_url).chat.completions.stream(
        model=stage.model("stream_parse"), messages=ASK, response_format=Opening
    ) as events:
        chunks = [dump(event.chunk) for event in events if event.type == "chunk"]
    parsed = events.get_final_completion().choices[0].message.parsed
    return {"chunks": chunks, "parsed": None if parsed is None else dump(parsed)}


SCENES: Final[tuple[Scene, ...]] = (tools, stream_tools, parse, stream_parse)
