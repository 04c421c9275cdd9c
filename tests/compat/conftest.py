"""One scripted upstream, the proxy before it, and each client's program run once, in its own environment."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

from compat.players import LIMIT_S, PROGRAMS, ROOT, Client, command
from compat.stories import KEEP_ALIVE_S, STORIES, answer_rest
from fakes import FakeNli, Script, ScriptedUpstream, compare_words, serve
from proxy.app import build_app
from proxy.settings import Settings


@pytest.fixture(scope="session")
def far_side() -> Iterator[ScriptedUpstream]:
    """The upstream of all clients."""
    with ScriptedUpstream(Script(other=answer_rest)) as running:
        yield running


@pytest.fixture(scope="session")
def proxy_url(far_side: ScriptedUpstream) -> Iterator[str]:
    """The proxy as it comes."""
    with serve(build_app(Settings(upstream_url=far_side.url), nli=FakeNli(compare_words))) as url:
        yield url


@pytest.fixture(scope="session")
def strict_url(far_side: ScriptedUpstream) -> Iterator[str]:
    """A proxy that fails where verification does, and fills silence quickly."""
    settings = Settings(upstream_url=far_side.url, on_verifier_error="fail", sse_keepalive_s=KEEP_ALIVE_S)
    with serve(build_app(settings, nli=FakeNli(compare_words))) as url:
        yield url


@pytest.fixture(scope="session")
def play_client(
    far_side: ScriptedUpstream, proxy_url: str, strict_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Client]:
    """Run the program of an environment to its end."""

    def play(environment: str) -> Client:
        # A fine-tune's name: some clients take only names that they know, and these they know by their base.
        prefix = f"ft:gpt-3.5-turbo:{environment}:"
        for scene, script in STORIES.items():
            far_side.play(script, model=prefix + scene)
        finished = subprocess.run(
            [*command(environment), f"{proxy_url}/v1", f"{strict_url}/v1", prefix],
            cwd=ROOT / "tests",
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path_factory.mktemp(environment))},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert finished.returncode == 0, finished.stderr
        return Client(environment, json.loads(finished.stdout.splitlines()[-1]), prefix, far_side)

    return play


@pytest.fixture(scope="session")
def client_of(
    play_client: Callable[[str], Client], request: pytest.FixtureRequest
) -> Iterator[Callable[[str], Client]]:
    """Give an environment's client after its run; all that the session's tests name run ahead, two at a time."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        start = cache(lambda environment: pool.submit(play_client, environment))
        named = {value for item in request.session.items for value in _parameters(item)}
        for environment in PROGRAMS:
            if environment in named:
                start(environment)
        yield lambda environment: start(environment).result()


def _parameters(item: pytest.Item) -> Collection[object]:
    return item.callspec.params.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
