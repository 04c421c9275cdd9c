"""Streams: raw chunks, which carry the report, and the SDK's helper, which puts a completion together from them."""

from __future__ import annotations

from typing import Final

from compat.clients.openai_python.session import ASK, connect, connect_async, dump
from compat.clients.outcomes import Scene, Stage, run_async


def stream(stage: Stage) -> object:
    """Read a stream chunk by chunk."""
    chunks = list(
        connect(stage.proxy_url).chat.completions.create(model=stage.model("stream"), messages=ASK, stream=True)
    )
    reports = [(chunk.model_extra or {}).get("verification") for chunk in chunks]
    return {"chunks": [dump(chunk) for chunk in chunks], "reports": reports}


def stream_async(stage: Stage) -> object:
    """Read a stream on asyncio, and ask for the usage chunk."""

    async def read() -> object:
        async with connect_async(stage.proxy_url) as client:
            chunks = await client.chat.completions.create(
                model=stage.model("stream_async"), messages=ASK, stream=True, stream_options={"include_usage": True}
            )
            return {"chunks": [dump(chunk) async for chunk in chunks]}

    return run_async(read())


def stream_choices(stage: Stage) -> object:
    """Read two choices through the helper, and the chunks that it was given."""
    with connect(stage.proxy_url).chat.completions.stream(
        model=stage.model("stream_choices"), messages=ASK, n=2
    ) as events:
        chunks = [event.chunk for event in events if event.type == "chunk"]
    return {"chunks": [dump(chunk) for chunk in chunks], "final": dump(events.get_final_completion())}


def stream_helper(stage: Stage) -> object:
    """Read a stream through the helper: its events, and the completion at its end."""
    with connect(stage.proxy_url).chat.completions.stream(
        model=stage.model("stream_helper"), messages=ASK, stream_options={"include_usage": True}
    ) as events:
        seen = list(events)
    chunks = [event.chunk for event in seen if event.type == "chunk"]
    done = [event.content for event in seen if event.type == "content.done"]
    return {"chunks": [dump(chunk) for chunk in chunks], "done": done, "final": dump(events.get_final_completion())}


def stream_annotated(stage: Stage) -> object:
    """Ask for the draft live."""
    chunks = connect(stage.proxy_url).chat.completions.create(
        model=stage.model("stream_annotated"), messages=ASK, stream=True, extra_headers={"X-Verify-Stream": "annotate"}
    )
    return {"chunks": [dump(chunk) for chunk in chunks]}


def stream_raw_response(stage: Stage) -> object:
    """Look at a stream's headers first, then read it."""
    reply = connect(stage.proxy_url).chat.completions.with_raw_response.create(
        model=stage.model("stream_raw_response"), messages=ASK, stream=True
    )
    return {"headers": dict(reply.headers), "chunks": [dump(chunk) for chunk in reply.parse()]}


def stream_kept_alive(stage: Stage) -> object:
    """Read a stream with comments in it."""
    chunks = connect(stage.strict_url).chat.completions.create(
        model=stage.model("stream_kept_alive"), messages=ASK, stream=True
    )
    return {"chunks": [dump(chunk) for chunk in chunks]}


SCENES: Final[tuple[Scene, ...]] = (
    stream,
    stream_async,
    stream_choices,
    stream_helper,
    stream_annotated,
    stream_raw_response,
    stream_kept_alive,
)
