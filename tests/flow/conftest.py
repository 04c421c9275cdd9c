"""One proxy and one scripted upstream for all flow tests; each test plays under a model name of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from fakes import FakeNli, Script, ScriptedUpstream, compare_words, connect, serve
from fakes.scene import Scene
from proxy.app import build_app
from proxy.services import Nli
from proxy.settings import Settings


@pytest.fixture(scope="session")
def shared_upstream() -> Iterator[ScriptedUpstream]:
    """The upstream of all scenes."""
    with ScriptedUpstream() as running:
        yield running


@pytest.fixture(scope="session")
def shared_client(shared_upstream: ScriptedUpstream) -> Iterator[httpx.Client]:
    """A client of the one proxy with default settings, whose NLI compares words."""
    app = build_app(Settings(upstream_url=shared_upstream.url), nli=FakeNli(compare_words))
    with serve(app) as url, connect(url, timeout_s=15) as client:
        yield client


@pytest.fixture
def play(
    shared_client: httpx.Client, shared_upstream: ScriptedUpstream, request: pytest.FixtureRequest
) -> Callable[[Script], Scene]:
    """Play a script to the model named like the test, through the shared proxy."""

    def start(script: Script) -> Scene:
        model = f"model-of-{request.node.name}"
        shared_upstream.play(script, model=model)
        return Scene(shared_client, shared_upstream, model)

    return start


@pytest.fixture
def stage(shared_upstream: ScriptedUpstream, request: pytest.FixtureRequest) -> Iterator[Callable[..., Scene]]:
    """Play a script through a proxy of the test's own: other settings, another NLI."""
    with ExitStack() as stack:

        def start(script: Script, *, nli: Nli | None = None, **settings: Any) -> Scene:  # noqa: ANN401
            model = f"model-of-{request.node.name}"
            shared_upstream.play(script, model=model)
            own = Settings(**({"upstream_url": shared_upstream.url} | settings))
            url = stack.enter_context(serve(build_app(own, nli=nli)))
            return Scene(stack.enter_context(connect(url, timeout_s=15)), shared_upstream, model)

        yield start
