"""A script being played through the proxy, and an answer with its report: what flow tests talk to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from fakes.call import AnyTask, Call
from fakes.upstream import ScriptedUpstream

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
