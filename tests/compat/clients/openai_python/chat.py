"""Whole completions: how the report is read, how controls are sent, what a second turn sends back."""

from __future__ import annotations

from typing import Final

from compat.clients.openai_python.session import ASK, connect, connect_async, dump
from compat.clients.outcomes import Scene, Stage, run_async


def plain(stage: Stage) -> object:
    """Ask as README shows, and read the report where README says."""
    completion = connect(stage.proxy_url).chat.completions.create(model=stage.model("plain"), messages=ASK)
    extra = completion.model_extra or {}
    return {"completion": dump(completion), "report": extra["verification"], "request_id": completion._request_id}


def plain_async(stage: Stage) -> object:
    """Ask on asyncio."""

    async def ask() -> object:
        async with connect_async(stage.proxy_url) as client:
            completion = await client.chat.completions.create(model=stage.model("plain_async"), messages=ASK)
        return {"completion": dump(completion), "report": (completion.model_extra or {})["verification"]}

    return run_async(ask())


def controls(stage: Stage) -> object:
    """Send controls both ways at once, and a header that is none of the proxy's business."""
    completion = connect(stage.proxy_url).chat.completions.create(
        model=stage.model("controls"),
        messages=ASK,
        extra_body={"verify": {"mode": "detect", "detail": "full", "claims": "llm"}, "x_vendor": {"a": [1]}},
        extra_headers={"X-Verify-Claims": "local", "X-Vendor-Trace": "t-1"},
    )
    return {"completion": dump(completion)}


def switched_off(stage: Stage) -> object:
    """Switch verification off in the body."""
    completion = connect(stage.proxy_url).chat.completions.create(
        model=stage.model("switched_off"), messages=ASK, extra_body={"verify": False}
    )
    return {"completion": dump(completion)}


def raw_response(stage: Stage) -> object:
    """Look at the headers first, then parse the completion."""
    reply = connect(stage.proxy_url).chat.completions.with_raw_response.create(
        model=stage.model("raw_response"), messages=ASK
    )
    return {"status": reply.status_code, "headers": dict(reply.headers), "completion": dump(reply.parse())}


def history(stage: Stage) -> object:
    """Send a corrected answer back as history, the way an application does: the message object itself."""
    client, model = connect(stage.proxy_url), stage.model("history")
    first = client.chat.completions.create(model=model, messages=ASK)
    replayed = first.choices[0].message
    second = client.chat.completions.create(
        model=model,
        messages=[*ASK, replayed, {"role": "user", "content": "Are you sure?"}],  # type: ignore[list-item]  # taken too
    )
    return {"replayed": dump(replayed), "completion": dump(second)}


SCENES: Final[tuple[Scene, ...]] = (plain, plain_async, controls, switched_off, raw_response, history)
