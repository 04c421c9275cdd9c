"""LlamaIndex's `OpenAI` class, as an application uses it.

In: where the proxy listens (command line). Out: what LlamaIndex made of each scene, as one line of JSON.
"""

from __future__ import annotations

from typing import Any, Final

from llama_index.core.llms import ChatMessage, ChatResponse
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI
from pydantic import BaseModel

from compat.clients.outcomes import KEY, QUESTION, Scene, Stage, report_outcomes, run_async

ASK: Final = [ChatMessage(role="user", content=QUESTION)]


class Opening(BaseModel):
    """What the model is to fill in."""

    bridge: str
    year: int


def look_up(year: int) -> str:
    """Look a year up."""
    return f"Found {year}."


def connect(stage: Stage, scene: str, **options: Any) -> OpenAI:  # noqa: ANN401 - LlamaIndex's own options
    """Return a chat model behind the proxy."""
    return OpenAI(model=stage.model(scene), api_base=stage.proxy_url, api_key=KEY, **options)


def dump(response: ChatResponse) -> Any:  # noqa: ANN401 - JSON
    """Return a reply's text, or a piece's share of it, and what LlamaIndex keeps of the reply itself."""
    text = response.message.content if response.delta is None else response.delta
    return {"text": text, "whole": response.raw.model_dump(mode="json", exclude_unset=True)}


def plain(stage: Stage) -> object:
    """Ask once."""
    return dump(connect(stage, "plain").chat(ASK))


def plain_async(stage: Stage) -> object:
    """Ask on asyncio."""
    return dump(run_async(connect(stage, "plain_async").achat(ASK)))


def controls(stage: Stage) -> object:
    """Send controls with every request of a model."""
    llm = connect(
        stage,
        "controls",
        additional_kwargs={"extra_body": {"verify": {"mode": "detect", "claims": "llm"}, "x_vendor": {"a": [1]}}},
        default_headers={"X-Verify-Claims": "local", "X-Vendor-Trace": "t-1"},
    )
    return dump(llm.chat(ASK))


def history(stage: Stage) -> object:
    """Send a corrected answer back as history."""
    llm = connect(stage, "history")
    first = llm.chat(ASK)
    return dump(llm.chat([*ASK, first.message, ChatMessage(role="user", content="Are you sure?")]))


def stream(stage: Stage) -> object:
    """Read a stream."""
    return [dump(piece) for piece in connect(stage, "stream").stream_chat(ASK)]


def stream_async(stage: Stage) -> object:
    """Read a stream on asyncio, and ask for the usage."""

    async def read() -> object:
        llm = connect(stage, "stream_async", additional_kwargs={"stream_options": {"include_usage": True}})
        return [dump(piece) async for piece in await llm.astream_chat(ASK)]

    return run_async(read())


def tools(stage: Stage) -> object:
    """Be asked to call two tools, send what they say, and get an answer."""
    llm, tool = connect(stage, "tools"), FunctionTool.from_defaults(look_up)
    asked = llm.chat_with_tools([tool], chat_history=ASK, allow_parallel_tool_calls=True)
    calls = llm.get_tool_calls_from_response(asked)
    results = [
        ChatMessage(
            role="tool", content=str(tool(**call.tool_kwargs)), additional_kwargs={"tool_call_id": call.tool_id}
        )
        for call in calls
    ]
    answered = llm.chat_with_tools([tool], chat_history=[*ASK, asked.message, *results])
    return {"calls": [(call.tool_id, call.tool_name, call.tool_kwargs) for call in calls], **dump(answered)}


def stream_tools(stage: Stage) -> object:
    """Get the same calls in fragments, which add up."""
    llm, tool = connect(stage, "stream_tools"), FunctionTool.from_defaults(look_up)
    *_, last = llm.stream_chat_with_tools([tool], chat_history=ASK, allow_parallel_tool_calls=True)
    calls = llm.get_tool_calls_from_response(last)
    return [(call.tool_id, call.tool_name, call.tool_kwargs) for call in calls]


def fill_in(stage: Stage) -> object:
    """Get an object of a class, which LlamaIndex does by a tool call."""
    return connect(stage, "fill_in").as_structured_llm(Opening).chat(ASK).raw.model_dump()


def retried(stage: Stage) -> object:
    """Be refused once with a time to wait, and let LlamaIndex try again."""
    return dump(connect(stage, "retried").chat(ASK))


SCENES: Final[tuple[Scene, ...]] = (
    plain, plain_async, controls, history, stream, stream_async, tools, stream_tools, fill_in, retried,
)  # fmt: skip

report_outcomes(*SCENES)
