"""What every client program prints: one JSON object with the outcome of each of its scenes.

In: scenes, functions of a `Stage` that do calls and return JSON. Out: a line on stdout. A scene that raises has the
traceback for its outcome and takes no other down with it. Runs in the clients' environments: nothing but Python.
"""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

KEY = "sk-compat"
ORGANIZATION = "org-compat"
PROJECT = "proj-compat"
QUESTION = "When did Verdane Bridge open, and how long is it?"


@dataclass(frozen=True)
class Stage:
    """Where a client's scenes play."""

    proxy_url: str
    """Up to and with `/v1`."""
    strict_url: str
    """The same of a proxy that fails where verification does, and keeps streams alive at short intervals."""
    prefix: str
    """What this client's model names begin with."""

    def model(self, scene: str) -> str:
        """Return the model name under which a scene's script is played."""
        return self.prefix + scene


Scene = Callable[[Stage], object]

_LOOP = asyncio.Runner()


def report_outcomes(*scenes: Scene) -> None:
    """Play the scenes where the command line says, and print their outcomes by name."""
    stage = Stage(*sys.argv[1:])
    outcomes = {scene.__name__: _play(scene, stage) for scene in scenes}
    sys.stdout.write(json.dumps(outcomes) + "\n")


def run_async(work: Coroutine[object, object, T]) -> T:
    """Run a coroutine on the program's one event loop, as some clients keep connections between calls."""
    return _LOOP.run(work)


def _play(scene: Scene, stage: Stage) -> object:
    try:
        return scene(stage)
    except Exception:  # noqa: BLE001 - the test shows it, whatever it is
        return {"raised": traceback.format_exc()}
