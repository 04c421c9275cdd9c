"""The arithmetic around the NLI model: how a reference is cut into premises, and how a claim gets its score.

In: sentences, logits, probabilities. Out: premises, `Probabilities`, `ClaimScore` (contract, section 5).
Pure, without the runtime, so that every rule here can be tested by hand-written numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from proxy.errors import ModelFolderInvalid, NliFailed
from proxy.wording import find_nearest

Label = Literal["entailment", "neutral", "contradiction"]

DECISIVE: Final = 0.5
"""Least probability at which a premise entails or contradicts (contract, section 5)."""
TOLERANCE: Final = 1e-9
"""Slack of every comparison (contract, section 5)."""
SPECIAL_TOKENS: Final = 4
"""Most that a tokenizer adds to a pair: three marks, four where the middle one is doubled (RoBERTa)."""
LEAST_PREMISE_TOKENS: Final = 64
"""A claim that leaves less room than this, some three sentences, is too long to be judged."""
LABEL_STEMS: Final = ("entail", "neutral", "contradict")
"""How the labels' names begin, whatever their case and ending."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What the model reads: does the premise entail the hypothesis?"""

    premise: str
    hypothesis: str


@dataclass(frozen=True, slots=True)
class Probabilities:
    """Softmax over the three labels; sums to 1."""

    entailment: float
    neutral: float
    contradiction: float

    @property
    def lean(self) -> float:
        """How far the premise goes either way: the larger of entailment and contradiction."""
        return max(self.entailment, self.contradiction)

    @property
    def entails(self) -> bool:
        """Whether the premise entails the hypothesis."""
        return self.entailment >= DECISIVE - TOLERANCE

    @property
    def contradicts(self) -> bool:
        """Whether the premise contradicts the hypothesis."""
        return self.contradiction >= DECISIVE - TOLERANCE

    def without_entailment(self) -> Probabilities:
        """Return the same with what stood for entailment as neutral; the contradiction is the model's to say."""
        return Probabilities(0.0, self.neutral + self.entailment, self.contradiction)


@dataclass(frozen=True, slots=True)
class LabelOrder:
    """The logit index of each label; models differ in it, so it is read from their config."""

    entailment: int
    neutral: int
    contradiction: int

    def read_logits(self, logits: ArrayLike) -> Probabilities:
        """Turn the three logits of one pair, in the model's own order, into named probabilities.

        Raises:
            NliFailed: there are not three logits, or one is not finite.
        """
        values = np.asarray(logits, dtype=np.float64)
        if values.shape != (3,):
            raise NliFailed(f"the NLI model gave logits of shape {values.shape} for one pair, not (3,)")
        shares = softmax(values)
        return Probabilities(
            entailment=float(shares[self.entailment]),
            neutral=float(shares[self.neutral]),
            contradiction=float(shares[self.contradiction]),
        )


@dataclass(frozen=True, slots=True)
class ClaimScore:
    """What all premises together say about one claim (contract, section 5).

    `label` and `score` are None where premises disagree: the claim is contested and has no score.
    """

    label: Label | None
    score: float | None
    """s: -p of the strongest contradiction, +p of the strongest entailment, or 0."""
    premise: str | None
    """The premise that decided: the strongest of its kind; for a neutral claim the one that came nearest to
    deciding, for a contested one its strongest contradiction. None where there was no premise at all."""
    probabilities: Probabilities | None
    """What the model said of `premise` and the claim."""

    @property
    def contested(self) -> bool:
        """Whether one premise contradicts the claim and another entails it."""
        return self.label is None


def softmax(logits: ArrayLike) -> NDArray[np.float64]:
    """Return the softmax over the last axis, in the shape of `logits`; finite however large they are.

    Raises:
        NliFailed: a logit is not finite, so no probability would mean anything.
    """
    values = np.asarray(logits, dtype=np.float64)
    if not np.isfinite(values).all():
        raise NliFailed("the NLI model gave a logit that is no finite number")
    # Subtracting the maximum (not the largest absolute value) keeps every exponent at or below zero.
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def read_label_order(id2label: Mapping[int, str]) -> LabelOrder:
    """Find the three labels by name, in any order, case and ending (`Contradict`, `entailed`).

    Raises:
        ModelFolderInvalid: they are not exactly three, or not named as NLI labels.
    """
    names = ", ".join(f"{index}: {name}" for index, name in sorted(id2label.items()))
    if len(id2label) != len(LABEL_STEMS):
        raise ModelFolderInvalid(
            f"id2label names {len(id2label)} classes ({names}); take a three-way NLI model, with entailment, "
            "neutral and contradiction"
        )
    order = [_index_of(stem, id2label) for stem in LABEL_STEMS]
    if sorted(order) != [0, 1, 2]:
        raise ModelFolderInvalid(
            f"id2label ({names}) does not name entailment, neutral and contradiction at 0, 1 and 2; "
            "write the model's real label names into its config.json"
        )
    return LabelOrder(*order)


def _index_of(stem: str, id2label: Mapping[int, str]) -> int:
    """Return the index of the one label that begins with `stem`, or -1."""
    found = [index for index, name in id2label.items() if name.strip().casefold().startswith(stem)]
    return found[0] if len(found) == 1 else -1


def split_windows(sentences: Sequence[str], count_tokens: Callable[[str], int], budget: int) -> list[str]:
    """Join sentences, in order, into the fewest windows of at most `budget` tokens each.

    Sentences are never cut. One that is over the budget by itself stands alone, and the model reads its beginning.
    The space between two sentences counts for nothing: tokenizers make it part of the next word.
    """
    windows: list[list[str]] = []
    room = 0
    for sentence in sentences:
        length = count_tokens(sentence)
        if not windows or length > room:
            windows.append([])
            room = budget
        windows[-1].append(sentence)
        room -= length
    return [" ".join(window) for window in windows]


def choose_premises(
    claim: str, reference: Sequence[str], count_tokens: Callable[[str], int], max_tokens: int
) -> list[str] | None:
    """Choose what a claim is held against: windows over all the reference, and the sentence nearest to it.

    With many claims hand in a `count_tokens` that remembers, for each reference sentence is counted once a claim.

    Args:
        claim: The hypothesis; it is never cut.
        reference: The sentences of the recall, or of another text.
        count_tokens: Tokens of a text without special ones, as of `Nli`.
        max_tokens: The model's limit for premise, claim and special tokens together.

    Returns:
        Distinct premises in order; empty for an empty reference; None where the claim is too long to be judged.
    """
    budget = max_tokens - SPECIAL_TOKENS - count_tokens(claim)
    if budget < LEAST_PREMISE_TOKENS:
        return None
    nearest = [reference[index] for index in find_nearest(claim, reference, count=1)]
    return list(dict.fromkeys(split_windows(reference, count_tokens, budget) + nearest))


def score_claim(premises: Sequence[str], results: Sequence[Probabilities]) -> ClaimScore:
    """Combine one claim's results, one a premise and in the same order, into its score (contract, section 5).

    Without any premise nothing decides: neutral, s = 0. Of equal ones the first counts.
    """
    judged = list(zip(premises, results, strict=True))
    if not judged:
        return ClaimScore("neutral", 0.0, None, None)
    most_against = max(judged, key=lambda item: item[1].contradiction)
    most_for = max(judged, key=lambda item: item[1].entailment)
    if most_against[1].contradicts and most_for[1].entails:
        return ClaimScore(None, None, *most_against)
    if most_against[1].contradicts:
        return ClaimScore("contradiction", -most_against[1].contradiction, *most_against)
    if most_for[1].entails:
        return ClaimScore("entailment", most_for[1].entailment, *most_for)
    return ClaimScore("neutral", 0.0, *max(judged, key=lambda item: item[1].lean))
