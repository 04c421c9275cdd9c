"""Two NLI models in a row: a small one reads every pair, a large one those that are near the line.

In: two models, then pairs. Out: probabilities, each of them one model's own and never a mixture. The small model has
the last word only where it is sure that a premise entails or does not concern a claim. Every contradiction is the
large model's: only contradictions lead to edits. What this costs: a false claim that the small model is sure of in
error is never seen by the large one, so a cascade finds no more of these than its small model does. In a claim's
score, and in mu and sigma, probabilities of both models meet; both are shares of the same three labels, no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from proxy.errors import ModelFolderInvalid
from proxy.nli.scoring import TOLERANCE, Pair, Probabilities
from proxy.services import Nli

SURE: Final = 0.95
"""Least probability of entailment or neutral at which the small model's word counts. Measured with the first embedded
model on 700 labelled pairs (FEVER, FoolMeTwice, SNLI, MNLI): from 0.95 on it settles 16 % of them, is right in 96 %
of these and hides 1.1 % of the contradictions from the large one; from 0.9 on 28 %, 91 % and 4.0 %."""


class CascadeNli:
    """An `Nli` made of two."""

    def __init__(self, first: Nli, second: Nli) -> None:
        """Take the small model and the large one.

        Raises:
            ModelFolderInvalid: no language is listed by both.
        """
        self.first: Final = first
        self.second: Final = second
        self.name: Final = f"{first.name}+{second.name}"
        self.languages: Final = first.languages & second.languages
        self.max_tokens: Final = min(first.max_tokens, second.max_tokens)
        # The line is drawn for the model that finds the contradictions.
        self.tau_floor: Final = second.tau_floor
        self.tau_ceiling: Final = second.tau_ceiling
        if not self.languages:
            raise ModelFolderInvalid(
                f"the models {first.name} and {second.name} list no language in common; "
                "set CORRIGENDA_NLI_CASCADE to a small model for the languages of the large one"
            )

    def count_tokens(self, text: str) -> int:
        """Return the larger of both counts, so that what fits by it is read whole by both models."""
        return max(self.first.count_tokens(text), self.second.count_tokens(text))

    async def score(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        """Score pairs, results in input order.

        Raises:
            NliFailed: one of the models gave no finite result.
            NliBusy: the queue of one of them is full.
        """
        results = await self.first.score(pairs)
        open_ones = [at for at, found in enumerate(results) if not is_settled(found)]
        judged = await self.second.score([pairs[at] for at in open_ones])
        for at, found in zip(open_ones, judged, strict=True):
            results[at] = found
        return results


def is_settled(found: Probabilities) -> bool:
    """Return whether the small model's word counts: it is sure of entailment, or sure of neutral."""
    return max(found.entailment, found.neutral) >= SURE - TOLERANCE
