"""One scripted upstream, the proxy before it, and each client's program run once, in its own environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from compat.stories import KEEP_ALIVE_S, STORIES, answer_rest
from fakes import Call, FakeNli, Script, ScriptedUpstream, compare_words, serve
from fakes.call import AnyTask
from proxy.app import build_app
from proxy.settings import Settings

ROOT: Final = Path(__file__).parents[2]
ENVIRONMENTS: Final = ROOT / ".compat"
LIMIT_S: Final = 120
"""For one client's whole program; it takes seconds."""


@dataclass(frozen=True)
class Client:
    """A client's program after its run."""

    name: str
    outcomes: Mapping[str, Any]
    prefix: str
    upstream: ScriptedUpstream

    def outcome(self, scene: str) -> Any:  # noqa: ANN401 - whatever the scene returned
        """Return what the client made of a scene."""
        outcome = self.outcomes[scene]
        if isinstance(outcome, dict) and "raised" in outcome:
            pytest.fail(f"{self.name}, {scene}:\n{outcome['raised']}")
        return outcome

    def calls(self, scene: str, task: AnyTask = "draft") -> list[Call]:
        """Return what reached the upstream in a scene, of one kind."""
        return [call for call in self.upstream.of(task) if call.model == self.prefix + scene]


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
def run_client(
    far_side: ScriptedUpstream, proxy_url: str, strict_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, str], Client]:
    """Run a program in an environment, once; the second time its outcomes are at hand."""

    @cache
    def run(environment: str, program: str) -> Client:
        # A fine-tune's name: some clients take only names that they know, and these they know by their base.
        prefix = f"ft:gpt-3.5-turbo:{environment}:"
        for scene, script in STORIES.items():
            far_side.play(script, model=prefix + scene)
        finished = subprocess.run(
            [*command(environment, program), f"{proxy_url}/v1", f"{strict_url}/v1", prefix],
            cwd=ROOT / "tests",
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path_factory.mktemp(environment))},
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert finished.returncode == 0, finished.stderr
        return Client(environment, json.loads(finished.stdout.splitlines()[-1]), prefix, far_side)

    return run


def command(environment: str, program: str) -> list[str]:
    """Return what starts a client's program: a Python module, or a Node script in reach of its packages."""
    home = ENVIRONMENTS / environment
    if not (home / "installed").exists():
        pytest.fail(f"The environment of {environment} is missing: run `make test-compat`.")
    if not program.endswith(".mjs"):
        return [str(home / "bin" / "python"), "-m", f"compat.clients.{program}"]
    node = shutil.which("node")
    assert node is not None, "Node.js is not installed."
    return [node, "--preserve-symlinks", "--preserve-symlinks-main", str(home / "clients" / program)]
