"""Any ASGI app, served over a real socket and stopped cleanly."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from fakes import connect, serve


class EchoApp:
    """A plain ASGI app: answers with the body's size; `/hang` never answers; its startup may fail."""

    def __init__(self, *, starts: bool = True) -> None:
        self.starts = starts
        self.events: list[str] = []
        self.hanging = threading.Event()

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[dict[str, Any]]],
        send: Callable[[dict[str, Any]], Awaitable[None]],
    ) -> None:
        if scope["type"] == "lifespan":
            await receive()
            self.events.append("startup")
            await send({"type": "lifespan.startup.complete" if self.starts else "lifespan.startup.failed"})
            if self.starts:
                await receive()
                self.events.append("shutdown")
                await send({"type": "lifespan.shutdown.complete"})
            return
        if scope["path"] == "/hang":
            self.hanging.set()
            await asyncio.Event().wait()
        message = await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"%d" % len(message["body"])})


def test_served_app_answers_over_a_real_socket() -> None:
    """Any ASGI app is reached under the URL, and started and stopped as a server does it."""
    app = EchoApp()
    before = set(threading.enumerate())
    with serve(app) as url, connect(url) as client:
        assert client.post("/", content=b"12345").text == "5"
        assert client.post("/", content=b"").text == "0"
        assert app.events == ["startup"]
    assert app.events == ["startup", "shutdown"]
    assert set(threading.enumerate()) == before
    with connect(url) as client, pytest.raises(httpx.ConnectError):
        client.get("/")


def test_served_app_that_hangs_is_stopped() -> None:
    """A request in flight does not keep the server from stopping."""
    app = EchoApp()
    with ThreadPoolExecutor() as background:
        with serve(app) as url:
            answer = background.submit(httpx.get, url + "/hang")
            assert app.hanging.wait(5)
        assert answer.result().status_code == 500
    assert app.events == ["startup", "shutdown"]


def test_app_that_does_not_start_is_told() -> None:
    """A failed startup raises instead of leaving a dead URL."""
    with pytest.raises(RuntimeError, match="did not start"), serve(EchoApp(starts=False)):
        pass
