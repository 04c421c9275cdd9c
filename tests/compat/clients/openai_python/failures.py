"""Refusals: which of the SDK's errors they become, and what is tried again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from openai import APIError, APIStatusError

from compat.clients.openai_python.session import ASK, connect, dump
from compat.clients.outcomes import Scene, Stage


def retried(stage: Stage) -> object:
    """Be refused once with a time to wait, and let the SDK try again."""
    completion = connect(stage.proxy_url).chat.completions.create(model=stage.model("retried"), messages=ASK)
    return {"completion": dump(completion)}


def refused(stage: Stage) -> object:
    """Be refused, and try only once."""
    client = connect(stage.proxy_url).with_options(max_retries=0)
    return _catch(lambda: client.chat.completions.create(model=stage.model("refused"), messages=ASK))


def unknown_model(stage: Stage) -> object:
    """Ask for a model that is gone."""
    client = connect(stage.proxy_url)
    return _catch(lambda: client.chat.completions.create(model=stage.model("unknown_model"), messages=ASK))


def bad_control(stage: Stage) -> object:
    """Send a control that the proxy refuses."""
    client = connect(stage.proxy_url)
    return _catch(
        lambda: client.chat.completions.create(
            model=stage.model("bad_control"), messages=ASK, extra_headers={"X-Verify-K": "much"}
        )
    )


def stream_refused(stage: Stage) -> object:
    """Be refused a stream: the call itself fails, before any chunk."""
    client = connect(stage.proxy_url).with_options(max_retries=0)
    return _catch(
        lambda: client.chat.completions.create(model=stage.model("stream_refused"), messages=ASK, stream=True)
    )


def stream_cut(stage: Stage) -> object:
    """Lose the upstream in the middle of a stream: reading fails, and nothing unchecked has come."""
    chunks = connect(stage.proxy_url).chat.completions.create(
        model=stage.model("stream_cut"), messages=ASK, stream=True
    )
    seen = []

    def read() -> None:
        for chunk in chunks:
            seen.append(dump(chunk))  # noqa: PERF401 - what came before the error is wanted

    return {"error": _catch(read), "chunks": seen}


def verifier_failed(stage: Stage) -> object:
    """Ask a proxy whose operator wants no unverified answers, while verification fails."""
    client = connect(stage.strict_url)
    return _catch(lambda: client.chat.completions.create(model=stage.model("verifier_failed"), messages=ASK))


def _catch(call: Callable[[], object]) -> object:
    """Return what the SDK raises."""
    try:
        call()
    except APIStatusError as error:
        return {
            "kind": type(error).__name__,
            "status": error.status_code,
            "code": error.code,
            "param": error.param,
            "headers": dict(error.response.headers),
        }
    except APIError as error:
        return {"kind": type(error).__name__, "code": error.code}
    return None


SCENES: Final[tuple[Scene, ...]] = (
    retried,
    refused,
    unknown_model,
    bad_control,
    stream_refused,
    stream_cut,
    verifier_failed,
)
