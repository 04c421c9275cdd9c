"""Any ASGI app behind uvicorn on a real loopback socket, and a client for what listens there."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn
from anyio.abc import TaskStatus
from anyio.from_thread import start_blocking_portal

_SHUTDOWN_LIMIT_S = 1


def connect(url: str, *, timeout_s: float = 5.0) -> httpx.Client:
    """Return a client; without certificates, which plain HTTP needs none of and which take long to load."""
    return httpx.Client(base_url=url, timeout=timeout_s, verify=False)


@contextmanager
def serve(app: Any) -> Iterator[str]:  # noqa: ANN401 - any ASGI app; its own types differ between frameworks
    """Serve `app` from a thread; yield its base URL, without a path; stop it cleanly, requests in flight included.

    Raises:
        RuntimeError: the app's lifespan startup failed.
    """
    with start_blocking_portal(name="served-app") as portal, socket.create_server(("127.0.0.1", 0)) as listener:
        server = _Server(app)
        finished, _ = portal.start_task(server.run_on, listener)
        try:
            yield "http://{}:{}".format(*listener.getsockname())
        finally:
            portal.call(server.stopping.set)
            finished.result()


class _Server(uvicorn.Server):
    """A uvicorn that says when it has started and stops when told, where the original polls for both."""

    def __init__(self, app: Any) -> None:  # noqa: ANN401 - as above
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,  # logging belongs to the test
                ws="none",
                timeout_graceful_shutdown=_SHUTDOWN_LIMIT_S,
            )
        )
        self.stopping = asyncio.Event()

    async def run_on(self, listener: socket.socket, *, task_status: TaskStatus[None]) -> None:
        self._task_status = task_status
        try:
            await self.serve(sockets=[listener])
        except SystemExit as failure:
            raise RuntimeError("the app did not start; the log says why") from failure

    async def main_loop(self) -> None:
        await self.on_tick(0)  # sets the Date header
        self._task_status.started()
        await self.stopping.wait()
        for request in self.server_state.tasks:
            request.cancel()  # a test that has ended waits for no answer
