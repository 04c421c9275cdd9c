"""One proxy and one scripted upstream for all flow tests; each test plays under a model name of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from fakes import Call, FakeNli, Script, ScriptedUpstream, compare_words, connect, serve
from fakes.call import AnyTask
from proxy.app import build_app
from proxy.services import Nli
from proxy.settings import Settings

QUESTION = "When did Verdane Bridge open, and how long is it?"


@dataclass(frozen=True)
class Scene:
    """A script being played to one model name, and a client of the proxy before it."""

    client: httpx.Client
    upstream: ScriptedUpstream
    model: str

    def ask(
        self,
        question: str | Sequence[Mapping[str, Any]] = QUESTION,
        *,
        headers: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
        **body: object,
    ) -> httpx.Response:
        """Send a chat completion: a question, or whole messages."""
        messages = [{"role": "user", "content": question}] if isinstance(question, str) else question
        sent = {"model": self.model, "messages": messages} | body
        return self.client.post("/v1/chat/completions", json=sent, headers=headers)

    def verify(self, question: str | Sequence[Mapping[str, Any]] = QUESTION, **body: Any) -> Verified:  # noqa: ANN401
        """Ask, and return the one choice with its report, all detail included."""
        reply = self.ask(question, headers={"X-Verify-Detail": "full"} | body.pop("headers", {}), **body)
        assert reply.status_code == 200, reply.text
        return Verified(reply, reply.json())

    def calls(self, task: AnyTask) -> list[Call]:
        """Return the upstream's record of one kind of call in this scene."""
        return [call for call in self.upstream.of(task) if call.model == self.model]

    @property
    def tasks(self) -> list[AnyTask]:
        """What was asked of the upstream in this scene, in order."""
        return [call.task for call in self.upstream.calls if call.model == self.model]


@dataclass(frozen=True)
class Verified:
    """An answer with its report."""

    reply: httpx.Response
    body: dict[str, Any]

    @property
    def report(self) -> dict[str, Any]:
        """The whole `verification` object."""
        return dict(self.body["verification"])

    @property
    def choice(self) -> dict[str, Any]:
        """The first choice's entry."""
        return dict(self.report["choices"][0])

    @property
    def content(self) -> Any:  # noqa: ANN401 - text, parts or null
        """The first choice's content."""
        return self.body["choices"][0]["message"].get("content")

    @property
    def outcome(self) -> str:
        """The first choice's status and reason, as in `flagged: detect`."""
        return ": ".join(part for part in (self.choice["status"], self.choice["reason"]) if part)

    @property
    def verdicts(self) -> list[str]:
        """Each claim's verdict and reason."""
        return [": ".join(p for p in (c["verdict"], c["reason"]) if p) for c in self.choice["claims"]]


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
