"""The proxies that are compared: how each is installed, started and asked.

In: ports. Out: command lines and request headers. Each runs as its own documentation has it run in production, with
one worker, in an environment of its own under `.bench/`, at a pinned version.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from exchange import HOST
from processes import CORRIGENDA, ROOT, SCRATCH, CannotStart

LITELLM_VERSION: Final = "1.108.7"
PORTKEY_VERSION: Final = "1.15.2"
MODEL: Final = "gpt-3.5-turbo"


@dataclass(frozen=True, slots=True)
class Gateway:
    """A proxy that can be started."""

    name: str
    command: tuple[str | Path, ...]
    ready: str
    """A path that answers 200 once it serves."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """What a request needs beside those of any other."""
    env: Mapping[str, str] = field(default_factory=dict)


def prepare_corrigenda(port: int, upstream_port: int) -> Gateway:
    """Return this project's proxy, as `make install` has installed it."""
    if not CORRIGENDA.exists():
        raise CannotStart("Run `make install` first.")
    command = (CORRIGENDA, "serve", "--port", str(port), "--upstream", f"http://{HOST}:{upstream_port}/v1")
    return Gateway("corrigenda", command, "/readyz", headers={"X-Verify": "off"})


def prepare_litellm(port: int, upstream_port: int) -> Gateway:
    """Install LiteLLM's proxy from PyPI and return it, set up for one model and without its telemetry."""
    folder = SCRATCH / "litellm"
    python = folder / "bin" / "python"
    uv = str(ROOT / ".uv" / "bin" / "uv") if (ROOT / ".uv" / "bin" / "uv").exists() else _find("uv")
    _run(uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, folder)
    _run(uv, "pip", "install", "--quiet", "--python", python, f"litellm[proxy]=={LITELLM_VERSION}")
    config = SCRATCH / "litellm.yaml"
    config.write_text(
        f"""\
model_list:
  - model_name: {MODEL}
    litellm_params: {{model: openai/{MODEL}, api_base: "http://{HOST}:{upstream_port}/v1", api_key: sk-benchmark}}
litellm_settings: {{telemetry: false}}
"""
    )
    key = f"sk-{secrets.token_hex(32)}"  # without a key of its own it does not start
    return Gateway(
        "litellm",
        (folder / "bin" / "litellm", "--config", config, "--host", HOST, "--port", str(port)),
        "/health/liveliness",
        headers={"Authorization": f"Bearer {key}"},
        env={
            "LITELLM_MASTER_KEY": key,
            "LITELLM_MODE": "PRODUCTION",
            "LITELLM_LOG": "ERROR",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
    )


def prepare_portkey(port: int, upstream_port: int) -> Gateway:
    """Install Portkey's gateway from npm and return it."""
    folder = SCRATCH / "portkey"
    folder.mkdir(parents=True, exist_ok=True)
    package = f"@portkey-ai/gateway@{PORTKEY_VERSION}"
    flags = ("--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline")
    _run(_find("npm"), "install", "--silent", *flags, "--prefix", folder, package)
    start = folder / "node_modules" / "@portkey-ai" / "gateway" / "build" / "start-server.js"
    return Gateway(
        "portkey",
        (_find("node"), start, "--headless", f"--port={port}"),
        "/",
        headers={"x-portkey-provider": "openai", "x-portkey-custom-host": f"http://{HOST}:{upstream_port}/v1"},
        env={"NODE_ENV": "production"},
    )


def _find(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise CannotStart(f"`{program}` is needed for the comparison, and is not installed.")
    return found


def _run(*command: str | Path) -> None:
    """Run a step of an installation; what it says is shown where it fails."""
    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    done = subprocess.run(  # noqa: S603  # the command lines are our own
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    if done.returncode:
        raise CannotStart(f"{command[0]} {command[1]} failed:\n{done.stdout}{done.stderr}")
