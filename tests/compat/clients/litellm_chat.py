"""litellm as a client, the way an application calls an OpenAI-compatible server with it.

In: where the proxy listens (command line). Out: what litellm made of each scene, as one line of JSON.
"""

from __future__ import annotations

import json
import os
from typing import Any, Final

from pydantic import BaseModel

from compat.clients.outcomes import KEY, QUESTION, Scene, Stage, report_outcomes, run_async

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else the import asks the network for prices

import litellm

ASK: Final = [{"role": "user", "content": QUESTION}]
TOOLS: Final = [
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


def where(stage: Stage, scene: str) -> dict[str, Any]:
    """Return the arguments that every call has."""
    return {"model": f"openai/{stage.model(scene)}", "api_base": stage.proxy_url, "api_key": KEY}


def dump(response: Any) -> Any:  # noqa: ANN401 - JSON of a litellm type
    """Return a reply's text, all that litellm kept of it, and the headers that it keeps beside it."""
    whole = response.model_dump(mode="json")
    headers = response._hidden_params.get("additional_headers") or {}
    return {"text": _text_of(whole), "whole": whole, "headers": {name: str(headers[name]) for name in headers}}


def _text_of(whole: dict[str, Any]) -> str:
    """Return the text of a completion, or of a chunk."""
    said = [choice.get("message") or choice["delta"] for choice in whole["choices"]]
    return "".join(part["content"] or "" for part in said)


def _calls_of(message: Any) -> list[tuple[str, str, object]]:  # noqa: ANN401 - a litellm type
    return [(call.id, call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls]


def plain(stage: Stage) -> object:
    """Ask once."""
    return dump(litellm.completion(**where(stage, "plain"), messages=ASK))


def plain_async(stage: Stage) -> object:
    """Ask on asyncio."""
    return dump(run_async(litellm.acompletion(**where(stage, "plain_async"), messages=ASK)))


def controls(stage: Stage) -> object:
    """Send controls with one request."""
    return dump(
        litellm.completion(
            **where(stage, "controls"),
            messages=ASK,
            extra_body={"verify": {"mode": "detect", "claims": "llm"}, "x_vendor": {"a": [1]}},
            extra_headers={"X-Verify-Claims": "local", "X-Vendor-Trace": "t-1"},
        )
    )


def history(stage: Stage) -> object:
    """Send a corrected answer back as history."""
    first = litellm.completion(**where(stage, "history"), messages=ASK)
    messages = [*ASK, first.choices[0].message, {"role": "user", "content": "Are you sure?"}]
    return dump(litellm.completion(**where(stage, "history"), messages=messages))


def stream(stage: Stage) -> object:
    """Read a stream."""
    return [dump(chunk) for chunk in litellm.completion(**where(stage, "stream"), messages=ASK, stream=True)]


def stream_helper(stage: Stage) -> object:
    """Let litellm put the completion together."""
    chunks = list(litellm.completion(**where(stage, "stream_helper"), messages=ASK, stream=True))
    return dump(litellm.stream_chunk_builder(chunks))


def stream_async(stage: Stage) -> object:
    """Read a stream on asyncio, and ask for the usage."""

    async def read() -> object:
        chunks = await litellm.acompletion(
            **where(stage, "stream_async"), messages=ASK, stream=True, stream_options={"include_usage": True}
        )
        return [dump(chunk) async for chunk in chunks]

    return run_async(read())


def tools(stage: Stage) -> object:
    """Be asked to call two tools, send what they say, and get an answer."""
    asked = litellm.completion(**where(stage, "tools"), messages=ASK, tools=TOOLS)
    message = asked.choices[0].message
    results = [{"role": "tool", "tool_call_id": call.id, "content": "Found."} for call in message.tool_calls]
    answered = litellm.completion(**where(stage, "tools"), messages=[*ASK, message, *results], tools=TOOLS)
    return {"calls": _calls_of(message), **dump(answered)}


def stream_tools(stage: Stage) -> object:
    """Get the same calls in fragments, and put them together."""
    chunks = list(litellm.completion(**where(stage, "stream_tools"), messages=ASK, tools=TOOLS, stream=True))
    return _calls_of(litellm.stream_chunk_builder(chunks).choices[0].message)


def parse(stage: Stage) -> object:
    """Get JSON for a schema."""
    completion = litellm.completion(**where(stage, "parse"), messages=ASK, response_format=Opening)
    return Opening.model_validate_json(completion.choices[0].message.content).model_dump()


def retried(stage: Stage) -> object:
    """Be refused once with a time to wait, and let litellm try again."""
    return dump(litellm.completion(**where(stage, "retried"), messages=ASK, max_retries=2))


SCENES: Final[tuple[Scene, ...]] = (
    plain, plain_async, controls, history, stream, stream_helper, stream_async, tools, stream_tools, parse, retried,
)  # fmt: skip

report_outcomes(*SCENES)
