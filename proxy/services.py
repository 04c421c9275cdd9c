"""The two services that the stages are handed: the model behind our own calls, and the NLI scorer.

In: nothing. Out: the Protocols `Llm` and `Nli`. They stand apart so that no stage imports openai or
onnxruntime; `app` builds the real ones, tests hand in fakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from proxy.nli.scoring import Pair, Probabilities

Task = Literal["recall", "claims", "correction"]
"""What one of our own calls is for; each may have a model of its own (contract, section 11)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's answer to one of our calls; `complete` is False where it was cut by a length limit."""

    text: str
    complete: bool = True


class Llm(Protocol):
    """The model for one user request: knows its credentials, its call budget and its bill."""

    async def ask(self, task: Task, instruction: str, text: str) -> Reply:
        """Ask once, with a system and a user message.

        Raises:
            LlmCallFailed: the call failed for any reason (refused, unreachable, unusable reply).
        """
        ...


class Nli(Protocol):
    """A three-way NLI model."""

    @property
    def name(self) -> str:
        """Name for the report (`verification.models.nli`)."""
        ...

    @property
    def languages(self) -> frozenset[str]:
        """ISO 639-1 codes of the languages that the model lists."""
        ...

    @property
    def max_tokens(self) -> int:
        """Longest input in tokens: premise, hypothesis and special tokens together."""
        ...

    @property
    def tau_floor(self) -> float:
        """Lower bound of the applied threshold under `bounded`."""
        ...

    @property
    def tau_ceiling(self) -> float:
        """Upper bound of the applied threshold under `bounded`."""
        ...

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens of `text` without special tokens."""
        ...

    async def score(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        """Score pairs, results in input order; never blocks the event loop.

        Raises:
            NliFailed: the model gave no finite result.
            NliBusy: the queue is full.
        """
        ...
