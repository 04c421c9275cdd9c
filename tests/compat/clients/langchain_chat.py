"""LangChain's `ChatOpenAI`, as an application uses it.

In: where the proxy listens (command line). Out: what LangChain made of each scene, as one line of JSON.
"""

from __future__ import annotations

from typing import Any, Final

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from compat.clients.outcomes import KEY, QUESTION, Scene, Stage, report_outcomes, run_async


class Opening(BaseModel):
    """What the model is to fill in."""

    bridge: str
    year: int


def look_up(year: int) -> str:
    """Look a year up."""
    return f"Found {year}."


def connect(stage: Stage, scene: str, **options: Any) -> ChatOpenAI:  # noqa: ANN401 - LangChain's own options
    """Return a chat model behind the proxy."""
    return ChatOpenAI(model=stage.model(scene), base_url=stage.proxy_url, api_key=KEY, **options)


def dump(message: BaseMessage) -> Any:  # noqa: ANN401 - JSON
    """Return a message's text, and all that LangChain keeps of the reply."""
    return {"text": message.content, "whole": message.model_dump(mode="json")}


def plain(stage: Stage) -> object:
    """Ask once."""
    return dump(connect(stage, "plain").invoke(QUESTION))


def plain_async(stage: Stage) -> object:
    """Ask on asyncio."""
    return dump(run_async(connect(stage, "plain_async").ainvoke(QUESTION)))


def raw_response(stage: Stage) -> object:
    """Ask LangChain to keep the headers, where the verdict stands as well."""
    return dump(connect(stage, "raw_response", include_response_headers=True).invoke(QUESTION))


def controls(stage: Stage) -> object:
    """Send controls with every request of a model."""
    chat = connect(
        stage,
        "controls",
        extra_body={"verify": {"mode": "detect", "claims": "llm"}, "x_vendor": {"a": [1]}},
        default_headers={"X-Verify-Claims": "local", "X-Vendor-Trace": "t-1"},
    )
    return dump(chat.invoke(QUESTION))


def history(stage: Stage) -> object:
    """Send a corrected answer back as history."""
    chat = connect(stage, "history")
    first = chat.invoke(QUESTION)
    return dump(chat.invoke([("user", QUESTION), first, ("user", "Are you sure?")]))


def stream(stage: Stage) -> object:
    """Read a stream."""
    return [dump(piece) for piece in connect(stage, "stream").stream(QUESTION)]


def stream_async(stage: Stage) -> object:
    """Read a stream on asyncio, and ask for the usage."""

    async def read() -> object:
        chat = connect(stage, "stream_async", stream_usage=True)
        return [dump(piece) async for piece in chat.astream(QUESTION)]

    return run_async(read())


def tools(stage: Stage) -> object:
    """Be asked to call two tools, send what they say, and get an answer."""
    chat = connect(stage, "tools").bind_tools([look_up])
    asked = chat.invoke(QUESTION)
    results = [ToolMessage(look_up(**call["args"]), tool_call_id=call["id"]) for call in asked.tool_calls]
    answered = chat.invoke([("user", QUESTION), asked, *results])
    return {"calls": [(call["id"], call["name"], call["args"]) for call in asked.tool_calls], **dump(answered)}


def stream_tools(stage: Stage) -> object:
    """Get the same calls in fragments, which add up."""
    first, *rest = connect(stage, "stream_tools").bind_tools([look_up]).stream(QUESTION)
    return [(call["id"], call["name"], call["args"]) for call in sum(rest, start=first).tool_calls]


def parse(stage: Stage) -> object:
    """Get an object of a class."""
    return connect(stage, "parse").with_structured_output(Opening).invoke(QUESTION).model_dump()


def retried(stage: Stage) -> object:
    """Be refused once with a time to wait, and let LangChain try again."""
    return dump(connect(stage, "retried").invoke(QUESTION))


SCENES: Final[tuple[Scene, ...]] = (
    plain, plain_async, raw_response, controls, history, stream, stream_async, tools, stream_tools, parse, retried,
)  # fmt: skip

report_outcomes(*SCENES)
