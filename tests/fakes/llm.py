"""The scripted model behind our own calls, for the stages by themselves.

In: what to answer to each task. Out: an `Llm` that records what it was asked. Flow tests take the scripted upstream
instead, which is asked over the wire.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fakes.gate import Gate
from proxy.errors import LlmCallFailed
from proxy.services import Reply, Task


@dataclass(frozen=True, slots=True)
class Ask:
    """One call as the model received it."""

    task: Task
    instruction: str
    text: str


OneAnswer = str | Reply | Exception
Answers = OneAnswer | Sequence[OneAnswer] | Callable[[Ask], OneAnswer]
"""One answer for all calls; answers used in turn, the last one again and again; or one made from the call."""


class FakeLlm:
    """An `Llm` that answers by task; an exception is raised, and a task without an answer fails."""

    def __init__(
        self, answers: Mapping[Task, Answers] | None = None, *, max_calls: int = 32, gate: Gate | None = None
    ) -> None:
        """Take the answers and how many calls the request may make; with `gate` every call waits there."""
        self._answers = answers or {}
        self._max_calls = max_calls
        self._gate = gate
        self.asks: list[Ask] = []
        """Every call, in the order in which they came in."""

    def texts(self, task: Task) -> list[str]:
        """Return the user messages of one task, in order."""
        return [ask.text for ask in self.asks if ask.task == task]

    async def ask(self, task: Task, instruction: str, text: str) -> Reply:
        """Answer as told, after recording the call."""
        if len(self.asks) >= self._max_calls:
            raise LlmCallFailed("The fake's calls are spent.")
        ask = Ask(task, instruction, text)
        turn = len(self.texts(task))
        self.asks.append(ask)
        if self._gate is not None:
            await self._gate.wait()
        answer = self._choose(ask, turn)
        if isinstance(answer, Exception):
            raise answer
        return Reply(answer) if isinstance(answer, str) else answer

    def _choose(self, ask: Ask, turn: int) -> OneAnswer:
        answers = self._answers.get(ask.task, LlmCallFailed(f"The fake has no answer to {ask.task}."))
        if callable(answers):
            return answers(ask)
        if isinstance(answers, str | Reply | Exception):
            return answers
        return answers[min(turn, len(answers) - 1)]
