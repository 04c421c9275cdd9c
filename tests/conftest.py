"""What every test may rely on: no settings from outside, one event loop, a scripted upstream."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from fakes import ScriptedUpstream

_FROM_OUTSIDE = ("CORRIGENDA_", "OPENAI_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the settings, keys and proxies of the machine that the tests run on."""
    for name in list(os.environ):
        if name.upper().startswith(_FROM_OUTSIDE):
            monkeypatch.delenv(name)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests (`pytest.mark.anyio`) run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture
def upstream() -> Iterator[ScriptedUpstream]:
    """A scripted upstream that plays the Verdane Bridge story to any model until told otherwise."""
    with ScriptedUpstream() as running:
        yield running
