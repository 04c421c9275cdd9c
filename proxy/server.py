"""Running the proxy: log, socket, embedded upstream, server (contract, sections 1 and 8).

In: settings. Out: a proxy that serves until it is stopped, or an error before it listens. `demo` runs the same server
beside its own questions.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import structlog
import uvicorn

from proxy.app import build_app
from proxy.background import in_background
from proxy.deployment import Readiness
from proxy.embedded import run_embedded_upstream
from proxy.errors import SettingsInvalid
from proxy.settings import Settings

KEEP_ALIVE_S = 75
"""Idle connections are kept longer than clients' pools keep them, so that it is the client who closes."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Running:
    """A proxy that listens."""

    url: str
    """Its address, without `/v1`."""
    readiness: Readiness
    serving: asyncio.Task[None]
    """Ends when the server does."""


class ListeningServer(uvicorn.Server):
    """A server that says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        """Prepare to serve."""
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self.listening.set()


async def run_server(settings: Settings) -> None:
    """Serve until a signal stops the process.

    Raises:
        CorrigendaError: anything that must not be served with.
    """
    configure_log(settings.log_level)
    if settings.openai_api_key is None and settings.upstream_url != "embedded":
        _log.warning("OPENAI_API_KEY is not set; clients have to bring their own key")
    async with start_server(settings) as running:
        _log.info("serving", url=running.url, upstream=settings.upstream_url.partition("?")[0])
        await running.serving


@asynccontextmanager
async def start_server(settings: Settings) -> AsyncIterator[Running]:
    """Start the proxy, and the embedded upstream where the settings name it; stop both at the end of the block.

    Raises:
        CorrigendaError: anything that must not be served with.
    """
    bound = bind_socket(settings.listen_host, settings.listen_port)
    async with find_upstream(settings) as upstream_url:
        app = build_app(settings, upstream_url=upstream_url)
        server = ListeningServer(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                timeout_keep_alive=KEEP_ALIVE_S,
                lifespan="on",
            )
        )
        serving = asyncio.create_task(server.serve(sockets=[bound]))
        try:
            async with in_background(server.listening.wait()) as listening:
                await asyncio.wait([serving, listening], return_when=asyncio.FIRST_COMPLETED)
            host, port = bound.getsockname()[:2]
            url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
            yield Running(url, app.state["readiness"], serving)
        finally:
            server.should_exit = True
            await asyncio.wait([serving])
            bound.close()


@asynccontextmanager
async def find_upstream(settings: Settings) -> AsyncIterator[str]:
    """Yield the upstream's address; the embedded one runs for as long as the block."""
    if settings.upstream_url != "embedded":
        yield settings.upstream_url
        return
    async with run_embedded_upstream() as url:
        yield url


def bind_socket(host: str, port: int) -> socket.socket:
    """Take the port, without listening yet.

    Raises:
        SettingsInvalid: it is taken, or the address is none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol left at 0 the event loop would not turn Nagle's algorithm off, and replies in two pieces would
    # wait 40 ms for the client's acknowledgement.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host.strip("[]"), port))
    except OSError as error:
        bound.close()
        raise SettingsInvalid(
            f"Cannot listen on {host}:{port} ({error.strerror}); choose another with --port or CORRIGENDA_LISTEN_PORT."
        ) from None
    return bound


def configure_log(level: str) -> None:
    """Log to standard error, lines for people on a terminal and JSON elsewhere; no prompt, key or answer text."""
    terminal = sys.stderr.isatty()
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer() if terminal else structlog.processors.JSONRenderer(),
        ],
    )
    # What libraries say of their own matters only where it is an error; they quote requests at lower levels.
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr, format="%(message)s")
