"""The scripted NLI model, and short ways to write probabilities.

In: a table or function from premise and hypothesis to probabilities. Out: an `Nli` that records what it scored.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from fakes.gate import Gate
from proxy.nli.scoring import Pair, Probabilities

Score = Callable[[str, str], Probabilities]
"""From premise and hypothesis."""
Table = Mapping[str | tuple[str, str], Probabilities]
"""By (premise, hypothesis), or by hypothesis whatever the premise; the rest is neutral."""


def probabilities(*, entailment: float = 0.0, contradiction: float = 0.0) -> Probabilities:
    """Return these two, and the rest as neutral."""
    return Probabilities(entailment, 1.0 - entailment - contradiction, contradiction)


def entails(p: float = 0.95) -> Probabilities:
    """Return an entailment of this strength."""
    return probabilities(entailment=p)


def contradicts(p: float = 0.95) -> Probabilities:
    """Return a contradiction of this strength."""
    return probabilities(contradiction=p)


def neutral(p: float = 0.98) -> Probabilities:
    """Return a neutral of this strength, the rest shared by the other two."""
    return Probabilities((1.0 - p) / 2, p, (1.0 - p) / 2)


def signed(score: float) -> Probabilities:
    """Return what the rule turns into this score: +0.95 entails, -0.95 contradicts, 0 is neutral."""
    if score == 0:
        return neutral()
    return entails(score) if score > 0 else contradicts(-score)


def compare_words(premise: str, hypothesis: str) -> Probabilities:
    """Judge by the words: good enough for short test sentences that differ in a number.

    All words and numbers of the hypothesis stand in the premise: entailed. All words but not all numbers:
    contradicted. Else neutral.
    """
    known, said = (set(re.findall(r"\w+", text.lower())) for text in (premise, hypothesis))
    missing = said - known
    if not missing:
        return entails()
    return contradicts() if all(word.isdecimal() for word in missing) else neutral()


class FakeNli:
    """An `Nli` that looks its answers up."""

    name = "fake"
    languages = frozenset({"en"})
    max_tokens = 512
    tau_floor = 0.5
    tau_ceiling = 0.9

    def __init__(
        self, answers: Score | Table | None = None, *, failure: Exception | None = None, gate: Gate | None = None
    ) -> None:
        """Take the answers; with `failure` every scoring raises it, with `gate` every scoring waits there."""
        self._answers = answers or {}
        self._failure = failure
        self._gate = gate
        self.pairs: list[Pair] = []
        """Every pair that was asked for, in order."""
        self.batches: list[int] = []
        """How many pairs each call of `score` had."""

    def count_tokens(self, text: str) -> int:
        """Count words."""
        return len(text.split())

    async def score(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        """Look the pairs up, after recording them."""
        self.pairs += pairs
        self.batches.append(len(pairs))
        if self._gate is not None:
            await self._gate.wait()
        if self._failure is not None:
            raise self._failure
        return [self._look_up(pair) for pair in pairs]

    def _look_up(self, pair: Pair) -> Probabilities:
        if callable(self._answers):
            return self._answers(pair.premise, pair.hypothesis)
        by_hypothesis = self._answers.get(pair.hypothesis, neutral())
        return self._answers.get((pair.premise, pair.hypothesis), by_hypothesis)
