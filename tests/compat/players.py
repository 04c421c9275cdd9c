"""A client's program, run in its own environment, and what it made of its scenes.

In: the name of an environment that `make test-compat` has prepared. Out: a command line, and a `Client` that holds
the outcomes beside the upstream's record of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from fakes import Call, ScriptedUpstream
from fakes.call import AnyTask

ROOT: Final = Path(__file__).parents[2]
ENVIRONMENTS: Final = ROOT / ".compat"
PROGRAMS: Final[Mapping[str, str]] = {
    "litellm": "litellm_chat",
    "llamaindex": "llamaindex_chat",
    "openai-1": "openai_python",
    "openai-2": "openai_python",
    "openai-3": "openai_python",
    "langchain": "langchain_chat",
    "node": "openai_node/main.mjs",
    "schema": "strict_schema",
}
"""What runs in each environment; the slowest to start come first."""
LIMIT_S: Final = 240
"""For a test that waits for its client; alone on an idle machine each takes seconds."""


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


def command(environment: str) -> list[str]:
    """Return what starts a client's program: a Python module, or a Node script in reach of its packages."""
    home, program = ENVIRONMENTS / environment, PROGRAMS[environment]
    if not (home / "installed").exists():
        pytest.fail(f"The environment of {environment} is missing: run `make test-compat`.")
    if not program.endswith(".mjs"):
        return [str(home / "bin" / "python"), "-m", f"compat.clients.{program}"]
    node = shutil.which("node")
    assert node is not None, "Node.js is not installed."
    return [node, "--preserve-symlinks", "--preserve-symlinks-main", str(home / "clients" / program)]
